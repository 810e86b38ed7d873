"""A dump of each earlier release, restored under the functions of this one, is brought along."""

from __future__ import annotations

import json
import lzma
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import Connection
from psycopg.conninfo import make_conninfo

from catalog_snapshot import Snapshot, catalog_snapshot, differences, lasting
from conftest import World, deploy_server
from databases import install, remembers
from helpers import recall, write
from make_release import CLUSTER, RELEASES, login_roles, remembered, start_cluster, stop_cluster
from replay import check_store
from reviewing import decide, queue
from server_checkout import REPOSITORY

EARLIER = sorted(path.stem for path in RELEASES.glob("*.json"))
# What setup() makes anew, so that a restore may fail over it: the functions, or pg_partman's, may
# be others today.
BOUND = (
    r"(CREATE|ALTER|COMMENT ON|GRANT|REVOKE)\b.*?\b(VIEW|POLICY|TRIGGER|TABLE memwarden\.)"
    r"|GRANT ALL ON (FUNCTION|PROCEDURE) partman\."
)
# The storage of a build between releases: the first one has no key and is known by its columns.
STRAY = "ALTER TABLE memwarden_data.item ADD COLUMN stray integer"
OTHER = "UPDATE memwarden_data.storage SET built_from = storage_version || ' 0000000000000000'"


@pytest.fixture(scope="module")
def cluster() -> Iterator[str]:
    """A cluster under the key that the dumps were signed with."""
    yield start_cluster()
    stop_cluster()


@pytest.fixture(scope="module")
def fresh(cluster: str) -> Snapshot:
    """What a new installation looks like there."""
    with database(cluster, "fresh") as admin:
        install(admin)
        return catalog_snapshot(admin)


def database(cluster: str, name: str, template: str = "template1") -> Connection[Any]:
    """Create a database, perhaps like another, and connect to it."""
    with psycopg.connect(cluster, autocommit=True) as server:
        server.execute(f"CREATE DATABASE {name} TEMPLATE {template} STRATEGY file_copy")
    return psycopg.connect(make_conninfo(cluster, dbname=name))


@dataclass
class Upgrade:
    """A restored database, and what was seen before and after setup()."""

    world: World
    told: dict[str, Any]
    storage: tuple[str, str]
    refusals: list[str]
    unknown: str
    restored: Snapshot
    states: dict[str, str]


@pytest.fixture(scope="module", params=EARLIER)
def upgrade(request: pytest.FixtureRequest, cluster: str) -> Iterator[Upgrade]:
    """Restore the dump, ask, write, set up."""
    release: str = request.param
    with database(cluster, f"r{release.replace('.', '_')}") as connection:
        world = World(connection)
        try:
            yield upgraded(world, release)
        finally:
            world.close()


def upgraded(world: World, release: str) -> Upgrade:
    """Do what the fixture says."""
    restore(release, world.dsn)
    login_roles(world)
    row = world.rows("SELECT state, detail FROM memwarden.status() WHERE component = 'storage'")[0]
    refusals = []
    for call in (
        "write('episodic', '{}')",
        "write_many('[]')",
        "retract(gen_random_uuid(), 'x')",
        "recall('walk')",
    ):
        with pytest.raises(psycopg.errors.ObjectNotInPrerequisiteState) as refused:
            world.connect("release_ana").execute(f"SELECT * FROM memwarden.{call}")
        refusals.append(str(refused.value))
    told = json.loads((RELEASES / f"{release}.json").read_text(encoding="utf-8"))
    change = STRAY if told["storage"].startswith("1 ") else OTHER
    with pytest.raises(psycopg.errors.ObjectNotInPrerequisiteState) as unknown:
        world.admin.execute(f"{change}; SELECT FROM memwarden.setup()")
    # One policy is as it was shipped.
    world.admin.execute(
        "UPDATE memwarden_data.approval_policy SET approval = 'always'"
        " WHERE org_id = 0 AND layer = 'durable'"
    )
    states = world.rows("SELECT component, state FROM memwarden.setup()")
    return Upgrade(
        world,
        told,
        (row["state"], row["detail"]),
        refusals,
        str(unknown.value),
        catalog_snapshot(world.admin),
        {state["component"]: state["state"] for state in states},
    )


def restore(release: str, dsn: str) -> None:
    """Run the dump; it may fail over what setup() makes anew, and over nothing else."""
    script = Path(deploy_server("shared"), f"{CLUSTER}.sql")
    script.write_bytes(lzma.decompress((RELEASES / f"{release}.sql.xz").read_bytes()))
    psql = ["psql", "-X", "-q", "--echo-errors", "-o", "/dev/null", "-d", dsn, "-f", str(script)]
    said = subprocess.run(
        [REPOSITORY / "deploy/server", "exec", *psql], check=True, text=True, stderr=subprocess.PIPE
    ).stderr
    failed = [text for text in said.split("STATEMENT:")[1:] if not re.match(BOUND, text.strip())]
    assert failed == []


def test_before_setup_it_is_outdated_and_doors_are_shut(upgrade: Upgrade) -> None:
    """By every door with the documented error; status() says what to run."""
    state, detail = upgrade.storage
    assert state == "outdated"
    number = upgrade.told["storage"].split()[0]
    assert detail.startswith(f"version {number} of ")
    assert detail.endswith("writes are refused until a superuser runs: SELECT memwarden.setup();")
    for refusal in upgrade.refusals:
        assert "storage of memwarden is missing, or its version differs" in refusal
        assert "SELECT memwarden.setup();" in refusal


def test_what_was_made_between_releases_is_refused(upgrade: Upgrade) -> None:
    """Of the same number, but with other tables: setup() changes nothing."""
    assert "storage was made by a build that was no release" in upgrade.unknown


def test_after_setup_it_is_like_a_fresh_one(upgrade: Upgrade, fresh: Snapshot) -> None:
    """Tables, columns and their order, indexes, constraints, policies, triggers, views, grants."""
    assert differences(lasting(fresh), lasting(upgrade.restored)) == {}
    not_ok = {name for name, state in upgrade.states.items() if state != "ok"}
    # It is a copy in another cluster, which status() says of erasures and of the seal.
    # Its texts, words and standings are of older functions, and the job has not been there.
    assert not_ok <= {"jobs", "erasures", "log seal", "texts", "words", "standings"}


def test_its_memories_are_all_there(upgrade: Upgrade) -> None:
    """Each agent recalls what it recalled, with every version; its requests ended as they did.

    What had a lifetime may be over by today: of that it recalls nothing.
    """
    told = remembered(upgrade.world)
    over = upgrade.world.rows(
        "SELECT i.layer || ': ' || v.search_text AS memory,"
        "       concat(v.subject, ' ', v.version, ': ', v.content) AS version"
        "  FROM memwarden_data.item AS i JOIN memwarden_data.version AS v USING (org_id, item_id)"
        " WHERE i.expires_at <= now()"
    )
    gone = {text for row in over for text in row.values()}
    for name in ("memories", "versions"):
        for role, texts in upgrade.told[name].items():
            assert told[name][role] == [text for text in texts if text not in gone]
    assert told["requests"] == upgrade.told["requests"]


def test_it_keeps_its_settings_as_no_profile(upgrade: Upgrade) -> None:
    """Whoever looks is shown in what they differ from each. Proves: Z12."""
    world = upgrade.world
    (told,) = world.rows("SELECT detail FROM memwarden.status() WHERE component = 'profile'")
    assert told["detail"] == "server custom"
    policies = "SELECT approval, profile FROM memwarden_data.approval_policy WHERE org_id = 0"
    assert {(row["approval"], row["profile"]) for row in world.rows(policies)} == {
        ("never", None),
        ("always", "strict"),
    }
    different = "SELECT layer, setting, value FROM memwarden.explain_profile(%s, org => 'acme')"
    for profile in ("open", "balanced", "strict"):
        found = {
            (row["layer"], row["setting"]): row["value"] for row in world.rows(different, profile)
        }
        assert found["semantic", "conflict"] == "accumulate"
        assert found["episodic", "rate_limit"] is None
        assert (("semantic", "approval") in found) is (profile != "open")


def test_nothing_is_deleted_for_its_age_before_somebody_looked(upgrade: Upgrade) -> None:
    """Rules of retention come with the upgrade: their job is paused.

    Proves: R5 (upgraded store), G8 (pausing)
    """
    (job,) = upgrade.world.rows("SELECT * FROM memwarden.jobs WHERE name = 'memwarden_retention'")
    assert (job["state"], job["paused_by"]) == ("paused", "upgrade")


def test_its_log_and_its_signatures_hold(upgrade: Upgrade) -> None:
    """Nothing was lost, changed or added; heads and versions follow from the log."""
    assert upgrade.world.rows("SELECT * FROM memwarden.verify_log()") == []
    assert upgrade.world.rows("SELECT * FROM memwarden.verify_provenance()") == []
    check_store(upgrade.world.admin)


def test_a_job_weighs_its_memories_again(upgrade: Upgrade) -> None:
    """What a person approved is verified, what its own writer recorded stays reported.

    Proves: N7 (upgraded store)
    """
    world = upgrade.world
    waiting = "SELECT detail FROM memwarden.status() WHERE component = 'standings'"
    assert [row["detail"][:10] for row in world.rows(waiting)] == ["1 memories"]
    world.admin.execute("CALL memwarden.sweep()")
    assert world.rows(waiting) == []
    told = {row["text"]: row["standing"] for row in recall(world.connect("release_ana"), k=100)}
    assert told["The office closes at six."] == "verified"
    assert told["Rome is on the Tiber."] == "reported"
    check_store(world.admin)


def test_it_goes_on(upgrade: Upgrade) -> None:
    """The proposal that waited is decided, a value gets its next version, new agents come."""
    carol = upgrade.world.connect("release_carol")
    (waiting,) = queue(carol)
    assert decide(carol, "approve", waiting["proposal_id"])["outcome"] == "COMMITTED"
    ana = upgrade.world.connect("release_ana")
    moved = write(ana, "semantic", "Ana lives in Lima.", subject="ana", predicate="lives in")
    assert moved["outcome"] == "COMMITTED"
    history = ana.execute("SELECT version FROM memwarden.history(%s)", (moved["item_id"],))
    assert [row["version"] for row in history.fetchall()] == [3, 2, 1]
    assert remembers(upgrade.world, "/org/acme/user/dora")
    upgrade.world.admin.execute("CALL memwarden.seal_log()")
    assert upgrade.world.rows("SELECT * FROM memwarden.verify_log()") == []
