"""A threshold that a sweep raised: who takes it back, who is told, and what the log keeps."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest
from psycopg import Connection
from psycopg.rows import DictRow

from access import call
from conftest import World
from operations.revalidation.test_judging import Desk
from write.evidence.conftest import DOCS, TEA, cite

BLOG = "https://blog.example.org/"


@pytest.fixture
def desk(world: World) -> Desk:
    """An organisation whose one memory has lost its source, and a layer held to more for it."""
    world.ship_layers()
    world.admin.execute("UPDATE memwarden_data.layer SET duplicate_similarity = NULL")
    made = Desk(world)
    made.source(f"{DOCS}*")
    made.source(f"{BLOG}*")
    assert made.write(TEA, cite(f"{BLOG}tea", TEA))["outcome"] == "COMMITTED"
    # Borne out by 0.84: enough for 0.8, and not for 0.85.
    made.source("https://news.example.org/*", authority=0.84)
    assert news(made, 0)["outcome"] == "COMMITTED"
    call(world.admin, "drop_source", uri_pattern=f"{BLOG}*", org=made.org)
    made.judged()
    return made


def news(desk: Desk, n: int) -> DictRow:
    """Write what a source of some authority says."""
    words = f"Lamp {n} is green."
    return desk.write(words, cite(f"https://news.example.org/{n}", words))


def log(desk: Desk) -> list[tuple[str, Any]]:
    """What the access log says of thresholds."""
    rows = desk.world.rows(
        "SELECT action, detail FROM memwarden_data.access_log"
        " WHERE action IN ('tighten_threshold', 'relax_threshold') ORDER BY entry_id"
    )
    return [(row["action"], row["detail"]) for row in rows]


def thresholds(connection: Connection[DictRow]) -> list[str]:
    """The lines of status() about thresholds."""
    rows = connection.execute(
        "SELECT state, detail FROM memwarden.status() WHERE component = 'thresholds'"
    ).fetchall()
    assert {row["state"] for row in rows} <= {"warning"}
    return [row["detail"] for row in rows]


def test_a_write_that_passed_is_held_to_more_and_passes_again(desk: Desk) -> None:
    """After a sweep that finds less, the layer asks what it asked before.

    Proves: Q3
    """
    held = news(desk, 1)
    assert held["reason"] in {"INSUFFICIENT_EVIDENCE", "EVIDENCE_UNCLEAR"}, held
    assert held["detail"]["threshold"] == pytest.approx(0.85)
    [line] = thresholds(desk.world.admin)
    assert f"semantic of {desk.org} by 0.05" in line
    item = desk.world.value("SELECT item_id FROM memwarden.leaked_memories")
    desk.writer.execute("SELECT memwarden.retract(%s, 'its source is gone')", (item,))
    desk.judged()
    assert news(desk, 2)["outcome"] == "COMMITTED"
    assert thresholds(desk.world.admin) == []
    (raised, told), (relaxed, better) = log(desk)
    assert (raised, told["layer"], told["found_false"], told["sampled"]) == (
        *("tighten_threshold", "semantic"),
        *(1, 2),
    )
    assert (relaxed, better["found_false"]) == ("relax_threshold", 0)


def test_nothing_left_to_sample_raises_nothing(desk: Desk) -> None:
    """A layer that is empty is not held to more for ever."""
    for row in desk.world.rows("SELECT item_id FROM memwarden_data.item WHERE layer = 'semantic'"):
        desk.writer.execute("SELECT memwarden.retract(%s, 'all of it')", (row["item_id"],))
    desk.judged()
    assert thresholds(desk.world.admin) == []


@pytest.mark.every_version
def test_a_curator_takes_it_back_in_its_own_organisation(desk: Desk) -> None:
    """With a reason that stays in the log; nobody else does.

    Proves: Q3
    """
    world = desk.world
    relax = "SELECT memwarden.relax_threshold('semantic', 'the source was moved, not lost')"
    world.scope("/org/other")
    curator, stranger = (
        world.log_in(world.register(f"/org/{org}", role="curator", groups=("memwarden_curator",)))
        for org in (desk.org, "other")
    )
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        desk.writer.execute(relax)
    with pytest.raises(psycopg.errors.UndefinedObject):
        stranger.execute(relax)
    with pytest.raises(psycopg.errors.InvalidParameterValue):
        curator.execute("SELECT memwarden.relax_threshold('semantic', ' ')")
    assert news(desk, 1)["outcome"] != "COMMITTED"
    curator.execute(relax)
    assert news(desk, 2)["outcome"] == "COMMITTED"
    with pytest.raises(psycopg.errors.UndefinedObject):
        curator.execute(relax)
    assert log(desk)[-1] == (
        "relax_threshold",
        {"layer": "semantic", "reason": "the source was moved, not lost"},
    )


def test_a_reviewer_sees_what_is_doubtful_at_home(desk: Desk) -> None:
    """The figures of its organisation, and of the memories those that it may read."""
    world = desk.world
    world.scope("/org/other")
    options: dict[str, Any] = {
        "kind": "human",
        "role": "reviewer",
        "groups": ("memwarden_reviewer",),
    }
    above, beside, stranger = (
        world.log_in(world.register(scope, **options, descendants=below))
        for scope, below in (
            (f"/org/{desk.org}", True),
            (f"/org/{desk.org}", False),
            ("/org/other", True),
        )
    )

    def told(caller: Connection[DictRow], view: str) -> list[str]:
        query = f"SELECT DISTINCT org FROM memwarden.{view} WHERE org = %s"
        return [row["org"] for row in caller.execute(query, (desk.org,))]

    for caller, figures, memories in (
        (above, [desk.org], [desk.org]),
        (beside, [desk.org], []),
        (stranger, [], []),
    ):
        assert told(caller, "revalidations") == figures
        assert told(caller, "leaked_memories") == memories
    for view in ("revalidations", "leaked_memories"):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            told(desk.writer, view)
    assert thresholds(above) == []
