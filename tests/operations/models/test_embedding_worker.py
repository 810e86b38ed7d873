"""`memwarden worker --embedders`: texts, services that fail, and a text that none takes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import tomllib
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from psycopg.conninfo import make_conninfo
from psycopg.types.json import Jsonb
from typer.testing import CliRunner

from helpers import write, write_many
from memwarden import NotAllowed
from memwarden.cli import app
from memwarden.errors import InvalidArgument
from memwarden.worker import PluginError
from memwarden.worker.backlog import Backlog
from memwarden.worker.discovery import (
    BUILT_IN_EMBEDDERS,
    EMBEDDER_GROUP,
    available_embedders,
    load_embedders,
)
from memwarden.worker.embedder import EmbedderPlugin
from memwarden.worker.embedders.http import Http
from memwarden.worker.embedders.local import Local
from memwarden.worker.embedding import Embedding
from memwarden.worker.loop import Pace
from operations.models.desk import (
    DIMENSION,
    Agent,
    assert_filled,
    embedded,
    look,
    reembed,
    register,
    switch,
    vectors,
)
from races import PATIENCE
from write.worker.desk import serving

if TYPE_CHECKING:
    from conftest import World

ROOT = Path(__file__).parents[3]


class Toy:
    """An embedder that does what a test hands it."""

    name = "toy"
    version = "1"

    def __init__(self, does: Any = None) -> None:
        self._does = does
        self.asked: list[list[str]] = []

    def embed(self, texts: Sequence[str], settings: Mapping[str, Any], /) -> Any:
        """Do it; by default return the vectors that tests expect."""
        self.asked.append(list(texts))
        if self._does is not None:
            return self._does(texts, settings)
        return [embedded(text, settings["dimension"]) for text in texts]


def run(world: World, role: str, embedder: EmbedderPlugin) -> None:
    """Let a worker make what it can, in this process."""
    stop = threading.Event()
    backlog = Backlog(make_conninfo(world.dsn, user=role), uuid.uuid4().hex, stop)
    runner = Embedding(backlog, {embedder.name: embedder}, stop, Pace())
    runner.run(once=True)
    if runner.failure is not None:
        raise runner.failure


def remember(agent: Agent, count: int) -> list[Any]:
    """Write so many memories; return them."""
    rows = write_many(
        agent, [{"layer": "semantic", "content": f"lamp number {n}"} for n in range(count)]
    )
    return [row["item_id"] for row in rows]


def test_those_that_come_along_are_entry_points_as_any_other() -> None:
    """pyproject.toml says the same as the list for a checkout that is not installed.

    Proves: Z6
    """
    project = tomllib.loads((ROOT / "python_client/tools/pyproject.toml").read_text())["project"]
    assert project["entry-points"][EMBEDDER_GROUP] == BUILT_IN_EMBEDDERS
    assert available_embedders().keys() >= {"http", "lexical", "local"}
    assert load_embedders().keys() >= BUILT_IN_EMBEDDERS.keys()
    with pytest.raises(InvalidArgument):
        load_embedders(["nobody"])


def test_it_makes_first_what_writes_wait_for(world: World, worker: Agent, agent: Agent) -> None:
    """Together, and one text that none takes keeps no other waiting; then what is missing.

    Proves: Z6
    """
    there = remember(agent, 3)
    model = register(world)
    reembed(world, model)
    switch(world, model, partial=True)
    setting = '{"embedding": "worker"}'
    world.admin.execute("SELECT memwarden.configure_layer('semantic', %s)", (setting,))
    asked = [write(agent, "semantic", text)["request_id"] for text in ("tea", "odd", "milk")]

    def does(texts: Sequence[str], settings: Mapping[str, Any]) -> Any:
        if "odd" in texts:
            raise PluginError("too odd", permanent=True)
        return [embedded(text, settings["dimension"]) for text in texts]

    toy = Toy(does)
    run(world, worker.info.user, toy)
    assert set(toy.asked[0]) == {"tea", "odd", "milk"}
    assert set(toy.asked[-1]) == {f"lamp number {n}" for n in range(3)}
    rows = world.rows(
        "SELECT outcome::text, item_id FROM memwarden_data.write_request"
        " WHERE request_id = ANY (%s) ORDER BY request_id",
        asked,
    )
    assert [row["outcome"] for row in rows] == ["COMMITTED", "DEFERRED", "COMMITTED"]
    assert vectors(world, model).keys() == {rows[0]["item_id"], rows[2]["item_id"], *there}
    assert world.value("SELECT last_error FROM memwarden.dead_jobs") == "too odd"


def test_it_makes_all_that_is_missing(world: World, worker: Agent, agent: Agent) -> None:
    """In batches, and no text twice.

    Proves: Z6
    """
    remember(agent, 70)
    model = register(world)
    reembed(world, model)
    toy = Toy()
    run(world, worker.info.user, toy)
    assert_filled(world, model)
    assert sorted(map(len, toy.asked)) == [6, 32, 32]
    assert len({text for texts in toy.asked for text in texts}) == 70


@pytest.mark.every_version
def test_the_lexical_one_fills_what_was_written_with_other_vectors(
    world: World, worker: Agent, agent: Agent
) -> None:
    """With what the server would have computed.

    Proves: Z6
    """
    text = "Ana drinks green tea"
    item = write(agent, "semantic", text, embedding=embedded(text, 384))["item_id"]
    assert vectors(world, "lexical") == {}
    world.admin.execute("SELECT memwarden.set_embedder('lexical', 'lexical')")
    reembed(world, "lexical")
    run(world, worker.info.user, load_embedders(["lexical"])["lexical"])
    expected = world.value("SELECT memwarden.lexical_embedding(%s)", text)
    (numbers,) = (vectors(world, "lexical")[item],)
    assert max(abs(a - b) for a, b in zip(numbers, expected, strict=True)) < 0.001


def test_one_text_that_no_embedder_takes_does_not_hold_up_the_others(
    world: World, worker: Agent, agent: Agent
) -> None:
    """It is set aside, with the reason and without what it says.

    Proves: Z6
    """
    items = remember(agent, 40)

    def picky(texts: Sequence[str], settings: Mapping[str, Any]) -> Any:
        if any(text.endswith("number 7") for text in texts):
            raise PluginError("a text is too long", permanent=True)
        numbers = [embedded(text, settings["dimension"]) for text in texts]
        return [
            [0.0] * DIMENSION if text.endswith("number 9") else vector
            for text, vector in zip(texts, numbers, strict=True)
        ]

    model = register(world)
    reembed(world, model)
    run(world, worker.info.user, Toy(picky))
    assert vectors(world, model).keys() == {*items} - {items[7], items[9]}
    errors = world.rows("SELECT state, last_error FROM memwarden_data.embedding_job ORDER BY 2")
    assert errors == [
        {"state": "dead", "last_error": "a text is too long"},
        {"state": "dead", "last_error": "its numbers are not finite, too large, or all zero"},
    ]


@pytest.mark.parametrize(
    "fault",
    [
        pytest.param(PluginError("no answer"), id="no answer"),
        pytest.param(ValueError("lamp number 1"), id="a bug"),
        pytest.param([], id="too few"),
        pytest.param([[1.0] * (DIMENSION + 1)] * 3, id="another dimension"),
    ],
)
def test_what_is_the_embedders_fault_is_tried_again(
    world: World, worker: Agent, agent: Agent, fault: Any
) -> None:
    """However often; its message repeats nothing of the texts.

    Proves: Z6
    """
    remember(agent, 3)

    def broken(_texts: Sequence[str], _settings: Mapping[str, Any]) -> Any:
        if isinstance(fault, Exception):
            raise fault
        return fault

    model = register(world)
    reembed(world, model)
    for _ in range(7):
        run(world, worker.info.user, Toy(broken))
        row = look(world, model)
        assert (row["dead"], row["waiting"]) == (0, 3)
        assert "lamp" not in row["last_error"]
        world.admin.execute("UPDATE memwarden_data.embedding_job SET run_at = now()")
    run(world, worker.info.user, Toy())
    assert_filled(world, model)


def test_an_endpoint_is_asked_as_is_usual(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the key from the environment, the prefix, and answers in whatever order.

    Proves: Z6
    """
    monkeypatch.setenv("MEMWARDEN_SECRET_EMBED", "s3cret")
    asked: list[tuple[Any, Any]] = []

    def answer(body: dict[str, Any], headers: Mapping[str, str]) -> tuple[int, Any]:
        asked.append((body, headers["authorization"]))
        data = [{"index": n, "embedding": embedded(text)} for n, text in enumerate(body["input"])]
        return 200, {"data": data[::-1]}

    with serving(answer) as url:
        settings = {
            "url": url,
            "model": "m",
            "secret_env": "MEMWARDEN_SECRET_EMBED",
            "text_prefix": "passage: ",
            "dimension": DIMENSION,
            "dimensions": True,
        }
        found = Http().embed(["tea", "milk"], settings)
    assert found == [embedded("passage: tea"), embedded("passage: milk")]
    body = {"model": "m", "input": ["passage: tea", "passage: milk"], "encoding_format": "float"}
    assert asked == [(body | {"dimensions": DIMENSION}, "Bearer s3cret")]


@pytest.mark.parametrize(("status", "permanent"), [(400, True), (422, True), (429, False)])
def test_an_endpoint_that_refuses(status: int, permanent: bool) -> None:
    """Because of the text, or because it is not the time.

    Proves: Z6
    """
    with (
        serving(lambda _body, _headers: (status, {})) as url,
        pytest.raises(PluginError) as error,
    ):
        Http().embed(["tea"], {"url": url, "model": "m", "dimension": 8})
    assert error.value.permanent is permanent


@pytest.mark.parametrize(
    "said", [{}, {"data": []}, {"data": [{"embedding": ["x"]}]}, {"data": [{"index": 1}]}, []]
)
def test_an_endpoint_that_answers_something_else(said: Any) -> None:
    """Is tried again.

    Proves: Z6
    """
    with (
        serving(lambda _body, _headers: (200, said)) as url,
        pytest.raises(PluginError) as error,
    ):
        Http().embed(["tea"], {"url": url, "model": "m", "dimension": 8})
    assert not error.value.permanent


def test_a_local_model_that_is_not_there_says_so(tmp_path: Path) -> None:
    """And stops nothing else.

    Proves: Z6
    """
    pytest.importorskip("tokenizers")
    with pytest.raises(PluginError) as error:
        Local().embed(["tea"], {"folder": str(tmp_path), "dimension": 8, "model": "m"})
    assert "not found" in str(error.value)
    with pytest.raises(PluginError):
        Local().embed(["tea"], {"pooling": "max", "dimension": 8, "model": "m"})


def test_another_role_embeds_nothing(world: World, agent: Agent) -> None:
    """A worker that only judges, or an agent: the process says so and ends.

    Proves: Z6
    """
    reembed(world, register(world))
    for role in (world.role("memwarden_worker"), agent.info.user):
        with pytest.raises(NotAllowed):
            run(world, role, Toy())


def test_a_process_that_is_killed_is_followed_by_another(
    world: World, worker: Agent, agent: Agent
) -> None:
    """What it held comes back when its lease is over; the command says what it is asked.

    Proves: Z6
    """
    remember(agent, 50)
    world.admin.execute("SELECT memwarden.set_embedder('default', 'lexical')")
    reembed(world, "default")
    dsn = make_conninfo(world.dsn, user=worker.info.user)
    jobs = worker.execute(
        "SELECT * FROM memwarden.claim_embeddings('gone', '{lexical}', 20)"
    ).fetchall()
    assert len(jobs) == 20
    path = os.pathsep.join(map(str, (ROOT / "python_client", ROOT / "plpython")))
    command = [sys.executable, "-m", "memwarden", "worker", "--embedders", "all", "--poll", "0.1"]
    with subprocess.Popen(
        command, env=os.environ | {"PYTHONPATH": path, "MEMWARDEN_DSN": dsn}
    ) as process:
        try:
            while look(world, "default")["missing"] > 20:
                assert process.poll() is None
            world.admin.execute("UPDATE memwarden_data.embedding_job SET run_at = now()")
            while look(world, "default")["missing"] > 0:
                assert process.poll() is None
            late = write(agent, "semantic", "late", embedding=None)
            assert late["outcome"] == "COMMITTED"
            while look(world, "default")["missing"] > 0:
                assert process.poll() is None
            process.send_signal(signal.SIGTERM)
            assert process.wait(PATIENCE) == 0
        finally:
            process.kill()
    assert len(vectors(world, "default")) == 51


def test_the_command_lists_fills_switches_and_drops(
    world: World, worker: Agent, agent: Agent
) -> None:
    """For an administrator.

    Proves: Z6
    """
    remember(agent, 2)
    dsn = make_conninfo(world.dsn, user=world.role("memwarden_admin"))
    runner = CliRunner(env={"MEMWARDEN_DSN": dsn, "COLUMNS": "200"})
    model = register(world)
    assert runner.invoke(app, ["models", "switch", model]).exit_code == 1
    assert runner.invoke(app, ["models", "reembed", model]).exit_code == 0
    run(world, worker.info.user, Toy())
    listed = runner.invoke(app, ["models", "list"]).output
    assert f"{model} " in listed
    assert "ready" in listed
    assert runner.invoke(app, ["models", "switch", model]).output == "default\n"
    assert runner.invoke(app, ["models", "drop", model]).exit_code == 1
    assert runner.invoke(app, ["models", "drop", "default"]).exit_code == 0
    states = world.rows("SELECT model, state FROM memwarden.embedding_models ORDER BY 1")
    assert {row["model"]: row["state"] for row in states} == {
        model: "active",
        "lexical": "ready",
        None: "dropped",
    }


def test_settings_stay_with_administrators(world: World, agent: Agent) -> None:
    """An agent sees which models there are, and not how they are reached.

    Proves: Z6
    """
    world.admin.execute(
        "SELECT memwarden.register_embedding_model('x', 8, embedder => 'http', settings => %s)",
        (Jsonb({"url": "https://inside.example"}),),
    )
    world.grant_tables(agent.info.user)
    for table in ("embedder", "embedding_use", "embedding_job"):
        assert agent.execute(f"SELECT * FROM memwarden_data.{table}").fetchall() == []
    names = agent.execute("SELECT name FROM memwarden_data.embedding_model").fetchall()
    assert {"name": "x"} in names
