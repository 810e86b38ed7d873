"""What is found as a plug-in, what plug-ins do by themselves, and how a worker bears with them."""

from __future__ import annotations

import threading
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from psycopg import Connection
from psycopg.rows import DictRow
from typer.testing import CliRunner

from helpers import write
from memwarden.cli import app
from memwarden.errors import InvalidArgument
from memwarden.worker import PluginError, Verdict, Verifier
from memwarden.worker.discovery import (
    BUILT_IN,
    GROUP,
    available,
    available_channels,
    available_embedders,
    load,
)
from memwarden.worker.plugins.retrieval import Passage, best
from write.worker.desk import jobs, new_plugin, request, require, run_worker

if TYPE_CHECKING:
    from conftest import World

ROOT = Path(__file__).parents[3]
TEXT = {"text": "the cellar door opens with 4711"}


class Odd:
    """A plug-in that does what a test hands it."""

    version = "odd"

    def __init__(self, name: str, does: Any) -> None:
        self.name = name
        self._does = does

    def judge(self, payload: Mapping[str, Any], settings: Mapping[str, Any]) -> Verdict:
        """Do it."""
        done: Verdict = self._does(payload, settings)
        return done


def test_those_that_come_along_are_entry_points_as_any_other() -> None:
    """pyproject.toml says the same as the list for a checkout that is not installed.

    Proves: V3
    """
    declared = tomllib.loads((ROOT / "python_client/tools/pyproject.toml").read_text())
    assert declared["project"]["entry-points"][GROUP] == BUILT_IN
    loaded = load()
    assert set(BUILT_IN) <= set(loaded)
    assert all(isinstance(each, Verifier) for each in loaded.values())


def test_an_installed_package_brings_plug_ins_but_replaces_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Entry points of the group are found wherever Python looks for packages.

    Proves: V3
    """
    info = tmp_path / "brought-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: brought\nVersion: 1\n")
    (info / "entry_points.txt").write_text(
        "[memwarden.verifiers]\nyes = brought:Yes\nno = brought:nothing\nhttp_gate = brought:Yes\n"
    )
    (tmp_path / "brought.py").write_text(
        "from memwarden.worker import Verdict\n"
        "class Yes:\n"
        "    name, version = 'yes', '1'\n"
        "    def judge(self, payload, settings):\n"
        "        return Verdict('accept')\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    assert available()["http_gate"].value == BUILT_IN["http_gate"]
    assert load(["yes"])["yes"].judge({}, {}) == Verdict("accept")
    for missing in ("no", "nowhere"):
        with pytest.raises(InvalidArgument, match=missing):
            load([missing])


def test_the_command_lists_them() -> None:
    """Without asking a server.

    Proves: V3
    """
    done = CliRunner().invoke(app, ["worker", "--list"])
    assert done.exit_code == 0
    named = [line.split()[0] for line in done.output.splitlines()]
    assert named == [*available(), *available_channels(), *available_embedders()]


@pytest.mark.parametrize(
    ("does", "state", "error"),
    [
        (lambda *_: (_ for _ in ()).throw(ValueError(TEXT["text"])), "ready", "ValueError"),
        (lambda *_: (_ for _ in ()).throw(PluginError("not today")), "ready", "not today"),
        (
            lambda *_: (_ for _ in ()).throw(PluginError("never", permanent=True)),
            "dead",
            "never",
        ),
        (lambda *_: None, "ready", "no Verdict"),
        (lambda *_: Verdict("accept", float("nan")), "ready", "score"),
        (lambda *_: Verdict("accept", detail={"x": "y" * 9000}), "ready", "8 KiB"),
        (lambda *_: threading.Event().wait(30), "ready", "no answer within 0.2 seconds"),
    ],
    ids=["error", "refusal", "permanent", "nothing", "nan", "too much", "too slow"],
)
def test_a_plug_in_that_fails_costs_its_job_an_attempt(
    shared_world: World,
    worker_role: str,
    agent: Connection[DictRow],
    org: str,
    does: Any,
    state: str,
    error: str,
) -> None:
    """And what an unforeseen error says is not kept: it may repeat content.

    Proves: W9
    """
    plugin = Odd(new_plugin(), does)
    require(shared_world, plugin.name, org=org, settings={"timeout": 0.2})
    asked = write(agent, "semantic", TEXT)
    run_worker(shared_world, worker_role, [plugin])
    [job] = jobs(shared_world, plugin.name)
    assert (job["state"], job["attempts"]) == (state, 1)
    assert error in job["last_error"]
    assert "4711" not in job["last_error"]
    assert request(shared_world, asked)["outcome"] == "DEFERRED"


def test_a_long_judgement_keeps_its_job(
    shared_world: World, worker_role: str, agent: Connection[DictRow], org: str
) -> None:
    """The worker extends the lease while the plug-in is at work.

    Proves: W9
    """
    plugin_name = new_plugin()
    first: list[Any] = []

    def slow(*_: object) -> Verdict:
        [job] = jobs(shared_world, plugin_name)
        first.append(job["locked_until"])
        # Not a time but a state is waited for: that the lease was moved.
        while jobs(shared_world, plugin_name)[0]["locked_until"] == first[0]:
            threading.Event().wait(0.05)
        return Verdict("accept")

    require(shared_world, plugin_name, org=org)
    asked = write(agent, "semantic", TEXT)
    run_worker(shared_world, worker_role, [Odd(plugin_name, slow)], lease=1)
    assert request(shared_world, asked)["outcome"] == "COMMITTED"


def test_a_plug_in_learns_its_part_and_its_settings(
    shared_world: World, worker_role: str, agent: Connection[DictRow], org: str
) -> None:
    """So that of a quorum each can ask another.

    Proves: V3
    """
    seen: list[Mapping[str, Any]] = []

    def note(_: object, settings: Mapping[str, Any]) -> Verdict:
        seen.append(settings)
        return Verdict("accept")

    plugin = Odd(new_plugin(), note)
    require(shared_world, plugin.name, org=org, quorum=2, settings={"a": 1})
    write(agent, "semantic", TEXT)
    run_worker(shared_world, worker_role, [plugin])
    assert sorted(seen, key=lambda each: int(each["part"])) == [
        {"a": 1, "part": 1, "quorum": 2},
        {"a": 1, "part": 2, "quorum": 2},
    ]


def test_the_closest_passages_come_first() -> None:
    """Rare words weigh more than common ones, and what shares none is not among them.

    Proves: V3
    """
    among = [
        Passage("a", "the lake is deep, the lake is wide, the lake is long"),
        Passage("b", "the greatest depth of the Bodensee is 251 metres"),
        Passage("c", "nothing to see here"),
    ]
    found = best("the depth of the Bodensee", among, 5)
    assert [each.source for each in found] == ["b", "a"]
    assert best("zebra", among, 5) == []
    assert best("zebra", [], 5) == []
