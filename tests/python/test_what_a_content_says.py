"""What a content says: its values, read once, for the text of a memory and for its evidence."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memwarden_core.bookkeeping import SENTENCES
from memwarden_core.reading import read
from memwarden_core.screening import screen
from memwarden_core.support.claim import claimed, of_kind
from memwarden_core.support.judge import supports
from memwarden_core.text import content_text
from python.chat_formats import formats
from python.test_screening import TOKEN, rules

TURN = "I had tea with Bo yesterday and then we walked home."
SPOKEN = (TURN, f"Ana Silva: {TURN}", f"ana: {TURN}", f"SPEAKER_00: {TURN}")
BORNE_OUT = 0.8
TEN_LANGUAGES = {
    "Lia plays the oboe": "Lia",
    "Lia spielt Oboe": "Lia",
    "Lia joue du hautbois": "Lia",
    "Lia toca el oboe": "Lia",
    "Lia suona l'oboe": "Lia",
    "Lia gra na oboju": "Lia",
    "\u041b\u0438\u044f \u0438\u0433\u0440\u0430\u0435\u0442": "\u041b\u0438\u044f",
    "Lia obua \u00e7al\u0131yor": "Lia",
    "莉亚会吹双簧管": "莉亚",
    "リアはオーボエを吹く": "リア",
}


def said(content: Any, subject: str | None = None, predicate: str | None = None) -> str:
    """The text of a memory."""
    return content_text(content, subject=subject, predicate=predicate)


def support(content: str, excerpt: str) -> float:
    """How far an excerpt bears a content out."""
    return supports(None, None, content, [excerpt], ["human_input"], ["chat:1"])[0]


@pytest.mark.parametrize("name", sorted(SENTENCES))
def test_a_field_of_the_sentence_is_the_sentence(name: str) -> None:
    """Proves: V2."""
    assert said({name: "Lia plays the oboe"}) == "Lia plays the oboe"
    assert said({name: "oboe"}) == "oboe"


@pytest.mark.parametrize("sentence", TEN_LANGUAGES)
def test_a_sentence_names_its_subject_once(sentence: str) -> None:
    """Proves: V2."""
    assert said({"statement": sentence}, TEN_LANGUAGES[sentence]) == sentence
    assert said(sentence, TEN_LANGUAGES[sentence].lower()) == sentence
    assert said(sentence, "Petra") == f"Petra {sentence}"


@pytest.mark.parametrize(
    ("text", "subject", "told"),
    [
        ("Liana plays the oboe", "Lia", "Lia Liana plays the oboe"),
        ("plays with Lia's oboe", "lia", "plays with Lia's oboe"),
        ("Ana Silva plays", "ana  silva", "Ana Silva plays"),
        ("The flat is in Bern", "flat 7", "flat 7 The flat is in Bern"),
        ("C++ is fast", "C++", "C++ is fast"),
    ],
)
def test_a_subject_is_named_by_words_of_its_own(text: str, subject: str, told: str) -> None:
    """Proves: V2."""
    assert said(text, subject) == told


def test_a_predicate_tells_what_a_lone_value_is() -> None:
    """A number or several fields need their names. Proves: V2."""
    assert said({"drink": "green tea"}, "Ana", "prefers") == "Ana prefers green tea"
    assert said({"drinks": ["tea", "milk"]}, "Ana", "prefers") == "Ana prefers tea milk"
    assert said({"cups": 3}, "Ana", "drinks") == "Ana drinks cups 3"
    assert said({"drink": "tea", "hot": True}, "Ana", "has") == "Ana has drink tea hot true"


def test_a_predicate_that_the_sentence_does_not_have_is_told_behind_it() -> None:
    """Proves: V2."""
    assert said("Lia plays the oboe.", "Lia", "plays") == "Lia plays the oboe."
    assert said("Lia plays the oboe.", "Lia", "hobby") == "Lia plays the oboe (hobby)."


@pytest.mark.parametrize("name", formats(TURN))
def test_every_format_of_a_turn_says_the_turn(name: str) -> None:
    """Its speaker before it where the format tells one. Proves: V2."""
    content = formats(TURN)[name]
    told = said(content)
    assert told in SPOKEN or told == f"Ana Silva <ana@example.org>: {TURN}"
    (text,) = claimed(None, None, content).texts
    assert text.words == TURN
    assert text.whole


def test_a_date_beside_a_sentence_of_nobody_is_read() -> None:
    """Of a fact it says when; of what somebody said, only when it was said. Proves: V2."""
    assert said({"text": "Ana has an appointment", "date": "2024-06-12"}) == (
        "date 2024-06-12 Ana has an appointment"
    )
    assert said({"text": "I have one", "speaker": "Ana", "date": "2024-06-12"}) == "Ana: I have one"


ODD: dict[str, dict[str, Any]] = {
    "a role with blanks": {"role": "and Petra owes 5,000"},
    "a role of no list": {"role": "debtor"},
    "a time that is none": {"created_at": "after Petra died"},
    "an id of many words": {"user_id": "petra-owes-klaus-five-thousand"},
    "a field of no list": {"owes": "5,000"},
    "a yes": {"owes": True},
    "a list with nothing in it": {"allergies": []},
    "an id that is a sentence": {"id": "Petra owes 5,000"},
    "a speaker that is a sentence": {"speaker": "Petra owes 5,000. Klaus"},
    "beside a person": {"author": {"name": "Ana", "owes": "5,000 to Petra"}},
    "around a person": {"from": {"user": {"displayName": "Ana"}, "note": "owes 5,000"}},
    "deep in metadata": {"metadata": {"more": [{"owes": "5,000"}]}},
}


@pytest.mark.parametrize("field", ODD)
@pytest.mark.parametrize("name", ["text", "content", "message", "body"])
def test_what_does_not_look_like_bookkeeping_is_a_claim(field: str, name: str) -> None:
    """True words beside it do not bear it out. Proves: V2."""
    odd = ODD[field]
    content = {name: TURN} | odd
    claim = claimed(None, None, content)
    assert len(claim.texts) > 1
    assert support(json.dumps({name: TURN}), TURN) >= BORNE_OUT
    assert support(json.dumps(content), TURN) < BORNE_OUT


def test_bookkeeping_stands_beside_a_sentence_alone() -> None:
    """In an object without one, every field is content. Proves: V2."""
    assert said({"id": 7, "name": "Widget"}) == "id 7 name Widget"
    assert said({"person": "Ana", "role": "user"}) == "person Ana role user"
    assert said({"created_at": "2024-05-12", "name": "Acme"}) == "created_at 2024-05-12 name Acme"


def test_what_is_no_claim_is_screened_all_the_same() -> None:
    """Proves: V2."""
    address = "petra.lang@example.org"
    content = {"text": TURN, "user_id": address, "hash": TOKEN}
    assert address not in said(content)
    assert [f.kind for f in screen({"content": content}, rules())] == [
        "secret.github_token",
        "pii.email",
    ]


def test_a_speaker_is_no_word_of_the_claim() -> None:
    """But the words of another do not bear it out. Proves: V2."""
    content = '{"speaker": "Petra Lang", "text": "I have a peanut allergy."}'
    assert support(content, "I have a peanut allergy.") >= BORNE_OUT
    assert support(content, "Petra: I have a peanut allergy.") >= BORNE_OUT
    assert support(content, "Klaus: I have a peanut allergy.") < BORNE_OUT


@pytest.mark.parametrize(
    "line",
    [
        "[12/05/2023, 14:32:10] Ana Silva: {}",
        "12/05/2023, 14:32 - Ana Silva: {}",
        "12.05.23, 2:32 PM - Ana Silva: {}",
        "[00:01:23] Ana Silva: {}",
        "00:01:23.500 Ana Silva: {}",
        "2023-05-12 14:32 Ana Silva: {}",
    ],
)
def test_the_head_of_a_line_of_a_transcript_is_no_claim(line: str) -> None:
    """It says when, and by whom. Proves: V2."""
    content = "\n".join([line.format("I like tea."), line.format("I do not like milk.")])
    texts = claimed(None, None, content).texts
    assert [(t.speaker, t.words) for t in texts] == [
        ("Ana Silva", "I like tea."),
        ("Ana Silva", "I do not like milk."),
    ]
    assert not claimed(None, None, "See you at 14:32 at the door: it is open").texts[0].speaker


def test_a_name_that_the_memory_tells_is_a_claim() -> None:
    """Proves: V2."""
    sentence = "Bo drinks tea every day"
    (text,) = claimed(None, None, {"wrong about Bo": sentence}).texts
    assert (text.told, text.whole) == (f"wrong about Bo {sentence}", False)
    assert claimed("Ana", "tells", {"event": sentence}).texts[0].whole


def test_a_key_that_no_sentence_says_is_a_claim() -> None:
    """Proves: V2."""
    sentence = "Ana drinks green tea every day"
    assert len(claimed("Ana", "drinks", sentence).texts) == 1
    assert claimed("Ana", "owes_money", sentence).texts[-1].words == "owes money"


def test_what_is_too_much_is_not_read() -> None:
    """Proves: V2."""
    assert claimed(None, None, ["a b"] * 65).unread
    assert claimed(None, None, "x " * 9_000).unread
    assert not claimed(None, None, ["a b"] * 64).unread


@pytest.mark.parametrize(
    ("beside", "claim"),
    [
        ({"session": "one", "turn": 3, "at": "2024-05-12", "of": "tool", "x": None}, TURN),
        (
            {"more": "and Petra owes 5,000"},
            {"text": TURN, "value": {"more": "and Petra owes 5,000"}},
        ),
        (
            {"more": [{"id": 7}, {"owes": "5,000 to Petra"}]},
            {"text": TURN, "value": {"more": [{"owes": "5,000 to Petra"}]}},
        ),
    ],
)
def test_what_a_template_leaves_out_is_claimed_unless_it_looks_like_bookkeeping(
    beside: dict[str, Any], claim: Any
) -> None:
    """Proves: V2."""
    assert of_kind({"said": TURN} | beside, "{content.said}", None, None) == claim
    assert of_kind({"said": TURN} | beside, "{content}", None, None) == content_text(
        {"said": TURN} | beside, "{content}"
    )


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-99, 99) | st.text("ab :.\u4e00", max_size=9),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                ["text", "value", "role", "speaker", "id", "from", "to", "blocks", "x"]
            ),
            inner,
            max_size=5,
        )
    ),
    max_leaves=12,
)


@given(VALUES, st.none() | st.text("abc ", max_size=6), st.none() | st.text("abc_ ", max_size=6))
def test_every_word_of_the_text_is_read_as_a_claim(
    value: Any, subject: str | None, predicate: str | None
) -> None:
    """What a memory tells and what its evidence must bear out never differ. Proves: V2."""
    claim = claimed(subject, predicate, value)
    weighed = [subject or "", predicate or ""]
    for text in claim.texts:
        weighed += [text.told, f"{text.speaker}:"]
    assert _words(said(value, subject, predicate)) <= _words(" ".join(weighed))


def _words(text: str) -> set[str]:
    return {word.strip("(.:)") for word in text.split()} | {""}


@given(VALUES)
def test_nothing_but_bookkeeping_goes_unread(value: Any) -> None:
    """A text of several words is read wherever it stands. Proves: V2."""
    texts = {text for text in _texts(value) if len(text.split()) > 1 and "." not in text}
    heard = " ".join(f"{p.value} {p.speaker}" for p in read(value))
    assert all(" ".join(text.split()) in " ".join(heard.split()) for text in texts)


def _texts(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [text for child in value.values() for text in _texts(child)]
    if isinstance(value, list):
        return [text for child in value for text in _texts(child)]
    return [value] if isinstance(value, str) else []
