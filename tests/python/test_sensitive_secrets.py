"""Keys, tokens and passwords are found; what stands in for them is not."""

from __future__ import annotations

import base64
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memwarden_core.sensitive.rules.secrets import made_up
from python.sensitive_samples import found, kinds, places


@pytest.mark.parametrize(
    "text",
    [
        "password=<your password>",
        "password: ********",
        "PASSWORD=${DB_PASSWORD}",
        "api_key = os.environ['API_KEY']",
        "The password is wrong.",
        "Enter your password: ",
        "token = tokenizer.next()",
        "password: str | None = None",
        "secret: str",
        "Token: 512 per request",
        "the key is under the mat",
        "api_key=YOUR_API_KEY_HERE",
        "password = getpass()",
        "Authorization: Bearer <token>",
        "https://host/path?user=a",
        "postgresql://app:${PASSWORD}@db/app",
        "The access token expires after 3600 seconds.",
        "secret santa is on friday",
        "sk-learn is a library",
        "AKIA is the prefix of AWS keys",
        "pass: the exam was easy",
        "passport control was slow",
        "pwd: /home/jo/projects",
    ],
)
def test_placeholders_and_talk_of_secrets_are_left_alone(text: str) -> None:
    """Proves: L10."""
    assert not any(kind.startswith("secret.") for kind in kinds(text))


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("password=hunter2!x", "hunter2!x"),
        ('"password": "correct horse battery"', "correct horse battery"),
        ("DB_PASSWORD='s3cr3t-Value'", "s3cr3t-Value"),
        ("my password is Tr0ub4dor&3", "Tr0ub4dor&3"),
        ("login jo, passwort: geHeim77", "geHeim77"),
        ("client_secret: hG7kL2pQ9sV4xZ1c", "hG7kL2pQ9sV4xZ1c"),
        ("x-api-key: 9f86d081884c7d659a2feaa0c55ad015", "9f86d081884c7d659a2feaa0c55ad015"),
    ],
)
def test_assigned_secrets_are_found(text: str, secret: str) -> None:
    """Proves: L10."""
    assert [text[f.start : f.end] for f in found(text) if f.kind.startswith("secret.")] == [secret]
    assert all(f.action == "block" for f in found(text))


@given(st.text("abcdefghijklmnopqrstuvwxyz", min_size=1, max_size=8), st.booleans())
def test_a_password_in_a_url_is_found(user: str, has_at: bool) -> None:
    """Also one with an `@` in it. Proves: L10."""
    password = "q7@Lk-22x" if has_at else "q7Lk-22x"
    text = f"postgresql://{user}:{password}@db.internal:5432/app"
    assert places(text, "secret.url_password") == [f"{user}:{password}"]


def test_a_json_web_token_must_decode() -> None:
    """Proves: L10."""
    header = base64.urlsafe_b64encode(json.dumps({"alg": "HS256"}).encode()).decode().rstrip("=")
    token = f"{header}.eyJzdWIiOiI0MiJ9.{made_up('t', 43)}"
    assert places(f"Bearer {token}", "secret.jwt") == [token]
    broken = f"eyJub3RoaW5nIjoxfQ.eyJzdWIiOiI0MiJ9.{made_up('t', 43)}"
    assert places(broken, "secret.jwt") == []


def test_a_private_key_is_found_to_its_end() -> None:
    """Proves: L10."""
    name = "PRIVATE " + "KEY"
    body = f"{made_up('k', 64)}\n{made_up('l', 64)}"
    key = f"-----BEGIN RSA {name}-----\n{body}\n-----END RSA {name}-----"
    assert places(f"Here:\n{key}\nThat is all.", "secret.private_key") == [key]


def test_no_finding_holds_what_was_found() -> None:
    """Proves: L10."""
    for finding in found("password=hunter2!x and jo@mail.example"):
        assert "hunter2" not in repr(finding)
        assert "jo@" not in repr(finding)
