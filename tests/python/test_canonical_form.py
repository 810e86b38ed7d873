"""One value has one canonical text; what RFC 8785 cannot carry is refused, not changed."""

from __future__ import annotations

import hashlib
import json
import math
import struct
from pathlib import Path

import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from memwarden_core.canonical import (
    MAX_DEPTH,
    NotCanonical,
    canonical_json,
    content_hash,
    parse,
    serialise,
)

scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(2**53) + 1, 2**53 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"]))
)
values = st.recursive(
    scalars,
    lambda children: st.lists(children, max_size=4) | st.dictionaries(st.text(), children),
    max_leaves=12,
).filter(lambda value: _is_encodable(value))


def _is_encodable(value: object) -> bool:
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True


def test_the_published_vectors_come_out_byte_for_byte(data: Path) -> None:
    """Proves: D1."""
    inputs = sorted((data / "jcs/input").glob("*.json"))
    assert inputs
    for path in inputs:
        expected = (data / "jcs/output" / path.name).read_bytes()
        assert canonical_json(path.read_text()).encode() == expected


def test_numbers_are_written_as_ecmascript_writes_them(data: Path) -> None:
    """Proves: D1."""
    lines = (data / "jcs/es6_10000.txt").read_text().splitlines()
    assert len(lines) == 10_000
    for line in lines:
        bits, expected = line.split(",")
        (number,) = struct.unpack(">d", bytes.fromhex(bits.zfill(16)))
        assert serialise(number).decode() == expected
        assert canonical_json(repr(number)) == expected


def test_the_hash_is_that_of_the_published_vector(data: Path) -> None:
    """Proves: D1, W4."""
    vector = json.loads((data / "manifest/vectors.json").read_text())["hash_vector"]
    assert content_hash(json.dumps(vector["value"])).hex() == vector["sha256"]


def test_keys_are_sorted_by_utf16_code_unit() -> None:
    """U+1F602 is the pair D83D DE02 and sorts before U+FB33. Proves: D1."""
    assert canonical_json('{"\ufb33":1,"\U0001f602":2}') == '{"\U0001f602":2,"\ufb33":1}'


@given(values)
def test_layout_and_order_of_keys_do_not_matter(value: object) -> None:
    """Proves: D1, W4."""
    spaced = json.dumps(value, indent=3, ensure_ascii=True)
    reversed_keys = json.dumps(_reversed(value), ensure_ascii=False)
    canonical = canonical_json(spaced)
    assert canonical_json(reversed_keys) == canonical
    assert content_hash(spaced) == hashlib.sha256(canonical.encode()).digest()


def _reversed(value: object) -> object:
    if isinstance(value, dict):
        return {key: _reversed(value[key]) for key in reversed(value)}
    return [_reversed(child) for child in value] if isinstance(value, list) else value


@given(values)
def test_the_canonical_text_means_the_same_value(value: object) -> None:
    """Read by any JSON parser, numbers as doubles. Proves: D1."""
    assert json.loads(canonical_json(json.dumps(value)), parse_int=float) == json.loads(
        json.dumps(value), parse_int=float
    )


@pytest.mark.parametrize(
    "text",
    [
        "9007199254740992",
        "-9007199254740992",
        "1" + "0" * 5000,
        '{"n": [9007199254740993]}',
        "NaN",
        "[-Infinity]",
        "1e400",
        "-1" + "0" * 400 + ".5",
        '"\\ud800"',
        '{"\\udc00": 1}',
        '"\ud800"',
        '{"a": 1, "\\u0061": 2}',
    ],
    ids=lambda text: ascii(text)[:20],
)
def test_what_has_no_canonical_form_is_refused(text: str) -> None:
    """Proves: V1, D1."""
    with pytest.raises(NotCanonical) as refused:
        canonical_json(text)
    assert refused.value.code == "NOT_CANONICAL"


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "{",
        "{'a': 1}",
        '{"a": 1,}',
        "01",
        "+1",
        ".5",
        "1.",
        "[1] 2",
        '"\t"',
        "nul",
        "\ufeff{}",
    ],
)
def test_what_is_not_json_is_refused(text: str) -> None:
    """Proves: V1."""
    with pytest.raises(NotCanonical) as refused:
        parse(text)
    assert refused.value.code == "INVALID_JSON"


def test_refusals_do_not_quote_the_content() -> None:
    """A refusal is logged and shown; what was refused may be a secret. Proves: V1."""
    for text in ('{"secret": secret}', '["secret", 9007199254740993]', '{"secret":1,"secret":2}'):
        with pytest.raises(NotCanonical) as refused:
            canonical_json(text)
        assert "secret" not in refused.value.message
        assert "9007199254740993" not in refused.value.message


def test_numbers_with_a_fraction_or_exponent_are_doubles() -> None:
    """Proves: D1."""
    assert canonical_json("[1E30, 9007199254740993.0, -0.0, 1e-400]") == (
        "[1e+30,9007199254740992,0,0]"
    )
    assert math.isfinite(float(canonical_json("1.7976931348623157e308")))


@pytest.mark.parametrize("levels", [MAX_DEPTH + 1, 1_000, 100_000])
def test_content_nested_too_deeply_is_refused(levels: int) -> None:
    """Proves: V1."""
    for text in ("[" * levels + "]" * levels, '{"a":' * levels + "1" + "}" * levels):
        with pytest.raises(NotCanonical) as refused:
            parse(text)
        assert refused.value.code == "CONTENT_TOO_DEEP"


def test_content_nested_as_deeply_as_allowed_is_accepted() -> None:
    """Proves: V1."""
    text = "[" * MAX_DEPTH + "]" * MAX_DEPTH
    assert canonical_json(text) == text
    wide = "[" + ",".join(["[]"] * 500) + "]"
    assert canonical_json(wide) == wide


@given(values)
def test_the_short_way_gives_the_same_bytes(value: object) -> None:
    """Values without fractions are written by the standard library."""
    assert serialise(value) == rfc8785.dumps(value)  # type: ignore[arg-type]
