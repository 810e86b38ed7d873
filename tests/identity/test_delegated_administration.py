"""An organisation administers itself, by its own people, and reaches nothing beyond itself."""

from __future__ import annotations

from uuid import uuid4

import psycopg
import pytest

from access import call, name_of
from conftest import World
from identity.two import ACME, OTHER, Two, answer, full_calls, layer_calls
from row_digests import row_digests


@pytest.fixture
def two(world: World) -> Two:
    """Two organisations in a database of their own."""
    return Two(world)


def test_a_curator_administers_its_organisation(two: Two) -> None:
    """All of it, without an administrator of the database, and by its own login.

    Proves: A1
    """
    for function, arguments in [*full_calls(ACME, two.agents[ACME]), *layer_calls("acme")]:
        assert answer(two.acme, function, **arguments) is None, function
    # Its own organisation is what it means where it names none.
    assert answer(two.acme, "define_role", name="own", permissions=[]) is None
    owner = two.world.value("SELECT org FROM memwarden.roles WHERE role = 'own'")
    assert owner == "acme"


def test_a_curator_touches_nothing_of_another_organisation_or_of_all(two: Two) -> None:
    """Refused, whatever it tries, and not a row differs afterwards.

    Proves: A1, A4, Z1
    """
    theirs = two.agents[OTHER]
    before = row_digests(two.world.admin)
    calls = [*full_calls(OTHER, theirs), *layer_calls("other"), *layer_calls("global")]
    everybody = [
        (function, arguments | {"org": "global"})
        for function, arguments in full_calls(OTHER, theirs)
        if "org" in arguments
    ]
    for function, arguments in calls + everybody:
        assert answer(two.acme, function, **arguments) in ("42501", "42704"), function
    # Its own agent in their scopes, and theirs in its own.
    mine = two.agents[ACME]
    for function, arguments in (
        ("grant_scope", {"agent": mine, "scope": OTHER}),
        ("grant_scope", {"agent": theirs, "scope": ACME}),
        ("grant_scope", {"agent": theirs, "scope": f"{ACME}/user/ana", "writes": True}),
        ("revoke_scope", {"agent": theirs, "scope": f"{OTHER}/user/ana"}),
        ("change_agent", {"agent": theirs, "enabled": False}),
        ("revoke_tokens", {"agent": theirs}),
        ("revoke_tokens", {"token_id": uuid4()}),
        ("explain_access", {"agent": theirs, "item_id": two.items[OTHER]}),
        ("retract", {"item_id": two.items[OTHER], "reason": "mine now"}),
        ("annotate", {"item_id": two.items[OTHER], "verdict": "refuted"}),
        ("promote", {"item_id": two.items[OTHER]}),
    ):
        assert answer(two.acme, function, **arguments) in ("42501", "42704"), function
    # Scopes do not move or copy across either.
    for moved in ({"path": f"{ACME}/user/ana", "new_parent": OTHER},
                  {"path": f"{ACME}/user/ana", "new_parent": "/global"}):  # fmt: skip
        assert answer(two.acme, "move_scope", **moved) in ("22023", "42501", "42704")
    assert row_digests(two.world.admin) == before


def test_a_curator_does_not_rise_above_its_organisation(two: Two) -> None:
    """Neither by /global, nor by logins, keys, gates and layers, nor by an agent it registers.

    Proves: A1, A4, A6, Z1
    """
    me = name_of(two.acme)
    login = two.world.role("memwarden_agent")
    before = row_digests(two.world.admin)
    for function, arguments in (
        ("grant_scope", {"agent": me, "scope": "/global", "writes": True}),
        ("grant_scope", {"agent": me, "scope": "/global", "descendants": True}),
        ("register_agent", {"name": "above", "scope": "/global"}),
        ("register_agent", {"name": "bound", "scope": ACME, "login_role": login}),
        ("register_agent", {"name": "admin", "scope": ACME, "login_role": "postgres"}),
        ("create_scope", {"path": "/org/third"}),
        ("create_scope", {"path": "/org/third/user/ana"}),
        ("close_scope", {"path": "/global"}),
        ("change_agent", {"agent": "memwarden", "enabled": False}),
        ("change_agent", {"agent": "memwarden", "org": "global", "enabled": False}),
        ("bind_login", {"agent": me, "login_role": login}),
        ("unbind_login", {"login_role": name_of(two.curators[OTHER])}),
        ("bind_identity", {"agent": me, "issuer": "https://login.example", "subject": "me"}),
        ("unbind_identity", {"issuer": "https://login.example", "subject": "me"}),
        ("rotate_token_key", {}),
        ("issue_token_for", {"issuer": "https://l.example", "subject": "me", "audience": me}),
        ("issue_token", {"agent": two.agents[ACME], "audience": me}),
        ("define_scope_kind", {"kind": "desk", "description": "a desk"}),
        ("configure_layer", {"layer": "working", "settings": "{}", "org": "global"}),
        ("register_embedding_model", {"name": "m", "dimension": 3}),
        ("disable_gate", {"name": "admission"}),
        ("remove_gate", {"name": "admission"}),
        ("maintain", {}),
        ("setup", {}),
    ):
        assert answer(two.acme, function, **arguments) in ("42501", "42704"), function
    for group in ("memwarden_admin", "memwarden_owner", "memwarden_broker", "memwarden_jobs"):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            two.acme.execute(f"SET ROLE {group}")
    assert row_digests(two.world.admin) == before


def test_what_is_refused_tells_nothing_of_other_organisations(two: Two) -> None:
    """One that exists and one that does not answer alike, in every function.

    Proves: A4
    """
    told: dict[str, list[tuple[str | None, str]]] = {}
    for place in (OTHER, "/org/nobody"):
        org = place.split("/")[2]
        for function, arguments in [*full_calls(place, "somebody"), *layer_calls(org)]:
            with pytest.raises(psycopg.Error) as raised:
                call(two.acme, function, **arguments)
            detail = (raised.value.diag.message_detail or "").replace(place, "/org/it")
            told.setdefault(function, []).append((raised.value.sqlstate, detail))
    assert len(told) == 25
    assert {function: len(set(answers)) for function, answers in told.items()} == dict.fromkeys(
        told, 1
    )
