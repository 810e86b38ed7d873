"""Two sources that use one name are two, and an import that has grown adds what is new."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from psycopg.conninfo import make_conninfo

from client.test_import_export import imported, run
from memwarden import Client
from shipped import Shipped

if TYPE_CHECKING:
    from conftest import World


@pytest.fixture
def world(shipped: Shipped) -> World:
    """Return the store as `memwarden init` leaves it."""
    return shipped.world


@pytest.fixture
def dsn(shipped: Shipped) -> str:
    """Return how the agent connects that init made."""
    return make_conninfo(shipped.world.dsn, user=shipped.agent.info.user)


def agent_file(likes: str, **more: Any) -> dict[str, Any]:
    """An agent file whose numbers and names are those of any other."""
    blocks = [("persona", f"I am an agent that likes {likes}"), ("human", f"She grows {likes}")]
    return {
        "agents": [{"id": "agent-0", "name": "agent", "block_ids": ["block-0", "block-1"]} | more],
        "blocks": [
            {"id": f"block-{number}", "label": label, "value": value}
            for number, (label, value) in enumerate(blocks)
        ],
    }


def older_file(likes: str) -> dict[str, Any]:
    """The same in the form of an older version: it is the agent itself."""
    made = agent_file(likes)
    blocks = [{name: each[name] for name in ("label", "value")} for each in made["blocks"]]
    return {"name": "agent", "core_memory": blocks, "version": "0.6.47"}


def written(file: Path, document: object) -> Path:
    """Write a document to a file."""
    file.parent.mkdir(exist_ok=True)
    file.write_text(json.dumps(document))
    return file


def statements(dsn: str) -> list[str]:
    """What is remembered."""
    with Client.connect(dsn) as memory:
        return sorted(each.content["statement"] for each in memory.as_of())


@pytest.mark.every_version
@pytest.mark.parametrize("form", [agent_file, older_file])
def test_two_agents_of_one_name_keep_their_blocks(dsn: str, tmp_path: Path, form: Any) -> None:
    """In two files, or in one; each file that is imported again changes its own.

    Proves: Z11
    """
    report = tmp_path / "report.json"
    one, two = tmp_path / "one" / "agent.af", tmp_path / "two" / "agent.af"
    expected = []
    for file, likes in ((one, "figs"), (two, "plums")):
        told = imported(written(file, form(likes)), "--from", "letta", dsn=dsn, report=report)
        assert (told["accepted"], told["problems"]) == (2, [])
        expected += [f"I am an agent that likes {likes}", f"She grows {likes}"]
    assert statements(dsn) == sorted(expected)
    if form is older_file:
        return
    for file, before, now in ((one, "figs", "dates"), (two, "plums", "quinces")):
        document = form(before)
        blocks = document.get("blocks") or document["core_memory"]
        blocks[1]["value"] = f"She grows {now}"
        told = imported(written(file, document), "--from", "letta", dsn=dsn, report=report)
        assert (told["accepted"], told["already"]) == (1, 1)
        expected[expected.index(f"She grows {before}")] = f"She grows {now}"
        assert statements(dsn) == sorted(expected)
    assert (told["apart"].keys(), len(set(told["apart"].values()))) == ({"agent"}, 1)
    # Nothing is said otherwise under another path: it is the same agent.
    document = form("figs")
    blocks = document.get("blocks") or document["core_memory"]
    blocks[1]["value"] = "She grows dates"
    blocks.append({"id": "block-2", "label": "notes", "value": "Water on Mondays"})
    elsewhere = written(tmp_path / "three" / "later.af", document)
    told = imported(elsewhere, "--from", "letta", dsn=dsn, report=report)
    assert (told["accepted"], told["already"], told["apart"]) == (1, 2, {})
    both = agent_file("pears")
    both["agents"] += [{"id": "agent-1", "name": "agent", "block_ids": ["block-2"]}]
    both["blocks"] += [{"id": "block-2", "label": "persona", "value": "I am the other one"}]
    told = imported(written(one, both), "--from", "letta", dsn=dsn, report=report)
    assert told["accepted"] == 3
    assert {"I am an agent that likes pears", "I am the other one"} < set(statements(dsn))


def test_json_in_a_string_is_read_or_named(dsn: str, tmp_path: Path) -> None:
    """As some published agent files have it; what is deleted there is not brought in.

    Proves: Z11
    """
    report, file = tmp_path / "report.json", tmp_path / "agent.af"
    packed = json.dumps(agent_file("figs"))
    told = imported(written(file, packed), "--from", "letta", dsn=dsn, report=report)
    assert (told["accepted"], told["problems"]) == (2, [])
    passages = [
        {"id": "passage-a1b2", "text": "The fig tree bears in May", "is_deleted": False},
        {"id": "passage-c3d4", "text": "The well is dry", "is_deleted": True},
    ]
    told = imported(written(file, passages), "--from", "letta", dsn=dsn, report=report)
    assert (told["accepted"], told["refused"]) == (1, {"DELETED": 1})
    assert run("import", str(file), "--from", "letta", dsn=dsn).exit_code == 0
    edges = [{"uuid": "e1", "fact": "The well was dug by hand", "deleted_at": "2025-01-01"}]
    told = imported(written(file, edges), "--from", "zep", dsn=dsn, report=report)
    assert (told["accepted"], told["refused"]) == (0, {"DELETED": 1})
    for wrong in ("no JSON", '{"agents": ['):
        ran = run("import", str(written(file, wrong)), "--from", "letta", dsn=dsn)
        assert (ran.exit_code, "is no JSON" in ran.stderr) == (1, True), ran.stderr
    request = {"layer": "semantic", "content": {"statement": "Ladders stand in the shed"}}
    told = imported(written(file, json.dumps(request)), dsn=dsn, report=report)
    assert (told["accepted"], told["problems"]) == (1, [])
    assert len(statements(dsn)) == 4


def test_an_import_that_has_grown_adds_what_is_new(world: World, dsn: str, tmp_path: Path) -> None:
    """More in a record, more records, and the same after the key is forgotten; counts are true.

    Proves: Z11
    """
    report, file = tmp_path / "report.json", tmp_path / "grown.json"
    passages: list[dict[str, Any]] = [{"id": "passage-a1", "text": "The fig tree bears in May"}]
    edges = {"edges": [{"uuid": "e1", "fact": "Ana works at Initech", "source_node_uuid": "n1"}]}
    for form, document in (("letta", passages), ("zep", edges)):
        told = imported(written(file, document), "--from", form, dsn=dsn, report=report)
        assert (told["accepted"], told["problems"]) == (1, [])
    passages[0]["tags"] = ["garden"]
    passages += [{"id": "passage-a2", "text": "The well was dug by hand"}]
    edges["nodes"] = [{"uuid": "n1", "name": "Ana"}]
    edges["nodes"] += [{"uuid": name, "name": "Bo"} for name in ("n2", "n3")]
    edges["edges"] += [
        {"uuid": f"e{n}", "fact": f"Bo plays the {what}", "source_node_uuid": f"n{n}"}
        for n, what in ((2, "cello"), (3, "harp"))
    ]
    passages += [{"id": "passage-a3", "text": "Quinces keep until March"}]
    for form, document in (("letta", passages), ("zep", edges)):
        told = imported(written(file, document), "--from", form, dsn=dsn, report=report)
        assert "IDEMPOTENCY_KEY_REUSED" not in told["refused"]
        assert told["accepted"] + told["merged"] + told["already"] == 3, told
        told = imported(file, "--from", form, dsn=dsn, report=report)
        assert (told["accepted"], told["merged"], told["already"]) == (0, 0, 3), told
    # Two of one name are two by their numbers, which are no words of a memory.
    with Client.connect(dsn) as memory:
        bos = {each.subject: each.text for each in memory.as_of() if "Bo" in str(each.subject)}
    assert bos.keys() == {"Bo <n2>", "Bo <n3>"}
    assert not any("n2" in str(text) or "n3" in str(text) for text in bos.values())
    world.admin.execute("UPDATE memwarden_data.idempotency SET expires_at = now() - interval '1 s'")
    before = statements(dsn)
    moved = tmp_path / "moved.json"
    for form, document in (("letta", passages), ("zep", edges)):
        told = imported(written(moved, document), "--from", form, dsn=dsn, report=report)
        assert (told["accepted"], told["already"], told["problems"]) == (0, 3, [])
    assert statements(dsn) == before


def test_a_key_of_another_table_is_not_overwritten(world: World, dsn: str, tmp_path: Path) -> None:
    """Nor what was written under the key since; the record is named.

    Proves: Z11
    """
    report = tmp_path / "report.json"
    for name, likes in (("one", "figs"), ("two", "plums")):
        world.admin.execute(
            f"""
            CREATE TABLE {name} (prefix text, key text, value jsonb, updated_at timestamptz
                DEFAULT now(), expires_at timestamptz);
            INSERT INTO {name} (prefix, key, value) VALUES ('users.ana', 'food', '{{"likes": "{likes}"}}'),
                ('users.ana', 'home', '{{"in": "Ghent"}}'),
                ('users.{name}', 'food', to_jsonb('{{"likes": "{likes}"}}'::text));
            CREATE TABLE {name}_mem0 (id uuid DEFAULT gen_random_uuid(), payload jsonb);
            INSERT INTO {name}_mem0 (payload) VALUES
                (to_jsonb('{{"data": "Drinks {likes} juice", "user_id": "Ana-{name}"}}'::text)),
                ('{{"data": "Gone", "user_id": "x", "is_deleted": true}}');
            GRANT SELECT ON {name}, {name}_mem0 TO PUBLIC;
            """  # noqa: E501
        )

    def bring(name: str) -> dict[str, Any]:
        arguments = ("--from", "langgraph", "--table", name)
        return imported(world.dsn, *arguments, dsn=dsn, report=report)

    assert bring("one")["accepted"] == 3
    told = bring("two")
    assert (told["accepted"], told["already"], told["refused"]) == (1, 1, {"KEY_OF_ANOTHER": 1})
    assert [each["record"] for each in told["problems"]] == ["langgraph users.ana food"]
    world.admin.execute("UPDATE one SET value = '{\"likes\": \"dates\"}' WHERE key = 'food'")
    assert (bring("one")["accepted"], bring("one")["already"]) == (2, 3)
    store = pytest.importorskip("memwarden.langgraph", reason="needs memwarden[langgraph]")
    with store.MemwardenStore.from_conn_string(dsn) as there:
        assert there.get(("users", "ana"), "food").value == {"likes": "dates"}
        assert there.get(("users", "two"), "food").value == {"likes": "plums"}
        there.put(("users", "ana"), "food", {"likes": "bread"})
        assert bring("one")["refused"] == {"KEY_OF_ANOTHER": 1}
        assert there.get(("users", "ana"), "food").value == {"likes": "bread"}
    for name in ("one", "two"):
        arguments = ("--from", "mem0", "--table", f"{name}_mem0")
        told = imported(world.dsn, *arguments, dsn=dsn, report=report)
        assert (told["accepted"], told["refused"]) == (1, {"DELETED": 1})
    with Client.connect(dsn) as memory:
        subjects = {each.subject for each in memory.as_of() if "statement" in each.content}
        assert subjects == {"%41na-one", "%41na-two"}
