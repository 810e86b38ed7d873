"""Settings belong to the server, to an organisation or to one of its agents."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest
from psycopg import Connection
from psycopg.rows import DictRow
from psycopg.types.json import Jsonb

from conftest import World
from helpers import ranked, recall, write
from races import overlap, together
from shipped import SCOPE, Shipped

ACME, BOLT = "/org/acme/user/ana", "/org/bolt/user/bo"


def configure(
    connection: Connection[DictRow], which: str, /, owner: dict[str, Any], **settings: object
) -> None:
    """Set settings of a layer for an organisation, an agent or, without either, the server."""
    named = "".join(f", {name} => %({name})s" for name in owner)
    connection.execute(
        f"SELECT memwarden.configure_layer(%(layer)s, %(settings)s{named})",
        {"layer": which, "settings": Jsonb(settings)} | owner,
    )


def refused(connection: Connection[DictRow], which: str, /, owner: Any, **settings: object) -> str:
    """The SQLSTATE with which it is refused."""
    with pytest.raises(psycopg.Error) as refusal:
        configure(connection, which, owner, **settings)
    return str(refusal.value.sqlstate)


def explained(world: World, layer: str, setting: str, **owner: str) -> tuple[Any, str, str]:
    """What holds of a setting, whose it is, and for which layers it was set."""
    named = "".join(f", {name} => %({name})s" for name in owner)
    row = world.admin.execute(
        f"SELECT * FROM memwarden.explain_settings(%(layer)s{named}) WHERE setting = %(setting)s",
        {"layer": layer, "setting": setting} | owner,
    ).fetchone()
    assert row is not None
    return row["value"], row["owner"], row["layers"]


def test_each_goes_by_its_own(world: World) -> None:
    """An agent by its own, others by their organisation's, and another by the server's.

    Proves: Z14
    """
    mine, other = world.register(ACME), world.register(f"{ACME}/task/t")
    theirs = world.register(BOLT)
    configure(world.admin, "episodic", {"org": "acme"}, max_content_bytes=40)
    configure(world.admin, "episodic", {"org": "acme", "agent": mine}, max_content_bytes=20)
    outcomes = {
        (agent, size): write(world.connect(agent), "episodic", {"t": "x" * size})["reason"]
        for agent in (mine, other, theirs)
        for size in (25, 60)
    }
    large = "CONTENT_TOO_LARGE"
    assert outcomes == {
        (mine, 25): large,
        (mine, 60): large,
        (other, 25): None,
        (other, 60): large,
        (theirs, 25): None,
        (theirs, 60): None,
    }
    assert explained(world, "episodic", "max_content_bytes", org="acme", agent=mine) == (
        20,
        "agent",
        "episodic",
    )
    assert explained(world, "episodic", "max_content_bytes", org="acme")[:2] == (40, "organisation")
    assert explained(world, "episodic", "max_content_bytes", org="bolt")[:2] == (1048576, "server")


def test_the_most_specific_wins_whatever_was_set_last(world: World) -> None:
    """Agent before organisation before server, and a layer before all layers. Proves: Z14."""
    agent = world.register(ACME)
    places: list[tuple[str, dict[str, str], float]] = [
        ("semantic", {"org": "acme", "agent": agent}, 0.1),
        ("*", {"org": "acme", "agent": agent}, 0.2),
        ("semantic", {"org": "acme"}, 0.3),
        ("*", {"org": "acme"}, 0.4),
        ("semantic", {}, 0.5),
    ]
    for layer, owner, value in places:
        configure(world.admin, layer, owner, default_confidence=value)
    for layer, owner, value in places:
        assert (
            explained(world, "semantic", "default_confidence", org="acme", agent=agent)[0] == value
        )
        if owner:
            named = "".join(f", {name} => %({name})s" for name in owner)
            count = world.admin.execute(
                f"SELECT memwarden.reset_layer(%(layer)s{named}) AS n", {"layer": layer} | owner
            ).fetchone()
            assert count == {"n": 1}
    assert world.value("SELECT count(*) FROM memwarden_data.layer_setting") == 0


def test_a_recall_is_scored_as_its_reader_has_it(world: World) -> None:
    """Weights are the reader's; another of the same organisation keeps the layer's. Proves: Z14."""
    one, two = world.register(ACME), world.register("/org/acme", descendants=True)
    write(world.connect(one), "episodic", "Ana plays the oboe.")
    configure(world.admin, "episodic", {"org": "acme", "agent": one}, recall_weight=3)
    sums = [
        ranked(world.connect(agent), query="oboe", scope=ACME)[0]["sum"] for agent in (one, two)
    ]
    assert sums[0] == pytest.approx(3 * sums[1], rel=1e-3)


def test_what_ages_memories_is_their_writers(world: World) -> None:
    """Soft lifetimes and relevance go by who wrote, in jobs and in recall. Proves: Z14."""
    one, two = world.register(ACME), world.register(f"{ACME}/task/t")
    configure(
        world.admin, "episodic", {"org": "acme", "agent": one}, soft_ttl="1 day", decay_rate=2
    )
    configure(world.admin, "episodic", {"org": "acme"}, decay_rate=0)
    ids = [write(world.connect(a), "episodic", f"{a} saw it")["item_id"] for a in (one, two)]
    ends = world.rows(
        "SELECT fresh_until - created_at AS soft FROM memwarden_data.item"
        " WHERE item_id = ANY (%s) ORDER BY item_id",
        ids,
    )
    assert [end["soft"] is not None and end["soft"].days for end in ends] == [1, False]
    decayed = world.rows(
        "SELECT r.decayed FROM memwarden_internal.relevance_of("
        "    (SELECT org_id FROM memwarden_data.organisation WHERE name = 'acme'), %s,"
        "    clock_timestamp() + interval '1 day') AS r ORDER BY r.item_id",
        ids,
    )
    assert [round(row["decayed"], 2) for row in decayed] == [pytest.approx(0.14, abs=0.01), 1]


def test_who_has_other_settings_keeps_the_layers_lifetimes(world: World) -> None:
    """And its writes what is kept of a plain one: they cost what they cost others. Proves: Z14."""
    agent = world.register(ACME)
    configure(world.admin, "episodic", {}, soft_ttl="10 days")
    configure(world.admin, "episodic", {"org": "acme", "agent": agent}, rate_limit=7)
    item = write(world.connect(agent), "episodic", "Ana plays the oboe.")["item_id"]
    assert world.rows("SELECT fresh_until FROM memwarden_data.item WHERE item_id = %s", item) == [
        {"fresh_until": None}
    ]
    assert (
        world.value(
            "SELECT (k.plain).rate_limit FROM memwarden_data.kept_terms AS k"
            "  JOIN memwarden_data.principal AS p USING (principal_id)"
            " WHERE p.name = %s AND k.layer = 'episodic'",
            agent,
        )
        == 7
    )


def test_an_agent_may_have_no_soft_lifetime(world: World) -> None:
    """What it writes counts fully for ever where the layer's fades. Proves: Z14."""
    one, two = world.register(ACME), world.register(f"{ACME}/task/t")
    configure(world.admin, "episodic", {}, soft_ttl="10 days")
    configure(world.admin, "episodic", {"org": "acme", "agent": one}, soft_ttl=None)
    ids = [write(world.connect(a), "episodic", f"{a} saw it")["item_id"] for a in (one, two)]
    ends = world.rows(
        "SELECT fresh_until = 'infinity' AS endless FROM memwarden_data.item"
        " WHERE item_id = ANY (%s) ORDER BY item_id",
        ids,
    )
    assert [end["endless"] for end in ends] == [True, None]


@pytest.mark.parametrize("written", ["1e-1", "0.10", 0.1])
def test_a_value_is_kept_as_its_column_has_it(world: World, written: object) -> None:
    """However it was written, the server can compare it when it fixes its own. Proves: Z14."""
    world.register(ACME)
    configure(world.admin, "semantic", {"org": "acme"}, min_authority=written)
    assert explained(world, "semantic", "min_authority", org="acme")[:2] == (0.1, "organisation")
    configure(world.admin, "semantic", {"fixed": True}, min_authority=0.5)
    assert explained(world, "semantic", "min_authority", org="acme")[:2] == (0.5, "server")


def test_the_server_is_told_beside_whose_settings_its_own_cannot_stand(world: World) -> None:
    """The organisation is named; nothing changes. Proves: Z14."""
    world.register(ACME)
    world.register(BOLT)
    configure(world.admin, "semantic", {"org": "acme"}, cold_after="100 days")
    configure(world.admin, "episodic", {"org": "bolt"}, cold_after="100 days")
    configure(world.admin, "semantic", {"org": "bolt"}, soft_ttl="1 day")
    with pytest.raises(psycopg.Error) as refusal:
        configure(world.admin, "semantic", {}, warm_after="200 days")
    assert refusal.value.sqlstate == "22023"
    assert "own settings of acme" in str(refusal.value)
    assert "bolt" not in str(refusal.value)
    configure(world.admin, "semantic", {}, warm_after="95 days")


def test_who_reads_is_no_matter_of_an_agent(world: World) -> None:
    """And how the store is built none of an organisation. Proves: Z14."""
    agent = world.register(ACME)
    mine = {"org": "acme", "agent": agent}
    assert refused(world.admin, "semantic", mine, shared=False) == "22023"
    assert refused(world.admin, "semantic", mine, lock_wait="1 second") == "22023"
    assert refused(world.admin, "*", {"org": "acme"}, text_search_config="simple") == "22023"
    assert refused(world.admin, "*", {"org": "acme"}, own_shelf_from=9) == "22023"
    configure(world.admin, "semantic", {"org": "acme"}, shared=False)
    write(world.connect(agent), "semantic", "Ana plays the oboe.")
    reader = world.agent("/org/acme", descendants=True)
    assert recall(reader, query="oboe", scope=ACME) == []
    theirs = world.register(BOLT)
    write(world.connect(theirs), "semantic", "Bo plays the oboe.")
    assert len(recall(world.agent("/org/bolt", descendants=True), query="oboe", scope=BOLT)) == 1


@pytest.mark.parametrize(
    ("layer", "owner", "settings", "state"),
    [
        ("nowhere", {"org": "acme"}, {"max_attempts": 3}, "42704"),
        ("*", {"org": "nobody"}, {"max_attempts": 3}, "42704"),
        ("*", {"agent": "nobody"}, {"max_attempts": 3}, "42704"),
        ("*", {"org": "acme"}, {"max_attempts": 0}, "22023"),
        ("*", {"org": "acme"}, {"max_attempts": "many"}, "22023"),
        ("*", {"org": "acme"}, {"max_attempts": None}, "22023"),
        ("*", {"org": "acme"}, {"fact_threshold": "NaN"}, "22023"),
        ("*", {"org": "acme"}, {"nothing": 1}, "22023"),
        ("*", {"org": "acme"}, {"org_id": 2}, "22023"),
        ("*", {"org": "acme"}, {"fixed": ["decay"]}, "22023"),
        ("*", {"org": "acme"}, {"weights": {"vector": "x"}}, "22023"),
        ("*", {"org": "acme"}, {"soft_ttl": "2000 years"}, "22023"),
        # Alone each is in range.
        ("*", {"org": "acme"}, {"cold_after": "1 day"}, "22023"),
        ("*", {"org": "acme", "fixed": True}, {"max_attempts": 3}, "22023"),
    ],
)
def test_a_value_is_checked_as_the_servers_is(
    world: World, layer: str, owner: dict[str, Any], settings: dict[str, Any], state: str
) -> None:
    """What is refused changes nothing. Proves: Z14."""
    world.register(ACME)
    before = world.rows("SELECT * FROM memwarden_data.kept_layer ORDER BY org_id, layer")
    assert refused(world.admin, layer, owner, **settings) == state
    assert world.rows("SELECT * FROM memwarden_data.kept_layer ORDER BY org_id, layer") == before
    assert world.value("SELECT count(*) FROM memwarden_data.layer_setting") == 0


def test_what_the_server_fixes_nobody_has_weaker(world: World) -> None:
    """Stricter is let be; what was weaker before counts for nothing until then. Proves: Z14."""
    world.register(ACME)
    acme = {"org": "acme"}
    configure(world.admin, "semantic", acme, min_authority=0.1, unclear="store", max_items=9)
    server = {"fixed": True}
    configure(
        world.admin, "*", server, min_authority=0.5, unclear="ask", max_items=5, decay="validity"
    )

    def holds(setting: str) -> tuple[Any, str]:
        return explained(world, "semantic", setting, org="acme")[:2]

    assert holds("min_authority") == (0.5, "server")
    assert holds("unclear") == ("ask", "server")
    assert holds("max_items") == (5, "server")
    for weaker in (
        {"min_authority": 0.4},
        {"unclear": "store"},
        {"max_items": 6},
        {"max_items": None},
        # What is neither weaker nor stricter is another value.
        {"decay": "exempt"},
    ):
        assert refused(world.admin, "semantic", acme, **weaker) == "22023", weaker
    configure(world.admin, "semantic", acme, min_authority=0.6, unclear="refuse", max_items=4)
    assert holds("min_authority") == (0.6, "organisation")
    assert holds("unclear") == ("refuse", "organisation")
    assert holds("max_items") == (4, "organisation")
    configure(world.admin, "*", {"fixed": False}, min_authority=0.5)
    configure(world.admin, "semantic", acme, min_authority=0.2)
    assert holds("min_authority") == (0.2, "organisation")


def test_a_curator_sets_its_own_organisations_and_no_others(world: World) -> None:
    """Of what protects the server it gives itself no more than the server. Proves: Z14."""
    agent, other = world.register(ACME), world.register(BOLT)
    curator = world.agent(
        "/org/acme", groups=("memwarden_curator",), role="curator", descendants=True
    )
    configure(curator, "semantic", {}, fact_threshold=0.5)
    configure(curator, "*", {"agent": agent}, fact_threshold=0.4)
    assert explained(world, "semantic", "fact_threshold", org="acme")[:2] == (0.5, "organisation")
    for owner in (
        {"org": "bolt"},
        {"org": "global"},
        {"agent": other},
        {"agent": agent, "org": "bolt"},
    ):
        assert refused(curator, "semantic", owner, fact_threshold=0.1) in ("42501", "42704"), owner
    assert refused(curator, "semantic", {"fixed": True}, fact_threshold=0.1) == "22023"
    configure(world.admin, "semantic", {}, rate_limit=100, max_pending=10)
    configure(curator, "semantic", {}, rate_limit=50)
    for more in ({"rate_limit": 200}, {"rate_limit": None}, {"max_pending": 11}):
        assert refused(curator, "semantic", {}, **more) == "22023", more
    configure(world.admin, "semantic", {"org": "acme"}, rate_limit=200)
    # An agent sets nothing, nor does who is of no organisation.
    for login in (world.connect(agent), world.connect(world.role("memwarden_curator"))):
        assert refused(login, "semantic", {}, fact_threshold=0.1) in ("42501", "28000", "42704")


def test_an_agent_sees_its_organisations_settings_alone(world: World) -> None:
    """In the tables, whatever a DBA grants, and by the function. Proves: Z14."""
    mine = world.register(ACME)
    world.register(BOLT)
    for org in ("acme", "bolt"):
        configure(world.admin, "*", {"org": org}, max_attempts=7)
    world.grant_tables(mine)
    agent = world.connect(mine)
    for table in ("layer_setting", "kept_layer"):
        seen = agent.execute(f"SELECT DISTINCT org_id FROM memwarden_data.{table}").fetchall()
        acme = world.value("SELECT org_id FROM memwarden_data.organisation WHERE name = 'acme'")
        assert {row["org_id"] for row in seen} <= {0, acme}, table
    own = agent.execute(
        "SELECT value FROM memwarden.explain_settings('semantic') WHERE setting = 'max_attempts'"
    ).fetchone()
    assert own == {"value": 7}
    for arguments, state in ((("bolt",), "42501"), (("nobody",), "42501")):
        with pytest.raises(psycopg.Error) as refusal:
            agent.execute(
                "SELECT * FROM memwarden.explain_settings('semantic', org => %s)", arguments
            )
        assert refusal.value.sqlstate == state


KEPT = """
WITH settled AS (
    SELECT s.* FROM memwarden_data.organisation AS o
     CROSS JOIN LATERAL memwarden_internal.settled_layers(
               NULL::memwarden_data.kept_layer, o.org_id) AS s)
SELECT count(*)
  FROM ((TABLE memwarden_data.kept_layer EXCEPT TABLE settled)
         UNION ALL (TABLE settled EXCEPT TABLE memwarden_data.kept_layer)) AS d"""


def test_changes_at_once_miss_nothing_of_each_other(world: World) -> None:
    """Of the server, two organisations, an agent, and a new organisation. Proves: Z14."""
    agent = world.register(ACME)
    world.register(BOLT)
    owners: list[dict[str, Any]] = [
        {},
        {"org": "acme"},
        {"org": "bolt"},
        {"org": "acme", "agent": agent},
    ]
    sessions = [world.connect() for _ in range(5)]

    def change(session: Connection[DictRow], owner: dict[str, Any], place: int) -> None:
        for count in range(8):
            layer = "semantic" if count % 2 else "*"
            configure(session, layer, owner, min_authority=(count + place) / 20)
            if count == 5 and owner:
                named = "".join(f", {name} => %({name})s" for name in owner)
                session.execute(f"SELECT memwarden.reset_layer('*'{named})", owner)

    def found() -> None:
        for count in range(8):
            sessions[4].execute("SELECT memwarden.create_scope(%s)", (f"/org/new{count}",))

    together(
        [
            *(
                lambda s=sessions[n], o=owner, n=n: change(s, o, n)
                for n, owner in enumerate(owners)
            ),
            found,
        ]
    )
    assert world.value(KEPT) == 0
    assert world.value("SELECT count(*) FROM memwarden_data.kept_layer WHERE principal_id = 0") == (
        6 * world.value("SELECT count(*) FROM memwarden_data.organisation")
    )


def test_who_changes_settings_waits_for_who_does_already(world: World) -> None:
    """And sees then what that one has changed. Proves: Z14."""
    world.register(ACME)
    first, second = world.connect(), world.connect()
    overlap(
        world.admin,
        first,
        lambda: configure(first, "semantic", {}, min_authority=0.7),
        second,
        lambda: configure(second, "semantic", {"org": "acme"}, max_attempts=2),
    )
    row = world.rows(
        "SELECT min_authority, max_attempts FROM memwarden_data.kept_layer AS k"
        "  JOIN memwarden_data.organisation AS o USING (org_id)"
        " WHERE o.name = 'acme' AND layer = 'semantic'"
    )
    assert row == [{"min_authority": 0.7, "max_attempts": 2}]


def test_an_organisation_has_its_own_in_a_store_as_init_leaves_it(shipped: Shipped) -> None:
    """Its agent's next write goes by them. Proves: Z14."""
    configure(shipped.world.admin, "episodic", {"org": "acme"}, max_content_bytes=40)
    refusal = write(shipped.agent, "episodic", {"t": "x" * 60}, scope=SCOPE)
    assert refusal["reason"] == "CONTENT_TOO_LARGE"
