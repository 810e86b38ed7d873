"""Every change of who may do what is noted once: by whom, for whom and what; and never altered."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest
from psycopg import Connection, sql
from psycopg.rows import DictRow

from access import administrator, call, curator, join, name_of
from conftest import World

ENTRIES = (
    "SELECT l.entry_id, o.name AS org, l.login_role, p.name AS agent, l.action, l.detail"
    "  FROM memwarden_data.access_log AS l"
    "  JOIN memwarden_data.organisation AS o USING (org_id)"
    "  LEFT JOIN memwarden_data.principal AS p USING (principal_id)"
    " ORDER BY l.entry_id"
)
WATCHED = [
    *(
        "principal",
        "principal_login",
        "principal_identity",
        "scope_grant",
        "access_role",
        "role_permission",
    ),
    *("attribute", "policy_set", "policy", "token_key", "integrity_rule"),
]
POLICY = {"policy_set": "a set", "name": "a policy"}

# What is noted, in an order in which each finds what it needs; "{login}" is a role to bind.
BY_CURATORS: list[tuple[str, dict[str, Any]]] = [
    ("register_agent", {"name": "helper", "scope": "/org/acme/user/ana"}),
    ("change_agent", {"agent": "helper", "clearance": "restricted"}),
    ("change_agent", {"agent": "helper"}),
    ("grant_scope", {"agent": "helper", "scope": "/org/acme", "writes": True}),
    ("grant_scope", {"agent": "helper", "scope": "/org/acme"}),
    ("revoke_scope", {"agent": "helper", "scope": "/org/acme"}),
    ("define_role", {"name": "reader", "permissions": [{"operation": "READ"}], "org": "acme"}),
    ("define_role", {"name": "reader", "permissions": [], "org": "acme"}),
    ("define_attribute", {"bearer": "agent", "name": "team", "org": "acme"}),
    ("define_policy_set", {"name": "a set", "default_effect": "allow", "org": "acme"}),
    ("set_policy", POLICY | {"effect": "deny", "condition": "FALSE", "org": "acme"}),
    ("drop_policy", POLICY | {"org": "acme"}),
    ("drop_policy", {"policy_set": "a set", "org": "acme"}),
    ("define_integrity_rule", {"name": "a rule", "condition": "memory.content.n > 0"}),
    ("order_predicates", {"earlier": "hired", "later": "left"}),
    ("drop_integrity_rule", {"name": "a rule"}),
    ("move_scope", {"path": "/org/acme/user/ana/task/t", "new_parent": "/org/acme"}),
    ("revoke_tokens", {"agent": "helper"}),
    ("set_scope_language", {"path": "/org/acme/user/ana", "language": "german"}),
    ("close_scope", {"path": "/org/acme/user/ana"}),
]
BY_ADMINISTRATORS: list[tuple[str, dict[str, Any]]] = [
    ("bind_login", {"agent": "helper", "login_role": "{login}"}),
    ("unbind_login", {"login_role": "{login}"}),
    ("bind_identity", {"agent": "helper", "issuer": "https://login.example", "subject": "h"}),
    ("unbind_identity", {"issuer": "https://login.example", "subject": "h"}),
    ("define_scope_kind", {"kind": "desk", "description": "desk"}),
    ("define_role", {"name": "guest", "permissions": []}),
    ("rotate_token_key", {}),
    ("rotate_signing_key", {}),
]
OF_ALL = {"define_scope_kind", "rotate_token_key", "rotate_signing_key"}
# Noted as well, and called in the tests of what they change.
ELSEWHERE = {
    *("change_canonical_source", "drop_canonical_source", "register_canonical_source"),
    *("define_sensitivity_rule", "enable_sensitivity_rule", "set_sensitivity_action", "reveal"),
    *("define_source", "drop_source", "require_verifier", "release_verifier"),
    *("set_durability_rule", "drop_durability_rule"),
    "settle_dispute",
    *("configure_layer", "reset_layer", "use_profile", "observe_profile"),
    *("add_gate", "move_gate", "disable_gate", "enable_gate", "remove_gate"),
    *("define_write_class", "define_pack", "use_pack", "set_auto_promotion", "set_storage_budget"),
    *("record_consent", "register_subject", "unregister_subject"),
    *("pin", "unpin", "hold", "lift_hold", "set_hold_policy"),
    "set_threshold_tuning",
    *("rewrap_subject_keys", "give_up_subject_keys", "import_subject_keys", "finalise_erasures"),
    *("set_retention", "drop_retention", "set_record_retention", "remediate", "set_metric_range"),
    *("set_ablation", "relax_threshold"),
    *("define_region", "set_region", "set_residency", "create_region_publication", "remove_copies"),
    *("define_capture_source", "define_extractor", "enable_extractor", "calibrate"),
    *("set_approval_policy", "drop_approval_policy", "set_reputation_threshold"),
    *("define_surface", "drop_surface", "set_hedge"),
    *("define_external_source", "drop_external_source"),
    *("set_injection_policy", "drop_injection_policy"),
    *("set_leak_defence", "set_rate_limit", "set_write_budget"),
    *(
        "set_embedder",
        "set_model_languages",
        "reembed",
        "switch_embedding_model",
        "drop_embedding_model",
    ),
    *("set_review_channel", "drop_review_channel", "set_escalation", "set_noise_policy"),
}


def prepare(world: World) -> Connection[DictRow]:
    """Make the scopes that the calls are about, and the curator of acme."""
    world.scope("/org/acme/user/ana/task/t")
    return curator(world, "/org/acme")


def test_every_change_leaves_exactly_one_entry(world: World) -> None:
    """With the login, the principal it acts for, the organisation and what was asked.

    Proves: A1
    """
    owner, admin = prepare(world), administrator(world)
    login = world.role("memwarden_agent")
    for who, agent, calls in (
        (owner, name_of(owner), BY_CURATORS),
        (admin, None, BY_ADMINISTRATORS),
    ):
        for function, arguments in calls:
            given = {k: login if v == "{login}" else v for k, v in arguments.items()}
            before = world.rows(ENTRIES)
            call(who, function, **given)
            entries = world.rows(ENTRIES)
            assert entries[:-1] == before
            entry = entries[-1]
            everybody = function in OF_ALL or (who is admin and function == "define_role")
            assert (entry["org"], entry["login_role"], entry["agent"], entry["action"]) == (
                "global" if everybody else "acme",
                name_of(who),
                agent,
                function,
            )
            for value in given.values():
                if isinstance(value, str) and value not in ("acme", "helper"):
                    assert value in str(entry["detail"]), function


def test_the_list_above_is_complete(world: World) -> None:
    """Every function that notes something is called there, and no table is left unwatched.

    Proves: A1
    """
    rows = world.rows(
        "SELECT p.proname FROM pg_proc AS p WHERE p.prosrc ~ 'record_access_change'"
        "   AND p.pronamespace = 'memwarden'::regnamespace"
    )
    called = {function for function, _ in BY_CURATORS + BY_ADMINISTRATORS}
    assert called | ELSEWHERE == {row["proname"] for row in rows} | {"bind_login"}
    # A function that changes who may do what without noting it would be found here.
    writing = world.rows(
        "SELECT DISTINCT p.proname FROM pg_proc AS p"
        " WHERE p.pronamespace::regnamespace::text IN ('memwarden', 'memwarden_internal')"
        "   AND p.prosrc ~ ('(INSERT INTO|UPDATE|DELETE FROM) memwarden_data[.](' || %s || ') ')",
        "|".join(WATCHED),
    )
    silent = {row["proname"] for row in writing} - called - ELSEWHERE
    # bind() and put_rule() are called by those above; who opens a task may write it; keys make
    # themselves; setup() carries what there is at first, and finds logins in a restored copy.
    assert silent == {
        *("bind", "add_scope", "signing_key", "storage_parts", "put_rule"),
        "know_logins",
    }


def test_binding_at_registration_is_noted_as_what_it_is(world: World) -> None:
    """Two things happen, and two entries say so.

    Proves: A1, A6
    """
    agent = world.register("/org/acme")
    entries = world.rows(ENTRIES)
    assert [entry["action"] for entry in entries] == ["register_agent", "bind_login"]
    assert entries[1]["detail"]["login_role"] == agent


def test_the_entry_names_who_logged_in(world: World) -> None:
    """SET ROLE changes nothing about that, nor does a superuser's power.

    Proves: A1, A6
    """
    world.scope("/org/acme")
    login = world.role("memwarden_admin", "memwarden_curator")
    admin = world.connect(login)
    admin.execute("SET ROLE memwarden_curator")
    call(admin, "define_role", name="reader", permissions=[])
    call(world.admin, "define_role", name="reader", permissions=[], org="acme")
    bound = join(world, "/org/acme", "agent", "admin")
    call(bound, "define_role", name="reader", permissions=[])
    entries = [e for e in world.rows(ENTRIES) if e["action"] == "define_role"]
    assert [(e["login_role"], e["agent"], e["org"]) for e in entries] == [
        (login, None, "global"),
        ("postgres", None, "acme"),
        (name_of(bound), name_of(bound), "global"),
    ]


def test_a_change_of_an_agent_is_noted_with_what_it_was_before(world: World) -> None:
    """So that it can be put back.

    Proves: A1
    """
    owner = prepare(world)
    agent = world.register("/org/acme/user/ana")
    changes = {"role": "executor", "domains": ["law"], "enabled": False}
    call(owner, "change_agent", agent=agent, **changes)
    detail = world.rows(ENTRIES)[-1]["detail"]
    assert detail["agent"] == agent
    assert detail["changes"] == changes
    assert detail["before"] == {
        "role": "contributor",
        "clearance": "internal",
        "domains": [],
        "attributes": {},
        "validated": True,
        "enabled": True,
    }


def test_what_fails_or_is_taken_back_is_not_noted(world: World) -> None:
    """Refused, malformed, previewed and rolled back: the log says what came to be.

    Proves: A1
    """
    owner = prepare(world)
    call(owner, "define_policy_set", name="a set", default_effect="allow")
    before = world.rows(ENTRIES)
    for function, arguments in (
        ("define_role", {"name": "reader", "permissions": None}),
        ("define_role", {"name": "reader", "permissions": [], "org": "global"}),
        ("change_agent", {"agent": "nobody"}),
        ("set_policy", POLICY | {"effect": "deny", "condition": "nonsense"}),
        ("register_agent", {"name": "helper", "scope": "/org/acme", "login_role": "postgres"}),
    ):
        with pytest.raises(psycopg.Error):
            call(owner, function, **arguments)
    call(owner, "preview_policy", **POLICY, effect="deny", condition="TRUE")
    with owner.transaction(force_rollback=True):
        call(owner, "define_role", name="reader", permissions=[])
    assert world.rows(ENTRIES) == before


def test_not_even_the_owner_alters_the_log(world: World) -> None:
    """Neither does a superuser by a statement; other roles may not even try.

    Proves: A1, Z1
    """
    prepare(world)
    before = world.rows(ENTRIES)
    assert before
    statements = [
        "UPDATE memwarden_data.access_log SET login_role = 'nobody'",
        "UPDATE memwarden_data.access_log SET detail = '{}' WHERE false",
        "DELETE FROM memwarden_data.access_log",
        "TRUNCATE memwarden_data.access_log",
        "TRUNCATE memwarden_data.organisation CASCADE",
    ]
    owner = world.connect()
    owner.execute("SET ROLE memwarden_owner")
    for who in (owner, world.admin):
        for statement in statements:
            with pytest.raises(psycopg.errors.ObjectInUse):
                who.execute(sql.SQL(statement))
    insert = (
        "INSERT INTO memwarden_data.access_log (org_id, login_role, action, detail)"
        " VALUES (0, 'nobody', 'nothing', '{}')"
    )
    for group in ("agent", "reviewer", "curator", "auditor", "admin", "broker", "jobs"):
        other = world.connect(world.role(f"memwarden_{group}"))
        for statement in [*statements, insert]:
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                other.execute(sql.SQL(statement))
    assert world.rows(ENTRIES) == before
