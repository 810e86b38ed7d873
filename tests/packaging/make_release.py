#!/usr/bin/env python3
"""Make the small dump of a release that later releases are restored from and upgraded.

    PYTHONPATH=tests:tests/packaging $(tools/python-env)/bin/python tests/packaging/make_release.py

Run it in a checkout of the release. It writes releases/VERSION.sql.xz and releases/VERSION.json:
the dump, and what its agents recall. The key that signed it is KEY, which is no secret.
"""

from __future__ import annotations

import json
import lzma
import os
from pathlib import Path
from typing import Any

import psycopg
from psycopg import Connection
from psycopg.rows import DictRow
from psycopg.types.json import Jsonb

from conftest import World, deploy_server
from helpers import ask_for_little, recall, write, write_many
from test_build import version

RELEASES = Path(__file__).resolve().parent / "releases"
CLUSTER = f"release-{os.environ.get('PYTEST_XDIST_WORKER', 'alone')}"
KEY = "5eed" * 16
HOMES = {"release_ana": "/org/acme/user/ana", "release_bob": "/org/acme/user/bob"}
REVIEWER = "release_carol"


def start_cluster() -> str:
    """Start a cluster of its own under KEY; return its connection string."""
    deploy_server("drop", CLUSTER)
    home = f"/var/lib/memwarden/{CLUSTER}"
    deploy_server(
        "exec", "sh", "-c", f"mkdir -p {home} && umask 0377 && printf %s {KEY} > {home}/master.key"
    )
    deploy_server("up", CLUSTER, "-c", "fsync=off")
    deploy_server("install")
    return deploy_server("dsn", CLUSTER)


def stop_cluster() -> None:
    """Stop the cluster and delete its data."""
    deploy_server("drop", CLUSTER)


def login_roles(world: World) -> None:
    """Create the login roles that the principals of the dump are bound to."""
    for role in HOMES:
        world.admin.execute(f"CREATE ROLE {role} LOGIN IN ROLE memwarden_agent")
    world.admin.execute(f"CREATE ROLE {REVIEWER} LOGIN IN ROLE memwarden_reviewer")
    world.roles += [*HOMES, REVIEWER]


def join(world: World) -> dict[str, Connection[DictRow]]:
    """Register the cast: two agents, and a person who decides about what they propose."""
    for scope in (*HOMES.values(), "/org/acme/domain/desk"):
        world.scope(scope)
    call = "SELECT memwarden.register_agent(%s, %s, %s, role => 'curator')"
    for role, home in HOMES.items():
        world.admin.execute(call, (role, home, role))
    world.admin.execute(
        "SELECT memwarden.register_agent(%s, '/org/acme', %s, kind => 'human', role => 'reviewer',"
        " descendants => true, writes => false, clearance => 'restricted')",
        (REVIEWER, REVIEWER),
    )
    world.admin.execute(
        "SELECT memwarden.grant_scope('release_ana', '/org/acme/domain/desk', writes => true)"
    )
    return {role: world.connect(role) for role in (*HOMES, REVIEWER)}


def seed(world: World) -> None:
    """Something of every kind: versions, ends, refusals, a review, evidence, a session, a seal."""
    cast = join(world)
    ana, bob, carol = cast.values()
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    world.admin.execute("SELECT memwarden.define_schema('semantic', 'cup', %s)", (Jsonb(schema),))
    for city in ("Paris", "Rome"):
        told = write(ana, "semantic", f"Ana lives in {city}.", subject="ana", predicate="lives in")
        assert told["outcome"] == "COMMITTED", told
    for agent in (ana, bob):
        name = agent.info.user.removeprefix("release_")
        many = [{"layer": "episodic", "content": f"{name} took walk {n}"} for n in range(5)]
        assert {row["outcome"] for row in write_many(agent, many)} == {"COMMITTED"}
    assert write(ana, "semantic", {"n": "one"}, kind="cup")["outcome"] == "REJECTED"
    desk = {"scope": "/org/acme/domain/desk", "classification": "public"}
    told = write(ana, "semantic", "Knock, then enter.", **desk)
    assert told["outcome"] == "COMMITTED", told
    wrong = write(bob, "episodic", "The lamp at the gate is out.")
    bob.execute("SELECT memwarden.retract(%s, 'it is on')", (wrong["item_id"],))
    seed_evidence(world, ana)
    ana.execute("SELECT memwarden.set_goal(memwarden.open_session(NULL, 'trip'), 'Go to Rome')")
    ana.execute("SELECT memwarden.capture('chat', %s)", (Jsonb({"role": "user", "text": "Ciao"}),))
    seed_reviews(world, ana, carol)
    world.admin.execute("CALL memwarden.seal_log()")
    world.admin.execute("CALL memwarden.checkpoint()")


def seed_evidence(world: World, ana: Connection[DictRow]) -> None:
    """A registered source, an excerpt of it, and a memory on these grounds."""
    world.admin.execute(
        "SELECT memwarden.define_source("
        "'atlas:*', 'document', issuer => 'release_ana', org => 'acme')"
    )
    row = ana.execute(
        "SELECT memwarden.record_evidence('atlas:1', 'Rome is on the Tiber.') AS uri"
    ).fetchone()
    assert row is not None
    grounds = [{"type": "document", "uri": row["uri"]}]
    told = write(ana, "semantic", "Rome is on the Tiber.", evidence=grounds)
    assert told["outcome"] == "COMMITTED", told


def seed_reviews(world: World, ana: Connection[DictRow], carol: Connection[DictRow]) -> None:
    """Three proposals: one agreed to, one refused, one that still waits."""
    ask = "SELECT memwarden.set_approval_policy('durable', approval => 'always', org => 'acme')"
    world.admin.execute(ask)
    proposals = []
    for text in ("The office closes at six.", "The office has no door.", "Tea is at four."):
        told = write(ana, "durable", text)
        assert told["outcome"] == "DEFERRED", told
        proposals.append(told["request_id"])
    carol.execute("SELECT FROM memwarden.approve(%s)", (proposals[0],))
    carol.execute("SELECT FROM memwarden.reject(%s, 'FACTUAL_ERROR')", (proposals[1],))


def remembered(world: World) -> dict[str, Any]:
    """What each agent recalls, and how its requests ended."""
    told: dict[str, Any] = {"memories": {}, "versions": {}, "requests": {}}
    for role in HOMES:
        agent = world.connect(role)
        told["memories"][role] = sorted(
            f"{row['layer']}: {row['text']}" for row in recall(agent, k=100)
        )
        told["versions"][role] = sorted(
            f"{row['subject']} {row['version']}: {row['content']}"
            for row in agent.execute(
                "SELECT i.subject, h.version, h.content::text FROM memwarden.items AS i"
                " CROSS JOIN LATERAL memwarden.history(i.item_id) AS h WHERE i.subject IS NOT NULL"
            )
        )
        told["requests"][role] = [
            f"{row['outcome']} {row['reason'] or row['layer']}"
            for row in agent.execute(
                "SELECT outcome, reason, layer FROM memwarden.requests ORDER BY request_id"
            )
        ]
    return told


def main() -> None:
    """Install, seed, dump."""
    dsn = start_cluster()
    try:
        with psycopg.connect(dsn) as admin:
            world = World(admin)
            admin.execute("CREATE EXTENSION memwarden CASCADE")
            admin.execute("SELECT FROM memwarden.setup()")
            ask_for_little(admin)
            login_roles(world)
            seed(world)
            key = world.value("SELECT memwarden_internal.storage_key() AS key")
            told = json.dumps({"storage": key} | remembered(world), indent=1) + "\n"
            world.disconnect()
        (RELEASES / f"{version()}.json").write_text(told, encoding="utf-8")
        file = Path(deploy_server("shared"), f"{CLUSTER}.sql")
        deploy_server("exec", "pg_dump", "--file", str(file), dsn)
        dump = RELEASES / f"{version()}.sql.xz"
        dump.write_bytes(lzma.compress(file.read_bytes(), preset=9 | lzma.PRESET_EXTREME))
    finally:
        stop_cluster()


if __name__ == "__main__":
    main()
