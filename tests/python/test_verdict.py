"""What the built-in judge says of two memories."""

from __future__ import annotations

import pytest

from memwarden_core.verdict.judge import Memory, Verdict, judge, prepare


def told(text: str) -> Memory:
    """A memory that is a text and nothing else."""
    return Memory(None, None, text, text)


def fact(subject: str, predicate: str | None, content: object, text: str = "") -> Memory:
    """A memory about a subject."""
    return Memory(subject, predicate, content, text or f"{subject} {predicate or ''} {content}")


def of(new: str, old: str) -> Verdict:
    """The verdict on two texts."""
    return judge(told(new), told(old))


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ("Ana lives in Paris.", "ana lives in PARIS"),
        ("Ana  drinks\ttea", "Ana drinks tea."),
        ("The timeout is 3000 ms", "The timeout is 3 seconds"),
        ("Ana is playing chess", "Ana plays chess"),
        ("The men carry the boxes", "The man carries the boxes"),
        ("Two hundred users", "200 users"),
        ("The road is 1.1 km long", "The road is 1,100 m long"),
        ("Bo and Ana manage the team", "Ana and Bo manage the team"),
        ("Ana is not tall. Bo plays chess.", "Ana isn't tall. Bo plays chess."),
    ],
)
def test_what_says_the_same_is_the_same(new: str, old: str) -> None:
    """Proves: V7 (numbers, units, words of one meaning), D1 (the third tier)."""
    assert of(new, old).relation == "same"
    assert of(old, new).relation == "same"


@pytest.mark.parametrize(
    ("new", "old", "relation"),
    [
        ("The sofa is large", "The couch is big", "alike"),
        ("The sofa is large. Bo plays chess.", "Bo plays chess. The couch is big.", "alike"),
        ("On Monday Ana swims in the lake", "Ana swims in the lake on Monday", "alike"),
        # A word that says more or less than another is no word for it.
        ("The poodle sleeps", "The dog sleeps", "unrelated"),
        ("All users can write", "Some users can write", "unrelated"),
        ("The red sofa is large", "The couch is big", "unrelated"),
        ("Tea before coffee", "Coffee before tea", "unrelated"),
        ("Mr Stone called", "Mr Rock called", "unrelated"),
    ],
)
def test_words_that_often_mean_one_thing_are_only_alike(new: str, old: str, relation: str) -> None:
    """Proves: V7 (words of one meaning), D1 (nothing is merged that may say something else)."""
    assert of(new, old).relation == of(old, new).relation == relation


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ("The frobnicator is loud", "The gizmotron is loud"),
        ("The plan is bold", "The plan is zesty"),
        ("Ana manages Bo", "Bo manages Ana"),
        ("We moved from Paris to Rome", "We moved to Paris from Rome"),
        ("He likes tea", "She likes tea"),
        ("Ana lived in Paris", "Ana lives in Paris"),
        ("Ana went to school", "Ana goes to school"),
        ("Ana may like tea", "Ana likes tea"),
        ("Does Ana like tea?", "Ana likes tea."),
        ("Ana will lead the team", "Ana leads the team"),
        ("Ana formerly lived in Paris", "Ana lived in Paris"),
        ("Ana's brother lives in Paris", "Ana lives in Paris"),
        ("The brother of Ana lives in Paris", "Ana lives in Paris"),
        ("A fake diamond", "A diamond"),
        ("The portion is closed", "The port is closed"),
        ("The building is bold", "The build is bold"),
        ("Ana is in business", "Ana is busy"),
        ("The key is " + "a" * 70 + "b", "The key is " + "a" * 70 + "c"),
        ("Account 1234567890123456", "Account 1234567890123457"),
        ("Account 123456789012345678901", "Account 123456789012345678902"),
        ("The disk has 9007199254740993 bytes", "The disk has 9007199254740992 bytes"),
        ("The value is 0.1234567890123", "The value is 0.1234567890124"),
        ("Ana owns a car dealership", "Ana owns a car"),
        ("The dog owner sleeps", "The dog sleeps"),
        ("Bo hopes that Ana lives in Paris", "Ana lives in Paris"),
        ("He is eating cut bread", "He is cutting bread"),
    ],
)
def test_what_differs_in_an_unknown_word_or_in_its_sense_is_never_merged(
    new: str, old: str
) -> None:
    """Proves: D1 (nothing is merged that may say something else), V7 (the built-in judge)."""
    assert of(new, old).relation not in ("same", "narrower", "wider")
    assert of(old, new).relation not in ("same", "narrower", "wider")


@pytest.mark.parametrize(
    ("more", "less"),
    [
        ("Ana lives in Paris with two cats", "Ana lives in Paris"),
        ("Ana drinks black coffee", "Ana drinks coffee"),
        ("Ana plays chess. Bo sings.", "Ana plays chess."),
    ],
)
def test_who_says_more_is_narrower_and_who_says_less_wider(more: str, less: str) -> None:
    """Proves: D6 (a strict superset), V7 (the built-in judge)."""
    assert of(more, less).relation == "narrower"
    assert of(less, more).relation == "wider"


@pytest.mark.parametrize(
    ("new", "old", "method"),
    [
        ("Ana does not drink coffee", "Ana drinks coffee", "exact_negation"),
        ("Nobody owns the service", "Somebody owns the service", "exact_negation"),
        ("There is no dog in the garden", "A poodle is in the garden", "exact_negation"),
        ("Ana never climbed Mount Fuji, but Bo did", "Ana climbed Mount Fuji", "exact_negation"),
        ("The service is disabled", "The service is enabled", "antonym"),
        ("The answer was unhelpful", "The answer was helpful", "antonym"),
        ("The walls are green", "The walls are red", "group"),
        ("Ana is playing the guitar", "Ana is playing the piano", "group"),
        ("The limit is 200 requests", "The limit is 100 requests", "number"),
        ("The disk has 2 TB", "The disk has 500 GB", "number"),
        ("The review is on 2025-03-06", "The review is on 2025-03-05", "date"),
        ("The bus leaves at 10:15", "The bus leaves at 9:30", "date"),
        ("The review is on Friday", "The review is on Monday", "date"),
        ("Ana's email is ana@new.example", "Ana's email is ana@old.example", "attribute"),
        (
            "Mara Quill and Ines Vale wrote the guide to alpine birds",
            "Tove Lind and Ines Vale wrote the guide to alpine birds",
            "attribute",
        ),
    ],
)
def test_what_cannot_both_be_so_is_a_contradiction(new: str, old: str, method: str) -> None:
    """Proves: V4 (plain negation, judged meaning, time), V7 (the built-in judge)."""
    for verdict in (of(new, old), of(old, new)):
        assert (verdict.relation, verdict.method) == ("contradicts", method)
        assert verdict.score > 0.85


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ("Ana likes tea", "Ana likes coffee"),
        ("Ana speaks French", "Ana speaks German"),
        ("Ana plays the guitar", "Ana plays the piano"),
        ("Ana works on Mondays", "Ana works on Fridays"),
        ("A man is singing", "A woman is singing"),
        ("The red car and the blue house", "The blue house and the red car"),
        ("Ana might move to Rome in May", "Ana moves to Rome in June"),
        ("Ana does not drink black tea", "Ana drinks tea"),
        ("The room is not red", "The room is blue"),
        ("Bo is a doctor in a clinic by the sea", "The budget for May was approved"),
    ],
)
def test_what_can_both_be_so_is_none(new: str, old: str) -> None:
    """Proves: V4 (no false alarms), V7 (the built-in judge)."""
    assert of(new, old).relation not in ("contradicts", "updates")


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ("Ana moved to Berlin", "Ana lives in Paris"),
        ("Ana no longer drinks coffee", "Ana drinks coffee"),
        ("The limit is now 200 requests", "The limit is 100 requests"),
        ("As of 2024-05-01 the limit is 5 GB", "As of 2024-01-01 the limit is 4 GB"),
        ("Since May the door is green", "Since May the door is red"),
    ],
)
def test_another_value_is_an_update_where_the_wording_tells_of_change(new: str, old: str) -> None:
    """Proves: V10 (seen, not yet acted on)."""
    verdict = of(new, old)
    assert (verdict.relation, verdict.why["told_by"]) == ("updates", "wording")


def test_an_earlier_date_is_no_update() -> None:
    """Proves: V10 (seen, not yet acted on)."""
    new, old = "As of 2023-05-01 the limit is 5 GB", "As of 2024-01-01 the limit is 4 GB"
    assert of(new, old).relation == "contradicts"


def test_periods_tell_which_value_is_the_newer() -> None:
    """Proves: V10 (seen, not yet acted on), V4 (time)."""
    old = told("The price is 4 euros")._replace(valid_from=100.0, valid_to=200.0)
    new = told("The price is 5 euros")
    later = judge(new._replace(valid_from=150.0), old)
    assert (later.relation, later.why["told_by"]) == ("updates", "period")
    earlier = judge(new._replace(valid_from=50.0), old)
    assert (earlier.relation, earlier.why) == ("precedes", {"covered": 1.0, "told_by": "period"})
    # What ends before the other begins is another time's, told by a date or as of now.
    assert judge(new._replace(valid_from=200.0), old).relation == "unrelated"
    assert judge(new._replace(valid_to=100.0), old).relation == "unrelated"
    assert judge(new, old._replace(over=True)).relation == "unrelated"
    assert judge(new, old).relation == "contradicts"
    assert judge(new._replace(valid_from=50.0, valid_to=150.0), old).relation == "contradicts"


def test_another_subject_is_another_thing() -> None:
    """Proves: V7 (entity alignment)."""
    verdict = judge(fact("Ana", "prefers", "tea"), fact("Bo", "prefers", "coffee"))
    assert (verdict.relation, verdict.method) == ("unrelated", "entity")


@pytest.mark.parametrize(
    ("new", "old", "relation"),
    [
        ("coffee", "green tea", "contradicts"),
        ("green tea", "Green  TEA", "same"),
        ("green tea", "tea", "narrower"),
        ({"drink": "tea", "sugar": 2}, {"drink": "tea"}, "narrower"),
        ({"drink": "tea"}, {"drink": "tea", "sugar": 2}, "wider"),
        ({"drink": "tea", "sugar": 2}, {"drink": "tea", "milk": True}, "unrelated"),
        ({"drink": "tea", "sugar": 2}, {"drink": "tea", "sugar": 1}, "contradicts"),
        ({"drink": "tea", "milk": True}, {"drink": "tea", "milk": False}, "contradicts"),
        (12, 13, "contradicts"),
    ],
)
def test_contents_of_one_key_are_compared_field_by_field(
    new: object, old: object, relation: str
) -> None:
    """Proves: V7 (attribute alignment), D6 (a strict superset)."""
    verdict = judge(fact("Ana", "prefers", new), fact("Ana", "prefers", old))
    assert verdict.relation == relation


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ({"limit": 5}, {"limit": 6}),
        ({"accepted": "a"}, {"rejected": "a"}),
        ({"text": "a", "hidden": True}, {"text": "a"}),
        ("a" * 3_000, "a" * 3_001),
    ],
)
def test_what_a_template_leaves_out_is_not_merged_away(new: object, old: object) -> None:
    """Proves: D1 (nothing is merged that may say something else)."""
    one, other = (Memory(None, None, content, "a rule of thumb") for content in (new, old))
    assert judge(one, other).relation == "unrelated"
    assert judge(other, one).relation == "unrelated"


def test_the_verdict_tells_nothing_of_the_texts() -> None:
    """Proves: V7 (the built-in judge)."""
    verdict = judge(told("Ana lives in Paris"), told("Ana lives in Rome"), 0.8)
    assert all(isinstance(value, (float, bool)) for value in verdict.why.values())
    assert verdict.why["similarity"] == 0.8


def test_similarity_alone_makes_nothing_the_same() -> None:
    """Proves: D1 (the third tier)."""
    assert judge(told("The plan is bold"), told("The plan is zesty"), 0.99).relation == "unrelated"


def test_a_memory_that_is_read_once_has_the_same_verdicts() -> None:
    """Proves: V7 (the built-in judge)."""
    new, old = told("The walls are green"), told("The walls are red")
    assert judge(prepare(new), old) == judge(new, prepare(old)) == judge(new, old)
