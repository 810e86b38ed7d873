"""No agent decides, by any path; nobody decides about its own where four eyes are asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from access import call, curator, join
from helpers import write, write_many
from reviewing import HOME, ORG, ask, decide, events, let_time_pass, propose, queue, reviewer

if TYPE_CHECKING:
    from psycopg import Connection
    from psycopg.rows import DictRow

    from conftest import World

FORBIDDEN = psycopg.errors.InsufficientPrivilege


def test_an_agents_login_reaches_no_decision(world: World) -> None:
    """Not by calling, by SET ROLE, by what it claims in a request, or by the tables.

    Proves: H6
    """
    ask(world)
    agent = world.log_in(world.register(HOME, descendants=True))
    number = propose(agent)
    attempts: list[tuple[str, tuple[Any, ...]]] = [
        ("SELECT memwarden.approve(%s)", (number,)),
        ("SELECT memwarden.reject(%s, 'OTHER')", (number,)),
        ("SELECT memwarden.approve_with_edit(%s, %s)", (number, Jsonb("x"))),
        ("SELECT * FROM memwarden.review_queue()", ()),
        ("SET ROLE memwarden_reviewer", ()),
        ("SET ROLE memwarden_curator", ()),
        ("SET SESSION AUTHORIZATION postgres", ()),
        ("SELECT memwarden_internal.agree(%s, NULL, NULL, true)", (number,)),
        ("SELECT memwarden_internal.refuse_request(%s, 'X', NULL)", (number,)),
        ("UPDATE memwarden_data.review SET state = 'approved'", ()),
        ("UPDATE memwarden_data.write_request SET attempt = attempt + 1", ()),
        ("SELECT memwarden.set_approval_policy('semantic', approval => 'never')", ()),
        ("SELECT memwarden.set_reputation_threshold(0, 'acme')", ()),
        ("CALL memwarden.expire_reviews()", ()),
    ]
    for statement, arguments in attempts:
        with pytest.raises(FORBIDDEN):
            agent.execute(statement, arguments)
    assert events(world, number) == ["opened"]


def test_an_agent_that_a_dba_lets_review_still_decides_nothing(world: World) -> None:
    """A principal of kind agent has nothing in its queue, whatever its role and its login's.

    Proves: H6
    """
    ask(world)
    number = propose(world.agent(HOME))
    rogue = join(world, ORG, "agent", "reviewer", "curator", role="curator", descendants=True)
    assert queue(rogue) == []
    for function, *arguments in (("approve", number), ("reject", number, "OTHER")):
        with pytest.raises(FORBIDDEN):
            decide(rogue, function, *arguments)
    # Nor by writing where it may write: the queue, a batch, a promotion, a copy of what waits.
    assert write(rogue, "semantic", "of its own", scope=ORG)["outcome"] == "DEFERRED"
    [many] = write_many(rogue, [{"layer": "semantic", "content": "one of many", "scope": ORG}])
    assert many["outcome"] == "DEFERRED"
    seen = write(rogue, "episodic", "seen", scope=HOME)
    assert seen["outcome"] == "COMMITTED"
    done = rogue.execute(
        "SELECT * FROM memwarden.promote(%s, %s, 'semantic')", (seen["item_id"], ORG)
    ).fetchone()
    assert done is not None
    assert done["outcome"] == "DEFERRED"
    assert world.value("SELECT count(*) FROM memwarden_data.item WHERE layer = 'semantic'") == 0


def test_four_eyes(world: World) -> None:
    """Not the writer, not the owner of the agent, not another agent's hand of the same owner.

    Proves: H6
    """
    ask(world)
    owner = reviewer(world)
    boss = join(world, ORG, "agent", "curator", kind="human", role="curator", descendants=True)
    agent = world.agent(HOME, owner=owner.info.user)
    service = reviewer(world, kind="service", owner=owner.info.user)
    number = propose(agent)
    own = write(boss, "semantic", "my own")
    for connection, proposal in (
        (owner, number),
        (service, number),
        (boss, str(own["request_id"])),
    ):
        with pytest.raises(FORBIDDEN) as raised:
            decide(connection, "approve", proposal)
        assert "FOUR_EYES" in (raised.value.diag.message_detail or "")
        with pytest.raises(FORBIDDEN):
            decide(connection, "reject", proposal, "OTHER")
    assert decide(reviewer(world), "approve", number)["outcome"] == "COMMITTED"
    ask(world, four_eyes=False)
    number = propose(agent, "The grass is green")
    assert decide(owner, "approve", number)["outcome"] == "COMMITTED"


def refused(connection: Connection[DictRow], number: str) -> bool:
    """Tell whether four eyes keep somebody from deciding, either way."""
    for function, *arguments in (("approve", number), ("reject", number, "OTHER")):
        with pytest.raises(FORBIDDEN) as raised:
            decide(connection, function, *arguments)
        assert "FOUR_EYES" in (raised.value.diag.message_detail or ""), raised.value.diag
    return True


def test_a_change_of_owner_frees_nobody_to_decide(world: World) -> None:
    """Who answered for the agent when it asked does not decide, and who answers for it now neither.

    Proves: H6
    """
    ask(world)
    owner = curator(world, ORG)
    agent = world.agent(HOME, owner=owner.info.user)
    number = propose(agent)
    heir, friend = reviewer(world), reviewer(world)
    hand = reviewer(world, kind="service", owner=owner.info.user)
    call(owner, "change_agent", agent=agent.info.user, owner=friend.info.user)
    call(owner, "change_agent", agent=agent.info.user, owner=heir.info.user)
    for person in (owner, hand, heir):
        assert refused(person, number)
    # Who answered for it in between alone is bound to nothing.
    assert decide(friend, "approve", number)["outcome"] == "COMMITTED"
    # What it asks from now on is the former owner's to decide.
    number = propose(agent, "The grass is green")
    assert refused(heir, number)
    assert decide(owner, "approve", number)["outcome"] == "COMMITTED"


def test_nobody_lets_in_who_decides_about_what_waits(world: World) -> None:
    """Not a person that it registers, promotes or grants a scope to, not by a role or a policy.

    Proves: H6
    """
    ask(world)
    asker = curator(world, ORG)
    agent = world.agent(HOME, owner=asker.info.user)
    permissions = [{"operation": "READ"}, {"operation": "APPROVE"}]
    call(world.admin, "define_role", name="acme-judge", permissions=permissions, org="acme")
    number = propose(agent)
    promoted, judge, guest = (
        reviewer(world, role="verifier"),
        reviewer(world, role="acme-judge"),
        reviewer(world, scope=HOME, descendants=False),
    )
    own = {"name": "puppet", "scope": ORG, "kind": "human", "role": "reviewer"}
    call(asker, "register_agent", **own, descendants=True, writes=False)
    login = world.role("memwarden_reviewer")
    call(world.admin, "bind_login", agent="puppet", login_role=login)
    call(asker, "change_agent", agent=promoted.info.user, role="reviewer")
    call(asker, "grant_scope", agent=guest.info.user, scope=ORG, writes=False, descendants=True)
    call(asker, "define_role", name="acme-judge", permissions=permissions)
    for person in (world.connect(login), promoted, judge, guest):
        assert refused(person, number)
    # What waits from now on they may decide about; and others about all of it.
    later = propose(agent, "The grass is green")
    assert decide(promoted, "approve", later)["outcome"] == "COMMITTED"
    assert decide(reviewer(world), "approve", number)["outcome"] == "COMMITTED"
    changes = world.rows(
        "SELECT DISTINCT action FROM memwarden.access_changes WHERE login_role = %s ORDER BY 1",
        asker.info.user,
    )
    assert [row["action"] for row in changes] == [
        "change_agent",
        "define_role",
        "grant_scope",
        "register_agent",
    ]


def test_nobody_lets_itself_in(world: World) -> None:
    """Who administers and makes itself a reviewer decides about what comes after that.

    Proves: H6
    """
    ask(world)
    permissions = [{"operation": "READ"}, {"operation": "ADMIN", "degree": "full"}]
    agent = world.agent(HOME)
    call(world.admin, "define_role", name="office", permissions=permissions, org="acme")
    office = join(
        world, ORG, "curator", kind="human", role="office", descendants=True, clearance="restricted"
    )
    number = propose(agent)
    call(office, "change_agent", agent=office.info.user, role="curator")
    assert refused(office, number)
    later = propose(agent, "The grass is green")
    assert decide(office, "approve", later)["outcome"] == "COMMITTED"


def test_a_token_from_who_asked_decides_nothing(world: World) -> None:
    """A service that hands out tokens speaks for its owner, whoever it names.

    Proves: H6
    """
    ask(world)
    owner = curator(world, ORG)
    number = propose(world.agent(HOME, owner=owner.info.user))
    gate = world.connect(world.role("memwarden_reviewer"))
    name = reviewer(world).info.user
    brokers = [
        join(world, ORG, "broker", kind="service", **more)
        for more in ({"owner": owner.info.user}, {})
    ]

    def agree(broker: Connection[DictRow]) -> Any:
        query = "SELECT token FROM memwarden.issue_token(%s, %s)"
        token = broker.execute(query, (name, gate.info.user)).fetchone()
        assert token is not None
        with gate.transaction():
            gate.execute("SELECT memwarden.authenticate(%s)", (token["token"],))
            return decide(gate, "approve", number)

    with pytest.raises(FORBIDDEN) as raised:
        agree(brokers[0])
    assert "FOUR_EYES" in (raised.value.diag.message_detail or "")
    assert agree(brokers[1])["outcome"] == "COMMITTED"


def test_what_waits_keeps_the_stricter_policy(world: World) -> None:
    """Of when it asked and of now, whichever asks for more people, and for four eyes.

    Proves: H6
    """
    ask(world, needed=2)
    owner = curator(world, ORG)
    agent = world.agent(HOME, owner=owner.info.user)
    number = propose(agent)
    call(owner, "set_approval_policy", layer="semantic", needed=1, four_eyes=False)
    assert refused(owner, number)
    people = [reviewer(world) for _ in range(3)]
    first = decide(people[0], "approve", number)
    assert (first["outcome"], first["detail"]["needed"]) == ("DEFERRED", 2)
    call(owner, "set_approval_policy", layer="semantic", needed=3)
    [shown] = queue(people[1])
    assert shown["needed"] == 3
    second = decide(people[1], "approve", number)
    assert (second["outcome"], second["detail"]["needed"]) == ("DEFERRED", 3)
    assert decide(people[2], "approve", number)["outcome"] == "COMMITTED"


def test_a_policy_that_ends_lets_nothing_through_that_waits(world: World) -> None:
    """What nobody answered in time is refused, also where nobody would be asked any more.

    Proves: H3, H6
    """
    ask(world)
    number = propose(world.agent(HOME))
    ask(world, approval="never")
    let_time_pass(world, number)
    world.admin.execute(
        "UPDATE memwarden_data.write_request SET retry_at = clock_timestamp()"
        " WHERE outcome = 'DEFERRED'"
    )
    world.admin.execute("CALL memwarden.retry_deferred()")
    [request] = world.rows("SELECT outcome, reason FROM memwarden_data.write_request")
    assert request == {"outcome": "REJECTED", "reason": "REVIEW_EXPIRED"}


def test_one_login_is_one_pair_of_eyes(world: World) -> None:
    """Two principals by tokens through one login agree once.

    Proves: H6
    """
    ask(world, needed=2)
    number = propose(world.agent(HOME))
    gate = world.connect(world.role("memwarden_reviewer"))
    broker = join(world, ORG, "broker", kind="service")
    people = [reviewer(world).info.user for _ in range(2)]

    def agree(name: str) -> Any:
        token = broker.execute(
            "SELECT token FROM memwarden.issue_token(%s, %s)", (name, gate.info.user)
        ).fetchone()
        assert token is not None
        with gate.transaction():
            gate.execute("SELECT memwarden.authenticate(%s)", (token["token"],))
            return decide(gate, "approve", number)

    assert agree(people[0])["outcome"] == "DEFERRED"
    with pytest.raises(FORBIDDEN):
        agree(people[1])
    assert world.value("SELECT state FROM memwarden_data.review") == "pending"


def test_nobody_sees_or_decides_about_what_lies_outside_its_reach(world: World) -> None:
    """Another organisation, another scope, a higher classification, a domain not held: none.

    Proves: H6
    """
    ask(world)
    agent = world.agent(HOME, clearance="confidential", domains=["hr"])
    number = propose(agent, classification="confidential", domains=["hr"])
    strangers = [
        reviewer(world, scope="/org/other"),
        reviewer(world, scope="/org/acme/user/bob"),
        reviewer(world, clearance="internal", domains=["hr"]),
        reviewer(world, clearance="restricted"),
        join(
            world,
            ORG,
            "reviewer",
            kind="human",
            role="verifier",
            descendants=True,
            clearance="restricted",
            domains=["hr"],
        ),
    ]
    world.grant_tables(*(stranger.info.user for stranger in strangers))
    for stranger in strangers:
        assert queue(stranger, state=None) == []
        for table in ("review", "review_event"):
            rows = stranger.execute(f"SELECT * FROM memwarden_data.{table}").fetchall()
            assert rows == [], (stranger.info.user, table)
        history = stranger.execute("SELECT * FROM memwarden.review_history(%s)", (number,))
        assert history.fetchall() == []
        with pytest.raises((psycopg.errors.UndefinedObject, FORBIDDEN)):
            decide(stranger, "approve", number)
    assert len(queue(reviewer(world, domains=["hr"]))) == 1


def test_a_reviewer_reads_no_contradicting_memory_that_is_hidden_from_it(world: World) -> None:
    """The writer is cleared for more than the reviewer: its words stay hidden.

    Proves: H2
    """
    world.ship_layers()
    world.admin.execute(
        "UPDATE memwarden_data.layer SET fact_threshold = 0, min_authority = 0, min_external = 0,"
        " self_reference = 'allow', conflict = 'latest_wins'"
    )
    agent, other = (world.agent(HOME, clearance="restricted") for _ in range(2))
    ana = reviewer(world, clearance="internal")
    write(other, "semantic", "The door is open", classification="restricted", confidence=0.6)
    ask(world)
    propose(agent, "The door is not open", confidence=0.9)
    [shown] = queue(ana)
    assert [(c.get("hidden"), "content" in c) for c in shown["contradictions"]] == [(True, False)]
    with pytest.raises(FORBIDDEN):
        decide(ana, "approve", str(shown["proposal_id"]))


def test_the_audit_cannot_be_changed(world: World) -> None:
    """Proves: H4 (immutable audit)."""
    ask(world)
    number = propose(world.agent(HOME))
    decide(reviewer(world), "approve", number)
    for statement in (
        "UPDATE memwarden_data.review_event SET note = 'x'",
        "DELETE FROM memwarden_data.review_event",
        "TRUNCATE memwarden_data.review_event",
    ):
        with pytest.raises(psycopg.errors.DatabaseError) as raised:
            world.admin.execute(statement)
        assert "append-only" in str(raised.value) or raised.value.diag.message_detail
