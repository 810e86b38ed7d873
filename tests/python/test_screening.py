"""What of a request is sensitive, and the request without it."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from memwarden_core import screening, sealing_box, signing
from memwarden_core.sensitive import scan as sensitive
from memwarden_core.sensitive.rules.shipped import DEFAULT_RULES

TOKEN = "ghp_aZ3k9QaZ3k9QaZ3k9QaZ3k9QaZ3k9QaZ3k9Q"


def rules(**actions: str) -> sensitive.RuleSet:
    """The shipped rules, kinds of a family with another action."""
    changed = [
        rule | {"action": actions.get(rule["kind"].partition(".")[0], rule["action"])}
        for rule in DEFAULT_RULES
    ]
    return sensitive.prepare(json.dumps(changed))


def test_no_sensitive_name_is_in_a_path() -> None:
    """Also where the finding is below it, or the name is very long.

    Proves: L10
    """
    prepared = rules()
    request = {"content": {TOKEN: {"x" * 80: [TOKEN, {"a/b": TOKEN}]}}}
    shown = screening.report(screening.screen(request, prepared), prepared)
    assert {str(finding["path"]) for finding in shown} == {
        "/content/*",
        "/content/*/*/0",
        "/content/*/*/1/a~1b",
    }
    assert TOKEN not in json.dumps(shown)


def test_what_was_taken_out_is_not_found_again() -> None:
    """Neither behind the word password, nor a token of an encrypted value; a secret beside it is.

    Proves: L10, F7
    """
    prepared = rules(secret="redact", pii="encrypt")
    request = {"content": {"password": "hunter2hunter9", "call": "+49 30 901820", "n": [TOKEN]}}
    done = screening.cleaned(request, prepared, lambda kind, _: f"[encrypted:{kind}:{'ab' * 16}]")
    assert done.refused == []
    assert done.request == {
        "content": {
            "password": "[secret.assigned]",
            "call": f"[encrypted:pii.phone:{'ab' * 16}]",
            "n": ["[secret.github_token]"],
        }
    }
    assert screening.screen(done.request, rules()) == []
    assert screening.screen({"content": {"password": "[secret.github_token]"}}, rules()) == []
    beside = {"content": f"password: [secret.assigned] and {TOKEN}"}
    assert [f.kind for f in screening.screen(beside, rules())] == ["secret.github_token"]


def test_without_a_key_what_is_to_be_encrypted_is_refused() -> None:
    """And so is what is still there after a few rounds.

    Proves: L10
    """
    request = {"content": {"mail": "ana@example.org"}}
    done = screening.cleaned(request, rules(pii="encrypt"), None)
    assert [(f.kind, f.action) for f in done.refused] == [("pii.email", "block")]
    stubborn = screening.cleaned(request, rules(pii="encrypt"), lambda _, text: f"<{text}>")
    assert [f.action for f in stubborn.refused] == ["block"]


def test_more_findings_than_are_listed_are_all_taken_out() -> None:
    """Or the request is refused.

    Proves: F7
    """
    prepared = rules(pii="redact")
    texts = [f"p{n}@example.org" for n in range(250)]
    done = screening.cleaned({"content": texts}, prepared, None)
    assert done.refused == []
    assert "@" not in json.dumps(done.request)
    many = screening.cleaned({"content": [f"q{n}@example.org" for n in range(900)]}, prepared, None)
    assert many.refused or "@" not in json.dumps(many.request)


def test_a_sealed_value_opens_where_it_was_sealed_and_nowhere_else(tmp_path: Path) -> None:
    """Bound to organisation, kind and name; the same value has the same name, and another box.

    Proves: L10
    """
    file = tmp_path / "key"
    file.write_text(os.urandom(32).hex())
    wrapped, other = (signing.new_wrapped_key(str(file)) for _ in range(2))
    assert wrapped is not None
    assert other is not None
    name, box = sealing_box.seal(str(file), wrapped, 7, "pii.phone", "+49 30 901820")
    again, other_box = sealing_box.seal(str(file), wrapped, 7, "pii.phone", "+49 30 901820")
    assert name == again
    assert box != other_box
    assert b"901820" not in box
    opened = sealing_box.unseal(str(file), wrapped, 7, "pii.phone", name, box)
    assert opened == "+49 30 901820"
    for key, org_id, kind, known in (
        (other, 7, "pii.phone", name),
        (wrapped, 8, "pii.phone", name),
        (wrapped, 7, "pii.email", name),
        (wrapped, 7, "pii.phone", "a" * 32),
    ):
        with pytest.raises(sealing_box.SealBroken):
            sealing_box.unseal(str(file), key, org_id, kind, known, box)
    with pytest.raises(signing.KeyUnusable):
        sealing_box.unseal(None, wrapped, 7, "pii.phone", name, box)
    file.write_text(os.urandom(32).hex())
    with pytest.raises(signing.KeyUnusable):
        sealing_box.unseal(str(file), wrapped, 7, "pii.phone", name, box)
