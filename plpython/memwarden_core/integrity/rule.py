"""Integrity rules: what must hold of a memory, or of two of one subject, compiled to jsonpath.

    memory.content.start <= memory.content.end
    memory.valid_from < other.valid_from

The language is that of policy conditions, over ``memory.*`` and ``other.*``. As in a CHECK
constraint, a rule says nothing of what is not there: it is broken only where every attribute that
would decide it is present, and it does not hold.
"""

from __future__ import annotations

from ..light import TYPE_CHECKING
from ..policy.condition import Compiler, calls_allowed, tree_of
from ..policy.tokens import Language, PolicyError, Token, tokens
from .values import OWNERS, Attributes

if TYPE_CHECKING:
    from sqlglot.expressions import Expression

__all__ = ["PolicyError", "compile_rule"]

_PATH = r"(?:\.[^\W\d]\w*)+"


def compile_rule(condition: str, is_of_two: bool) -> str:
    """Return the jsonpath that is true where a rule is broken, and false where it is not.

    What cannot be compared makes it unknown: that is broken, too. The document is
    ``{"memory": {...}, "other": {...}}``, the second where the rule ``is_of_two`` memories.
    Raises: PolicyError.
    """
    owners = OWNERS if is_of_two else OWNERS[:1]
    hint = ", ".join(f"{owner}.<attribute>" for owner in owners)
    found = tokens(condition, Language(owners, _PATH, False, hint))
    if is_of_two and not any(t.text.startswith("other.") for t in found if t.kind == "attribute"):
        raise PolicyError("a rule of two memories speaks of other.<attribute>", 0)
    try:
        with calls_allowed():
            return _RuleCompiler(found, Attributes()).broken(tree_of(found))
    except PolicyError:
        raise
    except Exception as error:  # whatever sqlglot raises or returns, nothing comes of it
        raise PolicyError("the condition cannot be compiled", 0) from error


class _RuleCompiler(Compiler):
    """Each node has two forms: where it holds, and where it is broken; absent is neither."""

    def __init__(self, found: list[Token], attributes: Attributes) -> None:
        super().__init__(found, attributes)
        self._attributes = attributes

    def holds(self, node: Expression) -> str:
        """The jsonpath that is true where a node is true."""
        return self._form(node, True)

    def broken(self, node: Expression) -> str:
        """The jsonpath that is true where a node is false."""
        return self._form(node, False)

    def _form(self, node: Expression, wanted: bool) -> str:
        kind = self._kind(node)
        if kind == "Paren":
            return self._form(node.this, wanted)
        if kind == "Not":
            return self._form(node.this, not wanted)
        if kind in ("And", "Or"):
            members = [self._form(member, wanted) for member in self._members(node, kind)]
            return f"({(' && ' if (kind == 'And') == wanted else ' || ').join(members)})"
        if kind == "Column":
            test = self._vocabulary.truth(self._value(node, self._tokens[0]))
        else:
            test = self._test(node, kind)
            wanted = wanted != (kind == "NEQ" or bool(node.args.get("negate")))
        there = [] if kind == "Is" else self._there(node)
        return f"({' && '.join([*there, test if wanted else f'!({test})'])})"

    def _there(self, node: Expression) -> list[str]:
        """The tests that the attributes of a leaf are there."""
        found = [self._tokens[place] for place in sorted(self.places(node))]
        attributes = [self._attributes.value(t) for t in found if t.kind == "attribute"]
        return list(dict.fromkeys(self._attributes.present(value) for value in attributes))
