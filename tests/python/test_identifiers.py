"""Identifiers that have a kind: their normal form, and what names one."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memwarden_core.identifiers import changed, terms
from memwarden_core.mentions import mentions

TEXTS = st.text("aB1_ .@+-(0)9\n\t\x1f\u0663", max_size=60)


def names(kind: str, value: str, text: str) -> bool:
    """Whether a text names what is registered so."""
    known = changed("{}", json.dumps({kind: value}), remove=False)
    return mentions(terms(json.dumps(known)), [text], [json.dumps({"text": text})])


@pytest.mark.parametrize(
    ("kind", "value", "right", "wrong"),
    [
        (
            "email",
            "a@b.org",
            (
                "A@B.ORG",
                "mailto:a@b.org?x",
                "<a@b.org>,",
                "...a@b.org.",
                "a@b.org/7",
                "a@\uff42.org",
            ),
            (
                "x.a@b.org",
                "x+a@b.org",
                "a@b.org.uk",
                "a@b.orgs",
                "a@b.org-x",
                "a @b.org",
                "a-a@b.org",
            ),
        ),
        (
            "phone",
            "0044 20 7946 0018",
            (
                "+44 20 7946 0018",
                "tel:+442079460018;",
                "020 7946 0018",
                "(020) 79460018",
                "\uff10\uff12\uff10-7946-0018",
            ),
            ("20 7946 0018 9x", "+44 20 7946 00180", "v4402079460018", "79460018", "120 7946 0018"),
        ),
        (
            "account",
            "A-1",
            ("A-1", "(A-1)", '{"A-1": 2}', "A-1\x1f"),
            ("a-1", "A-12", "BA-1", "A 1"),
        ),
        ("adapter", "42", ("42", '{"id": 42}', "№42"), ("421", "4 2", "x42", "_42")),
        ("name", "Ana", ("ana's car", "ANA"), ("Joana", "an a")),
    ],
)
def test_it_is_found_as_its_kind_is(
    kind: str, value: str, right: tuple[str, ...], wrong: tuple[str, ...]
) -> None:
    """However it is written, and never within another one.

    Proves: R1 (identifiers from a registry)
    """
    assert [text for text in right if not names(kind, value, text)] == []
    assert [text for text in wrong if names(kind, value, text)] == []


@given(kind=st.sampled_from(("email", "phone", "account", "name")), text=TEXTS, other=TEXTS)
def test_no_text_breaks_the_search_and_no_identifier_is_taken_for_another_kind(
    kind: str, text: str, other: str
) -> None:
    """What is accepted is found in itself, and is the same when it is registered again.

    Proves: R1 (identifiers from a registry)
    """
    try:
        known = changed("{}", json.dumps({kind: other}), remove=False)
    except ValueError:
        return
    again = changed(json.dumps(known), json.dumps(known), remove=False)
    assert again == known
    assert changed(json.dumps(known), json.dumps({kind: other}), remove=True) == {}
    sought = terms(json.dumps(known))
    mentions(sought, [text])
    assert mentions(sought, [known[kind][0]])
