"""What a sweep thinks of a memory, where layers ask for evidence as they do in a new store."""

from __future__ import annotations

from collections import Counter
from uuid import UUID

import pytest
from psycopg.types.json import Jsonb

from access import call
from conftest import World
from helpers import ask_for_little, write
from write.evidence.conftest import DOCS, TEA, Office, cite, item
from write.evidence.test_unclear import reviewer, unclear
from write.evidence.test_verifiers import answer, ask


class Desk(Office):
    """An organisation with a site that anybody may cite."""

    def judged(self) -> dict[UUID, tuple[str, str | None]]:
        """Sweep; the verdict on each memory of this organisation, and its reason."""
        self.world.admin.execute("CALL memwarden.revalidate()")
        rows = self.world.rows(
            "SELECT DISTINCT ON (r.item_id) r.item_id, r.verdict, r.reason"
            "  FROM memwarden_data.revalidated AS r"
            "  JOIN memwarden_data.organisation AS o USING (org_id) WHERE o.name = %s"
            " ORDER BY r.item_id, r.sweep_id DESC",
            self.org,
        )
        return {row["item_id"]: (row["verdict"], row["reason"]) for row in rows}


@pytest.fixture
def desk(shared_world: World) -> Desk:
    """An organisation whose layers ask what is shipped, and compare nothing."""
    shared_world.ship_layers()
    shared_world.admin.execute(
        "UPDATE memwarden_data.layer SET duplicate_similarity = NULL, conflict = 'accumulate'"
    )
    made = Desk(shared_world)
    made.source(f"{DOCS}*")
    return made


def test_what_its_sources_still_bear_out_is_verified(desk: Desk) -> None:
    """And is not when its source is taken back, or the layer asks for more authority.

    Proves: Q3, Q11
    """
    kept = desk.write(TEA, cite(f"{DOCS}tea", TEA))["item_id"]
    desk.source("https://blog.example.org/*")
    words = "Bo drinks coffee."
    lost = desk.write(words, cite("https://blog.example.org/bo", words))["item_id"]
    assert desk.judged() == {kept: ("VERIFIED", None), lost: ("VERIFIED", None)}
    call(desk.world.admin, "drop_source", uri_pattern="https://blog.example.org/*", org=desk.org)
    assert desk.judged() == {kept: ("VERIFIED", None), lost: ("FALSE", "EVIDENCE_FAILS")}


def test_what_somebody_says_of_a_memory_is_no_memory_to_judge(desk: Desk) -> None:
    """It rests on who says it, as at its write."""
    kept = desk.write(TEA, cite(f"{DOCS}tea", TEA))["item_id"]
    other = desk.world.connect(desk.world.register(desk.home))
    other.execute("SELECT memwarden.annotate(%s, 'confirmed')", (kept,))
    assert desk.judged() == {kept: ("VERIFIED", None)}


def test_a_kind_with_a_text_of_its_own_is_judged_by_that_text(desk: Desk) -> None:
    """As at its write; the rest is bookkeeping."""
    desk.world.admin.execute(
        "SELECT memwarden.define_schema('semantic', 'titled', '{}', text_template => %s)",
        ("{content.title}",),
    )
    content = {"title": TEA, "shelf": "north", "copies": 41}
    kept = desk.write(content, cite(f"{DOCS}tea", TEA), kind="titled")
    assert desk.judged() == {kept["item_id"]: ("VERIFIED", None)}


def test_what_a_person_agreed_to_is_not_false_because_rules_cannot_tell(desk: Desk) -> None:
    """A person read evidence that rules find unclear. That stays as long as its sources do."""
    asked = unclear(desk)
    done = (
        reviewer(desk)
        .execute("SELECT * FROM memwarden.approve(%s)", (asked["request_id"],))
        .fetchone()
    )
    assert done is not None
    assert set(desk.judged().values()) == {("VERIFIED", None)}
    call(desk.world.admin, "drop_source", uri_pattern=f"{DOCS}*", org=desk.org)
    assert set(desk.judged().values()) == {("FALSE", "EVIDENCE_FAILS")}


def test_what_a_verifier_bore_out_is_not_false_because_rules_cannot_tell(desk: Desk) -> None:
    """Its score stands on the record."""
    arguments = {"layer": "semantic", "purpose": "verify", "plugin": "judge", "quorum": 2}
    call(desk.world.admin, "require_verifier", org=desk.org, **arguments)
    done = answer(desk, ask(desk), ("accept", 0.95), ("accept", 0.95))
    assert done["outcome"] == "COMMITTED"
    assert desk.judged() == {done["item_id"]: ("VERIFIED", None)}


def test_a_source_of_a_source_that_was_taken_back_counts(desk: Desk) -> None:
    """However far below it lies.

    Proves: Q3, Q11
    """
    ask_for_little(desk.world.admin)
    items = [desk.write({"value": 0}, subject="fact 0", predicate="is")]
    for n in (1, 2):
        step = desk.write({"value": n}, item(items[-1]), subject=f"fact {n}", predicate="is")
        assert step["outcome"] == "COMMITTED", step
        items.append(step)
    root = items[0]
    desk.writer.execute("SELECT memwarden.retract(%s, 'wrong')", (root["item_id"],))
    found = desk.judged()
    assert found == {row["item_id"]: ("FALSE", "SOURCE_WITHDRAWN") for row in items[1:]}


def test_a_contradiction_is_over_with_what_contradicted(desk: Desk) -> None:
    """Only what stands contradicts."""
    one, two = (
        desk.write(f"{TEA} {n}", cite(f"{DOCS}tea", f"{TEA} {n}"))["item_id"] for n in range(2)
    )
    desk.world.admin.execute(
        "SELECT memwarden_internal.record_disputes(org_id, scope_id, item_id, ARRAY[%s])"
        "  FROM memwarden_data.item WHERE item_id = %s",
        (two, one),
    )
    assert desk.judged() == dict.fromkeys((one, two), ("UNCERTAIN", "CONTRADICTED"))
    desk.writer.execute("SELECT memwarden.retract(%s, 'wrong')", (two,))
    assert desk.judged()[one] == ("VERIFIED", None)


def test_what_is_false_counts_half_until_somebody_acts(desk: Desk) -> None:
    """The daily look at lifetimes takes nothing of it back; renew() does.

    Proves: Q3
    """
    desk.source("https://blog.example.org/*")
    lost = desk.write(TEA, cite("https://blog.example.org/tea", TEA))["item_id"]
    call(desk.world.admin, "drop_source", uri_pattern="https://blog.example.org/*", org=desk.org)
    assert desk.judged()[lost][0] == "FALSE"
    half = (
        "SELECT coalesce(fresh_until <= now(), false) FROM memwarden_data.item WHERE item_id = %s"
    )
    assert desk.world.value(half, lost)
    desk.world.admin.execute(
        "SELECT memwarden_internal.settle_lifetimes(org_id, ARRAY[item_id])"
        "  FROM memwarden_data.item WHERE item_id = %s",
        (lost,),
    )
    assert desk.world.value(half, lost)
    desk.writer.execute("SELECT memwarden.renew(%s, 'a person looked at it')", (lost,))
    desk.world.admin.execute(
        "SELECT memwarden_internal.settle_lifetimes(org_id, ARRAY[item_id])"
        "  FROM memwarden_data.item WHERE item_id = %s",
        (lost,),
    )
    assert not desk.world.value(half, lost)


def test_rules_that_are_new_are_asked(desk: Desk) -> None:
    """A memory that an integrity rule of today refuses is false; one to be hidden is for people.

    Proves: Q3
    """
    small, large = (
        desk.write({"amount": n}, cite(f"{DOCS}a", f"The amount is {n}."))["item_id"]
        for n in (5, 500)
    )
    call(
        desk.world.admin,
        "define_integrity_rule",
        name="small",
        condition="memory.content.amount < 100",
        org=desk.org,
    )
    assert desk.judged() == {small: ("VERIFIED", None), large: ("FALSE", "RULE_BROKEN")}
    desk.world.admin.execute(
        "INSERT INTO memwarden_data.sensitivity_scan"
        " (org_id, item_id, version_id, sensitivity, findings, scanned_at)"
        " SELECT org_id, item_id, version_id, 'high', %s, now() FROM memwarden_data.item"
        "  WHERE item_id = %s",
        (Jsonb([]), small),
    )
    assert desk.judged()[small] == ("UNCERTAIN", "SENSITIVE")


def test_time_that_is_over_leaves_a_memory_uncertain(desk: Desk) -> None:
    """It was true, and no rule says what holds now."""
    over = desk.write(TEA, cite(f"{DOCS}tea", TEA), valid_from="2020-01-01", valid_to="2021-01-01")[
        "item_id"
    ]
    assert desk.judged() == {over: ("UNCERTAIN", "TIME_IS_OVER")}


def test_an_erasure_takes_what_was_judged_along(desk: Desk) -> None:
    """A verdict on a memory that is gone is about nobody, and goes."""
    desk.source("https://blog.example.org/*")
    lost = desk.write(TEA, cite("https://blog.example.org/tea", TEA), subject="Ana")["item_id"]
    call(desk.world.admin, "drop_source", uri_pattern="https://blog.example.org/*", org=desk.org)
    assert desk.judged() == {lost: ("FALSE", "EVIDENCE_FAILS")}
    call(desk.world.admin, "erase_subject", subject="Ana", reason="asked", org=desk.org)
    left = "SELECT count(*) FROM memwarden_data.revalidated WHERE item_id = %s"
    assert desk.world.value(left, lost) == 0
    shown = "SELECT count(*) FROM memwarden.leaked_memories WHERE item_id = %s"
    assert desk.world.value(shown, lost) == 0


def test_every_memory_is_as_likely_to_be_drawn(desk: Desk) -> None:
    """Scope by scope in proportion, each at most once, and none of another layer."""
    world = desk.world
    other = f"/org/{desk.org}/user/bo"
    world.scope(other)
    ask_for_little(world.admin)
    writers = {desk.home: 30, other: 10}
    for scope, count in writers.items():
        agent = world.connect(world.register(scope))
        for n in range(count):
            assert write(agent, "semantic", f"lamp {n} of {scope}")["outcome"] == "COMMITTED"
        write(agent, "procedural", f"how to light a lamp in {scope}")
    org_id = world.value("SELECT org_id FROM memwarden_data.organisation WHERE name = %s", desk.org)
    drawn: Counter[UUID] = Counter()
    for _ in range(60):
        rows = world.rows(
            "SELECT d.item_id, s.scope_id FROM memwarden_data.scope AS s"
            " CROSS JOIN LATERAL memwarden_internal.draw_from_scope("
            "%s, 'semantic', s.scope_id, 5, clock_timestamp()) AS d WHERE s.path = ANY (%s)",
            org_id,
            list(writers),
        )
        ids = [row["item_id"] for row in rows]
        assert len(set(ids)) == len(ids) == 10
        drawn.update(ids)
    # Nobody is left out: (1 - 5/30) ^ 60 is one in 50,000.
    assert len(drawn) == 40
    shares = world.rows(
        "SELECT * FROM memwarden_internal.shares_of_sample(%s, 'semantic', clock_timestamp())",
        org_id,
    )
    assert shares[0]["population"] == 40
    size = world.value("SELECT memwarden_internal.sample_size(40)")
    few, many = sorted(shares[0]["shares"])
    assert few + many == size
    assert abs(few - size / 4) < 1
