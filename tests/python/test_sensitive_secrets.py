"""Keys, tokens and passwords are found; what stands in for them is not."""

from __future__ import annotations

import base64
import json
import string
from typing import Any

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


_ALNUM = string.ascii_letters + string.digits
_HEX = "0123456789abcdef"
_UPPER = string.ascii_uppercase
# What is always there, and of how many signs of which alphabet the rest is made.
TOKENS = [
    (["AKIA"], 16, _UPPER),
    (["github_pat_", 22, "_"], 59, _ALNUM),
    (["npm_"], 36, _ALNUM),
    (["glpat-"], 20, _ALNUM),
    (["glptt-"], 40, _HEX),
    (["gloas-"], 64, _HEX),
    (["xoxb-123456789012-123456789013-"], 24, _ALNUM),
    (["xoxp-123456789012-123456789013-1234567890123-"], 32, _HEX),
    (["xapp-1-A0123456789-1234567890123-"], 64, _HEX),
    (["https://hooks.slack.com/services/T01234567/B01234567/"], 24, _ALNUM),
    (["sk_" + "live_"], 24, _ALNUM),
    (["rk_" + "live_51"], 97, _ALNUM),
    (["sk-"], 48, _ALNUM),
    (["sk-ant-" + "api03-"], 95, _ALNUM),
    (["AIza"], 35, _ALNUM),
    (["GOCSPX-"], 28, _ALNUM),
    (["SK"], 32, _HEX),
    (["SG.", 22, "."], 43, _ALNUM),
    (["hf_"], 34, _ALNUM),
    (["dop_v1_"], 64, _HEX),
    (["123456789:AA"], 33, _ALNUM),
    (["https://discord.com/api/webhooks/123456789012345678/"], 68, _ALNUM),
    (["key-"], 32, _HEX),
    (["shpat_"], 32, _HEX),
    (["dapi"], 32, _HEX),
    (["ATATT3"], 186, _ALNUM),
    (["glsa_", 32, "_"], 8, _HEX),
    (["lin_api_"], 40, _ALNUM),
    (["dckr_pat_"], 27, _ALNUM),
    (["rubygems_"], 48, _HEX),
    (["gsk_"], 52, _ALNUM),
    (["pplx-"], 48, _ALNUM),
    (["r8_"], 37, _ALNUM),
]


@pytest.mark.parametrize(("head", "size", "alphabet"), TOKENS, ids=lambda p: str(p)[:14])
def test_a_token_has_the_length_that_its_maker_gives_it(
    head: list[Any], size: int, alphabet: str
) -> None:
    """One sign less, one more, or a word around it: that is something else. Proves: L10."""
    begin = "".join(made_up("h", part, _ALNUM) if isinstance(part, int) else part for part in head)
    token = begin + made_up(begin, size, alphabet)
    [finding] = found(f"It was {token}, he wrote.")
    assert finding.kind.startswith("secret.")
    assert f"It was {token}"[finding.start :] == token[-finding.length :]
    for wrong in (token[:-1], token + token[-1], f"x{token}", f"{token}y"):
        if wrong.startswith("xhttps"):
            continue
        assert found(f"It was {wrong}, he wrote.") == [], wrong


def test_tokens_of_a_list_are_all_found() -> None:
    """Also where one sign stands between two. Proves: L10."""
    tokens = ["sk-" + made_up(seed, 48) for seed in "abc"]
    assert places("\n".join(tokens), "secret.openai_key") == tokens


def test_a_signed_token_of_an_installation_is_found() -> None:
    """GitHub gives them out since 2026: `ghs_`, the app and a JSON web token. Proves: L10."""
    token = f"ghs_4711_eyJ{made_up('a', 33)}.{made_up('b', 60)}.{made_up('c', 86)}"
    assert places(f"export GH={token}", "secret.github_token") == [token]


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
