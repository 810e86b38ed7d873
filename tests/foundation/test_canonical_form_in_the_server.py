"""Canonical JSON and content hashes in the database: the same bytes as anywhere else."""

from __future__ import annotations

import struct
from pathlib import Path

import psycopg
import pytest

from conftest import World
from memwarden_core import canonical

BATCH = 1_000


def test_published_vectors_come_out_byte_for_byte(world: World, data: Path) -> None:
    """The server and the client's package agree with RFC 8785's own vectors. Proves: W4."""
    for source in sorted((data / "jcs/input").glob("*.json")):
        text = source.read_text()
        expected = (data / "jcs/output" / source.name).read_text().rstrip("\n")
        assert world.value("SELECT memwarden.canonical_json(%s)", text) == expected
        assert canonical.canonical_json(text) == expected
        in_server = bytes(world.value("SELECT memwarden.content_hash(%s)", text))
        assert in_server == canonical.content_hash(text)


def test_numbers_are_written_as_published(world: World, data: Path) -> None:
    """Ten thousand doubles, from subnormal to largest. Proves: W4."""
    lines = (data / "jcs/es6_10000.txt").read_text().splitlines()
    pairs = [line.split(",") for line in lines]
    numbers = [struct.unpack(">d", bytes.fromhex(bits.zfill(16)))[0] for bits, _ in pairs]
    # A whole number is written with a fraction: a bare one beyond 2^53 - 1 is refused.
    literals = [repr(number) for number in numbers]
    for start in range(0, len(pairs), BATCH):
        rows = world.rows(
            "SELECT memwarden.canonical_json(t) AS form"
            " FROM unnest(%s::text[]) WITH ORDINALITY AS u (t, n) ORDER BY n",
            literals[start : start + BATCH],
        )
        assert [row["form"] for row in rows] == [e for _, e in pairs[start : start + BATCH]]


@pytest.mark.parametrize(
    "text",
    [
        "9007199254740992",
        "-9007199254740992",
        "NaN",
        "[Infinity]",
        "1e400",
        r'"\ud800"',
        r'{"\udc00": 1}',
        '{"a": 1, "a": 2}',
    ],
)
def test_what_rfc_8785_cannot_carry_raises(world: World, text: str) -> None:
    """The same refusals on both sides, without the content in the message. Proves: W4."""
    with pytest.raises(canonical.NotCanonical) as refused:
        canonical.canonical_json(text)
    states = {"NOT_CANONICAL": "22023", "INVALID_JSON": "22P02"}
    with pytest.raises(psycopg.Error) as raised:
        world.value("SELECT memwarden.canonical_json(%s)", text)
    assert raised.value.sqlstate == states[refused.value.code]
    assert raised.value.diag.message_detail


def test_keys_are_ordered_by_utf_16_code_unit(world: World) -> None:
    """U+10000 sorts before U+FFFF there, after it in UTF-8. Proves: W4."""
    text = '{"\uffff": 1, "\U00010000": 2}'
    form = world.value("SELECT memwarden.canonical_json(%s)", text)
    assert form == '{"\U00010000":2,"\uffff":1}'
