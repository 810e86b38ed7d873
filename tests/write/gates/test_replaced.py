"""A write that ends another value says which, and how to take the write back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from psycopg import Connection
from psycopg.rows import DictRow
from psycopg.types.json import Jsonb

from access import call
from helpers import write, write_many
from write.judgement.test_two_things import ask_nobody

if TYPE_CHECKING:
    from conftest import World

Agent = Connection[DictRow]
HOME = "/org/acme"
KEY = {"subject": "Ana", "predicate": "lives in"}


@pytest.fixture
def agent(world: World) -> Agent:
    """Who may also take back what it wrote, in a store as it is shipped that asks no person."""
    ask_nobody(world, "semantic")
    return world.agent(HOME, role="curator")


def say(agent: Agent, content: Any, **more: Any) -> DictRow:
    """Write a value of the key, or of another."""
    return write(agent, "semantic", content, **(KEY | more))


def was(answer: DictRow) -> list[Any]:
    """What an answer says has been replaced; nothing where it gives no such reason."""
    assert (answer["reason"] == "REPLACED") == ("replaced" in (answer["detail"] or {}))
    return [each["value"] for each in (answer["detail"] or {}).get("replaced", [])]


def current(agent: Agent) -> list[Any]:
    """What the store says at present."""
    rows = agent.execute("SELECT content FROM memwarden.items WHERE status = 'ACTIVE'").fetchall()
    return sorted((row["content"] for row in rows), key=str)


def test_a_second_value_names_the_first_and_the_call_that_brings_it_back(agent: Agent) -> None:
    """The call runs as it stands there. Proves: D5."""
    first = say(agent, "Lund")
    assert was(first) == []
    second = say(agent, "Oslo")
    assert (second["outcome"], second["gate"]) == ("COMMITTED", "90_commit")
    [told] = second["detail"]["replaced"]
    assert told["value"] == "Lund"
    assert told["item_id"] == str(first["item_id"])
    assert told["version_id"] == str(first["version_id"])
    assert (told["from"] is None, told["to"]) == (False, None)
    agent.execute(second["detail"]["undo"])
    assert current(agent) == ["Lund"]
    # The same value, however it is spelled, replaces nothing.
    assert was(say(agent, "LUND", valid_from="2020-01-01")) == []


def test_a_batch_says_it_of_each(agent: Agent) -> None:
    """Also of a value that the same batch has written. Proves: D5."""
    rows = [{"layer": "semantic", "content": city, **KEY} for city in ("Lund", "Oslo", "Rome")]
    assert [was(answer) for answer in write_many(agent, rows)] == [[], ["Lund"], ["Oslo"]]


def test_only_what_was_replaced_is_asked_about(world: World, agent: Agent) -> None:
    """Telling of each value of a batch looks at that one, however many memories there are."""
    values = 20

    def say_all(content: str) -> list[DictRow]:
        rows = [
            {"layer": "semantic", "content": content, "subject": f"s{n}"} for n in range(values)
        ]
        return write_many(agent, [row | {"predicate": "is"} for row in rows])

    assert [was(answer) for answer in say_all("green")] == [[]] * values
    world.admin.execute(
        f"ALTER ROLE {agent.info.user} SET track_functions = 'all'"  # nobody else may set it
    )
    counted = world.log_in(agent.info.user)
    ids = [answer["request_id"] for answer in say_all("red")]
    with counted.transaction():
        told = counted.execute(
            "SELECT s.detail FROM unnest(%s::uuid[]) AS r (id),"
            "       memwarden.request_status(r.id) AS s",
            (ids,),
        ).fetchall()
        [calls] = counted.execute(
            "SELECT sum(f.calls) AS n FROM pg_stat_xact_user_functions AS f"
            " WHERE f.funcname = 'refusal'"
        ).fetchall()
    assert [row["detail"]["replaced"][0]["value"] for row in told] == ["green"] * values
    assert calls["n"] < 3 * values


def test_whoever_asks_again_is_told_again(agent: Agent) -> None:
    """A replay by id, content or key, and who asks request_status(). Proves: D5."""
    say(agent, "Lund")
    first = say(agent, "Oslo", idempotency_key="move")
    undo = first["detail"]["undo"]
    assert str(first["request_id"]) in undo
    again = say(agent, "Oslo", idempotency_key="move")
    assert (again["outcome"], was(again), again["detail"]["undo"]) == (
        "ALREADY_COMMITTED",
        ["Lund"],
        undo,
    )
    [status] = call(agent, "request_status", request_id=first["request_id"])
    assert (was(status), status["detail"]["undo"]) == (["Lund"], undo)
    replay = say(agent, "Oslo", request_id=first["request_id"], idempotency_key="move")
    assert (replay["outcome"], was(replay)) == ("ALREADY_COMMITTED", ["Lund"])
    said_again = say(agent, "Rome"), say(agent, "Rome")
    assert [was(each) for each in said_again] == [["Oslo"], ["Oslo"]]


def test_the_old_words_are_not_kept_with_the_request(world: World, agent: Agent) -> None:
    """Numbers alone; so an erasure has nothing to look for there. Proves: D5."""
    say(agent, "Zzqlund")
    assert was(say(agent, "Oslo")) == ["Zzqlund"]
    kept = world.rows("SELECT r::text AS kept FROM memwarden_data.write_request AS r")
    assert not any("Zzqlund" in row["kept"] for row in kept)


def test_what_the_writer_may_not_read_any_more_is_not_told(world: World) -> None:
    """Nor its number. Proves: D5."""
    ask_nobody(world, "semantic")
    chief = world.agent(HOME, clearance="restricted", role="curator")
    say(chief, "Lund")
    answer = say(chief, "Oslo")
    assert was(answer) == ["Lund"]
    secret = say(chief, "Rome", classification="restricted")
    assert was(secret) == ["Oslo"]
    world.admin.execute(
        "UPDATE memwarden_data.principal AS p SET clearance = 1 FROM memwarden_data.principal_login"
        " AS l WHERE l.principal_id = p.principal_id AND l.login_role = %s",
        (chief.info.user,),
    )
    [status] = call(chief, "request_status", request_id=answer["request_id"])
    assert (status["reason"], status["detail"]["replaced"]) == ("REPLACED", [])


def test_a_period_says_what_it_takes_and_for_how_long(agent: Agent) -> None:
    """Of the past, of the time to come, and of nothing that is held. Proves: D5."""
    say(agent, "Lund", valid_from="2015-01-01")
    past = say(agent, "Oslo", valid_from="2017-01-01", valid_to="2019-01-01")
    assert was(past) == ["Lund"]
    [told] = past["detail"]["replaced"]
    assert (told["from"][:10], told["to"][:10]) == ("2017-01-01", "2019-01-01")
    assert was(say(agent, "Rome", valid_from="2090-01-01")) == ["Lund"]
    assert was(say(agent, "Bonn", valid_from="2010-01-01")) == []
    assert current(agent) == ["Lund"]


def test_a_correction_and_a_memory_that_grows_replace_nothing_unsaid(agent: Agent) -> None:
    """Who corrects names the memory itself; who adds to one takes nothing away. Proves: D5."""
    item = say(agent, "Lund")["item_id"]
    corrected = write(agent, "semantic", "Oslo", corrects=item)
    assert (corrected["outcome"], was(corrected)) == ("COMMITTED", [])
    write(agent, "semantic", "Bo has a dog.")
    grown = write(agent, "semantic", "Bo has a brown dog.")
    assert grown["reason"] is None


def test_a_newer_value_without_a_key_is_told_too(agent: Agent) -> None:
    """The writer's own memory, whose next version it became. Proves: D5."""
    item = write(agent, "semantic", "The garden door is open.")["item_id"]
    done = write(agent, "semantic", "The garden door is now closed.")
    assert (done["item_id"], was(done)) == (item, ["The garden door is open."])
    agent.execute(done["detail"]["undo"])
    assert current(agent) == ["The garden door is open."]


def test_a_memory_that_the_conflict_policy_ends_is_told(world: World, agent: Agent) -> None:
    """Another writer's, which this one may change. Proves: D5."""
    settings = Jsonb({"conflict": "latest_wins"})
    world.admin.execute("SELECT memwarden.configure_layer('semantic', %s)", (settings,))
    other = world.agent(HOME)
    old = write(other, "semantic", "The garden door is open.")
    done = write(agent, "semantic", "The garden door is not open.")
    assert was(done) == ["The garden door is open."]
    assert done["detail"]["replaced"][0]["item_id"] == str(old["item_id"])
    assert done["item_id"] != old["item_id"]
    agent.execute(done["detail"]["undo"])
    assert current(agent) == ["The garden door is open."]
