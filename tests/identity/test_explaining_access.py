"""explain_access() says which rule decides, agrees with what happens, and tells nobody more."""

from __future__ import annotations

from typing import Any
from uuid import UUID, uuid4

import pytest
from psycopg import Connection
from psycopg.errors import Error as DatabaseError
from psycopg.rows import DictRow

from access import administrator, call, curator, join, name_of, refusal, state
from conftest import World
from helpers import write

RULES = ["identity", "scope", "clearance", "domains", "sharing", "role"]


def explain(
    asker: Connection[DictRow], agent: str, item: UUID, operation: str = "READ", **more: Any
) -> list[DictRow]:
    """Ask; check what holds of every explanation."""
    steps = call(asker, "explain_access", agent=agent, item_id=item, operation=operation, **more)
    assert [step["step"] for step in steps] == list(range(1, len(steps) + 1))
    assert [step["rule"].split()[0] for step in steps[:6]] == RULES
    assert all(step["rule"].startswith("policy set ") for step in steps[6:])
    refused = [step["step"] for step in steps if not step["allowed"]]
    decisive = [step["step"] for step in steps if step["decisive"]]
    assert decisive == [refused[0] if refused else len(steps)]
    return steps


def is_allowed(steps: list[DictRow]) -> bool:
    """Whether all rules allow it."""
    return all(step["allowed"] for step in steps)


def decisive(steps: list[DictRow]) -> tuple[str, bool, str]:
    """Return the rule that decided."""
    (step,) = (step for step in steps if step["decisive"])
    return step["rule"], step["allowed"], step["explanation"]


class Case:
    """An organisation, its curator, and an item that lies in a user's scope."""

    def __init__(self, world: World, home: str) -> None:
        self.world = world
        self.home = home
        self.org = home.split("/")[2]
        self.place = f"/org/{self.org}"
        self.owner = curator(world, self.place)
        self.author = join(world, home, clearance="restricted", domains=["law"])
        self.key = {"subject": "Ana", "predicate": "owes"}
        secret = {"classification": "confidential", "domains": ["law"]}
        row = write(self.author, "semantic", "10", **self.key, **secret)
        self.item: UUID = row["item_id"]

    def reader(self, home: str | None = None, **standing: Any) -> Connection[DictRow]:
        """Register an agent that may read the item, but for what is changed."""
        may: dict[str, Any] = {"clearance": "restricted", "domains": ["law", "tax"]}
        return join(self.world, home or self.home, **may | standing)


@pytest.fixture
def case(shared_world: World, home: str) -> Case:
    """An organisation of its own for each test."""
    return Case(shared_world, home)


def test_the_first_rule_that_refuses_decides(case: Case) -> None:
    """Each rule in its turn, in words that name both sides; where all allow, the last one.

    Proves: A1, A2, A3
    """
    reader = case.reader()
    name = name_of(reader)

    def told() -> tuple[str, bool, str]:
        return decisive(explain(case.owner, name, case.item))

    def change(**changes: Any) -> None:
        call(case.owner, "change_agent", agent=name, **changes)

    assert told() == ("role contributor", True, "READ in layer semantic of another's item")
    about = {"policy_set": "a set", "name": "no law", "effect": "deny"}
    call(case.owner, "define_policy_set", name="a set", default_effect="allow")
    assert told() == ("policy set a set", True, "no policy of it applies: its default")
    call(case.owner, "set_policy", **about, condition="'law' = ANY(item.domains)")
    assert told() == ("policy set a set", False, "its policy no law")
    call(case.owner, "define_role", name="mute", permissions=[{"operation": "WRITE"}])
    change(role="mute")
    assert told() == ("role mute", False, "READ in layer semantic of another's item")
    change(domains=["tax"])
    assert told() == ("domains", False, "the item lies in {law}, the agent holds {tax}")
    change(clearance="internal")
    said = "the item is confidential, the agent cleared for internal"
    assert told() == ("clearance", False, said)
    call(case.owner, "revoke_scope", agent=name, scope=case.home)
    said = f"reading {case.home}: a grant on it, below it, or above it with descendants"
    assert told() == ("scope", False, said)
    change(enabled=False)
    assert told() == ("identity", False, "the agent is disabled")
    steps = explain(case.owner, name, case.item)
    assert [step["rule"] for step in steps if step["allowed"]] == ["sharing"]


def test_every_set_is_listed_by_name(case: Case) -> None:
    """With the policy of it that decided, a denial first.

    Proves: A2
    """
    for name, default in (("b", "deny"), ("a", "allow")):
        call(case.owner, "define_policy_set", name=name, default_effect=default)
    for name, effect in (("2 yes", "allow"), ("1 yes", "allow"), ("never", "deny")):
        condition = "FALSE" if name == "never" else "TRUE"
        call(case.owner, "set_policy", policy_set="b", name=name, effect=effect,
             condition=condition)  # fmt: skip
    steps = explain(case.owner, name_of(case.author), case.item)[6:]
    assert [tuple(step.values())[1:] for step in steps] == [
        ("policy set a", True, "no policy of it applies: its default", False),
        ("policy set b", True, "its policy 1 yes", True),
    ]
    call(case.owner, "set_policy", policy_set="b", name="never", effect="deny", condition="TRUE")
    steps = explain(case.owner, name_of(case.author), case.item)[6:]
    assert [step["explanation"] for step in steps][1] == "its policy never"


def attempt(case: Case, agent: Connection[DictRow], operation: str, item: UUID) -> bool:
    """Really do it, and take it back."""
    try:
        with agent.transaction(force_rollback=True):
            if operation == "READ":
                return bool(call(agent, "get", item_id=item))
            if operation == "DELETE":
                call(agent, "retract", item_id=item, reason="wrong")
                return True
            row = write(agent, "semantic", "20", scope=case.home, **case.key)
            return bool(row["item_id"] == item)
    except DatabaseError:
        return False


@pytest.mark.parametrize(
    ("policy", "kinds"),
    [(None, 6), ("operation = WRITE", 5), ("NOT item.own", 6), ("agent.kind = 'human'", 6)],
)
def test_it_agrees_with_what_happens(case: Case, policy: str | None, kinds: int) -> None:
    """Agents of every standing read, overwrite and retract the item exactly where it says so.

    Proves: A1, A2, A3
    """
    if policy:
        call(case.owner, "define_policy_set", name="a set", default_effect="allow")
        call(case.owner, "set_policy", policy_set="a set", name="no", effect="deny",
             condition=policy)  # fmt: skip
    roles = ["contributor", "executor", "verifier", "orchestrator", "curator"]
    agents = [case.author, case.owner]
    agents += [case.reader(role=role) for role in roles]
    agents += [case.reader(role="curator", kind="human"), case.reader(role="curator", writes=False)]
    agents += [case.reader(role="curator", clearance="internal")]
    agents += [case.reader(role="curator", domains=["tax"])]
    agents += [case.reader(f"{case.place}/user/bob", role="curator")]
    above: dict[str, Any] = {"role": "curator", "descendants": True}
    agents += [case.reader(case.place, **above)]
    agents += [case.reader(case.place, **above, anchor_required=["org"], anchor_nullable=["task"])]
    answers = set()
    for agent in agents:
        reads = is_allowed(explain(case.owner, name_of(agent), case.item))
        for operation in ("READ", "WRITE", "DELETE"):
            allowed = is_allowed(explain(case.owner, name_of(agent), case.item, operation))
            # What cannot be seen can be neither overwritten nor taken back.
            assert attempt(case, agent, operation, case.item) == (reads and allowed)
            answers.add((operation, allowed))
    assert len(answers) == kinds


def test_an_agent_asks_about_itself_and_what_it_sees(case: Case) -> None:
    """What it does not see is unknown to it, as is everybody else, who exists or not.

    Proves: A3
    """
    reader, blind = case.reader(), case.reader(clearance="public")
    assert is_allowed(explain(reader, name_of(reader), case.item))
    assert not is_allowed(explain(reader, name_of(reader), case.item, "DELETE"))
    own = write(blind, "semantic", "mine")["item_id"]
    assert is_allowed(explain(blind, name_of(blind), own, "WRITE"))
    hidden = refusal(blind, "explain_access", agent=name_of(blind), item_id=case.item)
    absent_id = uuid4()
    absent = refusal(blind, "explain_access", agent=name_of(blind), item_id=absent_id)
    assert hidden.sqlstate == absent.sqlstate == "42704"
    told = (hidden.diag.message_detail or "").replace(str(case.item), str(absent_id))
    assert told == absent.diag.message_detail
    for other in (name_of(case.author), name_of(blind), "nobody", "memwarden"):
        error = refusal(reader, "explain_access", agent=other, item_id=case.item)
        assert (error.sqlstate, error.diag.message_detail) == ("42704", f"agent '{other}'")
    stranger = case.world.connect(case.world.role("memwarden_agent"))
    about = {"agent": name_of(reader), "item_id": case.item}
    assert state(stranger, "explain_access", **about) == "28000"


def test_an_auditor_asks_about_everybody_and_what_it_sees(case: Case) -> None:
    """Of its own organisation; what it does not see is unknown to it too.

    Proves: A3
    """
    secret: dict[str, Any] = {"clearance": "restricted", "domains": ["law"]}
    auditor = join(case.world, case.home, "auditor", **secret)
    blind = join(case.world, case.home, "auditor")
    reader = case.reader(clearance="internal")
    rule, allowed, _ = decisive(explain(auditor, name_of(reader), case.item))
    assert (rule, allowed) == ("clearance", False)
    assert is_allowed(explain(auditor, name_of(case.author), case.item, org=case.org))
    about = {"agent": name_of(reader), "item_id": case.item}
    assert state(blind, "explain_access", **about) == "42704"
    elsewhere = case.world.register(f"{case.place}b")
    for more in ({}, {"org": f"{case.org}b"}):
        other = {"agent": elsewhere, "item_id": case.item}
        assert state(auditor, "explain_access", **other, **more) == "42704"
    foreign = join(case.world, f"{case.place}b", "auditor", **secret)
    assert state(foreign, "explain_access", **about) == "42704"
    unbound = case.world.connect(case.world.role("memwarden_auditor"))
    assert state(unbound, "explain_access", **about) == "28000"


def test_who_administers_asks_about_all_that_is_theirs(case: Case) -> None:
    """A curator about every item and agent of its organisation; one of another about none.

    Proves: A3
    """
    call(case.owner, "change_agent", agent=name_of(case.owner), clearance="public")
    assert call(case.owner, "get", item_id=case.item) == []
    assert is_allowed(explain(case.owner, name_of(case.author), case.item))
    assert not is_allowed(explain(case.owner, name_of(case.owner), case.item))
    foreign = curator(case.world, f"{case.place}b")
    about = {"agent": name_of(case.author), "item_id": case.item}
    for asker, given in (
        (foreign, about),
        (foreign, about | {"org": case.org}),
        (foreign, about | {"agent": name_of(foreign)}),
        (case.owner, about | {"agent": name_of(foreign)}),
        (case.owner, about | {"agent": name_of(foreign), "org": f"{case.org}b"}),
    ):
        assert state(asker, "explain_access", **given) == "42704"
    admin = administrator(case.world)
    assert is_allowed(explain(admin, name_of(case.author), case.item))
    steps = explain(admin, name_of(foreign), case.item, org=f"{case.org}b")
    assert decisive(steps)[:2] == ("scope", False)


def test_the_item_tells_whose_agent_of_a_name_is_meant(case: Case) -> None:
    """Where two organisations have one, it is that of the item's, unless org says otherwise.

    Proves: A3
    """
    for place in (f"{case.place}b", case.home):
        case.world.scope(place)
        secret = {"clearance": "restricted", "domains": ["law"]}
        call(case.world.admin, "register_agent", name="twin", scope=place, **secret)
    admin = administrator(case.world)
    assert is_allowed(explain(admin, "twin", case.item))
    assert not is_allowed(explain(admin, "twin", case.item, org=f"{case.org}b"))


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"operation": None}, "22023"),
        ({"operation": "read"}, "22023"),
        ({"operation": ""}, "22023"),
        ({"agent": None}, "42704"),
        ({"agent": ""}, "42704"),
        ({"item_id": None}, "42704"),
        ({"item_id": UUID(int=0)}, "42704"),
        ({"org": "nobody"}, "42704"),
    ],
    ids=repr,
)
def test_a_broken_question_is_refused(case: Case, changes: dict[str, Any], expected: str) -> None:
    """For who may ask everything as for who may ask little; ADMIN is a question like others.

    Proves: A3
    """
    about = {"agent": name_of(case.author), "item_id": case.item, "operation": "ADMIN"}
    for asker in (administrator(case.world), case.owner, case.author):
        assert len(call(asker, "explain_access", **about)) == 6
        assert state(asker, "explain_access", **about | changes) == expected
