"""Policy conditions: written in SQL, compiled to jsonpath, which can call and change nothing.

    agent.domain_specialization = "medical" AND item.domain_tag = "medical" AND operation = WRITE

Operands are ``agent.<attribute>``, ``item.<attribute>``, ``operation`` and literals. Strings stand
in single or double quotes. There are AND, OR, NOT, brackets, TRUE, FALSE, comparisons, IN, BETWEEN,
IS NULL, LIKE 'prefix%' and ``'x' = ANY(list)``, and nothing else.

sqlglot says how the pieces belong together. It gets them with every operand replaced by a made-up
name that holds its number: no text of the condition reaches it, and whatever it returns leads back
to the places in the condition.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from ..light import TYPE_CHECKING
from .tokens import OPERANDS, PolicyError, Token, tokens
from .values import Value, Vocabulary

if TYPE_CHECKING:
    from sqlglot.expressions import Expression

__all__ = ["PolicyError", "compile_condition"]

_COMPARISONS = {"EQ": "=", "NEQ": "=", "LT": "<", "LTE": "<=", "GT": ">", "GTE": ">="}
# The nodes of a tree, with the arguments that are understood. Releases of sqlglot differ in them,
# and one that is passed over could turn a condition into its opposite.
_NODES = {
    **{kind: {"this", "expression"} for kind in (*_COMPARISONS, "And", "Or")},
    **{kind: {"this"} for kind in ("Not", "Paren", "Any", "Column", "Identifier")},
    **{kind: {"this", "expression", "negate"} for kind in ("Is", "Like")},
    "Between": {"this", "low", "high", "negate"},
    "In": {"this", "expressions", "field", "negate"},
    "Null": set(),
}
# Fifty brackets take sqlglot 1,300 calls; Python allows 1,000 unless told otherwise.
_CALLS = 6_000


def compile_condition(
    condition: str, known: Mapping[str, Mapping[str, str]], levels: Mapping[str, int]
) -> str:
    """Return the jsonpath predicate of a condition: true or false on every document, never null.

    ``known`` names the attributes and their types (text, number, boolean, level, text[]) of
    ``agent`` and ``item``, ``levels`` the numbers of the levels. The document is
    ``{"agent": {...}, "item": {...}, "operation": "READ"}``. Raises: PolicyError.
    """
    found = tokens(condition)
    try:
        with calls_allowed():
            return Compiler(found, Vocabulary(known, levels)).condition(tree_of(found))
    except PolicyError:
        raise
    except Exception as error:  # whatever sqlglot raises or returns, nothing comes of it
        raise PolicyError("the condition cannot be compiled", 0) from error


@contextmanager
def calls_allowed(number: int = _CALLS) -> Iterator[None]:
    """Let Python call so deep that everything which may be written is parsed."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, number))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)


def tree_of(found: list[Token]) -> Expression:
    """The tree of the pieces; an operand is a column whose name is o and its number."""
    # Importing it takes a tenth of a second: only who compiles, waits.
    from sqlglot import ParseError, exp, parse_one

    # One piece a line: sqlglot reports lines.
    lines = (f"o{n}" if t.kind in OPERANDS else t.text.upper() for n, t in enumerate(found))
    try:
        tree = parse_one("\n".join(lines), into=exp.Condition, dialect="postgres")
    except ParseError as error:
        token = found[error.errors[0]["line"] - 1]
        raise PolicyError(f"unexpected {token.text[:50]!r}", token.position) from None
    if sorted(_operands(tree)) != [n for n, t in enumerate(found) if t.kind in OPERANDS]:
        raise ValueError("an operand is lost")
    return tree


class Compiler:
    """One walk over a tree, from the condition down to its operands."""

    def __init__(self, found: list[Token], vocabulary: Vocabulary) -> None:
        self._tokens = found
        self._vocabulary = vocabulary

    def condition(self, node: Expression) -> str:
        """The jsonpath of a node that is true or false."""
        kind = self._kind(node)
        if kind == "Paren":
            return self.condition(node.this)
        if kind == "Not":
            return _not(self.condition(node.this))
        if kind in ("And", "Or"):
            members = [self.condition(member) for member in self._members(node, kind)]
            return f"({(' && ' if kind == 'And' else ' || ').join(members)})"
        if kind == "Column":
            return self._vocabulary.truth(self._value(node, self._tokens[0]))
        test = self._test(node, kind)
        return _not(test) if kind == "NEQ" or node.args.get("negate") else test

    def _members(self, node: Expression, kind: str) -> list[Expression]:
        """The sides of a chain of ANDs or of ORs, which sqlglot nests to the left."""
        members: list[Expression] = []
        while type(node).__name__ == kind:
            self._kind(node)
            members.append(node.expression)
            node = node.this
        return [node, *reversed(members)]

    def _test(self, node: Expression, kind: str) -> str:
        """What a node says of its left side, without its negation."""
        place = self._after(node.this)
        operator, following = self._tokens[place], self._tokens[place + 1]
        left = self._value(node.this, operator)
        if kind in _COMPARISONS:
            if following.kind == "ANY":
                if kind != "EQ":
                    raise PolicyError("ANY stands after = only", following.position)
                return self._vocabulary.member(left, self._value(node.expression, following))
            right = self._value(node.expression, following)
            return self._vocabulary.compare(left, operator, _COMPARISONS[kind], right)
        if kind == "Between":
            low = self._value(node.args["low"], following)
            high = self._value(node.args["high"], following)
            above = self._vocabulary.compare(left, operator, ">=", low)
            return f"({above} && {self._vocabulary.compare(left, operator, '<=', high)})"
        if kind == "In" and node.args.get("field"):
            return self._vocabulary.member(left, self._value(node.args["field"], following))
        if kind == "In":
            literals = [self._value(each, following) for each in node.expressions]
            return self._vocabulary.listed(left, literals)
        if kind == "Like":
            return self._vocabulary.like(left, self._value(node.expression, following))
        if kind == "Is" and self._kind(node.expression) == "Null":
            return _not(self._vocabulary.present(left))
        raise self._foreign(node)

    def _kind(self, node: Expression) -> str:
        """The name of a node that is understood, with all that it carries."""
        kind = type(node).__name__
        said = {name for name, value in node.args.items() if value not in (None, False, [])}
        if kind not in _NODES or not said <= _NODES[kind]:
            raise self._foreign(node)
        return kind

    def _value(self, node: Expression, instead: Token) -> Value:
        """The operand that a node is; an error points to the other token when it is none."""
        kind = self._kind(node)
        if kind in ("Paren", "Any"):
            return self._value(node.this, instead)
        if kind != "Column" or self._kind(node.this) != "Identifier":
            raise PolicyError("only attributes and literals are compared", instead.position)
        return self._vocabulary.value(self._tokens[_number(node)])

    def _after(self, node: Expression) -> int:
        """The place of the token after a node, which is the operator after a left side."""
        place = max(_operands(node)) + 1
        while self._tokens[place].kind in (")", "NOT"):
            place += 1
        return place

    def places(self, node: Expression) -> Iterator[int]:
        """The places of the operands in and below a node."""
        return _operands(node)

    def _foreign(self, node: Expression) -> PolicyError:
        token = self._tokens[min(_operands(node), default=0)]
        return PolicyError("this is not in the language", token.position)


def _operands(node: Expression) -> Iterator[int]:
    """The places of the operands in and below a node."""
    return (_number(each) for each in node.walk() if type(each).__name__ == "Column")


def _number(column: Expression) -> int:
    return int(column.name[1:])


def _not(test: str) -> str:
    return f"!{test}" if test.startswith("(") else f"!({test})"
