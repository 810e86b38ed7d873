"""Policy conditions are checked when they are written, and compile to a type that only compares."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
import sqlglot
from hypothesis import given
from sqlglot import exp

from memwarden_core.policy.condition import PolicyError, compile_condition
from memwarden_core.server import compile_policy
from policy_conditions import KNOWN, LEVELS, Condition, conditions

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
        exp.and_(exp.column("o0"), exp.column("o0")),
        exp.Null(),
        exp.Tuple(),
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
    """Importing it takes a tenth of a second on each connection. Proves: A2."""
    program = "import sys, memwarden_core.server; sys.exit('sqlglot' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", program], env={"PYTHONPATH": ":".join(sys.path)}, check=False
    )
    assert done.returncode == 0
