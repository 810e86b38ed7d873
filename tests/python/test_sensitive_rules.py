"""Rules are data: those that are shipped pass their own tests, and a bad one is refused by name."""

from __future__ import annotations

import json
from typing import Any

import pytest

from memwarden_core.sensitive.detectors import DETECTORS
from memwarden_core.sensitive.findings import MAX_FINDINGS
from memwarden_core.sensitive.rules.shipped import DEFAULT_RULES, default_rules
from memwarden_core.sensitive.scan import RuleRefused, check_rules, prepare, scan
from python.sensitive_samples import found

GOOD = {
    "id": "badge",
    "version": 1,
    "kind": "pii.badge",
    "level": "suspicious",
    "action": "redact",
    "pattern": r"\b(B-[0-9]{6})\b",
}


def prepared(**members: Any) -> Any:
    """Prepare one rule, changed."""
    return prepare(json.dumps([GOOD | members]))


def test_every_shipped_rule_passes_its_own_tests() -> None:
    """Proves: L10, Z3."""
    assert check_rules(default_rules()) == []
    for rule in DEFAULT_RULES:
        assert len(rule["tests"]["positive"]) >= 3, rule["id"]
        assert len(rule["tests"]["negative"]) >= 3, rule["id"]


def test_rules_that_were_accepted_before_find_the_same() -> None:
    """A session takes over what was checked when a rule was defined, and compiles it when asked.

    Proves: L10
    """
    accepted = prepare(default_rules(), accepted=True)
    for rule in DEFAULT_RULES:
        for text in rule["tests"]["positive"] + rule["tests"]["negative"]:
            assert scan(text, accepted) == found(text), rule["id"]


def test_every_detector_has_a_rule() -> None:
    """Proves: L10."""
    assert {rule.get("detector") for rule in DEFAULT_RULES} - {None} == set(DETECTORS)


def test_keys_tokens_and_national_ids_block_by_default() -> None:
    """Proves: L10."""
    for rule in DEFAULT_RULES:
        named = rule["kind"] in ("pii.card", "pii.iban", "pii.ssn", "pii.national_id")
        if named or (rule["kind"].startswith("secret.") and rule["kind"] != "secret.pin"):
            assert (rule["level"], rule["action"]) == ("high", "block"), rule["id"]


def test_a_rule_of_ones_own_finds() -> None:
    """Proves: L10."""
    [finding] = scan("badge B-123456 lost", prepared())
    assert (finding.rule, finding.action, finding.start, finding.length) == (
        "badge",
        "redact",
        6,
        8,
    )


def test_context_words_decide() -> None:
    """Proves: L10."""
    rules = prepared(pattern="([0-9]{6})", context=["badge*"], not_context=["order"], within=20)
    assert scan("badges: 123456", rules)
    assert not scan("123456", rules)
    assert not scan("badge order 123456", rules)
    assert not scan("badge" + " " * 30 + "123456", rules)


def test_validators_decide() -> None:
    """Proves: L10."""
    assert scan("B-000000", prepared())
    assert not scan("B-000000", prepared(validator="entropy>=2"))
    assert scan("79927398713", prepared(pattern="[0-9]{11}", validator="luhn"))
    assert not scan("79927398714", prepared(pattern="[0-9]{11}", validator="luhn"))


@pytest.mark.parametrize(
    ("members", "fault"),
    [
        ({"id": "Bad Id"}, "id is"),
        ({"version": 0}, "version"),
        ({"version": True}, "version"),
        ({"kind": "badge"}, "kind"),
        ({"level": "huge"}, "level"),
        ({"action": "shout"}, "action"),
        ({"pattern": "(a"}, "pattern"),
        ({"pattern": r"(a)\1"}, "pattern"),
        ({"pattern": "(?=a)b"}, "pattern"),
        ({"pattern": None}, "either"),
        ({"detector": "email"}, "either"),
        ({"detector": "psychic", "pattern": None}, "detector"),
        ({"validator": "stdnum:../os"}, "validator"),
        ({"validator": "magic"}, "validator"),
        ({"context": "badge"}, "context"),
        ({"context": [" "]}, "context"),
        ({"within": 10_000}, "within"),
        ({"score": "high"}, "score"),
        ({"prefilter": [""]}, "prefilter"),
        ({"tests": {"maybe": []}}, "tests"),
        ({"colour": "red"}, "colour"),
    ],
)
def test_a_bad_rule_is_refused_by_name(members: dict[str, Any], fault: str) -> None:
    """Proves: L10."""
    with pytest.raises(RuleRefused) as refusal:
        prepared(**members)
    assert str(refusal.value).startswith("rule ")
    assert fault in str(refusal.value)


@pytest.mark.parametrize("text", ["", "{}", "[1]", "[" * 100_000, "null"])
def test_what_are_no_rules_is_refused(text: str) -> None:
    """Proves: L10."""
    with pytest.raises(RuleRefused):
        prepare(text)


def test_a_rule_that_fails_its_tests_is_named() -> None:
    """Proves: L10."""
    tests = {"positive": ["B-123456", "B-1"], "negative": ["B-654321"]}
    assert check_rules(json.dumps([GOOD | {"tests": tests}])) == [
        "rule badge: does not find its positive test 2",
        "rule badge: finds its negative test 1",
    ]
    assert check_rules(json.dumps([GOOD | {"validator": "stdnum:no.such"}])) == [
        "rule badge: validator: python-stdnum has no such module"
    ]
    assert check_rules(json.dumps([GOOD, GOOD])) == ["rule badge: is there twice"]


def test_many_findings_are_cut_off_and_the_weightiest_stay() -> None:
    """Proves: L10."""
    text = "a@b.example " * 500 + "Card 4012888888881881"
    findings = found(text)
    assert len(findings) == MAX_FINDINGS + 1
    assert [f.rule for f in findings].count("too_many") == 1
    assert "pii.card" in {f.kind for f in findings}


def test_of_findings_in_one_place_the_weightiest_stays() -> None:
    """Proves: L10."""
    text = "postgresql://jo:pa55-word@mail.example/db"
    assert [f.kind for f in found(text)] == ["secret.url_password"]
