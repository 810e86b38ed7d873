# ruff: noqa: E501 - a pattern is easier to read whole
"""Secrets without a maker's mark: passwords in URLs, values assigned to secret names, private keys."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from ...late import late
from ..context import Words, near
from ..findings import Hit
from ..validators import entropy, is_jwt, is_placeholder

_URL = late(r"(?<![A-Za-z0-9+.\-])[A-Za-z][A-Za-z0-9+.\-]{1,20}://([^\s/?#\"'<>]{1,300})")


def url_passwords(text: str, lower: str) -> Iterator[Hit]:  # noqa: ARG001
    """Yield `user:password@` in URLs."""
    for match in _URL.finditer(text):
        login, at, host = match[1].rpartition("@")
        user, colon, password = login.partition(":")
        if not (at and colon and password and host):
            continue
        if is_placeholder(password) or password.lower() in _STAND_IN_VALUES - {"secret", "admin"}:
            continue
        start = match.start(1)
        yield Hit(start, start + len(user) + 1 + len(password), 0.95)


_PEM = late(r"-----BEGIN (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----")
_PEM_END = late(r"-----END (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----")
_BODY = late(r"[A-Za-z0-9+/=_.\s\\-]{0,20000}")


def private_keys(text: str, lower: str) -> Iterator[Hit]:  # noqa: ARG001
    """Yield private keys in PEM, OpenSSH and OpenPGP armour, to their end or as far as they go."""
    place = 0
    while begin := _PEM.search(text, place):
        end = _PEM_END.search(text, begin.end(), begin.end() + 30_000)
        place = end.end() if end else begin.end()
        if end is None:
            body = _BODY.match(text, begin.end())
            place = begin.end() + len(body[0].rstrip()) if body else place
        body_text = text[begin.end() : end.start() if end else place]
        if any(c.isalnum() for c in body_text):
            yield Hit(begin.start(), place, 0.98)


_JWT = late(
    r"(?<![\w\-])eyJ[A-Za-z0-9_\-]{8,4096}\.[A-Za-z0-9_\-]{2,8192}(?:\.[A-Za-z0-9_\-]{0,4096})?"
)


def jwts(text: str, lower: str) -> Iterator[Hit]:  # noqa: ARG001
    """Yield JSON web tokens: the header must decode to one."""
    for match in _JWT.finditer(text):
        if is_jwt(match[0]):
            yield Hit(match.start(), match.end(), 0.98)


_PASSWORD_NAME = r"(?:pass(?:word|wd|phrase|code|wort)?|pwd|passwort|kennwort|mot[ _]de[ _]passe|contrase(?:\u00f1|n)a|senha|pw)"
_KEY_NAME = (
    r"(?:api[ _\-]?(?:key|token|secret)|access[ _\-]?(?:key|token)(?:[ _\-]?id)?|auth(?:orization)?[ _\-]?(?:key|token)"
    r"|secret(?:[ _\-]?(?:access)?[ _\-]?key)?|client[ _\-]?secret|private[ _\-]?key|encryption[ _\-]?key|signing[ _\-]?(?:key|secret)"
    r"|bearer[ _\-]?token|refresh[ _\-]?token|session[ _\-]?(?:token|key)|webhook[ _\-]?secret|credentials?|token|account[ _\-]?key"
    r"|master[ _\-]?key|license[ _\-]?key|app[ _\-]?(?:key|secret)|consumer[ _\-]?secret|db[ _\-]?pass(?:word)?|security[ _\-]?token)"
)
_ASSIGN = r"[\"'\u201d`*]{0,3}[ \t]{0,3}(?:=>|:=|==?|:|->|\bis[ ]?:?|\bwas\b|\bto\b)[ \t]{0,3}"
_VALUE = r"(?:\"([^\"\r\n]{1,512})\"|'([^'\r\n]{1,512})'|`([^`\r\n]{1,512})`|([^\s\"'`<>]{1,512}|<[^<>\s]{1,100}>))"
_ASSIGNED = late(
    rf"(?<![A-Za-z])(?:(?P<password>(?:[a-z0-9]{{1,30}}[_\-.]){{0,4}}{_PASSWORD_NAME})|(?P<key>(?:[a-z0-9]{{1,30}}[_\-.]){{0,4}}{_KEY_NAME}))"
    rf"(?![a-z])(?P<sign>{_ASSIGN}){_VALUE}"
)
_PROSE_SIGN = late(r"is|was|to")

_STAND_IN_VALUES = frozenset(
    [
        "required",
        "optional",
        "none",
        "null",
        "nil",
        "true",
        "false",
        "yes",
        "no",
        "string",
        "str",
        "int",
        "text",
        "hidden",
        "secret",
        "password",
        "passwd",
        "pass",
        "changed",
        "reset",
        "expired",
        "incorrect",
        "correct",
        "invalid",
        "valid",
        "wrong",
        "right",
        "missing",
        "empty",
        "unset",
        "set",
        "unknown",
        "protected",
        "disabled",
        "enabled",
        "needed",
        "forgotten",
        "lost",
        "leaked",
        "stolen",
        "safe",
        "secure",
        "weak",
        "strong",
        "stored",
        "encrypted",
        "hashed",
        "rotated",
        "revoked",
        "available",
        "unavailable",
        "undefined",
        "default",
        "test",
        "example",
        "value",
        "key",
        "token",
        "here",
        "below",
        "above",
        "confirm",
        "verification",
        "verify",
        "login",
        "username",
        "user",
        "admin",
        "email",
        "used",
        "shared",
        "provided",
        "given",
        "sent",
        "somewhere",
        "generated",
        "managed",
        "authentication",
        "authorization",
        "basic",
        "bearer",
        "input",
        "object",
        "number",
        "boolean",
        "varchar",
        "char",
        "bytes",
        "file",
        "env",
        "environment",
        "vault",
        "prompt",
        "ask",
        "tbd",
        "todo",
        "n/a",
        "field",
        "type",
        "label",
        "placeholder",
        "manager",
        "management",
        "policy",
        "policies",
        "hint",
        "recovery",
        "length",
        "strength",
    ]
)
_CODE = late(
    r"[A-Za-z_][\w.]{0,80}[(\[]|(?:os|process|env|config|settings|self|request|req|args|this|ctx|vault|secrets)\.|\$|@|%|\{\{|ENC\[|ref\+|arn:|/"
)
_TRAILING = ".,;:!?)]}"


def assigned_secrets(text: str, lower: str) -> Iterator[Hit]:
    """Yield values given to names such as `password` and `api_key`, in code, files and prose."""
    if len(lower) != len(text):
        return
    for match in _ASSIGNED.finditer(lower):
        group = next(i for i in range(match.lastindex or 0, 0, -1) if match[i] is not None)
        start, end = match.span(group)
        value = text[start:end]
        quoted = text[start - 1 : start] in ('"', "'", "`")
        if is_placeholder(value):
            continue
        if not quoted:
            value = _unquoted(value)
        in_prose = bool(_PROSE_SIGN.match(match["sign"].strip("\"'`* \t")))
        judge = _is_password if match["password"] else _is_key
        if judge(value, quoted, in_prose):
            yield Hit(start, start + len(value), 0.9 if not in_prose else 0.8)


def _unquoted(value: str) -> str:
    """A bare value without what ends the clause or the structure around it."""
    for mark in (",", ";", "&", "}", ")"):
        head, found, tail = value.partition(mark)
        if found and (not tail or mark in ";}" or (mark in ",&" and "=" in tail)):
            value = head
    return value.rstrip(_TRAILING) if value[-1:] in ".,;:?)]}" else value


def _is_password(value: str, quoted: bool, in_prose: bool) -> bool:
    if not _may_be_secret(value, quoted) or len(value) < 4:
        return False
    kinds = _character_kinds(value)
    if in_prose and not quoted:
        # "the password is wrong": only what no word looks like.
        return len(value) >= 5 and (
            kinds >= 3 or (kinds == 2 and any(c.isdigit() for c in value)) or _odd(value)
        )
    if kinds == 1 and value.isdigit():
        return len(value) >= 6
    if kinds == 1 and value.isalpha():
        return quoted or len(value) >= 8 if not value[0].isupper() or quoted else False
    return len(value) >= 6


def _odd(value: str) -> bool:
    """Whether signs stand among the letters that no word has: `p@ss!`."""
    return any(not c.isalnum() and c not in "-'._/" for c in value[:-1]) and any(
        c.isalpha() for c in value
    )


def _is_key(value: str, quoted: bool, in_prose: bool) -> bool:
    if not _may_be_secret(value, quoted) or len(value) < 12 or " " in value:
        return False
    if not re.fullmatch(r"[A-Za-z0-9_\-+/=.:~!@#$%^&*]+", value):
        return False
    has_digit = any(c.isdigit() for c in value)
    has_letter = any(c.isalpha() for c in value)
    if len(value) >= 20 and re.match(r"(?i)(?:sk|pk|key|tok|api)[-_]", value):
        return True
    least = 3.0 if quoted or not in_prose else 3.3
    return has_digit and has_letter and entropy(value) >= least and not _reads_like_words(value)


def _reads_like_words(value: str) -> bool:
    """Whether it is words joined by marks, or a date or a version: `v1-2024-token-name`."""
    pieces = [p for p in re.split(r"[-_./:]", value) if p]
    return len(pieces) > 2 and all(p.isalpha() or len(p) <= 4 for p in pieces) and len(value) < 40


def _character_kinds(value: str) -> int:
    return (
        any(c.isalpha() and c.islower() for c in value)
        + any(c.isalpha() and c.isupper() for c in value)
        + any(c.isdigit() for c in value)
        + any(not c.isalnum() for c in value)
        - (any(c.isupper() for c in value[:1]) and value[1:].islower())
    )


def _may_be_secret(value: str, quoted: bool) -> bool:
    if not value or is_placeholder(value) or value.lower().strip("\"'.,!?") in _STAND_IN_VALUES:
        return False
    return quoted or not _CODE.match(value)


_PREFIXED = late(
    r"(?<![\w\-/.])(?:sk|pk|rk|ak|api|key|tok|token|pat|sess|secret)[-_][A-Za-z0-9_\-]{8,200}(?![\w\-])"
)
_MIXED = late(r"(?=[a-z]*[0-9])(?=[0-9]*[a-z])[a-z0-9]{6,}")
# A key is given: "API key: sk-...", "the API key for the tests is sk-...".
_GIVEN = late(
    r"(?:api|secret|access|auth)[ _\-]?(?:keys?|tokens?|secret)\b(?:[\s\"'`(]*(?:\b(?:is|was)\b|[=:])?|\s(?:for|of|in|on)\s[\w \-]{1,20}(?:\b(?:is|was)\b|[=:]))[\s\"'`(]*\Z"
)
_KEY_WORDS = Words(
    ["api key", "api keys", "api token", "api secret", "apikey", "secret key", "access key", "access token",
     "auth token", "token", "secret", "credential*", "key"]
)  # fmt: skip


def prefixed_keys(text: str, lower: str) -> Iterator[Hit]:
    """Yield keys that begin as makers write them, near a word for a key: `API key sk-live-a1b2c3`."""
    for match in _PREFIXED.finditer(text):
        value = match[0]
        if not any(map(_is_random, re.split(r"[-_]", value))) and not _is_given(
            lower, *match.span()
        ):
            continue
        if not is_placeholder(value) and near(_KEY_WORDS, lower, *match.span(), 30):
            yield Hit(match.start(), match.end(), 0.85)


def _is_random(piece: str) -> bool:
    """Whether capitals, letters and digits take turns: in a name with a number in it they do not."""
    turns = sum(_sort(a) != _sort(b) for a, b in pairwise(piece))
    return len(piece) >= 8 and turns >= 3 and any(c.isdigit() for c in piece)


def _sort(sign: str) -> int:
    return 0 if sign.isdigit() else 1 if sign.islower() else 2


def _is_given(lower: str, start: int, end: int) -> bool:
    """Whether a word for a key is right before what begins as a secret key and has digits in it."""
    if lower[start : start + 2] not in ("sk", "rk", "pk"):
        return False
    if not any(_MIXED.fullmatch(piece) for piece in re.split(r"[-_]", lower[start:end])):
        return False
    return _GIVEN.search(lower, max(0, start - 40), start) is not None


_PIN = late(
    r"(?<![a-z])(?:pin(?:[ _-]?(?:code|number|no\.?))?|cvv2?|cvc2?|security code)[\"']?(?: ?[:=][ \t]?| is )[\"']?([0-9]{3,8})(?![0-9.,]*[0-9])"
)


def pins(text: str, lower: str) -> Iterator[Hit]:  # noqa: ARG001
    """Yield PINs and card security codes that are named as such."""
    for match in _PIN.finditer(lower):
        yield Hit(*match.span(1), 0.7)


_HIGH_ENTROPY = late(r"(?<![\w+/=.\-])[A-Za-z0-9_\-+/]{32,200}={0,2}(?![\w+/=])")
_SECRET_WORDS = Words(
    ["secret", "secrets", "token", "tokens", "api key", "apikey", "credential*", "password", "passwd", "bearer",
     "private key", "access key", "auth key", "signing key", "authorization"]
)  # fmt: skip
_HASH_WORDS = Words(
    [
        "sha",
        "sha1",
        "sha256",
        "sha512",
        "md5",
        "hash",
        "digest",
        "checksum",
        "commit",
        "etag",
        "fingerprint",
        "uuid",
        "url",
        "integrity",
    ]
)


def random_secrets(text: str, lower: str) -> Iterator[Hit]:
    """Yield long random strings close behind a word for a secret."""
    for match in _HIGH_ENTROPY.finditer(text):
        value = match[0]
        if not near(_SECRET_WORDS, lower, *match.span(), 30):
            continue
        if near(_HASH_WORDS, lower, *match.span(), 20):
            continue
        if (
            any(c.isdigit() for c in value)
            and any(c.isalpha() for c in value)
            and entropy(value) >= 3.5
            and not is_placeholder(value)
        ):
            yield Hit(match.start(), match.end(), 0.75)
