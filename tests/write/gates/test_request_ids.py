"""A caller's request id is a UUIDv7 of today; any other never reaches the partitions."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING

import pytest

from helpers import write, write_many

if TYPE_CHECKING:
    from conftest import World

TEXT = {"text": "Ana prefers green tea"}


def uuid7_of(world: World, offset: str) -> uuid.UUID:
    """A UUIDv7 of the server's time plus an interval."""
    made = world.value(
        "SELECT encode(overlay(uuid_send(memwarden_internal.uuid7()) PLACING substring(int8send("
        "(extract(epoch FROM now() + %s::interval) * 1000)::bigint) FROM 3) FROM 1 FOR 6), 'hex')"
        "::uuid",
        offset,
    )
    assert isinstance(made, uuid.UUID)
    return made


@pytest.mark.parametrize("offset", ["-23 hours", "0", "4 minutes"])
def test_an_id_of_today_is_kept(shared_world: World, home: str, offset: str) -> None:
    """It names the request from then on.

    Proves: W1, W4
    """
    asked = uuid7_of(shared_world, offset)
    answer = write(shared_world.agent(home), "semantic", TEXT, request_id=asked)
    assert (answer["outcome"], answer["request_id"]) == ("COMMITTED", asked)


def test_an_id_of_another_time_is_refused_and_stops_no_maintenance(world: World) -> None:
    """The refusal is recorded under an id of its own, so that every month can have its partition.

    Proves: W1, W2, W8
    """
    agent = world.agent()
    ids = [uuid7_of(world, f"{months} months") for months in (-14, 5, 6, 7, 8)]
    ids += [uuid7_of(world, offset) for offset in ("-25 hours", "6 minutes")]
    ids += [uuid.uuid4(), uuid.UUID(int=0), uuid.UUID(int=2**128 - 1), uuid.uuid1()]
    answers = [write(agent, "semantic", TEXT, request_id=asked) for asked in ids]
    answers += write_many(
        agent, [{"layer": "semantic", "content": TEXT, "request_id": str(asked)} for asked in ids]
    )
    assert {(a["outcome"], a["reason"]) for a in answers} == {("REJECTED", "INVALID_REQUEST_ID")}
    recorded = world.rows(
        "SELECT request_id, tableoid::regclass::text AS place FROM memwarden_data.write_request"
    )
    assert {row["request_id"] for row in recorded} == {answer["request_id"] for answer in answers}
    assert not {row["request_id"] for row in recorded} & set(ids)
    assert "memwarden_data.write_request_default" not in {row["place"] for row in recorded}

    partitions = "SELECT count(*) FROM pg_partition_tree('memwarden_data.write_request')"
    before = world.value(partitions)
    world.admin.execute("UPDATE partman.part_config SET premake = premake + 4")
    with world.connect("memwarden_jobs") as jobs:
        jobs.execute("SELECT memwarden.maintain()")
    assert world.value(partitions) >= before + 4
