"""What packs say of freshness and floors holds in contexts as it does in recalls."""

from __future__ import annotations

from typing import TYPE_CHECKING

from psycopg.types.json import Jsonb

from access import call, curator
from helpers import recall, write

if TYPE_CHECKING:
    from conftest import World


def test_windows_and_floors_of_packs_mark_contexts(world: World) -> None:
    """Marked, said in the line, and not dropped; across a surface as well.

    Proves: F4 (freshness windows, confidence floors), F8, F9
    """
    boss = curator(world, "/org/acme")
    agent = world.agent()
    link = {"class": "evidence_link", "evidence": [{"uri": "https://example.org/pump"}]}
    done = write(agent, "semantic", "the pump was cheap", confidence=0.6, **link)
    assert done["outcome"] == "COMMITTED", {"reason": done["reason"]}
    definition = {"confidence_floors": {"evidence_link": 0.7}, "freshness": {"*": "30 days"}}
    call(boss, "define_pack", name="house", definition=Jsonb(definition))
    call(boss, "use_pack", pack="house")
    call(boss, "define_surface", name="desk", strip=[])
    (item,) = call(agent, "compile_context", query="pump")
    assert (item["low_confidence"], item["stale"], item["standing"]) == (True, False, "reported")
    world.admin.execute("SET session_replication_role = replica")
    world.admin.execute(
        "UPDATE memwarden_data.item SET updated_at = updated_at - interval '31 days'"
    )
    for surface in (None, "desk"):
        (item,) = call(agent, "compile_context", query="pump", surface=surface)
        (row,) = recall(agent, query="pump", surface=surface)
        assert (item["stale"], item["standing"]) == (row["stale"], row["standing"])
        assert (item["stale"], item["standing"]) == (True, "outdated")
        assert '"stale": true' in item["line"]
        assert '"standing": "outdated"' in item["line"]


def test_nothing_that_waits_or_is_captured_crosses(world: World) -> None:
    """A draft and a capture are no memory, on a surface or off it.

    Proves: F9
    """
    boss = curator(world, "/org/acme")
    agent = world.agent()
    call(boss, "define_surface", name="desk", strip=[])
    agent.execute("SELECT memwarden.capture(%s, %s)", ("chat", Jsonb({"text": "the pump leaks"})))
    world.admin.execute(
        "SELECT memwarden.set_approval_policy('semantic', approval => 'always'),"
        "       memwarden.configure_layer('semantic', '{\"admission\": \"full\"}')"
    )
    waits = write(agent, "semantic", "the pump broke")
    assert waits["outcome"] == "DEFERRED", {"reason": waits["reason"]}
    for surface in (None, "desk"):
        assert recall(agent, query="pump", surface=surface) == []
        assert call(agent, "compile_context", query="pump", surface=surface) == []
