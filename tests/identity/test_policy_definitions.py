"""Policies are stored as they are written, and nothing is stored that is no condition."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from psycopg import Connection
from psycopg.rows import DictRow, dict_row

from access import call, curator, join, name_of, refusal, state
from conftest import World

# Every table that a policy or its author could have changed.
STORED = """
SELECT (SELECT jsonb_agg(t) FROM memwarden_data.policy AS t) AS policies,
       (SELECT jsonb_agg(t) FROM memwarden_data.policy_set AS t) AS sets,
       (SELECT jsonb_agg(t) FROM memwarden_data.access_log AS t) AS log,
       (SELECT jsonb_agg(t) FROM memwarden_data.principal AS t) AS principals,
       (SELECT array_agg(rolname ORDER BY rolname) FROM pg_roles WHERE rolsuper) AS superusers
"""
SET = {"name": "a set", "default_effect": "allow", "org": "defining"}
POLICY = {"policy_set": "a set", "name": "a policy", "effect": "deny", "org": "defining"}

HOSTILE = [
    (None, 1),
    ("", 1),
    ("   ", 4),
    ("TRUE; DROP TABLE memwarden_data.policy", 5),
    ("TRUE -- all", 6),
    ("TRUE /* all */", 6),
    ("pg_sleep(100)", 1),
    ("agent.name = pg_read_file('/etc/passwd')", 14),
    ("agent.name = (SELECT rolname FROM pg_roles LIMIT 1)", 15),
    ("TRUE UNION SELECT TRUE", 6),
    ("agent.name = 'x' || 'y'", 18),
    ("agent.name::text = 'x'", 11),
    ("agent.name = $1", 14),
    ("agent.name = $$x$$", 14),
    ("agent.name = E'\\x41'", 14),
    ("agent.name = 'x", 14),
    ('agent."name" = 1', 1),
    ("$.agent.name == 'x'", 1),
    ("agent.name like_regex 'x'", 12),
    ("agent.name LIKE '%x'", 17),
    ("agent.name ~ 'x'", 12),
    ("agent.password = 'x'", 1),
    ("item.content = 'x'", 1),
    ("agent.secret_of_others = 'x'", 1),
    ("scope.path = 'x'", 1),
    ("principal_id = 1", 1),
    ("agent.validated = 'yes'", 19),
    ("item.classification > 'secret'", 23),
    ("agent.name = NULL", 14),
    ("agent.domains = 'law'", 1),
    ("TRUE AND", 9),
    ("(TRUE", 1),
    ("TRUE)", 5),
    ("NOT " * 60 + "TRUE", 201),
    ("TRUE\u202e OR FALSE", 5),
    ("agent.name = '\u0007'", 15),
    ("TRUE OR " * 300 + "TRUE", 2001),
]


@pytest.fixture(scope="module")
def authors(shared_world: World) -> Iterator[list[Connection[DictRow]]]:
    """An administrator and the organisation's curator; each has the compiler loaded once."""
    owner = curator(shared_world, "/org/defining")
    shared_world.scope("/org/others")
    secret = {"bearer": "agent", "name": "secret_of_others", "org": "others"}
    call(shared_world.admin, "define_attribute", **secret)
    call(shared_world.admin, "define_policy_set", **SET)
    with psycopg.connect(
        shared_world.dsn, user=name_of(owner), autocommit=True, row_factory=dict_row
    ) as connection:
        yield [shared_world.admin, connection]


@pytest.mark.parametrize(("condition", "position"), HOSTILE, ids=lambda value: repr(value)[:40])
def test_what_is_no_condition_is_refused_at_its_place(
    shared_world: World,
    authors: list[Connection[DictRow]],
    condition: str | None,
    position: int,
) -> None:
    """42601, the position from 1 in DETAIL; nothing is stored, run or noted.

    Proves: A2
    """
    before = shared_world.rows(STORED)
    for who in authors:
        for function in ("set_policy", "preview_policy"):
            error = refusal(who, function, condition=condition, **POLICY)
            assert error.sqlstate == "42601"
            told = error.diag.message_detail or ""
            assert told.startswith(f"at character {position}: "), told
            assert len(told) < 300
        assert shared_world.rows(STORED) == before


def test_a_condition_is_kept_as_it_is_written(shared_world: World, home: str) -> None:
    """Case, quotes, line ends and blanks; the view shows it to who may see it.

    Proves: A2
    """
    org = home.split("/")[2]
    owner = curator(shared_world, f"/org/{org}")
    call(owner, "define_policy_set", name="a set", default_effect="deny", operations=["WRITE"])
    conditions = {
        "straight": "agent.name = 'Ana ''the'' \"boss\"'",
        "broken": 'operation=write\n\tor\tagent.kind  <>"human"',
        "größe": "agent.name = 'größe ✓'",
    }
    for name, condition in conditions.items():
        about = {"policy_set": "a set", "name": name, "effect": "allow"}
        call(owner, "set_policy", **about, condition=condition)
    rows = owner.execute("SELECT * FROM memwarden.policies WHERE org = %s", (org,)).fetchall()
    assert {row["policy"]: row["condition"] for row in rows} == conditions
    rest = {"org": org, "policy_set": "a set", "default_effect": "deny", "operations": ["WRITE"]}
    assert all(row.items() >= (rest | {"effect": "allow"}).items() for row in rows)
    # Replaced, not added to; the set likewise.
    changed = {"name": "broken", "effect": "deny", "condition": "FALSE"}
    call(owner, "set_policy", policy_set="a set", **changed)
    call(owner, "define_policy_set", name="a set", default_effect="allow")
    rows = owner.execute(
        "SELECT effect, condition, default_effect, operations FROM memwarden.policies"
        " WHERE org = %s AND policy = 'broken'",
        (org,),
    ).fetchall()
    assert [tuple(row.values()) for row in rows] == [
        ("deny", "FALSE", "allow", ["READ", "WRITE", "DELETE"])
    ]


@pytest.mark.parametrize(
    ("function", "changes", "expected"),
    [
        ("define_policy_set", {"name": None}, "22023"),
        ("define_policy_set", {"name": ""}, "22023"),
        ("define_policy_set", {"name": " a set"}, "22023"),
        ("define_policy_set", {"name": "s" * 201}, "22023"),
        ("define_policy_set", {"default_effect": None}, "22023"),
        ("define_policy_set", {"default_effect": "ALLOW"}, "22023"),
        ("define_policy_set", {"operations": None}, "22023"),
        ("define_policy_set", {"operations": []}, "22023"),
        ("define_policy_set", {"operations": ["READ", None]}, "22023"),
        ("define_policy_set", {"operations": ["read"]}, "22023"),
        ("define_policy_set", {"org": "nobody"}, "42704"),
        ("set_policy", {"policy_set": None}, "42704"),
        ("set_policy", {"policy_set": "no set"}, "42704"),
        ("set_policy", {"name": None}, "22023"),
        ("set_policy", {"name": "p\n"}, "22023"),
        ("set_policy", {"name": "p" * 201}, "22023"),
        ("set_policy", {"effect": None}, "22023"),
        ("set_policy", {"effect": "permit"}, "22023"),
        ("set_policy", {"org": "nobody"}, "42704"),
        ("set_policy", {"org": "others"}, "42704"),
        ("set_policy", {"org": None}, "42704"),
        ("preview_policy", {"policy_set": "no set"}, "42704"),
        ("preview_policy", {"effect": "permit"}, "22023"),
        ("preview_policy", {"name": None}, "22023"),
        ("drop_policy", {"policy_set": None}, "42704"),
        ("drop_policy", {"policy_set": "no set"}, "42704"),
        ("drop_policy", {"name": "no policy"}, "42704"),
        ("drop_policy", {"org": "others"}, "42704"),
        ("drop_policy", {"org": "nobody"}, "42704"),
    ],
    ids=repr,
)
def test_a_broken_call_changes_nothing(
    shared_world: World, function: str, changes: dict[str, Any], expected: str
) -> None:
    """22023 for what is malformed, 42704 for what is not there.

    Proves: A2
    """
    for org in ("defining", "others"):
        shared_world.scope(f"/org/{org}")
    call(shared_world.admin, "define_policy_set", **SET)
    call(shared_world.admin, "set_policy", condition="FALSE", **POLICY)
    sound: dict[str, dict[str, Any]] = {
        "define_policy_set": SET,
        "drop_policy": {"policy_set": "a set", "name": "a policy", "org": "defining"},
    }
    given = sound.get(function, POLICY | {"condition": "TRUE"}) | changes
    before = shared_world.rows(STORED)
    assert state(shared_world.admin, function, **given) == expected
    assert shared_world.rows(STORED) == before


def test_who_administers_no_organisation_sets_no_policy(shared_world: World, home: str) -> None:
    """Neither previews nor drops: 42501, whether the set exists or not.

    Proves: A2, Z1
    """
    org = home.split("/")[2]
    owner = curator(shared_world, f"/org/{org}b")
    shared_world.scope(f"/org/{org}")
    call(shared_world.admin, "define_policy_set", name="a set", default_effect="allow", org=org)
    orchestrator = join(shared_world, f"/org/{org}", "curator", role="orchestrator")
    before = shared_world.rows(STORED)
    for who, where in (
        (orchestrator, None),
        (orchestrator, org),
        (owner, org),
        (owner, "global"),
        (owner, "nobody"),
    ):
        about = {"policy_set": "a set", "name": "mine", "org": where}
        for function, arguments in (
            ("define_policy_set", {"name": "a set", "default_effect": "deny", "org": where}),
            ("set_policy", about | {"effect": "allow", "condition": "TRUE"}),
            ("preview_policy", about | {"effect": "allow", "condition": "TRUE"}),
            ("drop_policy", {"policy_set": "a set", "org": where}),
        ):
            assert state(who, function, **arguments) == "42501"
    assert shared_world.rows(STORED) == before
