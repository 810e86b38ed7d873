"""What is no policy condition is refused, with the place where it goes wrong."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memwarden_core.policy.condition import PolicyError, compile_condition
from policy_conditions import KNOWN, LEVELS, soups


def compiled(condition: str) -> str:
    """The condition's jsonpath."""
    return compile_condition(condition, KNOWN, LEVELS)


# « stands where the error points to.
REFUSED = [
    # nothing, or not all of it
    "«",
    "   «",
    "agent.validated AND«",
    "agent.name =«",
    "agent.grade BETWEEN 1«",
    "agent.grade BETWEEN 1 «OR 2",
    "agent.name IN«",
    "agent.name IS«",
    "NOT«",
    "«(agent.validated",
    "(agent.validated)«)",
    "agent.name IN («)",
    "agent.name IN ('a',«)",
    "«)",
    "«AND agent.validated",
    # pieces in the wrong order
    "agent.name «'a'",
    "agent.name = «= 'a'",
    "agent.grade <= «> 1",
    "agent.grade «-1 = 1",
    "agent.name = 'a' «'b'",
    "agent.validated «agent.validated",
    "agent.name = «NOT 'a'",
    "agent.name NOT «'a'",
    "agent.name NOT «NULL",
    "agent.name IS NOT «'a'",
    "agent.name IS «TRUE",
    "agent.name = «NULL",
    "«NULL",
    "agent.name IN ('a', «NULL)",
    "(agent.name«, item.tag) = ('a', 'b')",
    "agent.validated«, TRUE",
    "«ANY(item.domains) = 'a'",
    "'a' = ANY «item.domains",
    "agent.name = item.tag «= 'a'",
    "(agent.validated OR item.own) «= TRUE",
    "agent.validated = «(item.own AND TRUE)",
    "agent.name LIKE 'a%' «LIKE 'b%'",
    "agent.name IN ('a') «IN ('b')",
    "agent.grade BETWEEN «(1) AND 2",
    "agent.grade BETWEEN 1 AND 2 «BETWEEN 1 AND 2",
    "'a' < «ANY(item.domains)",
    "agent.name <> «ANY(item.domains)",
    "agent.name LIKE «ANY(item.domains)",
    # names
    "«name = 'a'",
    "«public.agent.name = 'a'",
    "agent.name«.first = 'a'",
    "«agent.nobody = 'a'",
    "«item.name = 'a'",
    "«AGENT.name = 'a'",
    "«agent = 'a'",
    "«agent.* = 'a'",
    'agent.name = «agent."team"',
    "«\u0430gent.name = 'a'",
    "agent.name«\u200d = 'a'",
    "operation = «item.tag",
    "operation = «'write'",
    "operation = «'READ '",
    "operation = «operation",
    "«operation IS NULL",
    "«operation LIKE 'W%'",
    "operation IN (READ, «'ALL')",
    "operation «< WRITE",
    "agent.name = «READ",
    "«WRITE",
    # types
    "«agent.name",
    "NOT «agent.grade",
    "TRUE AND «'a'",
    "«1",
    "«1 = 1",
    "«'a' IN ('a')",
    "agent.name = «5",
    "agent.grade = «'5'",
    "agent.validated = «'true'",
    "agent.validated = «1",
    "agent.grade = «agent.name",
    "agent.grade < «agent.clearance",
    "agent.name «< 'b'",
    "agent.validated «>= TRUE",
    "agent.name NOT «BETWEEN 'a' AND 'b'",
    "«item.domains = 'a'",
    "item.tag = «agent.domains",
    "«item.domains = agent.domains",
    "«item.domains IN ('a')",
    "«item.domains LIKE 'a%'",
    "'a' = ANY(«item.tag)",
    "'a' = ANY(«'a')",
    "'a' IN «item.tag",
    "'a' IN «'abc'",
    "«5 = ANY(item.domains)",
    "«agent.grade = ANY(item.domains)",
    "«item.domains = ANY(agent.domains)",
    "item.tag IN («agent.name)",
    "item.tag IN ('a', «2)",
    "agent.clearance >= «'secret'",
    "agent.clearance >= «2",
    "agent.clearance >= «'Public'",
    "agent.clearance IN ('public', «'secret')",
    "'public' <= agent.clearance AND «'nobody' <= agent.clearance",
    "«'a' LIKE 'a%'",
    "«agent.grade LIKE '1%'",
    "agent.name LIKE «item.tag",
    "agent.name LIKE «5",
    *(f"agent.name LIKE «'{pattern}'" for pattern in ("a", "%a", "a%b%", "a_%", "a\\%", "a%%", "")),
    # the rest of SQL
    "«lower(agent.name) = 'a'",
    "agent.name = «upper('a')",
    "agent.name = «current_user",
    "agent.validated AND «pg_sleep(10)",
    "agent.validated «(TRUE)",
    "'a'«('b')",
    "«EXISTS (SELECT 1)",
    "(«SELECT TRUE)",
    "«SELECT TRUE",
    "agent.name IN («SELECT 'a')",
    "agent.name = (((«SELECT 'a')))",
    "«CASE WHEN TRUE THEN TRUE END",
    "«CAST(agent.name AS boolean)",
    "agent.name«::boolean",
    "agent.name = 'a'«; DROP TABLE x",
    "agent.validated«;",
    "agent.validated «-- comment",
    "«--",
    "agent.validated «/* comment */ AND TRUE",
    "«/*+ hint */ TRUE",
    "TRUE «{# jinja #}",
    "«{{ x }}",
    "agent.grade «+ 1 = 2",
    "agent.grade = 1 «- 1",
    "agent.grade = «- 1",
    "agent.name «|| 'a' = 'ab'",
    "agent.name «~ 'a.*'",
    "agent.name «SIMILAR TO 'a'",
    "agent.name «ILIKE 'a%'",
    "agent.name LIKE 'a%' «ESCAPE '!'",
    "agent.name IS «DISTINCT FROM 'a'",
    "agent.name «COLLATE \"C\" = 'a'",
    "agent.grade BETWEEN «SYMMETRIC 2 AND 1",
    "agent.name = «$1",
    "agent.name = «%s",
    "agent.name = «?",
    "agent.name = «:name",
    "agent.name = «@name",
    "agent.name = «E'a'",
    "agent.name = «e'\\n'",
    "agent.name = «N'a'",
    "agent.name = «U&'a'",
    "agent.name = «B'1'",
    "agent.name = «$$a$$",
    "agent.name = «$tag$a$tag$",
    "agent.name = «`a`",
    "agent.name = «[a]",
    "agent.name = «ARRAY['a']",
    "agent.domains«[1] = 'a'",
    "agent.name = «DATE '2026-01-01'",
    "agent.name «!! 'a'",
    "«!agent.validated",
    "agent.name «&& 'a'",
    # numbers and strings
    *(f"agent.grade = «{number}" for number in ("1e5", "0x1F", "1_000", "01", "1.", "1.2.3", "5a")),
    *(f"agent.grade = «{number}" for number in (".5", "+5", "--5", "'NaN'", "NaN", "٣")),
    "agent.name = «'a",
    "agent.name = «'a''",
    'agent.name = «"a',
    "agent.name = «'",
    "agent.name = 'a' OR agent.name = «'",
    # what nobody sees
    "agent.name = 'a«\x00'",
    "agent.validated«\x00",
    "agent.name = 'a«\n'",
    "agent.name = 'a«\x1b[2K'",
    "agent.validated«\x0b AND TRUE",
    "agent.name = 'a«\u202e'",
    "agent.name = 'a«\u2066'",
    "agent.name = 'a«\ud800'",
    "agent.name«\u00a0= 'a'",
    "«\ufeffagent.validated",
    # too much
    "(" * 50 + "«(TRUE" + ")" * 51,
    "NOT " * 50 + "«NOT TRUE",
    "NOT (" * 25 + "«NOT TRUE" + ")" * 25,
    "TRUE OR " * 249 + "    TRUE« OR TRUE",
]


@pytest.mark.parametrize("marked", REFUSED, ids=lambda marked: ascii(marked)[:60])
def test_whatever_is_not_the_language_is_refused_where_it_stands(marked: str) -> None:
    """Proves: A2."""
    with pytest.raises(PolicyError) as refused:
        compiled(marked.replace("«", ""))
    assert refused.value.position == marked.index("«")
    assert str(refused.value) == refused.value.message != ""
    assert len(refused.value.message) < 250


def test_a_refusal_names_what_there_is() -> None:
    """Proves: A2."""
    for condition, words in {
        "agent.skill = 'a'": "agent has no attribute 'skill'; it has: clearance, domains, ",
        "item.classification = 'secret'": "public, internal, confidential, restricted",
        "operation = 'EXECUTE'": "READ, WRITE, DELETE, ADMIN",
        "agent.name = 5": "5 is not a text",
    }.items():
        with pytest.raises(PolicyError, match=words):
            compiled(condition)


def test_an_attribute_of_a_type_that_conditions_lack_is_refused() -> None:
    """Proves: A2."""
    with pytest.raises(PolicyError, match=r"cannot use agent\.birth"):
        compile_condition("agent.birth IS NULL", {"agent": {"birth": "date"}}, {})
    with pytest.raises(PolicyError, match="it has: none"):
        compile_condition("agent.birth IS NULL", {}, {})


@given(st.text(max_size=80) | soups | st.text("()NOT ANDIN,'\"=<>.1", max_size=80))
@example("agent.grade BETWEEN 1 AND NOT " * 60 + "TRUE")
@example("(" * 2_000)
@example("NOT(" * 500)
@example("'" * 1_999)
@example("agent.name IN (" * 130)
@example("a" * 100_000)
def test_no_text_whatsoever_raises_anything_else(text: str) -> None:
    """It compiles, or there is an error that points into it. Proves: A2."""
    position = 0
    try:
        compiled(text)
    except PolicyError as error:
        position = error.position
    assert 0 <= position <= len(text)
