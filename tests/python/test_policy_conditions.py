"""Policy conditions are checked when they are written, and compile to a type that only compares."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
import sqlglot
from hypothesis import example, given
from hypothesis import strategies as st
from sqlglot import exp

from memwarden_core.policy import PolicyError, compile_condition
from memwarden_core.server import compile_policy
from policy_conditions import KNOWN, LEVELS, Condition, conditions, soups

NAME = '$."agent"."name"'
GRADE = '$."agent"."grade"'
DOMAINS = '$."item"."domains"'


def compiled(condition: str) -> str:
    """The condition's jsonpath."""
    return compile_condition(condition, KNOWN, LEVELS)


def test_the_policy_of_the_source_compiles_as_it_is_written() -> None:
    """Double quotes, a bare WRITE, line breaks. Proves: A2."""
    known = {"agent": {"domain_specialization": "text"}, "item": {"domain_tag": "text"}}
    condition = """agent.domain_specialization = "medical"
             AND item.domain_tag = "medical"
             AND operation = WRITE"""
    specialization, tag = '$."agent"."domain_specialization"', '$."item"."domain_tag"'
    assert compile_condition(condition, known, {}) == (
        f'(({specialization}.type() == "string" && {specialization} == "medical")'
        f' && ({tag}.type() == "string" && {tag} == "medical")'
        ' && ($."operation".type() == "string" && $."operation" == "WRITE"))'
    )


@pytest.mark.parametrize(
    ("condition", "jsonpath"),
    [
        ("agent.name = 'it''s'", f'({NAME}.type() == "string" && {NAME} == "it\'s")'),
        ('agent.name="a""b\\"', f'({NAME}.type() == "string" && {NAME} == "a\\"b\\\\")'),
        ("agent.name <> 'a'", f'!({NAME}.type() == "string" && {NAME} == "a")'),
        ("-2.50 < agent.grade", f'({GRADE}.type() == "number" && -2.50 < {GRADE})'),
        ("agent.name IS NULL", f'!({NAME}.type() != "null")'),
        ("agent.name LIKE '50 %'", f'({NAME}.type() == "string" && {NAME} starts with "50 ")'),
        (
            "'a' NOT IN item.domains",
            f'!({DOMAINS}.type() == "array" && !({DOMAINS}[*].type() != "string")'
            f' && {DOMAINS}[*] == "a")',
        ),
        ("TRUE and (false OR NOT true)", "((1 == 1) && ((1 == 0) || !(1 == 1)))"),
        ("NOT NOT TRUE", "!(!(1 == 1))"),
    ],
)
def test_a_condition_becomes_one_jsonpath_predicate(condition: str, jsonpath: str) -> None:
    """The types are asked first, so that nothing is ever unknown. Proves: A2."""
    assert compiled(condition) == jsonpath


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


def test_depth_and_length_are_allowed_up_to_their_limits() -> None:
    """Also far down a stack, and the limit of calls stays what it was. Proves: A2."""
    limit = sys.getrecursionlimit()
    for deepest in (
        "(" * 50 + "agent.validated" + ")" * 50,
        "NOT " * 50 + "agent.validated",
        "(agent.validated OR " * 50 + "TRUE" + ")" * 50,
        "NOT agent.validated AND " * 80 + "TRUE",
        "TRUE OR " * 249 + "    TRUE",
    ):
        assert compiled(deepest).count("(") >= 1
    assert len("TRUE OR " * 249 + "    TRUE") == 2_000
    assert sys.getrecursionlimit() == limit


def test_a_number_may_have_a_thousand_digits() -> None:
    """Proves: A2."""
    digits = "9" * 1_000 + "." + "5" * 900
    assert digits in compiled(f"agent.grade < {digits}")


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


@given(conditions)
def test_every_condition_of_the_language_compiles(condition: Condition) -> None:
    """In any case of its keywords, with any blanks and needless brackets. Proves: A2."""
    assert compiled(condition.text)


def test_another_release_of_the_parser_cannot_change_a_meaning(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Newer ones put NOT into IS and LIKE; what is not understood is refused. Proves: A2."""

    def parse_as(tree: exp.Expression) -> None:
        monkeypatch.setattr(sqlglot, "parse_one", lambda *_, **__: tree)

    name = exp.column("o0")
    expected = compiled("agent.name IS NOT NULL")
    parse_as(exp.Is(this=name, expression=exp.Null(), negate=True))
    assert compiled("agent.name IS NOT NULL") == expected
    for tree in (
        exp.Is(this=name, expression=exp.Null(), inverted=True),
        exp.Is(this=name, expression=exp.true()),
        exp.EQ(this=name, expression=exp.Lower(this=name)),
        exp.Anonymous(this="o0"),
        exp.column("o0", table="o0"),
    ):
        parse_as(tree)
        with pytest.raises(PolicyError):
            compiled("agent.name IS NOT NULL")
    monkeypatch.setattr(sqlglot, "parse_one", lambda *_, **__: 1 / 0)
    with pytest.raises(PolicyError):
        compiled("TRUE")


def test_the_server_gets_a_jsonpath_or_what_is_wrong_and_where() -> None:
    """Proves: A2."""
    known, levels = json.dumps(KNOWN), json.dumps(LEVELS)
    condition = "item.classification <= 'internal'"
    assert compile_policy(condition, known, levels) == (compiled(condition), None, None)
    found, message, position = compile_policy("TRUE AND agent.name", known, levels)
    assert (found, position) == (None, 9)
    assert message == "agent.name is no condition by itself"


def test_writers_never_load_the_parser() -> None:
    """Importing it takes a quarter of a second on each connection. Proves: A2."""
    program = "import sys, memwarden_core.server; sys.exit('sqlglot' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", program], env={"PYTHONPATH": ":".join(sys.path)}, check=False
    )
    assert done.returncode == 0
