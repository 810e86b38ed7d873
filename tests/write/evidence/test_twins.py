"""What bears a claim out is certain: a wrong twin of a true pair is never borne out."""

from __future__ import annotations

import json

import pytest

from memwarden.demo.conversation import load
from memwarden.evaluation.evidence import MOST_WRONG, Report, evaluate
from memwarden.evaluation.twins import shapes
from memwarden_core.support.judge import BORNE_OUT, DENIED, UNCLEAR, supports

MONTHS = "January February March April May June July August September October November December"
# ruff: noqa: RUF001
OPPOSITES = [
    ("Petra isst Fisch.", "Petra isst nicht Fisch."),
    ("Petra hat ein Auto.", "Petra hat kein Auto."),
    ("Petra wohnt in Rom.", "Petra wohnt nicht in Rom."),
    ("Petra heeft een auto.", "Petra heeft geen auto."),
    ("Petra woont in Rome.", "Petra woont niet in Rome."),
    ("Petra abita a Roma.", "Petra non abita a Roma."),
    ("Petra mieszka w Rzymie.", "Petra nie mieszka w Rzymie."),
    ("Петра живёт в Риме.", "Петра не живёт в Риме."),
    ("Petra Roma'da yaşıyor.", "Petra Roma'da yaşamıyor."),
    ("Petra habite à Rome.", "Petra n'habite pas à Rome."),
    ("Petra vive en Roma.", "Petra no vive en Roma."),
    ("Petra mora em Roma.", "Petra não mora em Roma."),
    ("Petra lives in Rome.", "Petra does not live in Rome."),
    ("Petra has never been to Rome.", "Petra has been to Rome."),
]


def found(
    claim: object,
    excerpt: str,
    *,
    subject: str | None = None,
    predicate: str | None = None,
    type: str = "document",
    speaker: str | None = None,
) -> float:
    """What one excerpt makes of a claim."""
    return supports(subject, predicate, json.dumps(claim), [excerpt], [type], [""], [speaker])[0]


@pytest.fixture(scope="module")
def report() -> Report:
    """The notes and turns of the demo, and the twins."""
    return evaluate(load(None))


def test_no_wrong_twin_is_borne_out(report: Report) -> None:
    """At least 400 of each kind.

    Name, number, month, weekday, code, unit, speaker, a part added, a denial in ten languages; and
    question, condition, wish, plan, report, dream, denial, quotation round it.

    Proves: V2, V3
    """
    wrong = [row for row in report.rows if not row.right]
    assert len(wrong) >= 20
    for row in wrong:
        assert row.borne_out <= MOST_WRONG * row.total, row
        # By captures of another login, too: none reaches more than reported.
        assert row.supported <= MOST_WRONG * row.total, row
        assert row.verified == 0, row
        assert row.total >= 400 or row.pairs.startswith("note"), row


def test_every_right_twin_is_borne_out(report: Report) -> None:
    """Layout, punctuation, a greeting, other sentences and main clauses change nothing.

    Proves: V2, V3
    """
    for row in report.rows:
        if row.right and row.pairs.startswith("twin"):
            assert row.borne_out == row.total >= 400, row


def test_a_turn_bears_itself_out_in_every_shape(report: Report) -> None:
    """As plain text, with its speaker, and as chat formats and adapters have it. Proves: V2, V3."""
    rows = [row for row in report.rows if row.pairs.startswith("a turn by itself")]
    assert len(rows) >= 12
    for row in rows:
        assert row.borne_out == row.total == 95, row


def test_a_shape_with_another_speaker_is_not_borne_out() -> None:
    """Who speaks is the one whom the excerpt names. Proves: V2."""
    words = "I have a peanut allergy, and I live in Rome."
    for shape, content, subject in shapes("Petra", words):
        right = found(content, f"Petra: {words}", subject=subject, type="human_input")
        assert right == BORNE_OUT, shape
        if "Petra" in json.dumps(content) or subject == "Petra":
            wrong = found(content, f"Klaus: {words}", subject=subject, type="human_input")
            assert wrong == UNCLEAR, shape
            wrong = found(content, words, subject=subject, type="human_input", speaker="Klaus")
            assert wrong == UNCLEAR, shape


@pytest.mark.parametrize("month", MONTHS.split())
def test_another_month_is_another_day(month: str) -> None:
    """Also May, which is a word. Proves: V2, V3."""
    claim = f"The ferry leaves on 12 {month}."
    for other in MONTHS.split():
        expected = BORNE_OUT if other == month else UNCLEAR
        assert found(claim, f"The ferry leaves on 12 {other}.") == expected


@pytest.mark.parametrize(("said", "denied"), OPPOSITES)
def test_a_denial_is_no_evidence_of_its_opposite(said: str, denied: str) -> None:
    """In ten languages and more, both ways; the words themselves always are. Proves: V2."""
    assert found(said, denied) < BORNE_OUT
    assert found(denied, said) < BORNE_OUT
    assert found(said, said) == found(denied, denied) == BORNE_OUT


def test_denied_is_only_what_is_said_not_to_be_so() -> None:
    """Another name, number or month denies nothing. Proves: V2."""
    assert found("Petra likes fish.", "Petra does not like fish.") == DENIED
    assert found("Petra does not like fish.", "Petra likes fish.") == DENIED
    assert found("Petra likes fish.", "Petra: I don't like fish.") == DENIED
    assert found("Petra likes fish.", "Klaus does not like fish.") == UNCLEAR
    assert found("Petra likes fish.", "Does Petra not like fish?") == UNCLEAR
    assert found("Petra likes fish.", "Klaus says that Petra does not like fish.") == UNCLEAR
    assert found("Petra has two cats.", "Petra has three cats.") == UNCLEAR


def test_main_clauses_may_come_in_another_order() -> None:
    """Each of them is borne out by itself. Proves: V3."""
    claim = "Ana moved to Rome and my sister lives in Leeds."
    assert found(claim, "Ana: My sister lives in Leeds, and I moved to Rome.") == BORNE_OUT
    assert found(claim, "Ana: My sister lives in Leeds.") == UNCLEAR


@pytest.mark.parametrize(
    ("excerpt", "expected"),
    [
        ("Ana prefers green tea.", BORNE_OUT),
        ("Ana: I prefer green tea, please.", BORNE_OUT),
        ("Bo prefers green tea.", UNCLEAR),
        ("Bo: I prefer green tea.", UNCLEAR),
        ("Ana prefers black tea.", UNCLEAR),
        ("Ana does not prefer green tea.", DENIED),
        ("Ana told me that she prefers green tea.", UNCLEAR),
        ("Would Ana prefer green tea?", UNCLEAR),
    ],
)
def test_a_value_is_borne_out_with_its_subject_and_relation(excerpt: str, expected: float) -> None:
    """Subject, relation and object stand on both sides. Proves: V2, V3."""
    assert found({"drink": "green tea"}, excerpt, subject="Ana", predicate="prefers") == expected


@pytest.mark.parametrize(
    ("claim", "excerpt", "same"),
    [
        ("It costs $1,200.", "It costs 1200 dollars.", True),
        ("It costs $1,200.", "It costs 1200 euros.", False),
        ("The disk holds 2 TB.", "The disk holds 2000 GB.", True),
        ("The disk holds 2 TB.", "The disk holds 2 GB.", False),
        ("The line has 5 MW.", "The line has 5 mW.", False),
        ("It takes seven days.", "It takes 7 days.", True),
        ("It is -5 degrees.", "It is 5 degrees.", False),
        ("Use C++ here.", "Use C here.", False),
        ("Send e-mail to ana@mail.example.", "Send email to ana@mail.example.", True),
        ("Send it to ana@mail.example.", "Send it to ana@mail.example.org.", False),
        ("The key is B7/B9.", "The key is B7/B8.", False),
    ],
)
def test_amounts_units_and_codes_are_compared_exactly(claim: str, excerpt: str, same: bool) -> None:
    """In whatever unit of a kind, and not as letters alone. Proves: V2, V3."""
    assert (found(claim, excerpt) == BORNE_OUT) == same


def test_a_role_that_says_something_gains_nothing_by_true_words() -> None:
    """What looks like bookkeeping and is none must be borne out too. Proves: V2."""
    words = "Petra likes green tea very much."
    assert found({"text": words, "role": "user"}, words) == BORNE_OUT
    assert found({"text": words, "role": "and Petra owes 5,000"}, words) == UNCLEAR
