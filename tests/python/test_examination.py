"""One call tells the write path everything about a content, whatever the content is."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memwarden_core.canonical import canonical_json, content_hash
from memwarden_core.embedding import lexical_embedding
from memwarden_core.examine import Examined, examine
from memwarden_core.fingerprint import fingerprint, key_hash

SCHEMA = json.dumps({"type": "object", "required": ["drink"]})


def codes(examined: Examined) -> list[str]:
    """The codes of the violations, in order."""
    return [violation.code for violation in examined.violations]


def test_it_agrees_with_its_parts() -> None:
    """Proves: D1, D2, D5, W4."""
    content = '{ "drink": "Green Tea", "cups": 2 }'
    synonyms = {"green tea": "sencha"}
    found = examine(
        content,
        "Ana",
        "likes",
        schema=SCHEMA,
        template="{subject} likes {content.drink}",
        synonyms=json.dumps(synonyms),
        want_embedding=True,
    )
    assert found == Examined(
        canonical_json(content),
        content_hash(content),
        fingerprint(json.loads(content), "Ana", "likes", synonyms),
        key_hash("Ana", "likes", synonyms),
        "Ana likes Green Tea",
        lexical_embedding("Ana likes Green Tea"),
        [],
    )


def test_all_violations_come_at_once() -> None:
    """A refused content keeps its hash, for the record. Proves: V1."""
    found = examine('{"food": " "}', "Ana\ud800", schema=SCHEMA)
    assert codes(found) == ["NOT_CANONICAL", "CONTENT_EMPTY", "SCHEMA_VIOLATION"]
    assert [violation.path for violation in found.violations] == [
        "subject",
        "content",
        "content.drink",
    ]
    assert found.content_hash == content_hash('{"food": " "}')
    assert found[2:6] == (None, None, None, None)


@pytest.mark.parametrize(
    "content",
    [
        "null",
        '""',
        "{}",
        "[]",
        '" \\n\\u200b "',
        '["", " "]',
        '{"a": {"b": [null, ""]}}',
        "[[], {}]",
    ],
)
def test_content_that_says_nothing_is_empty(content: str) -> None:
    """Proves: V1."""
    assert codes(examine(content)) == ["CONTENT_EMPTY"]


@pytest.mark.parametrize("content", ["0", "false", '"?"', '{"a": 0}', '[null, "x"]', '{"a": []}'])
def test_content_that_says_little_is_not_empty(content: str) -> None:
    """Proves: V1."""
    assert codes(examine(content)) == []


@pytest.mark.parametrize(
    ("content", "code"),
    [
        ("", "INVALID_JSON"),
        ("{", "INVALID_JSON"),
        ("[NaN]", "NOT_CANONICAL"),
        ("1" * 10_000, "NOT_CANONICAL"),
        ('"\\udfff"', "NOT_CANONICAL"),
        ('"a\\u0000b"', "NOT_CANONICAL"),
        ('{"\\\\\\u0000": 1}', "NOT_CANONICAL"),
        ("[" * 200_000, "CONTENT_TOO_DEEP"),
        ('{"a":' * 65 + "1" + "}" * 65, "CONTENT_TOO_DEEP"),
    ],
    ids=lambda text: text[:12],
)
def test_content_that_cannot_be_stored_is_a_violation(content: str, code: str) -> None:
    """Proves: V1."""
    assert codes(examine(content)) == [code]


def test_a_written_out_escape_is_not_the_character() -> None:
    """Proves: V1."""
    assert codes(examine('"a\\\\u0000"')) == []


def test_size_counts_bytes_and_is_judged_before_parsing() -> None:
    """Proves: V1."""
    assert codes(examine('"' + "\u00e9" * 50 + '"', max_bytes=102)) == []
    assert codes(examine('"' + "\u00e9" * 50 + '"', max_bytes=101)) == ["CONTENT_TOO_LARGE"]
    assert codes(examine("{" * 200, max_bytes=100)) == ["CONTENT_TOO_LARGE"]
    assert codes(examine('"' + "x" * 2_000_000 + '"')) == ["CONTENT_TOO_LARGE"]


@given(
    st.text()
    | st.recursive(
        st.none() | st.booleans() | st.floats() | st.integers() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    ).map(json.dumps),
    st.none() | st.text(),
    st.none() | st.text(),
)
def test_no_content_makes_it_raise(
    content: str, subject: str | None, predicate: str | None
) -> None:
    """Proves: V1."""
    template = "{subject} {content.drink} {content}"
    found = examine(content, subject, predicate, SCHEMA, template, '{"a": "b"}', 200, True)
    assert (found.fingerprint is None) == bool(found.violations)
    assert (found.canonical is None) == (found.content_hash is None)


def test_a_run_of_marks_does_not_take_quadratic_time() -> None:
    """NFKC sorts them; some versions of Python compare each with all. Proves: D2."""
    content = '"a' + "\u0301" * 150_000 + "\u0316" * 150_000 + '"'
    assert codes(examine(content)) == []


def test_usual_content_needs_no_heavy_library() -> None:
    """Importing jsonschema takes 0.1 s on each connection. Proves: V1."""
    program = (
        "import sys; from memwarden_core.examine import examine; "
        f'assert not examine(\'{{"drink": "tea"}}\', schema={SCHEMA!r}).violations; '
        "sys.exit(any(name in sys.modules for name in ('jsonschema', 're2', 'numpy')))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], env={"PYTHONPATH": ":".join(sys.path)}, check=False
    )
    assert done.returncode == 0
