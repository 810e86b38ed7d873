"""What an administrator changes of a layer holds for the next write."""

from __future__ import annotations

import psycopg
import pytest
from psycopg.types.json import Jsonb

from conftest import World
from helpers import recall, write


def configure(world: World, which: str, /, **settings: object) -> None:
    """Change settings as an administrator, who need not be a superuser."""
    admin = world.connect(world.role("memwarden_admin"))
    admin.execute("SELECT memwarden.configure_layer(%s, %s)", (which, Jsonb(settings)))


def test_a_smaller_content_limit_refuses_what_was_allowed(world: World) -> None:
    """Other settings stay as they were. Proves: W3."""
    agent = world.agent()
    before = world.rows("SELECT * FROM memwarden_data.layer WHERE layer = 'episodic'")[0]
    configure(world, "episodic", max_content_bytes=20)
    assert write(agent, "episodic", {"text": "x" * 30})["reason"] == "CONTENT_TOO_LARGE"
    after = world.rows("SELECT * FROM memwarden_data.layer WHERE layer = 'episodic'")[0]
    assert after == before | {"max_content_bytes": 20}


def test_a_limit_is_removed_by_null(world: World) -> None:
    """The working layer allows an hour, until it allows anything. Proves: W3."""
    agent = world.agent()
    assert write(agent, "working", "first", ttl="2 hours")["reason"] == "TTL_OUT_OF_RANGE"
    configure(world, "working", max_ttl=None)
    assert write(agent, "working", "second", ttl="2 hours")["outcome"] == "COMMITTED"


def test_another_language_indexes_what_is_there_anew(world: World) -> None:
    """English stems a word that the plain configuration takes as it stands."""
    agent = world.agent()
    write(agent, "semantic", "Ana went hiking")
    words = {"weights": {"keyword": 1}}
    assert recall(agent, query="hikes", **words)[0]["keyword_score"] > 0
    configure(world, "semantic", text_search_config="simple")
    assert recall(agent, query="hikes", **words)[0]["keyword_score"] == 0
    assert recall(agent, query="hiking", **words)[0]["keyword_score"] > 0


@pytest.mark.parametrize(
    ("layer", "settings", "state"),
    [
        ("nowhere", {"max_attempts": 3}, "42704"),
        ("working", {"max_atempts": 3}, "22023"),
        ("working", {"layer": "episodic"}, "22023"),
        ("working", {"max_attempts": 0}, "22023"),
        ("working", {"lock_wait": "1 day"}, "22023"),
        ("working", {"text_search_config": "klingon"}, "42704"),
        ("working", {"max_attempts": "many"}, "22023"),
        ("episodic", {"soft_ttl": "-1 day"}, "22023"),
        ("episodic", {"soft_ttl": "2000 years"}, "22023"),
        ("episodic", {"max_idle": "0"}, "22023"),
        ("episodic", {"max_idle": "200000000 years"}, "22023"),
        ("episodic", {"default_ttl": "soon"}, "22023"),
        ("episodic", {"decay": "slow"}, "22023"),
        ("episodic", {"decay_rate": -0.1}, "22023"),
        ("episodic", {"decay_rate": "NaN"}, "22023"),
        ("episodic", {"counted_from": "now"}, "22023"),
        ("episodic", {"gc_threshold": 2}, "22023"),
        ("episodic", {"eviction": "random"}, "22023"),
        ("episodic", {"hard_delete": None}, "22023"),
    ],
)
def test_what_is_no_setting_is_refused(
    world: World, layer: str, settings: dict[str, object], state: str
) -> None:
    """A misspelt name and a value out of range change nothing."""
    with pytest.raises(psycopg.Error) as raised:
        configure(world, layer, **settings)
    assert raised.value.sqlstate == state


def test_what_ages_memory_ships_as_the_table_says(shared_world: World) -> None:
    """Rates are a day; what an organisation stands by does not decay. Proves: G1, L3."""
    rows = shared_world.rows(
        "SELECT layer, decay, decay_rate, soft_ttl::text, default_ttl::text, gc_threshold,"
        "       max_idle::text, max_items"
        "  FROM memwarden_data.layer ORDER BY ordinal"
    )
    assert [tuple(row.values()) for row in rows] == [
        ("working", "exempt", 0, None, "00:15:00", None, None, 5),
        ("session", "forcing", 12, None, "01:00:00", 0.1, "01:00:00", 100),
        ("episodic", "forcing", 0.01, "30 days", "365 days", 0.2, "30 days", 10000),
        ("semantic", "validity", 0.001, None, None, 0.1, "180 days", 10000),
        ("procedural", "validity", 0.0005, None, None, 0.1, "365 days", 10000),
        ("durable", "exempt", 0, None, None, None, None, None),
    ]


def test_agents_change_no_settings(world: World) -> None:
    """Proves: Z1."""
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        world.agent().execute("SELECT memwarden.configure_layer('semantic', '{}')")
