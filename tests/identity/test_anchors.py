"""An agent is anchored: which kinds of scope must be, and may be, on the path it writes to."""

from __future__ import annotations

from typing import Any

import pytest
from psycopg import Connection
from psycopg.errors import InvalidParameterValue
from psycopg.rows import DictRow

from conftest import World
from helpers import recall, write, write_many
from scope_calls import close_scope, create_scope, move_scope, promote, remember
from write.gates.obedient import run_retries, status

TABLE: list[tuple[list[str], list[str] | None, dict[str, bool]]] = [
    # anchored on (org, domain), and nothing else
    (["org", "domain"], [], {"": False, "/domain/d": True, "/domain/d/task/t": False,
                             "/domain/d/domain/e": True, "/user/u": False}),
    # a task below is nullable
    (["org", "domain"], ["task"], {"": False, "/domain/d": True, "/domain/d/task/t": True,
                                   "/domain/d/task/t/task/s": True, "/domain/d/user/u": False,
                                   "/task/t/domain/d": True, "/task/t": False}),
    # whatever else there is
    (["org", "domain"], None, {"": False, "/domain/d": True, "/domain/d/user/u/task/t": True,
                               "/user/u": False, "/user/u/domain/d": True}),
    # domain alone: an organisation is on every path, and not among what may be
    (["domain"], [], {"/domain/d": False, "": False}),
    ([], ["org", "task"], {"": True, "/task/t": True, "/domain/d": False, "/task/t/user/u": False}),
    ([], None, {"": True, "/domain/d": True, "/user/u/task/t": True}),
]  # fmt: skip


def place(home: str) -> str:
    """The organisation of this test."""
    return "/".join(home.split("/")[:3])


def anchored(
    world: World, home: str, required: list[str], nullable: list[str] | None, **options: Any
) -> Connection[DictRow]:
    """Register an agent with that anchor, and connect as it."""
    return world.agent(home, anchor_required=required, anchor_nullable=nullable, **options)


@pytest.mark.parametrize(("required", "nullable", "paths"), TABLE, ids=[str(r[:2]) for r in TABLE])
def test_writes_outside_the_anchor_are_refused(
    shared_world: World,
    home: str,
    required: list[str],
    nullable: list[str] | None,
    paths: dict[str, bool],
) -> None:
    """ANCHOR_MISMATCH for one write and for a batch; reading is not the anchor's matter.

    Proves: N10
    """
    organisation = place(home)
    for path in paths:
        shared_world.scope(organisation + path)
    homes = [path for path, is_met in paths.items() if is_met]
    for path, is_met in paths.items():
        options: dict[str, Any] = {"anchor_required": required, "anchor_nullable": nullable}
        if not is_met:
            with pytest.raises(InvalidParameterValue, match="outside") as raised:
                shared_world.agent(organisation + path, **options)
            told = raised.value.diag.message_detail
            assert told == f"scope: '{organisation}{path}' is outside the anchor"
    if not homes:
        return
    author = shared_world.agent(organisation, descendants=True)
    agent = anchored(shared_world, organisation + homes[0], required, nullable)
    name = agent.info.user
    for path, is_met in paths.items():
        scope = organisation + path
        shared_world.admin.execute("SELECT memwarden.grant_scope(%s, %s, true)", (name, scope))
        remember(author, scope, {"said in": scope})
        row = write(agent, "semantic", {"by": name, "in": scope}, scope=scope)
        (other,) = write_many(agent, [{"layer": "working", "content": scope, "scope": scope}])
        for answer in (row, other):
            outcome = (answer["outcome"], answer["reason"], answer["gate"])
            assert outcome == (
                ("COMMITTED", None, None)
                if is_met
                else ("REJECTED", "ANCHOR_MISMATCH", "05_identity")
            ), path
    found = recall(agent, k=1000, layers=["semantic"])
    said = {row["content"].get("said in") for row in found} - {None}
    assert said == {organisation + path for path in paths}


def test_an_agent_anchored_on_organisation_and_domain(shared_world: World, home: str) -> None:
    """The example of the document: its memory is keyed by (org_id, domain_id), tasks may lie below.

    Proves: N10
    """
    organisation = place(home)
    domain = f"{organisation}/domain/d"
    agent = anchored(shared_world, domain, ["org", "domain"], ["task"], descendants=True)
    shown = agent.execute("SELECT * FROM memwarden.whoami()").fetchall()
    assert shown[0]["anchor_required"] == ["org", "domain"]
    assert shown[0]["anchor_nullable"] == ["task"]
    create_scope(agent, f"{domain}/task/t")
    shared_world.scope(f"{domain}/user/ana")
    lesson = remember(agent, f"{domain}/task/t", {"lesson": 1})
    refused = write(agent, "semantic", {"x": 1}, scope=f"{domain}/user/ana")
    assert refused["reason"] == "ANCHOR_MISMATCH"
    assert close_scope(agent, f"{domain}/task/t", lesson) == {lesson: "COMMITTED"}
    shared_world.admin.execute(
        "SELECT memwarden.grant_scope(%s, %s, true)", (agent.info.user, organisation)
    )
    (promoted,) = recall(agent, scopes=[domain])
    answer = promote(agent, promoted["item_id"], target=organisation)
    assert answer["reason"] == "ANCHOR_MISMATCH"


@pytest.mark.parametrize(
    ("required", "nullable"),
    [
        (["galaxy"], None),
        (["org", "galaxy"], []),
        (["org"], ["galaxy"]),
        ([None], None),
        (["org"], [None]),
        ([""], None),
        (["ORG"], None),
        (None, None),
    ],
    ids=repr,
)
def test_an_anchor_names_kinds_of_scope(
    shared_world: World, home: str, required: Any, nullable: Any
) -> None:
    """22023, and nobody is registered.

    Proves: N10
    """
    count = "SELECT count(*) FROM memwarden_data.principal"
    before = shared_world.value(count)
    with pytest.raises(InvalidParameterValue) as raised:
        anchored(shared_world, home, required, nullable)
    told = raised.value.diag.message_detail
    assert told == "anchor_required, anchor_nullable: kinds of scope"
    assert shared_world.value(count) == before


def test_a_kind_that_was_defined_here_anchors_as_well(shared_world: World, home: str) -> None:
    """Names of scopes are no kinds: one that is called like a kind does not count.

    Proves: N10
    """
    shared_world.admin.execute("SELECT memwarden.define_scope_kind('world', 'a world of its own')")
    organisation = place(home)
    met, trap = f"{organisation}/world/user", f"{organisation}/user/world"
    shared_world.scope(trap)
    agent = anchored(shared_world, met, ["world"], ["org"])
    shared_world.admin.execute(
        "SELECT memwarden.grant_scope(%s, %s, true)", (agent.info.user, trap)
    )
    assert write(agent, "semantic", "here")["outcome"] == "COMMITTED"
    assert write(agent, "semantic", "there", scope=trap)["reason"] == "ANCHOR_MISMATCH"


def test_an_agent_of_global_can_be_anchored_there(shared_world: World) -> None:
    """Its path has one level.

    Proves: N10
    """
    agent = anchored(shared_world, "/global", ["global"], [])
    assert write(agent, "semantic", {"all": "know"})["outcome"] == "COMMITTED"
    with pytest.raises(InvalidParameterValue):
        anchored(shared_world, "/global", ["org"], None)


def test_the_anchor_is_asked_again_after_a_move(world: World) -> None:
    """A home that is moved out of the anchor is not written any more, by deferred requests too.

    Proves: N10, A4
    """
    domain, task = "/org/acme/domain/d", "/org/acme/domain/d/task/t"
    agent = anchored(world, task, ["org", "domain"], ["task"])
    remember(agent, task, {"n": 0})
    blocker = world.connect()
    agent.execute("SET lock_timeout = '1ms'")
    with blocker.transaction():
        blocker.execute("SELECT FROM memwarden_data.write_lock FOR UPDATE")
        waits = write(agent, "semantic", {"n": 1})
    assert waits["outcome"] == "DEFERRED"
    move_scope(world.admin, task, "/org/acme")
    assert write(agent, "semantic", {"n": 2})["reason"] == "ANCHOR_MISMATCH"
    run_retries(world)
    assert status(world, waits)["reason"] == "ANCHOR_MISMATCH"
    move_scope(world.admin, "/org/acme/task/t", domain)
    assert write(agent, "semantic", {"n": 3})["outcome"] == "COMMITTED"
