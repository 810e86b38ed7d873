"""A dump that is restored into an empty cluster is the memory it was taken from."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from psycopg import Connection, sql
from psycopg.rows import DictRow
from psycopg.types.json import Jsonb

from catalog_snapshot import Snapshot, catalog_snapshot, differences
from checkpoints import put, saver_of
from clusters import place_of, run
from conftest import World, deploy_server
from helpers import recall, write, write_many
from memwarden.langgraph import checkpointer
from replay import check_store
from review.queue.desk import propose, reject, reviewer_of
from reviewing import ask
from row_digests import row_digests
from scope_calls import annotate, check_tree, close_scope, create_scope, remember, retract

CLUSTER = f"restored-{os.environ.get('PYTEST_XDIST_WORKER', 'alone')}"
HOME = "/org/acme/user/ana"
DESK = "/org/acme/domain/desk"
SHRUNK, GROWN = "/org/acme/user/shrunk", "/org/acme/user/grown"
RULE = "Every lamp in the yard is tested on the first Monday of a month."
CUP = {"type": "object", "properties": {"cup": {"type": "integer"}}, "required": ["cup"]}


@pytest.fixture(scope="module")
def cluster() -> Iterator[str]:
    """A second cluster that has never heard of memwarden."""
    deploy_server("drop", CLUSTER)
    deploy_server("up", CLUSTER, "--in-memory", "-c", "fsync=off")
    yield deploy_server("dsn", CLUSTER)
    deploy_server("drop", CLUSTER)


@pytest.fixture(scope="module")
def seeded(shared_world: World) -> World:
    """A database with something in every table: shared and private scopes, versions, refusals."""
    ana, bob = shared_world.agent(HOME), shared_world.agent("/org/acme/user/bob")
    shared_world.admin.execute("SELECT memwarden.grant_scope(%s, '/org/acme')", (ana.info.user,))
    shared_world.admin.execute(
        "SELECT memwarden.define_schema('semantic', 'cup', %s), memwarden.set_synonyms('acme', %s),"
        "       memwarden.define_predicate('visited', 'accumulate', inverse => 'was visited by'),"
        "       memwarden.define_integrity_rule('n', 'memory.content.n > 0', org => 'acme')",
        (Jsonb(CUP), Jsonb({"mug": "cup"})),
    )
    for agent in (ana, bob):
        for cup in (1, 2, 2):
            write(agent, "semantic", {"cup": cup}, subject="self", predicate="has", kind="cup")
        again = {"kind": "cup", "subject": "self", "idempotency_key": "again"}
        write(agent, "semantic", {"cup": 2}, predicate="has", **again)
        write(agent, "episodic", {"café": "ein Täßchen, 茶 🍵"}, embedding=[0.5] * 384)
        write(agent, "semantic", {"cup": "none"}, kind="cup")
        write_many(agent, [{"layer": "working", "content": {"n": n}} for n in range(20)])
    with shared_world.connect().transaction() as held:
        held.connection.execute("SELECT FROM memwarden_data.write_lock FOR UPDATE")
        ana.execute("SET lock_timeout = '1ms'")
        assert write(ana, "episodic", {"waits": True})["outcome"] == "DEFERRED"
    seed_admission(shared_world, ana)
    seed_access(shared_world, ana.info.user)
    seed_history(shared_world, ana)
    seed_conflicts(shared_world, ana)
    seed_references(shared_world, ana)
    seed_erasure(shared_world)
    seed_sensitivity(shared_world, ana)
    seed_worker(shared_world, ana)
    seed_boundaries(shared_world)
    seed_consolidation(ana)
    seed_captures(shared_world, ana)
    seed_sessions(ana)
    seed_review_life(shared_world, ana)
    seed_entities(shared_world, ana)
    seed_shelf(shared_world)
    seed_reviews(shared_world, ana)
    seed_packs(shared_world)
    seed_recalls(shared_world, ana)
    seed_models(shared_world)
    seed_ageing(shared_world, ana)
    seed_threads(shared_world, ana.info.user)
    shared_world.admin.execute("SELECT memwarden.move_gate('deadline', 16)")
    shared_world.admin.execute("SELECT memwarden.disable_gate('admission')")
    empty = {name for name, (count, _) in row_digests(shared_world.admin).items() if not count}
    # For whom a transaction acts is gone when it ends.
    spare = ("_p2", "_default", "embedding_shelf_1", "acting")
    assert {name for name in empty if not any(part in name for part in spare)} == set()
    return shared_world


def seed_ageing(world: World, agent: Connection[DictRow]) -> None:
    """A pin, a lifted hold and the erasure that waited for it, an action, rules, breaches."""
    item = write(agent, "episodic", "what somebody asked for", subject="Olga")["item_id"]
    given = {"item": item}
    (hold,) = world.rows(
        "SELECT * FROM memwarden.hold('a case', item_id => %s, org => 'acme')", item
    )
    world.rows("SELECT * FROM memwarden.erase_subject('Olga', 'asked', org => 'acme')")
    world.rows("SELECT memwarden.lift_hold(%s, 'over')", hold["hold_id"])
    world.rows("SELECT memwarden.register_subject('acme', 'Olga', '{\"account\": \"HR-0417\"}')")
    world.admin.execute("SELECT memwarden.define_region('eu', 'Europe')")
    world.admin.execute("SELECT memwarden_internal.list_layers_to_collect()")
    world.admin.execute("CALL memwarden.take_metrics()")
    world.admin.execute("CALL memwarden.revalidate()")
    for statement in (
        "pin SELECT i.org_id, i.item_id, i.scope_id, 'kept', i.principal_id, 'x', now()",
        "hold_policy SELECT i.org_id, false",
        "action_link SELECT i.org_id, 'call 7', i.principal_id, i.version_id, i.org_id, i.item_id,"
        " 0, NULL, now()",
        "personal_item SELECT i.org_id, i.item_id, '{pii.email}'",
        "incident SELECT i.org_id, gen_random_uuid(), 'RETENTION_BREACH', 1, '[]', now(), now(),"
        " now()",
        "collectable SELECT i.org_id, i.layer, i.scope_id, i.item_id, 'EXPIRE', 'UNREAD'",
        "storage_day SELECT current_date, 'item', 8192",
        "ablation SELECT i.org_id, i.scope_id, 'triage', 0.1, 0.9, now(), 'x'",
        "tightening SELECT i.org_id, 'semantic', 0.05, now(), gen_random_uuid()",
        "metric_range SELECT 'write_rate', NULL, 500, NULL, 1000, now(), 'x'",
        "lexicon SELECT 'tiny', '/nowhere', sha256(''), 'free', 1, 1, now()",
        "lexicon_word SELECT 'theorbo', 'tiny', 1, 1",
        "lexicon_sense SELECT 'tiny', 1, 'n', 6, '{1}', '{0}', '{2}'",
        "node SELECT 4711, 'elsewhere', 'eu', now()",
        "residency_rule SELECT i.org_id, 'nothing_of_it', '{eu}', now()",
    ):
        world.admin.execute(
            f"INSERT INTO memwarden_data.{statement}"
            "  FROM memwarden_data.item AS i WHERE i.item_id = %(item)s ON CONFLICT DO NOTHING",
            given,
        )


def seed_admission(world: World, agent: Connection[DictRow]) -> None:
    """A limit of an agent's own, something used of it, and a promotion that waits."""
    call = "SELECT memwarden.set_rate_limit('session', %s, 1000)"
    world.admin.execute(call, (agent.info.user,))
    write(agent, "session", {"used": 1})
    world.admin.execute(
        "INSERT INTO memwarden_data.promotion SELECT r.org_id, r.request_id, gen_random_uuid()"
        "  FROM memwarden_data.write_request AS r WHERE r.outcome = 'DEFERRED'"
    )


def seed_access(world: World, agent: str) -> None:
    """Who may do what: a role, attributes, a policy, a token; and memories of every end."""
    world.admin.execute(
        "SELECT memwarden.define_role('clerk', '[{\"operation\": \"READ\"}]', org => 'acme'),"
        "       memwarden.define_attribute('agent', 'team', org => 'acme'),"
        "       memwarden.define_attribute('item', 'draft', 'boolean', org => 'acme'),"
        "       memwarden.define_policy_set('drafts', 'allow', org => 'acme'),"
        "       memwarden.set_policy('drafts', 'of a team', 'deny', %s, 'acme')",
        ("item.draft = true AND agent.team <> 'desk' AND operation = READ",),
    )
    curator = world.agent(
        DESK,
        role="curator",
        clearance="restricted",
        domains=["law"],
        attributes=Jsonb({"team": "desk"}),
        descendants=True,
    )
    world.agent(DESK, role="clerk")
    create_scope(curator, f"{DESK}/task/t")
    for n, attributes in enumerate(({}, {"draft": True})):
        remember(curator, DESK, f"{n} openly", attributes=attributes)
        remember(curator, DESK, f"{n} secretly", classification="restricted", domains=["law"])
    retract(curator, remember(curator, DESK, "a mistake"))
    lesson = remember(curator, f"{DESK}/task/t", "learned")
    remember(curator, f"{DESK}/task/t", "a step")
    annotate(curator, lesson, "confirmed")
    close_scope(curator, f"{DESK}/task/t", lesson)
    broker = world.connect(world.register("/org/acme", kind="service", groups=["memwarden_broker"]))
    broker.execute("SELECT memwarden.issue_token(%s, %s)", (agent, world.role()))


def seed_conflicts(world: World, agent: Connection[DictRow]) -> None:
    """Two memories that contradict each other and stand."""
    world.admin.execute(
        "SELECT memwarden.configure_layer('durable', '{\"conflict\": \"coexist\"}')"
    )
    for text in ("A door is open", "A door is not open"):
        write(agent, "durable", text, embedding=[1.0, *[0.0] * 383])
    write(agent, "semantic", "Rome", subject="self", predicate="visited")


def seed_history(world: World, agent: Connection[DictRow]) -> None:
    """Vectors of former versions, versions in every tier, a sealed log with a checkpoint."""
    for n in (1.0, 2.0):
        write(agent, "durable", n, subject="self", predicate="is", embedding=[n, *[0.5] * 383])
    for layers, setting in (
        ("l.layer", '{"warm_after": "0"}'),
        ("'semantic'", '{"cold_after": "0"}'),
    ):
        world.admin.execute(
            f"SELECT memwarden.configure_layer(l.layer, %s) FROM memwarden_data.layer AS l"
            f" WHERE l.layer = {layers}",
            (setting,),
        )
        world.admin.execute("CALL memwarden.compact_history()")
    world.admin.execute("CALL memwarden.seal_log()")
    world.admin.execute("CALL memwarden.checkpoint()")


def seed_erasure(world: World) -> None:
    """Somebody who was erased, evidence and a reason that named them."""
    curator = world.agent(HOME, role="curator")
    write(curator, "episodic", "tea", subject="Petra")
    world.admin.execute(
        "SELECT memwarden.define_write_class('personal', encrypted => true, org => 'acme')"
    )
    for subject in ("Petra", "Bo"):
        write(curator, "episodic", "gout", subject=subject, **{"class": "personal"})
    retract(curator, write(curator, "episodic", "the kettle is blue")["item_id"], "petra says no")
    world.admin.execute(
        "SELECT memwarden.define_source('petra:*', 'document', issuer => %s, org => 'acme')",
        (curator.info.user,),
    )
    curator.execute("SELECT memwarden.record_evidence('petra:1', 'Petra likes tea')")
    world.admin.execute(
        "SELECT * FROM memwarden.erase_subject('Petra', 'asked for', '{petra}', 'acme')"
    )


def seed_sensitivity(world: World, agent: Connection[DictRow]) -> None:
    """An encrypted value, a rule and a setting of an organisation, something found later."""
    write(agent, "episodic", {"text": "badge AB-12345"})
    world.admin.execute(
        "SELECT memwarden.set_sensitivity_action('encrypt', kind => 'pii.phone', org => 'acme'),"
        "       memwarden.define_sensitivity_rule('badge', 'pii.badge', %s, %s, org => 'acme')",
        (Jsonb({"pattern": "AB-[0-9]{5}"}), Jsonb({"positive": ["AB-12345"], "negative": ["tea"]})),
    )
    write(agent, "episodic", {"text": "call +49 30 901820"})
    world.admin.execute("CALL memwarden.rescan_sensitivity()")


def seed_captures(world: World, agent: Connection[DictRow]) -> None:
    """A source with terms of its own, captures that were read, and a calibration."""
    world.admin.execute("SELECT memwarden.define_capture_source('chat', '9 days', org => 'acme')")
    turn = Jsonb({"role": "user", "speaker": "Ana", "text": "I live in Rome."})
    agent.execute("SELECT memwarden.capture('chat', %s, external_id => 'turn 1')", (turn,))
    agent.execute("SELECT * FROM memwarden.extract()")
    world.admin.execute("SELECT memwarden.calibrate('rules', 'chat', 'acme', dry_run => false)")


def seed_sessions(agent: Connection[DictRow]) -> None:
    """A session with a goal and something before it."""
    agent.execute(
        "SELECT memwarden.set_goal(memwarden.open_session(NULL, 'the trip'), 'Go to Rome')"
    )
    agent.execute("SELECT FROM memwarden.start_task('the trip')")


def seed_boundaries(world: World) -> None:
    """A surface, one of an identity outside who reads through it alone, and a source outside."""
    world.admin.execute(
        "SELECT memwarden.define_surface('chat', org => 'acme'),"
        "       memwarden.define_external_source('docs', 'directory', '{}', org => 'acme')"
    )
    guest = world.register("/org/acme/user/guest")
    world.admin.execute(
        "SELECT memwarden.grant_scope(%(guest)s, '/org/acme', surfaces => '{chat}'),"
        "       memwarden.bind_identity(%(guest)s, 'https://login.example.org', 'guest')",
        {"guest": guest},
    )


def seed_worker(world: World, agent: Connection[DictRow]) -> None:
    """Recorded evidence, and a write that waits for the second of two verdicts."""
    world.admin.execute(
        "SELECT memwarden.define_source('notes:*', 'document', issuer => %s, org => 'acme'),"
        "       memwarden.require_verifier('procedural', 'verify', 'panel', quorum => 2)",
        (agent.info.user,),
    )
    agent.execute("SELECT memwarden.record_evidence('notes:1', 'The valve opens to the left')")
    asked = write(
        agent,
        "procedural",
        "The valve opens to the left",
        evidence=[{"uri": "notes:1", "excerpt": "The valve opens to the left"}],
    )
    assert asked["reason"] == "AWAITING_VERDICT"
    worker = world.connect(world.role("memwarden_worker"))
    (job,) = worker.execute("SELECT * FROM memwarden.claim_jobs('w', '{panel}')").fetchall()
    verdict = Jsonb({"decision": "accept", "score": 1, "version": "1"})
    worker.execute("SELECT memwarden.complete_job(%s, 'w', %s)", (job["job_id"], verdict))


def seed_review_life(world: World, agent: Connection[DictRow]) -> None:
    """A channel, an escalation, a rejection that is remembered, and what is to be told."""
    policy = "SELECT memwarden.set_approval_policy('semantic', approval => %s, org => 'acme')"
    world.admin.execute(policy, ("always",))
    world.admin.execute(
        "SELECT memwarden.set_review_channel('desk', 'webhook', 'https://acme.example/',"
        "                                    events => '{opened,rejected}', org => 'acme'),"
        "       memwarden.set_escalation('semantic', 1, '1 hour', 'desk', org => 'acme'),"
        "       memwarden.set_noise_policy('10 days', org => 'acme')"
    )
    reviewer = reviewer_of(world, "/org/acme", descendants=True)
    reject(reviewer, propose(agent, "the lamp is out"))
    propose(agent, "the lamp is red")
    world.admin.execute(policy, ("never",))


def seed_consolidation(agent: Connection[DictRow]) -> None:
    """A note about which it is decided that nothing becomes of it."""
    note = write(agent, "session", "the lamp is lit")
    agent.execute(
        "SELECT memwarden.consolidate(%s, %s, 'semantic', 'NOOP')",
        (note["item_id"], note["version_id"]),
    )


def seed_packs(world: World) -> None:
    """Consents, packs, a correction with its signal, a sample and what became of it, a budget."""
    admin = world.admin
    pack = {"promotion_thresholds": {"*": {"confidence": 0}}, "sample_audit": {"rate": 1}}
    admin.execute(
        "SELECT memwarden.record_consent('self', 'personalisation', 'granted', org => 'acme'),"
        "       memwarden.define_pack('house', %s, 'acme'),"
        "       memwarden.use_pack('house', org => 'acme'),"
        "       memwarden.set_approval_policy('durable', approval => 'pack_auto', org => 'acme'),"
        "       memwarden.set_auto_promotion('house', '*', true, 'a look was taken', 'acme'),"
        "       memwarden.set_storage_budget('durable', 1000000, org => 'acme'),"
        "       memwarden.define_write_class('mood', org => 'acme')",
        (Jsonb(pack),),
    )
    operator = world.agent(HOME, role="correction_writer")
    for content in ("a cup", "two cups"):
        said = {"subject": "the shelf", "predicate": "holds", "class": "correction"}
        assert write(operator, "durable", content, **said)["outcome"] == "COMMITTED"


def seed_recalls(world: World, agent: Connection[DictRow]) -> None:
    """Recalls that were counted, one with what came of it."""
    for _ in range(2):
        [first, *_] = recall(agent, query="lamp")
    agent.execute(
        "SELECT memwarden.report_outcome(%s, %s)", (first["recall_id"], [first["item_id"]])
    )
    world.admin.execute("CALL memwarden.count_recalls()")


def seed_entities(world: World, agent: Connection[DictRow]) -> None:
    """Entities of a pinned ontology, one merged, a memory of theirs, and a golden query."""
    curator = world.agent("/org/acme", role="curator")
    world.admin.execute(f'GRANT memwarden_curator TO "{curator.info.user}"')
    for call in (
        "define_entity_type('person', org => 'acme')",
        "pin_ontology(1, 'acme')",
        "register_entity('person:zoe', 'person', '{Zoe}', '/org/acme')",
        "register_entity('person:zo', 'person', '{Zo}', '/org/acme')",
        "set_entity_attribute('person:zoe', 'city', '\"Lisbon\"')",
        "merge_entities('person:zo', 'person:zoe')",
    ):
        world.admin.execute(f"SELECT memwarden.{call}")
    write(agent, "episodic", "a walk", subject="Zoe", predicate="took")
    curator.execute("SELECT memwarden.define_probe('walks', 'walk', contains => 'walk')")


def seed_reviews(world: World, agent: Connection[DictRow]) -> None:
    """A proposal that waits for a human, with its audit."""
    ask(world, "durable", org="acme")
    said = write(agent, "durable", "Knock before you enter")
    assert (said["outcome"], said["reason"]) == ("DEFERRED", "AWAITING_APPROVAL")


def seed_models(world: World) -> None:
    """A model that is being filled, and one of an organisation's own."""
    world.admin.execute(
        "SELECT memwarden.register_embedding_model('mine', 3, embedder => 'toy'),"
        "       memwarden.reembed('mine'),"
        "       memwarden.register_embedding_model('theirs', 384, embedder => 'lexical')"
    )
    worker = world.connect(world.role("memwarden_embedder"))
    jobs = worker.execute("SELECT * FROM memwarden.claim_embeddings('w', '{toy}', 2)").fetchall()
    given = worker.execute(
        "SELECT memwarden.give_embeddings('w', 'mine', %s, '{1,2,3}') AS stored",
        ([jobs[0]["item_id"]],),
    ).fetchone()
    assert given == {"stored": 1}
    world.admin.execute(
        "SELECT memwarden.switch_embedding_model('theirs', 'acme', allow_partial => true)"
    )


def seed_shelf(world: World) -> None:
    """A scope that has grown, with words that are counted, and one that has shrunk again."""
    setting = "SELECT memwarden.configure_layer('durable', %s)"
    for home, count, few, size in ((SHRUNK, 10, 10, 20_000), (GROWN, 60, 12, 12)):
        agent = world.agent(home)
        write_many(
            agent,
            [{"layer": "durable", "content": f"lamp {n} of the yard"} for n in range(count)],
        )
        world.admin.execute(setting, (Jsonb({"own_shelf_from": few}),))
        world.admin.execute("CALL memwarden.arrange_shelves()")
        world.admin.execute(setting, (Jsonb({"own_shelf_from": size}),))
        if home == SHRUNK:
            world.admin.execute("CALL memwarden.arrange_shelves()")


def seed_threads(world: World, agent: str) -> None:
    """The state of a conversation, which a checkpointer keeps beside the store."""
    with checkpointer(world.dsn, setup=True), saver_of(world, agent) as saver:
        put(saver, "of the yard", "ana", "the lamps are on")
    # Roles are none of a database: in the other cluster nobody could be granted anything yet.
    world.admin.execute(
        sql.SQL(
            "REVOKE ALL ON ALL TABLES IN SCHEMA memwarden_threads FROM {0};"
            "REVOKE ALL ON SCHEMA memwarden_threads FROM {0}"
        ).format(sql.Identifier(agent))
    )


def seed_references(world: World, agent: Connection[DictRow]) -> None:
    """A table outside that memory refers to, and an agent that is watched less closely."""
    world.admin.execute("CREATE TABLE rules (id integer PRIMARY KEY, body text, version integer)")
    world.admin.execute("INSERT INTO rules VALUES (7, %s, 1), (8, 'gone', 1)", (RULE,))
    world.admin.execute(
        "CREATE INDEX ON rules USING gin (body gin_trgm_ops);"
        "GRANT SELECT, REFERENCES ON rules TO memwarden_owner;"
        "GRANT SELECT ON rules TO memwarden_agent;"
        "SELECT memwarden.register_canonical_source('rules', 'rules', 'id', 'body', 'version')"
    )
    item = write(agent, "episodic", {"text": "the lamp at the gate is out"})["item_id"]
    agent.execute(
        "SELECT memwarden.link_reference(%(item)s, 'rules', '7'),"
        "       memwarden.link_reference(%(item)s, 'rules', '8')",
        {"item": item},
    )
    world.admin.execute("DELETE FROM rules WHERE id = 8")
    watched = world.register("/org/acme/user/watched")
    world.admin.execute("SELECT memwarden.set_leak_defence(%s, 'backstop')", (watched,))


@pytest.fixture(scope="module")
def expected(seeded: World) -> tuple[Snapshot, dict[str, tuple[int, str | None]]]:
    """Catalog and rows of the database that is dumped."""
    return catalog_snapshot(seeded.admin), row_digests(seeded.admin)


def dump(seeded: World, style: str) -> str:
    """Dump the database into a file that the other cluster can read."""
    file = place_of(f"{CLUSTER}.{style}")
    without = "--exclude-extension=pg_cron"
    run("pg_dump", f"--format={style}", without, f"--file={file}", seeded.dsn)
    return file


@pytest.fixture(scope="module")
def custom(seeded: World) -> Iterator[str]:
    """A dump in custom format."""
    file = dump(seeded, "custom")
    yield file
    run("rm", "-f", file)


@pytest.fixture
def empty(cluster: str) -> Iterator[str]:
    """An empty database in the cluster, in which no role of memwarden exists."""
    with psycopg.connect(cluster, autocommit=True) as server:
        server.execute("CREATE DATABASE restored")
        yield psycopg.conninfo.make_conninfo(cluster, dbname="restored")
        server.execute("DROP DATABASE restored WITH (FORCE)")
        for (role,) in server.execute(
            "SELECT rolname FROM pg_roles WHERE rolname ~ '^(memwarden|test)_'"
        ).fetchall():
            server.execute(sql.SQL("DROP ROLE {}").format(sql.Identifier(role)))


def assert_same(dsn: str, expected: tuple[Snapshot, dict[str, tuple[int, str | None]]]) -> None:
    """Compare the restored database with the dumped one."""
    with psycopg.connect(dsn) as restored:
        assert differences(expected[0], catalog_snapshot(restored)) == {}
        assert row_digests(restored) == expected[1]


def test_everything_is_back_from_a_custom_format_dump(
    custom: str, expected: Any, empty: str
) -> None:
    """Rows, policies, triggers, partitions, grants, comments; roles come with the extension."""
    run("pg_restore", "--exit-on-error", "--dbname", empty, custom)
    assert_same(empty, expected)


def test_everything_is_back_from_a_plain_dump(seeded: World, expected: Any, empty: str) -> None:
    """As a script for psql, in one transaction."""
    file = dump(seeded, "plain")
    psql = ["psql", "-X", "-q", "-1", "-v", "ON_ERROR_STOP=1", "-o", "/dev/null"]
    run(*psql, "-d", empty, "-f", file)
    run("rm", file)
    assert_same(empty, expected)


def test_schema_and_data_may_be_restored_one_after_the_other(
    custom: str, expected: Any, empty: str
) -> None:
    """The gates must not fire for rows that passed them long ago: --disable-triggers."""
    restore = ["pg_restore", "--exit-on-error", "--dbname", empty]
    run(*restore, "--schema-only", custom)
    run(*restore, "--data-only", "--disable-triggers", custom)
    with psycopg.connect(empty) as restored:
        assert row_digests(restored) == expected[1]


@pytest.fixture(scope="module")
def kept(seeded: World, custom: str, cluster: str) -> Iterator[tuple[str, list[str]]]:
    """A database restored once, of which each test gets a copy, and the logins of its agents.

    Its roles stay with it, so tests that want a cluster without roles stand above.
    """
    dsn = psycopg.conninfo.make_conninfo(cluster, dbname="kept")
    with psycopg.connect(cluster, autocommit=True) as server:
        server.execute("CREATE DATABASE kept")
        run("pg_restore", "--exit-on-error", "--jobs", "2", "--dbname", dsn, custom)
        logins = seeded.rows("SELECT login_role FROM memwarden_data.principal_login")
        yield cluster, [row["login_role"] for row in logins]
        server.execute("DROP DATABASE kept WITH (FORCE)")


def test_everything_is_back_when_two_restore_at_once(
    kept: tuple[str, list[str]], expected: Any
) -> None:
    """What the tests below have copies of."""
    assert_same(psycopg.conninfo.make_conninfo(kept[0], dbname="kept"), expected)


@pytest.fixture
def restored(kept: tuple[str, list[str]]) -> Iterator[World]:
    """The restored database in use: its agents have login roles again."""
    cluster, logins = kept
    with psycopg.connect(cluster, autocommit=True) as server:
        server.execute("CREATE DATABASE restored TEMPLATE kept STRATEGY file_copy")
        dsn = psycopg.conninfo.make_conninfo(cluster, dbname="restored")
        with psycopg.connect(dsn, autocommit=True) as admin:
            world = World(admin)
            for role in logins:
                admin.execute(
                    sql.SQL("CREATE ROLE {0} LOGIN IN ROLE memwarden_agent").format(
                        sql.Identifier(role)
                    )
                )
                world.roles.append(role)
            # Only now: setup() binds the roles of this cluster that have the names.
            admin.execute("SELECT memwarden.setup()")
            yield world
            world.close()
        server.execute("DROP DATABASE restored WITH (FORCE)")


def login(world: World, home: str, role: str = "contributor") -> str:
    """The login role of the agent that lives in a scope."""
    return str(
        world.value(
            "SELECT l.login_role FROM memwarden_data.principal_login AS l"
            "  JOIN memwarden_data.principal AS p USING (principal_id)"
            "  JOIN memwarden_data.access_role AS r USING (role_id)"
            "  JOIN memwarden_data.scope AS s ON s.scope_id = p.home_scope_id"
            " WHERE s.path = %s AND r.name = %s",
            home,
            role,
        )
    )


def test_agents_go_on_where_they_were(restored: World) -> None:
    """They recall, are isolated, meet what they wrote, and continue its versions and the log."""
    ana = restored.connect(login(restored, HOME))
    assert recall(ana, query="Täßchen")[0]["content"] == {"café": "ein Täßchen, 茶 🍵"}
    with pytest.raises(psycopg.errors.UndefinedObject):
        recall(ana, query="Täßchen", scopes=["/org/acme/user/bob"])
    known = write(ana, "semantic", {"cup": 2}, subject="self", predicate="has", kind="cup")
    # A replay is told what the first write had replaced.
    told = known["outcome"], known["reason"]
    assert told in (("REJECTED", "EXACT_DUPLICATE"), ("ALREADY_COMMITTED", "REPLACED"))
    last = restored.value("SELECT max(log_seq) FROM memwarden_data.log")
    answer = write(ana, "semantic", {"cup": 3}, subject="Self", predicate="has", kind="cup")
    assert answer["outcome"] == "COMMITTED"
    (entry,) = restored.rows(
        "SELECT log_seq, operation, system_identifier,"
        "       (SELECT system_identifier FROM pg_control_system()) AS here"
        "  FROM memwarden_data.log WHERE version_id = %s",
        answer["version_id"],
    )
    assert entry["log_seq"] > last
    assert entry["operation"] == "UPDATE"
    assert entry["system_identifier"] == entry["here"]
    others = restored.rows("SELECT DISTINCT system_identifier FROM memwarden_data.log")
    assert len(others) == 2
    assert write(ana, "semantic", {"cup": "none"}, kind="cup")["reason"] == "SCHEMA_VIOLATION"


def test_threads_are_their_logins(restored: World) -> None:
    """The states are there, guarded as they were, and end as they would have ended.

    Proves: N11
    """
    with saver_of(restored, login(restored, HOME)) as saver:
        [state] = saver.list(None)
        assert state.checkpoint["channel_values"] == {"said": ["the lamps are on"]}
        put(saver, "of the yard", "ana", "the lamps are off")
    with saver_of(restored, login(restored, GROWN)) as saver:
        assert list(saver.list(None)) == []
    status = "SELECT state FROM memwarden.status() WHERE component = 'threads'"
    assert restored.rows(status) == [{"state": "ok"}]
    # A memory about Bo is encrypted under a key that is not here: it may be about Ana.
    erase = (
        "SELECT status, blocked_reason, evidence > 0 AS found"
        " FROM memwarden.erase_subject(%s, 'asked', org => 'acme')"
    )
    waits = {"status": "BLOCKED", "blocked_reason": "KEYS_UNAVAILABLE", "found": True}
    assert restored.rows(erase, "Ana") == [waits]
    done = {"status": "COMPLETED", "blocked_reason": None}
    assert restored.rows(erase, "Bo") == [done | {"found": False}]
    assert restored.rows(erase, "Ana") == [done | {"found": True}]
    assert restored.rows("SELECT FROM memwarden_threads.checkpoint_blobs") == []


def test_a_grown_scope_has_its_shelf(restored: World) -> None:
    """Its indexes answer, what is written goes there, and its job goes on."""
    agent = restored.connect(login(restored, GROWN))
    assert len(recall(agent, query="lamp 3", scopes=[GROWN], k=80)) == 60
    assert write(agent, "durable", "one more lamp")["outcome"] == "COMMITTED"
    shelves = "SELECT count(*) FROM memwarden_data.embedding WHERE shelf > 0 GROUP BY shelf"
    assert restored.rows(shelves) == [{"count": 61}]
    restored.admin.execute(
        "UPDATE memwarden_data.shelf SET vacated_at = '2020-01-01' WHERE vacated_at IS NOT NULL"
    )
    restored.admin.execute("CALL memwarden.arrange_shelves()")
    assert restored.value("SELECT to_regclass('memwarden_data.embedding_shelf_1')") is None
    # The copies of small scopes are those of this system now.
    copies = (
        "SELECT seen_by = memwarden_internal.system_identifier() FROM memwarden_data.wide_shelf"
    )
    assert restored.value(copies)


def test_rights_are_what_they_were(restored: World) -> None:
    """Role, clearance, domains, policy and closed scopes decide in the restored database.

    Proves: A1, A2, A3, A10
    """
    curator = restored.connect(login(restored, DESK, "curator"))
    clerk = restored.connect(login(restored, DESK, "clerk"))
    open_to_all, draft, secret = "0 openly", "1 openly", {"0 secretly", "1 secretly"}
    contents = [{str(row["content"]) for row in recall(agent, k=100)} for agent in (curator, clerk)]
    assert contents == [{open_to_all, draft, "learned"} | secret, {open_to_all, "learned"}]
    assert write(clerk, "semantic", "x")["reason"] == "ROLE_FORBIDS"
    assert write(curator, "semantic", "x", scope=f"{DESK}/task/t")["reason"] == "SCOPE_CLOSED"
    (row,) = recall(curator, query="openly", k=1)
    retract(curator, row["item_id"])
    check_tree(restored.admin)
    check_store(restored.admin)


def test_references_resolve_and_copies_are_refused(restored: World) -> None:
    """The foreign keys, the view and the comparison are there; the row that was gone stays gone.

    Proves: N6
    """
    ana = restored.connect(login(restored, HOME))
    rows = ana.execute(
        "SELECT r.key, r.is_current, r.text"
        "  FROM memwarden.reference_rules AS v CROSS JOIN memwarden.references_of(v.item_id) AS r"
        " WHERE v.key = '7' ORDER BY 1"
    ).fetchall()
    assert [tuple(row.values()) for row in rows] == [("7", True, RULE), ("8", False, None)]
    assert write(ana, "episodic", {"text": RULE.upper()})["reason"] == "CANONICAL_COPY"
    restored.admin.execute("DELETE FROM rules")
    assert restored.rows("SELECT FROM memwarden.reference_rules WHERE is_current") == []


def test_a_deferred_request_commits_after_the_restore(restored: World) -> None:
    """It waits in the dump, and the job of the new cluster takes it up."""
    restored.admin.execute(
        "UPDATE memwarden_data.write_request SET retry_at = now() WHERE outcome = 'DEFERRED'"
    )
    restored.connect("memwarden_jobs").execute("CALL memwarden.retry_deferred()")
    ana = restored.connect(login(restored, HOME))
    assert recall(ana, query="waits", filter={"waits": True})


def test_maintenance_goes_on(restored: World) -> None:
    """New partitions belong to memwarden_owner, force row security, and carry the triggers."""
    partitions = (
        "SELECT c.relname, c.relowner::regrole::text AS owner,"
        "       c.relrowsecurity AND c.relforcerowsecurity AS forced,"
        "       EXISTS (SELECT FROM pg_policy WHERE polrelid = c.oid AND polname = 'engine')"
        "           AS has_engine, c.relacl IS NULL AS closed,"
        "       (SELECT count(*) FROM pg_trigger WHERE tgrelid = c.oid) AS triggers"
        "  FROM pg_inherits AS i JOIN pg_class AS c ON c.oid = i.inhrelid"
        " WHERE i.inhparent = 'memwarden_data.write_request'::regclass ORDER BY c.relname"
    )
    before = restored.rows(partitions)
    restored.admin.execute("UPDATE partman.part_config SET premake = premake + 2")
    restored.connect("memwarden_jobs").execute("SELECT memwarden.maintain()")
    after = restored.rows(partitions)
    new = [row for row in after if row not in before]
    assert len(new) >= 2
    for row in new:
        assert row | {"relname": ""} == before[0] | {"relname": ""}
        assert row["owner"] == "memwarden_owner"
        assert row["forced"]
        assert row["has_engine"]
        assert row["triggers"] >= 11


def test_setup_after_a_restore_finds_nothing_to_do(restored: World) -> None:
    """It may be run, and need not be."""
    before = catalog_snapshot(restored.admin), row_digests(restored.admin)
    restored.admin.execute("SELECT memwarden.setup()")
    assert differences(before[0], catalog_snapshot(restored.admin)) == {}
    assert row_digests(restored.admin) == before[1]
    states = restored.rows("SELECT * FROM memwarden.status() WHERE component !~ '^jobs? ?'")
    # An erasure waits, a threshold is raised, no region is declared for the copy, and it asks for
    # the newest keys.
    asked = {"erasures", "legal holds", "residency", "subject keys", "thresholds"}
    assert {row["component"] for row in states if row["state"] != "ok"} == {"gates"} | asked
