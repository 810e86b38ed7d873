"""Golden queries: a change of memory that breaks one is noticed before it commits, or after."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg import Connection
from psycopg.rows import DictRow

from access import call, curator, join, state
from helpers import write
from races import together
from reviewing import ask, decide, propose, queue, reviewer

if TYPE_CHECKING:
    from conftest import World

Agent = Connection[DictRow]
ORG = "/org/acme"
HOME = f"{ORG}/user/ana"


@pytest.fixture
def agent(world: World) -> Agent:
    """An agent that may take back what it wrote."""
    return world.agent(HOME, role="curator")


@pytest.fixture
def keeper(world: World, agent: Agent) -> Agent:
    """Who defines probes."""
    assert agent.info.user
    return curator(world, ORG)


def remember(agent: Agent, text: str, **more: Any) -> Any:
    """Write a text that must be committed; its item."""
    row = write(agent, "semantic", {"text": text}, **more)
    assert row["outcome"] == "COMMITTED", row
    return row["item_id"]


def define(keeper: Agent, name: str = "drinks", **said: Any) -> bool:
    """Define a probe of Ana's scope; whether it passes."""
    arguments = {"query": "what does Ana drink", "scope": HOME} | said
    [row] = call(keeper, "define_probe", name=name, **arguments)
    return bool(row["define_probe"])


def failed(world: World, agent: Agent, item: Any = None) -> list[dict[str, Any]]:
    """What an approval would be told, in the transaction of a connection that sees all."""
    row = agent.execute(
        "SELECT memwarden_internal.failed_probes("
        "  (SELECT org_id FROM memwarden_data.organisation WHERE name = 'acme'),"
        "  (SELECT scope_id FROM memwarden_data.scope WHERE path = %s), %s) AS failed",
        (HOME, item),
    ).fetchone()
    assert row is not None
    assert world.dsn
    found: list[dict[str, Any]] = row["failed"]
    return found


def test_a_probe_says_what_recall_must_answer(agent: Agent, keeper: Agent) -> None:
    """Items, a text that is there, a text that is not; each fault is named, and no words.

    Proves: Z7
    """
    tea = remember(agent, "Ana drinks green tea")
    assert define(keeper, "item", items=[tea])
    assert define(keeper, "text", contains="GREEN tea", lacks="coffee")
    assert not define(keeper, "wrong", contains="coffee", lacks="tea")
    rows = {row["probe"]: row for row in call(keeper, "run_probes", scope=HOME)}
    assert {name: row["passed"] for name, row in rows.items()} == {
        "item": True,
        "text": True,
        "wrong": False,
    }
    assert rows["wrong"]["faults"] == [{"expected": "contains"}, {"expected": "lacks"}]
    agent.execute("SELECT memwarden.retract(%s, 'wrong')", (tea,))
    rows = {row["probe"]: row for row in call(keeper, "run_probes")}
    assert rows["item"]["faults"] == [{"expected": "item", "item_id": str(tea)}]


def test_a_change_that_breaks_one_is_seen_before_it_commits(
    world: World, agent: Agent, keeper: Agent
) -> None:
    """With the change in place, in its transaction; without it all is well. No old fault counts.

    Proves: Z7
    """
    tea = remember(agent, "Ana drinks green tea")
    assert define(keeper, "item", items=[tea], k=1)
    assert not define(keeper, "broken", contains="champagne")
    assert failed(world, world.admin) == []
    world.admin.execute("BEGIN")
    world.admin.execute(
        "UPDATE memwarden_data.item SET status = 'RETRACTED' WHERE item_id = %s", (tea,)
    )
    [found] = failed(world, world.admin, tea)
    assert (found["probe"], found["scope"]) == ("item", HOME)
    assert found["faults"] == [{"expected": "item", "item_id": str(tea)}]
    world.admin.execute("ROLLBACK")
    assert failed(world, world.admin, tea) == []
    assert len(world.rows("SELECT 1 FROM memwarden_data.probe_run")) == 2


def test_an_approval_that_would_break_one_waits_for_a_second_word(
    world: World, agent: Agent, keeper: Agent
) -> None:
    """Who approves is shown what breaks, nothing is stored, and may insist.

    Proves: Z7
    """
    tea = remember(agent, "Ana drinks green tea", subject="Ana", predicate="drinks")
    assert define(keeper, "tea", contains="green tea")
    ask(world, org="acme")
    said = {"subject": "Ana", "predicate": "drinks"}
    number = propose(agent, {"text": "Ana drinks champagne"}, **said)
    judge = reviewer(world)
    first = decide(judge, "approve", number)
    assert (first["outcome"], first["reason"]) == ("DEFERRED", "PROBE_FAILED")
    [shown] = queue(judge)
    assert shown["probes"] == first["detail"]["probes"]
    assert "PROBE" in shown["reasons"]
    told = [(each["probe"], each["faults"]) for each in shown["probes"]]
    assert told == [("tea", [{"expected": "contains"}])]
    (row,) = agent.execute("SELECT content FROM memwarden.get(%s)", (tea,)).fetchall()
    assert row["content"] == {"text": "Ana drinks green tea"}
    done = decide(judge, "approve", number, "she changed her mind", True)
    assert done["outcome"] in ("COMMITTED", "MERGED")
    [broken] = call(keeper, "run_probes", scope=HOME)
    assert not broken["passed"]


def test_only_probes_that_ask_the_layer_are_run(world: World, agent: Agent, keeper: Agent) -> None:
    """Proves: Z7."""
    tea = remember(agent, "Ana drinks green tea")
    assert define(keeper, "semantic", lacks="champagne", layers=["semantic"])
    assert define(keeper, "episodic", lacks="champagne", layers=["episodic"])
    bad = remember(agent, "Ana drinks champagne")
    assert [f["probe"] for f in failed(world, world.admin, bad)] == ["semantic"]
    assert tea


@pytest.mark.every_version
def test_a_probe_that_is_dropped_asks_nothing_any_more(agent: Agent, keeper: Agent) -> None:
    """And cannot be dropped twice.

    Proves: Z7
    """
    assert define(keeper, items=[remember(agent, "Ana drinks tea")])
    assert [row["probe"] for row in call(keeper, "run_probes")] == ["drinks"]
    call(keeper, "drop_probe", name="drinks", scope=HOME)
    assert call(keeper, "run_probes") == []
    assert state(keeper, "drop_probe", name="drinks", scope=HOME) == "42704"


def test_a_probe_asks_with_the_rights_of_who_defined_it(world: World, agent: Agent) -> None:
    """And is shown to nobody who is cleared for less: whether it passes would tell.

    Proves: Z7
    """
    high = curator(world, ORG)
    low = join(world, ORG, "agent", "curator", kind="human", role="curator", descendants=True)
    secret = join(world, HOME, clearance="restricted")
    item = remember(secret, "Ana drinks absinthe", classification="restricted")
    assert not define(low, "low", items=[item])
    assert define(high, "high", items=[item])
    assert [row["probe"] for row in call(low, "run_probes")] == ["low"]
    assert {row["probe"] for row in call(high, "run_probes")} == {"low", "high"}
    shown = low.execute("SELECT probe FROM memwarden.probes").fetchall()
    assert [row["probe"] for row in shown] == ["low"]
    assert state(low, "drop_probe", name="high", scope=HOME) == "42704"
    outsider = curator(world, "/org/globex")
    world.grant_tables(low.info.user, outsider.info.user, agent.info.user)
    assert outsider.execute("SELECT probe FROM memwarden.probes").fetchall() == []
    for who in (outsider, low, agent):
        for table in ("probe", "probe_run"):
            assert who.execute(f"SELECT 1 FROM memwarden_data.{table}").fetchall() == []


def test_a_hidden_probe_is_counted_and_not_named(world: World, agent: Agent, keeper: Agent) -> None:
    """Who approves is told that something breaks.

    Proves: Z7
    """
    assert define(keeper, "quiet", lacks="champagne")
    bad = remember(agent, "Ana drinks champagne")
    login = world.role()
    world.admin.execute(f'GRANT memwarden_owner TO "{login}"')
    blind = world.connect(login)
    blind.execute("SET ROLE memwarden_owner")
    assert failed(world, blind, bad) == [{"probe": None, "hidden": 1}]


def test_the_job_keeps_watch_and_remembers(world: World, agent: Agent, keeper: Agent) -> None:
    """Twice at once runs each once; a broken one is shown with since when.

    Proves: Z7
    """
    tea = remember(agent, "Ana drinks green tea")
    for number in range(6):
        assert define(keeper, f"p{number}", items=[tea])
    agent.execute("SELECT memwarden.retract(%s, 'wrong')", (tea,))
    jobs = [world.connect(world.role("memwarden_admin")) for _ in range(2)]
    together([partial(job.execute, "CALL memwarden.check_probes()") for job in jobs])
    runs = keeper.execute(
        "SELECT probe, count(*) AS n FROM memwarden.probe_runs WHERE NOT passed GROUP BY probe"
    ).fetchall()
    assert len(runs) == 6
    assert all(row["n"] in (1, 2) for row in runs)
    broken = keeper.execute("SELECT probe FROM memwarden.probes WHERE broken_since IS NOT NULL")
    assert len(broken.fetchall()) == 6
    for _ in range(100):
        call(keeper, "run_probes")
    kept = world.rows("SELECT count(*) AS n FROM memwarden_data.probe_run GROUP BY probe_id")
    assert {row["n"] for row in kept} == {100}


@pytest.mark.parametrize(
    "said",
    [
        {},
        {"contains": ""},
        {"contains": "x", "k": 0},
        {"contains": "x", "query": " "},
        {"contains": "x", "name": " x"},
        {"contains": "AKIAIOSFODNN7EXAMPLE"},
        {"items": ["0190a1b2-0000-7000-8000-000000000001"] * 6},
    ],
    ids=str,
)
def test_what_expects_nothing_is_no_probe(keeper: Agent, said: dict[str, Any]) -> None:
    """Proves: Z7."""
    with pytest.raises(psycopg.Error) as raised:
        define(keeper, **said)
    assert raised.value.sqlstate == "22023"


def test_agents_define_none(agent: Agent) -> None:
    """Proves: Z7."""
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        define(agent, contains="x")
