"""What a rule means is what a CHECK constraint of the same words means: PostgreSQL is asked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from psycopg.types.json import Jsonb

from memwarden_core import server
from memwarden_core.integrity.rule import PolicyError, compile_rule

if TYPE_CHECKING:
    from conftest import World

FIELDS = ["a", "b", "c"]
NUMBERS = st.sampled_from([-1, 0, 1, 2])
ABSENT = object()

field = st.sampled_from(FIELDS).map("memory.content.{}".format)
number = NUMBERS.map(str)
compared = st.sampled_from(["=", "<>", "<", "<=", ">", ">="])
test = st.one_of(
    st.tuples(field, compared, st.one_of(field, number)).map(" ".join),
    st.tuples(number, compared, field).map(" ".join),
    st.tuples(field, st.sampled_from(["IS NULL", "IS NOT NULL"])).map(" ".join),
    st.tuples(field, st.sampled_from(["", "NOT "]), number, number).map(
        lambda t: f"{t[0]} {t[1]}BETWEEN {t[2]} AND {t[3]}"
    ),
    st.tuples(field, st.sampled_from(["", "NOT "]), st.lists(number, min_size=1, max_size=3)).map(
        lambda t: f"{t[0]} {t[1]}IN ({', '.join(t[2])})"
    ),
)
condition = st.recursive(
    test,
    lambda inner: st.one_of(
        inner.map("NOT ({})".format),
        st.tuples(inner, st.sampled_from(["AND", "OR"]), inner).map(
            lambda t: f"({t[0]}) {t[1]} ({t[2]})"
        ),
    ),
    max_leaves=6,
)
values = st.fixed_dictionaries(
    {name: st.one_of(NUMBERS, st.none(), st.just(ABSENT)) for name in FIELDS}
)


@given(condition, values)
@settings(max_examples=300, deadline=None)
def test_it_means_what_a_check_constraint_means(
    shared_world: World, text: str, said: dict[str, Any]
) -> None:
    """Broken where it is false, and not where it is unknown, for null as for absent.

    Proves: V4
    """
    content = {name: value for name, value in said.items() if value is not ABSENT}
    broken = shared_world.value(
        "SELECT memwarden_internal.breaks(%s::text::jsonpath, %s)",
        compile_rule(text, False),
        Jsonb({"content": content}),
    )
    columns = ", ".join(f"%s::integer AS {name}" for name in FIELDS)
    check = text.replace("memory.content.", "m.")
    false = shared_world.value(
        f"SELECT ({check}) IS FALSE AS broken FROM (SELECT {columns}) AS m",
        *(content.get(name) for name in FIELDS),
    )
    assert broken == false, (text, content)


@given(st.text(st.sampled_from("memory.contthr=<>'\"() ANDORx1;-%\n"), max_size=40), st.booleans())
def test_whatever_is_written_compiles_or_is_refused_with_a_place(
    text: str, is_of_two: bool
) -> None:
    """Nothing else ever comes of it.

    Proves: V4
    """
    compiled, fault, position = server.compile_rule(text, is_of_two)
    if compiled is None:
        assert fault
        assert position is not None
        assert 0 <= position <= len(text)


@pytest.mark.parametrize(
    "text",
    [
        "memory.content.a = (SELECT 1)",
        "memory.content.a::int = 1",
        "lower(memory.subject) = 'x'",
        "memory.content.a = 1 -- x",
        "memory.content.a + 1 > 0",
        "memory.content.a LIKE '%x'",
        "memory.content.'a' = 1",
        "memory.content[0] = 1",
        "memory.valid_from > 7",
        "memory.valid_from.x = 1",
        "memory.content > other.content",
        "agent.name = 'x'",
    ],
)
def test_what_is_not_in_the_language_is_refused(text: str) -> None:
    """Proves: V4."""
    with pytest.raises(PolicyError):
        compile_rule(text, False)
