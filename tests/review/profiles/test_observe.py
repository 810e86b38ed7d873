"""A profile is tried on live writes: what it would have said is what it says where it is chosen."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import partial

import psycopg
import pytest
from psycopg import Connection
from psycopg.rows import DictRow
from psycopg.types.json import Jsonb

from helpers import write, write_many
from races import together
from review.profiles import test_each_cell as cells
from review.profiles.test_each_cell import CELLS, ELSE_SAID, PROFILES, say, use
from shipped import SCOPE, Shipped, as_init_leaves_it
from write.gates.obedient import create_gate_function

PAIRS = [(one, other) for one in PROFILES for other in PROFILES if one != other]


def observe(store: Shipped, profile: str | None) -> None:
    """Try a profile on the organisation's writes."""
    store.world.admin.execute("SELECT memwarden.observe_profile(%s, 'acme')", (profile,))


def report(connection: Connection[DictRow], org: str | None = "acme") -> list[DictRow]:
    """What the tried profile would have said."""
    return connection.execute("SELECT * FROM memwarden.profile_report(%s)", (org,)).fetchall()


@pytest.mark.parametrize(("present", "tried"), PAIRS)
@pytest.mark.parametrize("situation", CELLS, ids=lambda each: each.__name__)
def test_what_it_would_have_said_is_what_it_says(
    shipped: Shipped, situation: Callable[[Shipped], DictRow], present: str, tried: str
) -> None:
    """The present one decides as ever, and the report says what the other decides. Proves: Z13."""
    if situation in ELSE_SAID:
        ELSE_SAID[situation](shipped)
    use(shipped, present)
    observe(shipped, tried)
    answer = situation(shipped)
    decided, would_be = (CELLS[situation][PROFILES.index(each)][:2] for each in (present, tried))
    assert (answer["outcome"], answer["reason"]) == decided, answer["detail"]
    (row,) = (row for row in report(shipped.world.admin) if row["layer"] != "session")
    assert (row["profile"], row["requests"]) == (tried, 1)
    assert (row["was"], row["was_reason"] or answer["reason"]) == decided
    reason = None if would_be[0] == "COMMITTED" else would_be[1]
    assert (row["would_be"], row["reason"]) == (would_be[0], reason)


# What says that settings were changed, and what is made of them.
KEPT = {"settings_change", "kept_terms", "access_log"}
UNPROVED = ("REJECTED", "INSUFFICIENT_EVIDENCE")


def rows_of_each_table(store: Shipped) -> dict[str, int]:
    """How many rows each table holds."""
    tables = store.world.rows(
        "SELECT c.relname AS name FROM pg_class AS c WHERE c.relkind IN ('r', 'p')"
        " AND c.relnamespace = 'memwarden_data'::regnamespace AND NOT c.relispartition"
    )
    return {
        t["name"]: store.world.value(f"SELECT count(*) FROM memwarden_data.{t['name']}")
        for t in tables
        if t["name"] not in KEPT
    }


def counted(rows: list[DictRow]) -> Counter[tuple[str | None, ...]]:
    """How often what was said, and would have been."""
    return Counter(
        {
            tuple(row[name] for name in ("layer", "was", "was_reason", "would_be", "reason")): row[
                "requests"
            ]
            for row in rows
        }
    )


def tell_everything(store: Shipped) -> None:
    """One write of each kind that stands alone, and a batch."""
    for situation in CELLS:
        if situation not in ELSE_SAID:
            situation(store)
    notes = [
        {"content": f"Boat {n} has passed buoy {n * 7}.", "layer": "semantic"} for n in range(9)
    ]
    write_many(store.agent, [note | {"scope": SCOPE} for note in notes])


@pytest.mark.parametrize(("present", "tried"), [("balanced", "strict"), ("strict", "open")])
def test_nothing_else_happens(shipped: Shipped, present: str, tried: str) -> None:
    """All tables hold as many rows as in a store that tries nothing. Proves: Z13."""
    with as_init_leaves_it(shipped.world) as twin:
        for store in (shipped, twin):
            use(store, present)
        observe(shipped, tried)
        for store in (shipped, twin):
            tell_everything(store)
        assert rows_of_each_table(shipped) == rows_of_each_table(twin)


def test_a_batch_is_tried_row_by_row(shipped: Shipped) -> None:
    """A hundred at once, each judged after those before it were stored. Proves: Z13."""
    use(shipped, "open")
    observe(shipped, "strict")
    requests = [
        {"layer": "semantic", "content": f"Boat {n} has passed buoy {n * 7}.", "scope": SCOPE}
        for n in range(99)
    ]
    answers = write_many(shipped.agent, [*requests, requests[0]])
    assert Counter(a["outcome"] for a in answers) == {"COMMITTED": 99, "ALREADY_COMMITTED": 1}
    assert counted(report(shipped.world.admin)) == {
        ("semantic", "COMMITTED", None, *UNPROVED): 99,
        ("semantic", "ALREADY_COMMITTED", None, "ALREADY_COMMITTED", None): 1,
    }


def test_later_writes_are_not_simulated(shipped: Shipped) -> None:
    """What the tried profile would have refused is there for the writes after it. Proves: Z13."""
    use(shipped, "open")
    observe(shipped, "balanced")
    say(shipped.application, "semantic", "The bridge is not open.")
    say(shipped.agent, "semantic", "The bridge is not open.")
    rows = report(shipped.world.admin)
    assert [row["would_be"] for row in rows] == [row["was"] for row in rows]


def test_many_write_at_once(shipped: Shipped) -> None:
    """Eight writers, each answered as ever, and each of their writes judged. Proves: Z13."""
    use(shipped, "balanced")
    observe(shipped, "strict")
    writers = [shipped.world.connect(shipped.agent.info.user) for _ in range(8)]

    def note(who: int) -> list[str]:
        texts = [f"Boat {who} has passed buoy {n} at noon." for n in range(10)]
        return [say(writers[who], "semantic", text)["outcome"] for text in texts]

    found = together([partial(note, who) for who in range(len(writers))])
    assert Counter(outcome for each in found for outcome in each) == {"COMMITTED": 80}
    assert counted(report(shipped.world.admin)) == {
        ("semantic", "COMMITTED", None, *UNPROVED): 80,
    }


def test_a_trial_that_fails_harms_nothing(shipped: Shipped) -> None:
    """It is counted as not judged, and the write is stored. Proves: Z13."""
    admin = shipped.world.admin
    use(shipped, "open")
    observe(shipped, "strict")
    # A sequence is not rolled back: the gate fails each other time, and first in the trial.
    admin.execute("CREATE SEQUENCE public.asked")
    admin.execute("GRANT USAGE ON SEQUENCE public.asked TO PUBLIC")
    body = """
BEGIN
    IF nextval('public.asked') % 2 = 1 THEN
        RAISE division_by_zero;
    END IF;
    decision := 'ACCEPT';
END"""
    function = create_gate_function(shipped.world, "public.moody", body=body)
    admin.execute("SELECT memwarden.add_gate(45, 'moody', %s)", (function,))
    assert cells.borne_out(shipped)["outcome"] == "COMMITTED"
    assert counted(report(admin)) == {("semantic", "COMMITTED", None, None, "NOT_JUDGED"): 1}


def test_what_is_rolled_back_is_not_reported(shipped: Shipped) -> None:
    """The note goes with its request. Proves: Z13."""
    use(shipped, "open")
    observe(shipped, "strict")
    with shipped.agent.transaction(force_rollback=True):
        cells.no_evidence(shipped)
    assert report(shipped.world.admin) == []


def test_what_no_profile_changes_is_as_it_was(shipped: Shipped) -> None:
    """A scope that is none, a secret; an act that waits for people is not judged. Proves: Z13."""
    use(shipped, "strict")
    told = cells.borne_out(shipped)
    shipped.approve(told)
    observe(shipped, "open")
    write(shipped.agent, "semantic", "Ana swims.", scope="/org/acme/user/nobody")
    cells.a_secret(shipped)
    item = shipped.world.value("SELECT item_id FROM memwarden_data.item WHERE layer = 'semantic'")
    shipped.agent.execute("SELECT memwarden.retract(%s, 'It is wrong.')", (item,))
    assert counted(report(shipped.world.admin)) == {
        (None, "REJECTED", "UNKNOWN_SCOPE", "REJECTED", "UNKNOWN_SCOPE"): 1,
        ("semantic", "REJECTED", "SENSITIVE_CONTENT", "REJECTED", "SENSITIVE_CONTENT"): 1,
        ("semantic", "DEFERRED", "AWAITING_APPROVAL", None, "NOT_JUDGED"): 1,
    }


def test_the_first_answer_is_reported(shipped: Shipped) -> None:
    """Also after a person has agreed. Proves: Z13."""
    use(shipped, "strict")
    observe(shipped, "balanced")
    told = cells.borne_out(shipped)
    shipped.approve(told)
    assert counted(report(shipped.world.admin)) == {
        ("semantic", "DEFERRED", "AWAITING_APPROVAL", "COMMITTED", None): 1,
    }


@pytest.mark.parametrize("org", ["acme", None])
def test_what_was_set_by_hand_counts_in_both(shipped: Shipped, org: str | None) -> None:
    """A setting and a policy, of the organisation or of the server. Proves: Z13."""
    admin = shipped.world.admin
    admin.execute("SELECT memwarden.use_profile('open', %s)", (org,))
    if org is None:
        use_none(shipped)
    by_hand = Jsonb({"no_evidence": "ask"})
    admin.execute("SELECT memwarden.configure_layer('semantic', %s, org => %s)", (by_hand, org))
    admin.execute(
        "SELECT memwarden.set_approval_policy('episodic', approval => 'never', org => %s)", (org,)
    )
    admin.execute("SELECT memwarden.observe_profile('strict', %s)", (org,))
    cells.no_evidence(shipped)
    say(shipped.agent, "procedural", "To open the shop, turn the key twice.")
    words = "Ana has arrived in Rome."
    say(shipped.agent, "episodic", words, shipped.heard("Ana", words))
    assert counted(report(admin, org)) == {
        ("semantic", "DEFERRED", "EVIDENCE_UNCLEAR", "DEFERRED", "EVIDENCE_UNCLEAR"): 1,
        ("procedural", "COMMITTED", None, *UNPROVED): 1,
        ("episodic", "COMMITTED", None, "COMMITTED", None): 1,
    }


def use_none(store: Shipped) -> None:
    """Let the organisation go by the server's."""
    store.world.admin.execute("SELECT memwarden.use_profile(NULL, 'acme')")


def test_the_servers_is_tried_where_nobody_has_chosen(shipped: Shipped) -> None:
    """Not where the organisation has a profile of its own. Proves: Z13."""
    admin = shipped.world.admin
    admin.execute("SELECT memwarden.use_profile('open', NULL)")
    admin.execute("SELECT memwarden.observe_profile('strict', NULL)")
    use(shipped, "open")
    cells.no_evidence(shipped)
    assert report(admin, None) == report(admin) == []
    use_none(shipped)
    say(shipped.agent, "semantic", "The ferry to Brac leaves at ten.")
    assert counted(report(admin, None)) == {
        ("semantic", "COMMITTED", None, *UNPROVED): 1,
        # From before.
        ("semantic", "COMMITTED", None, None, "NOT_JUDGED"): 1,
    }
    admin.execute("SELECT memwarden.observe_profile(NULL, NULL)")
    say(shipped.agent, "semantic", "The ferry to Hvar leaves at noon.")
    assert sum(row["requests"] for row in report(admin, None)) == 2


def test_each_is_shown_its_own_requests_alone(shipped: Shipped) -> None:
    """Agents see no report; others see counts, and as examples what they may read. Proves: Z13."""
    world = shipped.world
    use(shipped, "open")
    observe(shipped, "strict")
    groups = ("memwarden_agent", "memwarden_curator")
    curator = world.agent("/org/acme", groups=groups, role="curator", descendants=True)
    own = say(curator, "semantic", "The ferry to Brac leaves at ten.")
    other = cells.no_evidence(shipped)
    (row,) = report(curator, None)
    assert (row["requests"], row["examples"]) == (2, [own["request_id"]])
    (row,) = report(world.admin)
    assert row["examples"] == [other["request_id"], own["request_id"]]
    (row,) = report(shipped.reviewer, None)
    assert (row["requests"], row["examples"]) == (2, [])
    world.admin.execute("SELECT memwarden.create_scope('/org/bolt')")
    stranger = world.agent("/org/bolt", groups=groups, role="curator", descendants=True)
    assert report(stranger, None) == []
    with pytest.raises(psycopg.Error) as refusal:
        report(stranger, "acme")
    assert refusal.value.sqlstate == "42501"


def test_an_agent_neither_tries_a_profile_nor_forges_a_trial(shipped: Shipped) -> None:
    """Proves: Z13."""
    observe(shipped, "open")
    forged = "INSERT INTO memwarden_data.write_request (request_id, trial) VALUES (%s, '{}')"
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        shipped.agent.execute(forged, ("01890000-0000-7000-8000-000000000000",))
    for call in ("observe_profile('open')", "profile_report()", "preview_profile('open')"):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            shipped.agent.execute(f"SELECT memwarden.{call}")
    for name in ("observed", "trial"):
        shipped.agent.execute("SELECT set_config(%s, 'open', false)", (f"memwarden.{name}",))
    answer = cells.no_evidence(shipped)
    assert answer["outcome"] == "COMMITTED" or answer["reason"] == "INSUFFICIENT_EVIDENCE"


def test_an_unknown_profile_is_refused(shipped: Shipped) -> None:
    """Proves: Z13."""
    for call in ("observe_profile('lax', 'acme')", "preview_profile('lax')"):
        with pytest.raises(psycopg.errors.InvalidParameterValue):
            shipped.world.admin.execute(f"SELECT memwarden.{call}")
    with pytest.raises(psycopg.errors.UndefinedObject):
        shipped.world.admin.execute("SELECT memwarden.observe_profile('open', 'nobody')")


def test_status_says_what_is_tried(shipped: Shipped) -> None:
    """Beside the profile that decides. Proves: Z13."""
    use(shipped, "balanced")
    observe(shipped, "strict")
    told = "SELECT detail FROM memwarden.status() WHERE component = 'profile'"
    assert "acme balanced (tries strict)" in shipped.world.value(told)
    use_none(shipped)
    assert "acme strict (tries strict)" in shipped.world.value(told)
    observe(shipped, None)
    assert "tries" not in shipped.world.value(told)


def test_what_moves_up_is_tried(shipped: Shipped) -> None:
    """A promotion is a write as any other. Proves: Z13."""
    admin = shipped.world.admin
    use(shipped, "open")
    grant = "SELECT memwarden.grant_scope(%s, '/org/acme', writes => true)"
    admin.execute(grant, (shipped.agent.info.user,))
    note = say(shipped.agent, "semantic", "The ferry to Vis leaves at nine.")
    observe(shipped, "strict")
    promote = "SELECT (memwarden.promote(%s)).outcome AS outcome"
    answer = shipped.agent.execute(promote, (note["item_id"],)).fetchone()
    assert answer == {"outcome": "COMMITTED"}
    (row,) = report(admin)
    assert (row["was"], row["layer"]) == ("COMMITTED", "semantic")
    assert row["would_be"] != "COMMITTED"
    assert row["would_be"] is not None


def test_what_is_encrypted_can_be_read_after_a_trial(shipped: Shipped) -> None:
    """The key that the trial made for the subject is gone with it. Proves: Z13."""
    admin = shipped.world.admin
    admin.execute(
        "SELECT memwarden.define_write_class('personal', encrypted => true, org => 'acme')"
    )
    use(shipped, "open")
    observe(shipped, "strict")
    text = "Petra Horvat has moved to Split."
    said = {"subject": "Petra Horvat", "predicate": "moved to", "class": "personal"}
    assert say(shipped.agent, "semantic", text, **said)["outcome"] == "COMMITTED"
    (row,) = report(admin)
    assert (row["would_be"], row["reason"]) == UNPROVED
    (item,) = shipped.agent.execute("SELECT content FROM memwarden.items").fetchall()
    assert item["content"] == text
