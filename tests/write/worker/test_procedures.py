"""A procedure carries a test: it waits until the worker has run it, and has to pass it."""

from __future__ import annotations

import hashlib
import json
import shutil
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from psycopg import Connection
from psycopg.rows import DictRow

from helpers import ask_for_little, write
from memwarden.worker import PluginError, sandbox
from memwarden.worker.plugins.procedure_test import MAX_BYTES, MOST_FILES, ProcedureTest, fault_of
from write.worker.desk import claim, complete, new_plugin, request, require, run_worker

if TYPE_CHECKING:
    from conftest import World

no_sandbox = pytest.mark.skipif(
    shutil.which("bwrap") is None,
    reason="bubblewrap is not installed: apt-get install bubblewrap",
)

SLUG = (
    "import re\ndef slug(text):\n    return re.sub(r'[^a-z0-9]+', '-', text.lower()).strip('-')\n"
)
CHECK = (
    "import json\n"
    "exec(json.load(open('procedure.json'))['code'])\n"
    "for given, expected in json.load(open('cases.json')):\n"
    "    assert slug(given) == expected, given\n"
)
CASES = json.dumps([["Green  Tea!", "green-tea"], ["--", ""]])
PROCEDURE = {"how": "Make a slug of a title", "code": SLUG}
TEST = {"language": "python", "code": CHECK, "files": {"cases.json": CASES}}
EVIDENCE = [{"type": "document", "uri": "https://example.org/style", "excerpt": "Slugs are short."}]


def judge(test: Any, settings: dict[str, Any] | None = None, **content: Any) -> tuple[str, Any]:
    """Have a content with that test judged; return the decision and its detail."""
    payload = {"content": content | ({} if test is None else {"test": test})}
    verdict = ProcedureTest().judge(payload, settings or {})
    return verdict.decision, dict(verdict.detail)


def ask(
    world: World, role: str, agent: Connection[DictRow], content: Any, **arguments: Any
) -> DictRow:
    """Write a procedure, see it wait, let a worker run; return the record of the request."""
    asked = write(agent, "procedural", content, **arguments)
    assert (asked["outcome"], asked["reason"], asked["gate"]) == (
        "DEFERRED",
        "AWAITING_VERDICT",
        "45_external",
    )
    run_worker(world, role, [ProcedureTest()])
    return request(world, asked)


@pytest.fixture
def tested(shared_world: World, org: str) -> World:
    """A world where procedures of the organisation carry a test."""
    require(shared_world, "procedure_test", org=org, layer="procedural")
    return shared_world


@no_sandbox
def test_a_procedure_waits_for_its_test_and_is_remembered_with_the_run(
    tested: World, worker_role: str, agent: Connection[DictRow]
) -> None:
    """The run is evidence of the type code_execution in the signed record of the version.

    Proves: V8
    """
    row = ask(tested, worker_role, agent, PROCEDURE | {"test": TEST}, evidence=EVIDENCE)
    assert (row["outcome"], row["attempt"]) == ("COMMITTED", 2)
    record = agent.execute(
        "SELECT evidence, verified_by FROM memwarden.provenance(%s)", (row["item_id"],)
    ).fetchone()
    assert record is not None
    assert record["verified_by"] == [{"verifier": "procedure_test", "version": "1", "score": 1}]
    [ran] = [each for each in record["evidence"] if each["type"] == "code_execution"]
    assert ran["uri"] == f"memwarden:run/{row['request_id']}"
    assert (ran["issuer"], ran["authority"]) == ("procedure_test", 0.9)
    assert (ran["external"], ran["counted"]) == (False, False)
    assert ran["run"].pop("took").startswith("under ")
    assert ran["run"] == {
        "language": "python",
        "result": "passed",
        "status": 0,
        "output_bytes": 0,
        "output_sha256": hashlib.sha256(b"").hexdigest(),
    }
    assert tested.rows("SELECT * FROM memwarden.verify_provenance()") == []


@no_sandbox
def test_a_procedure_whose_test_fails_is_refused(
    tested: World, worker_role: str, agent: Connection[DictRow]
) -> None:
    """The writer learns how it ended, and nothing of what it printed is kept.

    Proves: V8
    """
    wrong = PROCEDURE | {"code": SLUG.replace("lower", "upper")}
    row = ask(tested, worker_role, agent, wrong | {"test": TEST})
    assert (row["outcome"], row["reason"], row["gate"]) == (
        "REJECTED",
        "TEST_FAILED",
        "45_external",
    )
    assert row["detail"]["plugin"] == "procedure_test"
    assert row["detail"]["reason"] == "the test ended with status 1"
    assert (row["detail"]["run"]["result"], row["detail"]["run"]["status"]) == ("failed", 1)
    assert agent.execute("SELECT * FROM memwarden.items").fetchall() == []


@no_sandbox
def test_a_corrected_procedure_is_a_new_version(
    tested: World, worker_role: str, agent: Connection[DictRow]
) -> None:
    """What fails leaves the version before as it was; what passes has a run of its own.

    Proves: V8
    """
    key = {"subject": "title", "predicate": "becomes a slug by"}
    first = ask(tested, worker_role, agent, PROCEDURE | {"test": TEST}, **key)
    worse = PROCEDURE | {"code": "def slug(text): return text", "test": TEST}
    assert ask(tested, worker_role, agent, worse, **key)["reason"] == "TEST_FAILED"
    better = PROCEDURE | {"code": SLUG + "# faster\n", "test": TEST}
    second = ask(tested, worker_role, agent, better, **key)
    assert first["item_id"] == second["item_id"]
    runs = agent.execute(
        "SELECT version, evidence -> 0 ->> 'uri' AS uri FROM memwarden.provenance(%s)",
        (first["item_id"],),
    ).fetchall()
    assert runs == [
        {"version": 2, "uri": f"memwarden:run/{second['request_id']}"},
        {"version": 1, "uri": f"memwarden:run/{first['request_id']}"},
    ]


def test_where_a_test_is_asked_for_one_without_is_refused(
    tested: World, worker_role: str, agent: Connection[DictRow]
) -> None:
    """Whatever it is; an organisation that requires none lets it pass without a run.

    Proves: V8
    """
    for content in (PROCEDURE, "say it twice", [1], PROCEDURE | {"test": None}):
        row = ask(tested, worker_role, agent, content)
        assert (row["outcome"], row["reason"]) == ("REJECTED", "TEST_MISSING")
        assert row["detail"] == {
            "plugin": "procedure_test",
            "reason": "the content has no test",
        }


def test_a_test_may_be_optional(
    tested: World, worker_role: str, agent: Connection[DictRow], org: str
) -> None:
    """Then what carries none is remembered without a run, and what carries one has to pass it.

    Proves: V8
    """
    settings = {"required": False}
    require(tested, "procedure_test", org=org, layer="procedural", settings=settings)
    row = ask(tested, worker_role, agent, PROCEDURE)
    assert row["outcome"] == "COMMITTED"
    record = tested.value(
        "SELECT record -> 'evidence' FROM memwarden_data.whole_provenance WHERE version_id = %s",
        row["version_id"],
    )
    assert record == []
    row = ask(tested, worker_role, agent, {"how": "so", "test": {"language": "lisp"}})
    assert (row["outcome"], row["reason"]) == ("REJECTED", "TEST_INVALID")


def test_a_test_that_cannot_be_run_is_refused(
    tested: World, worker_role: str, agent: Connection[DictRow]
) -> None:
    """With what is wrong with it, and none of its words.

    Proves: V8
    """
    test = TEST | {"files": {"../escape": "sesame"}}
    row = ask(tested, worker_role, agent, PROCEDURE | {"test": test})
    assert (row["outcome"], row["reason"]) == ("REJECTED", "TEST_INVALID")
    assert row["detail"]["reason"].startswith("test.files: names of ")
    assert "escape" not in str(row["detail"])
    assert "run" not in row["detail"]


def test_other_plug_ins_cannot_invent_reasons(
    shared_world: World, agent: Connection[DictRow], worker: Connection[DictRow], org: str
) -> None:
    """A code that no reason has is told as any refusal; a run counts whoever ran it.

    Proves: W9, V8
    """
    plugin = new_plugin()
    require(shared_world, plugin, org=org, layer="procedural")
    for code, expected in (("TEST_FAILED", "TEST_FAILED"), ("SCOPE_BUSY", "EXTERNAL_REJECT")):
        asked = write(agent, "procedural", {"how": f"by {code}"})
        [job] = claim(worker, plugin)
        assert complete(worker, job, "reject", detail={"code": code, "reason": "no"})
        row = request(shared_world, asked)
        assert (row["reason"], row["detail"]) == (expected, {"plugin": plugin, "reason": "no"})
    asked = write(agent, "procedural", {"how": "by hand"})
    [job] = claim(worker, plugin)
    assert complete(worker, job, version="9", detail={"run": {"result": "passed"}, "more": "x"})
    row = request(shared_world, asked)
    [ran] = shared_world.value(
        "SELECT record -> 'evidence' FROM memwarden_data.whole_provenance WHERE version_id = %s",
        row["version_id"],
    )
    assert (ran["issuer"], ran["version"], ran["run"]) == (plugin, "9", {"result": "passed"})
    assert "more" not in ran


def test_a_run_is_no_source_from_outside(
    shared_world: World, agent: Connection[DictRow], org: str
) -> None:
    """Its writer wrote the test: where the layer asks for evidence, a test alone is none.

    Proves: V8, X2
    """
    shared_world.ship_layers()
    try:
        require(shared_world, "procedure_test", org=org, layer="procedural")
        alone = write(agent, "procedural", PROCEDURE | {"test": TEST})
        assert (alone["outcome"], alone["reason"]) == ("REJECTED", "INSUFFICIENT_EVIDENCE")
    finally:
        ask_for_little(shared_world.admin)


@no_sandbox
@pytest.mark.parametrize(
    ("language", "code", "result", "status"),
    [
        ("python", "print('fine')", "passed", 0),
        ("sh", "test -f procedure.json && grep -q how procedure.json", "passed", 0),
        ("sh", "cat nothing", "failed", 1),
        ("python", "raise SystemExit(7)", "failed", 7),
        ("python", "def", "failed", 1),
        ("python", "import os; os.abort()", "failed", 134),
        ("sh", "while :; do :; done", "timed_out", -1),
        ("sh", "while :; do echo xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx; done", "too_much_output", -1),
    ],
)
def test_only_a_test_that_ends_well_in_time_passes(
    language: str, code: str, result: str, status: int
) -> None:
    """Status 0 alone is a pass.

    Proves: V8
    """
    seconds = 1 if result == "timed_out" else 20
    test = {"language": language, "code": code}
    decision, detail = judge(test, {"timeout": seconds}, how="so")
    assert (detail["run"]["result"], detail["run"]["status"]) == (result, status)
    assert decision == ("accept" if result == "passed" else "reject")
    assert detail.get("code") == (None if result == "passed" else "TEST_FAILED")


@no_sandbox
def test_the_output_is_known_by_its_hash_alone() -> None:
    """What was printed may be what no gate has looked at.

    Proves: V8
    """
    _, detail = judge({"language": "python", "code": "print('ses' + 'ame')"}, how="so")
    assert detail["run"]["output_sha256"] == hashlib.sha256(b"sesame\n").hexdigest()
    assert detail["run"]["output_bytes"] == 7
    assert "sesame" not in str(detail)


def test_a_worker_without_a_sandbox_runs_nothing(
    tested: World, worker_role: str, agent: Connection[DictRow], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The procedure goes on waiting, for a worker that has one, and the job says why.

    Proves: V8
    """
    monkeypatch.setenv("PATH", "/nowhere")
    row = ask(tested, worker_role, agent, PROCEDURE | {"test": TEST})
    assert (row["outcome"], row["reason"]) == ("DEFERRED", "AWAITING_VERDICT")
    assert tested.rows(
        "SELECT state, last_error FROM memwarden_data.job WHERE request_id = %s", row["request_id"]
    ) == [{"state": "ready", "last_error": "bubblewrap (bwrap) is not installed on this worker"}]


@pytest.mark.parametrize(
    ("test", "fault"),
    [
        ("print(1)", "test: an object"),
        ({}, "test.language"),
        ({"language": "python"}, "test.code"),
        ({"language": "python", "code": " \n"}, "test.code"),
        ({"language": "python", "code": 1}, "test.code"),
        ({"language": "perl", "code": "1"}, "test.language: python or sh"),
        ({"language": ["python"], "code": "1"}, "test.language"),
        ({"language": "sh", "code": "1", "command": "x"}, "test: an object"),
        ({"language": "sh", "code": "1", "files": []}, "test.files: an object"),
        ({"language": "sh", "code": "1", "files": {"a": 1}}, "test.files: each a text"),
        ({"language": "sh", "code": "x" * (MAX_BYTES + 1)}, "test: code and files"),
        ({"language": "sh", "code": "1", "files": {"a": "ü" * (MAX_BYTES // 2)}}, "test: code and"),
        (
            {
                "language": "sh",
                "code": "1",
                "files": {str(n): "" for n in range(MOST_FILES + 1)},
            },
            f"test.files: an object of at most {MOST_FILES}",
        ),
    ],
)
def test_what_is_no_test_is_told_by_its_fault(test: Any, fault: str) -> None:
    """Before anything is run.

    Proves: V8
    """
    decision, detail = judge(test, how="so")
    assert (decision, detail["code"]) == ("reject", "TEST_INVALID")
    assert detail["reason"].startswith(fault)


@pytest.mark.parametrize(
    "name",
    [
        *("", ".", "..", "../x", "/etc/x", "a/b", "a/../b", "a\\b", ".hidden", "-rf", "~", "$HOME"),
        *("a b", "x\n", "a\0", "ü", "*", "x" * 65, "procedure.json", "test.py", "test.sh"),
    ],
)
def test_a_file_has_a_plain_name(name: str) -> None:
    """No folder, no way up, no link, nothing that is taken for an option or for another file.

    Proves: V8
    """
    test = {"language": "sh", "code": "true", "files": {name: ""}}
    assert str(fault_of(test)).startswith("test.files: names of ")


texts = st.text(max_size=8)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)
almost = st.fixed_dictionaries(
    {"language": st.sampled_from(["python", "sh"]) | json_values, "code": texts | json_values},
    optional={
        "files": st.dictionaries(texts | st.sampled_from(["a", "b.py"]), texts | json_values),
        "more": json_values,
    },
)


@given(json_values | almost)
def test_whatever_a_test_is_it_can_be_run_or_its_fault_is_told(test: Any) -> None:
    """And what can be run has names and texts that are just that.

    Proves: V8
    """
    fault = fault_of(test)
    if fault is None:
        assert test["language"] in ("python", "sh")
        assert test["code"].strip()
        assert not any("/" in name or name.startswith(".") for name in test.get("files", {}))
    else:
        assert fault.startswith("test")


@pytest.mark.parametrize(
    "settings",
    [{"timeout": 0}, {"timeout": "long"}, {"memory_mb": 1}, {"required": "yes"}, {"required": 1}],
)
def test_settings_that_mean_nothing_are_named(settings: dict[str, Any]) -> None:
    """Nothing is accepted or refused by guessing.

    Proves: V8
    """
    with pytest.raises(PluginError, match=next(iter(settings))):
        judge(None, settings, how="so")


@pytest.mark.parametrize(
    ("seconds", "told"),
    [(0.2, "under 1 s"), (1, "under 10 s"), (59, "under 60 s"), (60, "60 s or more")],
)
def test_how_long_it_took_is_told_in_classes(
    seconds: float, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The exact time says more of the machine than of the procedure.

    Proves: V8
    """
    monkeypatch.setattr(sandbox, "run", lambda *_: sandbox.Run("exit", 0, b"", seconds))
    _, detail = judge({"language": "sh", "code": "true"}, how="so")
    assert detail["run"]["took"] == told
