"""What the fuzz has found: each of these calls once let PostgreSQL speak for memwarden."""

from __future__ import annotations

import uuid

import psycopg
import pytest
from psycopg import Connection
from psycopg.rows import DictRow

from conftest import World
from helpers import write

TWO_BY_TWO = "'{{a,b},{c,d}}'"
IDS = f"'{{{{{uuid.UUID(int=1)}}},{{{uuid.UUID(int=2)}}}}}'"

REFUSED = {
    # A check or a NOT NULL of the table, or a cast on the way there, spoke.
    "set_escalation('semantic', 32768, '1 hour')": "22023",
    "set_escalation('semantic', 0, '1 hour')": "22023",
    "set_escalation('semantic', NULL, '1 hour')": "22023",
    "set_escalation('semantic', 1, '-1 hour')": "22023",
    "set_noise_policy(NULL)": "22023",
    "set_noise_policy('-1 day')": "22023",
    "set_noise_policy(reasons => '{NONSENSE}')": "22023",
    "set_review_channel(NULL, 'webhook', 'x')": "22023",
    "set_review_channel('c', 'No Kind', 'x')": "22023",
    "set_review_channel('c', 'webhook', 'x', settings => '[]')": "22023",
    "set_threshold_tuning('semantic', step => 0)": "22023",
    "set_threshold_tuning('semantic', look_back => 'infinity')": "22023",
    "register_embedding_model('m', 3, embedder => '')": "22023",
    "set_embedder('default', 'p', '[]')": "22023",
    "set_model_languages('default', '{}')": "22023",
    "set_model_languages('default', '{en,NULL}')": "22023",
    "set_model_languages('default', '{English}')": "22023",
    "require_verifier('semantic', NULL, 'p')": "22023",
    "require_verifier('semantic', 'gate', 'No Name')": "22023",
    "configure_layer('semantic', '{\"max_attempts\": 0}')": "22023",
    "configure_layer('semantic', '{\"max_attempts\": null}')": "22023",
    "configure_layer('semantic', '{\"max_attempts\": \"many\"}')": "22023",
    "configure_layer('semantic', '{\"max_attempts\": 1e30}')": "22023",
    "configure_layer('semantic', '{\"text_search_config\": \"\"}')": "42704",
    # A name that is looked up by a cast.
    "set_scope_language('/global', '')": "42704",
    "set_scope_language('/global', 'klingon')": "42704",
    "set_scope_language('/global', 'a.b.c.d')": "42704",
    "set_scope_language('/global', '7')": "42704",
    "place_tier('cold', 'nowhere')": "42704",
    "place_tier('cold', NULL)": "42704",
    "place_tier('cold', 'pg_global')": "22023",
    # A key that no index takes.
    "set_auto_promotion('house', repeat('x', 9000), true, 'why')": "22023",
}

REFUSED_TO_AGENTS = {
    # Arrays of two dimensions.
    f"recall('tea', exclude => {IDS})": "22023",
    f"as_of(scope => '/org/acme', scopes => {TWO_BY_TWO})": "42704",
    f"define_probe('p', 'tea', items => {IDS})": "22023",
    f"erase_subject('Ana', 'asked', {TWO_BY_TWO}, org => 'acme')": "22023",
    f"define_surface('s', {TWO_BY_TWO}, org => 'acme')": "22023",
    f"define_write_class('c', 'd', roles => {TWO_BY_TWO}, org => 'acme')": "22023",
}

ANSWERED = [
    # Each element has a fault of its own.
    'record_recalls(\'[1, [], {"recall_id": "x"}, {"k": 1e30}, {"item_ids": "x"}]\')',
    "find_recalls('-infinity', 'infinity')",
    "find_recalls('infinity')",
    "find_recalls('4713-01-01 BC', '294276-01-01')",
    "recalls_of('00000000-0000-0000-0000-000000000001', 'infinity')",
    "recall_quality('-infinity', 'infinity')",
    "brief('178000000 years')",
    "compile_context('tea', freshness => '178000000 years')",
    "as_of(query => repeat('green tea ', 20000))",
    "proposal(NULL)",
]


@pytest.fixture(scope="module")
def caller(shared_world: World) -> str:
    """The login of somebody who may do nearly everything, with two proposals and a memory."""
    shared_world.scope("/org/acme")
    shared_world.admin.execute(
        'SELECT memwarden.define_role(\'all\', \'[{"operation": "READ"}, {"operation": "WRITE"},'
        '{"operation": "APPROVE"}, {"operation": "DELETE", "degree": "hard"},'
        '{"operation": "ADMIN", "degree": "full"}]\')'
    )
    groups = [f"memwarden_{group}" for group in ("agent", "reviewer", "curator", "auditor")]
    name = shared_world.register("/org/acme", groups=groups, role="all", descendants=True)
    with shared_world.connect(name) as connection:
        write(connection, "semantic", {"text": "Ana prefers tea"}, subject="ana")
        connection.execute("SELECT * FROM memwarden.recall('tea')")
        shared_world.admin.execute(
            "SELECT memwarden.set_approval_policy('semantic', approval => 'always')"
        )
        for drink in ("coffee", "water"):
            assert write(connection, "semantic", {"text": drink})["outcome"] == "DEFERRED"
    return name


def refusal(connection: Connection[DictRow], call: str) -> tuple[str | None, bool]:
    """The SQLSTATE a call raises, and whether there is a hint."""
    with pytest.raises(psycopg.Error) as raised, connection.transaction():
        connection.execute(f"SELECT * FROM memwarden.{call}")
    return raised.value.sqlstate, bool(raised.value.diag.message_hint)


@pytest.mark.parametrize("call", REFUSED)
def test_an_administrator_is_told_what_is_wrong(shared_world: World, call: str) -> None:
    """By memwarden's own error, with a hint."""
    assert refusal(shared_world.admin, call) == (REFUSED[call], True)


@pytest.mark.parametrize("call", REFUSED_TO_AGENTS)
def test_a_member_of_the_organisation_is_told_what_is_wrong(
    shared_world: World, caller: str, call: str
) -> None:
    """By memwarden's own error, with a hint."""
    assert refusal(shared_world.connect(caller), call) == (REFUSED_TO_AGENTS[call], True)


@pytest.mark.parametrize("call", ANSWERED)
def test_far_times_and_long_questions_have_answers(
    shared_world: World, caller: str, call: str
) -> None:
    """A time before or after all others is one; so is none of all proposals."""
    shared_world.connect(caller).execute(f"SELECT * FROM memwarden.{call}")


@pytest.mark.parametrize("since", ["178000000 years", "-178000000 years", "infinity"])
def test_copies_of_all_times_are_told(shared_world: World, since: str) -> None:
    """However far back that is."""
    shared_world.admin.execute("SELECT * FROM memwarden.canonical_copies(%s)", (since,))


@pytest.mark.parametrize(
    "call",
    [
        "rescan_sensitivity(-1)",
        "rescan_sensitivity(NULL)",
        "rescan_sensitivity(2000000000)",
        "sweep(0)",
        "sweep(batches => 0)",
        "sweep(batches => NULL)",
    ],
)
def test_jobs_refuse_batches_that_are_none(shared_world: World, call: str) -> None:
    """22023, before anything is looked at."""
    jobs = shared_world.connect("memwarden_jobs")
    with pytest.raises(psycopg.errors.InvalidParameterValue) as raised:
        jobs.execute(f"CALL memwarden.{call}")
    assert raised.value.diag.message_hint
