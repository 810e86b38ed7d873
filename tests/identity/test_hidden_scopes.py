"""A scope, or an organisation, that the caller may not see answers as one that is not there."""

from __future__ import annotations

import uuid
from typing import Any

import pytest

from conftest import World
from helpers import write
from identity.twins import Side, twins

# What is asked about each place: itself, what is in it, and what might be made in it.
BELOW = ["", "/task/t", "/task/new", "/domain/d", "/user/u", "/galaxy/g", "/task/t/task/deep"]


def rival(side: Side) -> str:
    """Another organisation, on the side that has it."""
    name = f"r{uuid.uuid4().hex[:10]}"
    side.names[name] = "RIVAL"
    if side.present:
        for below in ("", "/user/ana", "/user/ana/task/t"):
            side.world.scope(f"/org/{name}{below}")
    return f"/org/{name}"


def neighbours(side: Side) -> list[str]:
    """Places beside the writer: open, closed, and never made on either side."""
    places = [f"/org/{side.org}/user/{name}" for name in ("bob", "eve", "nobody")]
    if side.present:
        for place in places[:2]:
            side.world.scope(f"{place}/task/t")
        side.world.admin.execute("SELECT * FROM memwarden.close_scope(%s)", (places[1],))
    return places


@pytest.mark.parametrize("where", [rival, neighbours])
def test_what_is_hidden_is_not_told_from_what_is_absent(shared_world: World, where: Any) -> None:
    """Results, and all that an error says, also of where in the code it was raised.

    Proves: A4, A9
    """
    with twins(shared_world, "clearance") as sides:
        told: list[list[Any]] = []
        for side in sides:
            places = where(side)
            places = places if isinstance(places, list) else [places, f"{places}/user/ana"]
            answers = []
            for path in [place + below for place in places for below in BELOW]:
                answers += [
                    [path.replace(side.org, "ORG"), side.rows(query, path)]
                    for query in (
                        "SELECT memwarden.create_scope(%s)",
                        "SELECT memwarden.create_scope(%s, interval '1 day')",
                        "SELECT * FROM memwarden.close_scope(%s)",
                        "SELECT * FROM memwarden.recall('x', scope => %s)",
                        "SELECT * FROM memwarden.recall('x', scopes => ARRAY[%s])",
                        "SELECT path FROM memwarden_data.scope WHERE path = %s",
                    )
                ]
                row = write(side.writer, "semantic", {"x": path[-9:]}, scope=path)
                answers.append(side.masked(dict(row)))
            told.append([side.masked(each) for each in answers])
        for present, absent in zip(*told, strict=True):
            assert present == absent


def test_moving_and_promoting_find_no_hidden_scope(shared_world: World) -> None:
    """A target that is not above the item is refused alike, whether it exists or not.

    Proves: A4, A5
    """
    with twins(shared_world, "clearance") as sides:
        told = []
        for side in sides:
            item = write(side.writer, "semantic", {"x": 1}, scope=side.task)["item_id"]
            paths = [*neighbours(side), rival(side), f"{rival(side)}/user/ana"]
            promote = "SELECT * FROM memwarden.promote(%s, %s)"
            close = "SELECT * FROM memwarden.close_scope(%s, ARRAY[%s], %s)"
            told.append(
                [side.rows(promote, item, path) for path in paths]
                + [side.rows(close, side.task, item, path) for path in paths]
            )
        assert told[0] == told[1]
