"""Logical replication carries to a region what may lie there, and no row besides."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import psycopg
import pytest
from psycopg import Connection
from psycopg.rows import DictRow, dict_row

from clusters import DATABASE, Cluster, wait_until
from helpers import ask_for_little, recall, write

ORGS = ("acme", "globex")
# Whatever of an organisation a server holds, in whichever table. The random numbers that tell of
# changed settings are the server's own.
TABLES = (
    "SELECT c.relname AS name FROM pg_class AS c"
    "  JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attname = 'org_id'"
    " WHERE c.relnamespace = 'memwarden_data'::regnamespace AND c.relkind IN ('r', 'p')"
    "   AND NOT c.relispartition AND c.relname <> 'settings_change' ORDER BY 1"
)
BREACHES = "SELECT org, place, memories FROM memwarden.residency_breaches ORDER BY 1, 2"


@dataclass
class Two:
    """A publisher in the EU and a subscriber in the US."""

    eu: Connection[DictRow]
    us: Connection[DictRow]
    source: str

    def write(self, org: str, text: str, **arguments: str) -> None:
        """Have the organisation's agent remember something."""
        dsn = f"{self.source} user=agent_{org}"
        with psycopg.connect(dsn, autocommit=True, row_factory=dict_row) as agent:
            assert write(agent, "semantic", {"text": text}, **arguments)["outcome"] == "COMMITTED"

    def subscribe(self) -> None:
        """Make the subscription, as docs/secure.md tells."""
        grants = (
            "SELECT format('GRANT SELECT ON %I.%I TO copier', schemaname, tablename) AS statement"
            "  FROM pg_publication_tables WHERE pubname = 'memwarden_us'"
        )
        for grant in self.eu.execute(grants).fetchall():
            self.eu.execute(grant["statement"])
        self.us.execute(
            f"CREATE SUBSCRIPTION from_eu CONNECTION '{self.source} user=copier'"
            " PUBLICATION memwarden_us WITH (run_as_owner = true)"
        )

    def catch_up(self) -> None:
        """Wait until the subscriber has copied the tables, and all that was committed."""
        at = self.eu.execute("SELECT pg_current_wal_insert_lsn() AS at").fetchall()[0]["at"]
        done = (
            "SELECT (SELECT bool_and(srsubstate = 'r') FROM pg_subscription_rel)"
            " AND (SELECT latest_end_lsn >= %s::pg_lsn FROM pg_stat_subscription"
            "       WHERE relid IS NULL AND worker_type = 'apply') AS done"
        )
        wait_until(self.us, done, at)

    def numbers(self) -> dict[str, int]:
        """The organisations by name."""
        rows = self.eu.execute("SELECT name, org_id FROM memwarden_data.organisation").fetchall()
        return {row["name"]: row["org_id"] for row in rows}

    def held(self, org: str) -> dict[str, int]:
        """How many rows of an organisation the subscriber holds, by table."""
        found = {}
        for table in self.us.execute(TABLES).fetchall():
            count = f"SELECT count(*) AS rows FROM memwarden_data.{table['name']} WHERE org_id = %s"
            rows = self.us.execute(count, (self.numbers()[org],)).fetchall()[0]["rows"]
            if rows:
                found[table["name"]] = rows
        return found

    def texts(self) -> set[str]:
        """What the subscriber's memories say."""
        query = "SELECT content ->> 'text' AS text FROM memwarden_data.version"
        return {row["text"] for row in self.us.execute(query).fetchall()}


def fill(cluster: Cluster) -> None:
    """Make the memory of a cluster that is another store: a copy would take itself for the first.

    What makes them differ is what initdb has given the cluster.
    """
    with cluster.connect("postgres") as server:
        server.execute(f"CREATE DATABASE {DATABASE}")
    with cluster.connect() as admin:
        admin.execute("CREATE EXTENSION memwarden CASCADE")
        admin.execute("SELECT * FROM memwarden.setup()")


@pytest.fixture(scope="module")
def two() -> Iterator[Two]:
    """Two servers of this module's own; agents of two organisations have written in the EU."""
    eu, us = Cluster("eu"), Cluster("us")
    try:
        eu.make_memory()
        for cluster in (eu, us):
            cluster.start("wal_level=logical", "fsync=off")
        fill(us)
        made = Two(eu.connect(), us.connect(), eu.dsn())
        for admin in (made.eu, made.us):
            for region in ("eu", "us"):
                admin.execute("SELECT memwarden.define_region(%s)", (region,))
        ask_for_little(made.eu)
        made.eu.execute("SELECT memwarden.set_region('eu')")
        made.us.execute("SELECT memwarden.set_region('us')")
        for org in ORGS:
            made.eu.execute(f"CREATE ROLE agent_{org} LOGIN IN ROLE memwarden_agent")
            made.eu.execute("SELECT memwarden.create_scope(%s)", (f"/org/{org}/user/ana",))
            made.eu.execute(
                "SELECT memwarden.register_agent(%(role)s, %(scope)s, %(role)s)",
                {"role": f"agent_{org}", "scope": f"/org/{org}/user/ana"},
            )
        made.eu.execute("SELECT memwarden.set_residency('{eu}')")
        made.eu.execute("SELECT memwarden.set_residency('{eu,us}', org => 'globex')")
        made.eu.execute("SELECT memwarden.create_region_publication('us')")
        made.eu.execute("CREATE ROLE copier LOGIN REPLICATION BYPASSRLS")
        made.eu.execute("GRANT USAGE ON SCHEMA memwarden_data TO copier")
        for org in ORGS:
            made.write(org, f"{org} keeps bees")
        made.subscribe()
        made.catch_up()
        yield made
        made.eu.close()
        made.us.close()
    finally:
        us.drop()
        eu.drop()


def test_what_may_not_lie_there_never_arrives(two: Two) -> None:
    """Neither with the first copy, nor of what is written, changed or erased afterwards.

    Proves: R4
    """
    for org in ORGS:
        two.write(org, f"{org} sells honey")
    two.catch_up()
    assert two.held("acme") == {}
    assert two.texts() == {"globex keeps bees", "globex sells honey"}
    assert two.held("globex").keys() >= {"organisation", "scope", "principal", "label", "item"}


def test_changes_and_erasures_follow(two: Two) -> None:
    """A retracted and an erased memory are so at the subscriber; a table's triggers stay silent.

    Proves: R4
    """
    two.write("globex", "globex hires Bo", subject="Bo")
    two.write("globex", "globex moves to Graz")
    two.catch_up()
    changes = "SELECT count(*) AS rows FROM memwarden_data.access_log"
    before = two.us.execute(changes).fetchall()
    ids = {
        row["text"]: row["item_id"]
        for row in two.us.execute(
            "SELECT content ->> 'text' AS text, item_id FROM memwarden_data.version"
        ).fetchall()
    }
    two.eu.execute("SELECT memwarden.erase_subject('Bo', org => 'globex', reason => 'asked')")
    with psycopg.connect(f"{two.source} user=agent_globex", autocommit=True) as agent:
        retract = "SELECT memwarden.retract(%s, 'it did not')"
        agent.execute(retract, (ids["globex moves to Graz"],))
    two.catch_up()
    assert "globex hires Bo" not in two.texts()
    status = "SELECT status FROM memwarden_data.item WHERE item_id = %s"
    (row,) = two.us.execute(status, (ids["globex moves to Graz"],)).fetchall()
    assert row["status"] == "RETRACTED"
    assert two.us.execute(changes).fetchall() == before
    assert not two.held("globex").keys() & {"write_request", "log", "write_lock", "review"}


def test_an_agent_of_the_subscriber_recalls_what_arrived(two: Two) -> None:
    """Who may read there is granted there.

    Proves: R4
    """
    two.us.execute("CREATE ROLE reader LOGIN IN ROLE memwarden_agent")
    two.us.execute("SELECT memwarden.bind_login('agent_globex', 'reader')")
    two.us.execute("SELECT memwarden.grant_scope('agent_globex', '/org/globex/user/ana')")
    dsn = f"{two.us.info.dsn} user=reader"
    with psycopg.connect(dsn, autocommit=True, row_factory=dict_row) as agent:
        (first,) = recall(agent, query="who keeps bees?", k=1)
    assert first["content"] == {"text": "globex keeps bees"}


def test_a_publication_follows_the_rules(two: Two) -> None:
    """What a rule forbids is carried no further, and breaks the rule until its copies are gone.

    Organisations that are made later come in by themselves where the rule for all allows it.

    Proves: R4
    """
    eu, us = two.eu, two.us
    eu.execute("SELECT memwarden.set_residency('{eu,us}')")
    eu.execute("SELECT memwarden.create_scope('/org/initech/user/ana')")
    eu.execute("CREATE ROLE agent_initech LOGIN IN ROLE memwarden_agent")
    eu.execute(
        "SELECT memwarden.register_agent('agent_initech', '/org/initech/user/ana', 'agent_initech')"
    )
    two.write("initech", "initech prints reports")
    two.write("acme", "acme opens a shop")
    two.catch_up()
    # What it had before would not follow, so acme comes with a new subscription alone.
    assert two.held("acme") == {}
    assert "initech prints reports" in two.texts()

    with pytest.raises(psycopg.errors.InvalidParameterValue) as raised:
        eu.execute("SELECT memwarden.set_residency('{eu}', org => 'initech')")
    assert "1 memories" in str(raised.value.diag.message_detail)
    two.write("initech", "initech prints more")
    eu.execute("SELECT memwarden.set_residency('{eu}', org => 'initech', expected => 2)")
    two.write("initech", "initech prints no more")
    two.write("globex", "globex bakes bread")
    two.catch_up()
    assert two.texts() >= {"initech prints more", "globex bakes bread"}
    assert "initech prints no more" not in two.texts()
    broken = {"org": "initech", "place": "publication memwarden_us", "memories": 3}
    assert eu.execute(BREACHES).fetchall() == [broken]
    (row,) = eu.execute("SELECT * FROM memwarden.status() WHERE component = 'residency'").fetchall()
    assert row["state"] == "warning"

    with pytest.raises(psycopg.errors.ObjectNotInPrerequisiteState):
        eu.execute("SELECT * FROM memwarden.remove_copies('initech')")
    removed = us.execute("SELECT place, rows FROM memwarden.remove_copies('initech')").fetchall()
    assert {"place": "version", "rows": 2} in removed
    assert two.held("initech") == {}
    us.execute("DROP SUBSCRIPTION from_eu")
    us.execute("SELECT * FROM memwarden.remove_copies('globex')")
    eu.execute("SELECT memwarden.create_region_publication('us')")
    two.subscribe()
    two.catch_up()
    assert eu.execute(BREACHES).fetchall() == []
    assert two.texts() >= {"acme keeps bees", "acme opens a shop", "globex bakes bread"}
    assert two.held("initech") == {}


def test_what_else_copies_everything_is_found(two: Two) -> None:
    """Publications of others, one that was changed, slots of standbys, declared or not.

    Proves: R4
    """
    eu = two.eu
    eu.execute("SELECT memwarden.set_region('us', node => 'pg-us', expected => 3)")
    eu.execute("SELECT pg_create_physical_replication_slot('pg_us')")
    eu.execute("SELECT pg_create_physical_replication_slot('pg_new')")
    eu.execute("CREATE PUBLICATION everything FOR ALL TABLES")
    eu.execute("ALTER PUBLICATION memwarden_us ADD TABLE memwarden_data.write_request")
    anywhere = ["publication everything", "replication slot pg_new, which no node bears"]
    broken = eu.execute(BREACHES).fetchall()
    assert [row["place"] for row in broken if row["org"] == "globex"] == anywhere
    in_the_us = ["publication memwarden_us", "standby pg-us"]
    places = [row["place"] for row in broken if row["org"] == "initech"]
    assert places == sorted(anywhere + in_the_us)
    eu.execute("DROP PUBLICATION everything")
    eu.execute("SELECT pg_drop_replication_slot(s) FROM unnest('{pg_us,pg_new}'::name[]) AS s")
    eu.execute("SELECT memwarden.create_region_publication('us')")
    eu.execute("SELECT memwarden.set_region(NULL, node => 'pg-us')")
    assert eu.execute(BREACHES).fetchall() == []
