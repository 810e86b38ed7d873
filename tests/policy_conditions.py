"""Random policy conditions that know their own truth, and random documents to try them on.

A condition is made together with a function that says whether it holds. That function comes from
how the condition was made, not from its text, so it shares nothing with the compiler.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, NamedTuple

from hypothesis import strategies as st

KNOWN = {
    "agent": {
        "name": "text",
        "team": "text",
        "order": "text",
        "grade": "number",
        "validated": "boolean",
        "clearance": "level",
        "domains": "text[]",
    },
    "item": {
        "tag": "text",
        "score": "number",
        "own": "boolean",
        "classification": "level",
        "domains": "text[]",
    },
}
LEVELS = {"public": 0, "internal": 1, "confidential": 2, "restricted": 3}
RIGHTS = ["READ", "WRITE", "DELETE", "ADMIN"]

TEXTS = ["", "a", "ab", "it's", 'say "x"', "\\", "50% off", "AND", "$.x", "naïve ☃ 𝄞", "true", "1"]
NUMBERS = [-5, 0, 1, 1.5, 2.25, 10, 10**17]
VALUES: dict[str, st.SearchStrategy[Any]] = {
    "text": st.sampled_from(TEXTS),
    "number": st.sampled_from(NUMBERS),
    "boolean": st.booleans(),
    "level": st.sampled_from(list(LEVELS.values())),
    "text[]": st.lists(st.sampled_from(TEXTS), max_size=3),
}
JUNK = st.recursive(
    st.none() | st.booleans() | st.sampled_from(NUMBERS) | st.sampled_from(TEXTS),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("ab"), inner),
    max_leaves=4,
)

Document = dict[str, Any]
Truth = Callable[[Document], bool]
COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "<>": operator.ne,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


class Condition(NamedTuple):
    """A condition's text, how loosely it binds (OR 0, AND 1, NOT 2, else 3), when it holds."""

    text: str
    binding: int
    holds: Truth

    def negated_if(self, no: bool) -> Condition:
        """The same text with the opposite truth, for what has a NOT inside."""
        return self._replace(holds=lambda d: not self.holds(d)) if no else self


class Operand(NamedTuple):
    """What is compared: its text, its type, and its value in a document, None when absent."""

    text: str
    type: str
    value: Callable[[Document], Any]


@st.composite
def documents(draw: st.DrawFn) -> Document:
    """A document; here and there an attribute is missing, null, or of any type whatsoever."""
    document: Document = {"operation": draw(st.sampled_from(RIGHTS))}
    for bearer, types in KNOWN.items():
        document[bearer] = {}
        for name, type_ in types.items():
            odd = draw(st.integers(0, 15))
            if odd > 0:
                kind = {1: st.none(), 2: JUNK, 3: st.lists(VALUES[type_], max_size=2)}
                document[bearer][name] = draw(kind.get(odd, VALUES[type_]))
    return document


def attribute(bearer: str, name: str) -> Operand:
    """An attribute; what is of another type than declared counts as absent."""
    type_ = KNOWN[bearer][name]

    def value(document: Document) -> Any:
        found = document[bearer].get(name)
        return found if is_of_type(found, type_) else None

    return Operand(f"{bearer}.{name}", type_, value)


def is_of_type(value: Any, type_: str) -> bool:
    """Whether a JSON value is of the type that an attribute was declared with."""
    if type_ == "text[]":
        return isinstance(value, list) and all(isinstance(each, str) for each in value)
    if type_ in ("number", "level"):
        return isinstance(value, int | float) and not isinstance(value, bool)
    return isinstance(value, {"text": str, "boolean": bool}[type_])


OPERATION = Operand("operation", "operation", lambda document: document["operation"])
ATTRIBUTES = [attribute(bearer, name) for bearer, names in KNOWN.items() for name in names]


def of_type(*types: str) -> list[Operand]:
    """The operands of these types that read the document."""
    return [operand for operand in [*ATTRIBUTES, OPERATION] if operand.type in types]


def quoted(text: str, mark: str) -> str:
    """A text as a string literal."""
    return mark + text.replace(mark, mark * 2) + mark


@st.composite
def literals(draw: st.DrawFn, type_: str) -> Operand:
    """A literal of a type."""
    mark = draw(st.sampled_from("'\""))
    if type_ == "operation":
        right = draw(st.sampled_from(RIGHTS))
        text = draw(st.sampled_from([right, right.lower(), quoted(right, mark)]))
        return Operand(text, type_, lambda _: right)
    if type_ == "level":
        name = draw(st.sampled_from(list(LEVELS)))
        return Operand(quoted(name, mark), type_, lambda _: LEVELS[name])
    value = draw(VALUES[type_])
    text = quoted(value, mark) if type_ == "text" else str(value)
    return Operand(text, type_, lambda _: value)


def compared(left: Operand, symbol: str, right: Operand, blank: str) -> Condition:
    """A comparison: whatever is absent equals nothing and is in no order."""

    def holds(document: Document) -> bool:
        a, b = left.value(document), right.value(document)
        if a is None or b is None:
            return symbol in ("<>", "!=")
        return COMPARE[symbol](a, b)

    return Condition(f"{left.text}{blank}{symbol}{blank}{right.text}", 3, holds)


@st.composite
def comparisons(draw: st.DrawFn) -> Condition:
    """``operand symbol operand``, at least one of them from the document."""
    ordered = draw(st.booleans())
    types = ("number", "level") if ordered else ("text", "boolean", "operation")
    left = draw(st.sampled_from(of_type(*types)))
    right: Operand = draw(literals(left.type))
    if left.type != "operation" and draw(st.booleans()):
        right = draw(st.sampled_from(of_type(left.type)))
    if draw(st.booleans()):
        left, right = right, left
    symbol = draw(st.sampled_from(list(COMPARE) if ordered else ["=", "<>", "!="]))
    return compared(left, symbol, right, draw(st.sampled_from(["", " ", "\n\t "])))


@st.composite
def tests_of_one(draw: st.DrawFn) -> Condition:
    """IN (...), BETWEEN, LIKE and IS NULL, with and without NOT."""
    no = draw(st.booleans())
    word = "NOT " if no else ""
    kind = draw(st.sampled_from(["IN", "BETWEEN", "LIKE", "IS"]))
    if kind == "IN":
        one = draw(st.sampled_from(of_type("text", "number", "boolean", "level", "operation")))
        among: list[Operand] = draw(st.lists(literals(one.type), min_size=1, max_size=3))
        listed = ", ".join(each.text for each in among)
        return Condition(
            f"{one.text} {word}IN ({listed})",
            3,
            lambda d: one.value(d) in [each.value(d) for each in among],
        ).negated_if(no)
    if kind == "BETWEEN":
        one = draw(st.sampled_from(of_type("number", "level")))
        low, high = (draw(literals(one.type) | st.sampled_from(of_type(one.type))) for _ in "ab")
        above, below = compared(one, ">=", low, ""), compared(one, "<=", high, "")
        return Condition(
            f"{one.text} {word}between {low.text} AND {high.text}",
            3,
            lambda d: above.holds(d) and below.holds(d),
        ).negated_if(no)
    if kind == "LIKE":
        one = draw(st.sampled_from(of_type("text")))
        prefix = draw(st.sampled_from([text for text in TEXTS if not set(text) & set("%_\\")]))
        pattern = quoted(prefix + "%", draw(st.sampled_from("'\"")))
        return Condition(
            f"{one.text} {word}LIKE {pattern}",
            3,
            lambda d: is_of_type(one.value(d), "text") and one.value(d).startswith(prefix),
        ).negated_if(no)
    one = draw(st.sampled_from(ATTRIBUTES))
    bearer, name = one.text.split(".")
    absent = Condition(f"{one.text} is {word}null", 3, lambda d: d[bearer].get(name) is None)
    return absent.negated_if(no)


@st.composite
def memberships(draw: st.DrawFn) -> Condition:
    """``value = ANY (list)`` and ``value IN list``."""
    one = draw(literals("text") | st.sampled_from(of_type("text")))
    array = draw(st.sampled_from(of_type("text[]")))
    form, no = draw(
        st.sampled_from([("{} = ANY ({})", False), ("{} IN {}", False), ("{} NOT IN {}", True)])
    )
    return Condition(
        form.format(one.text, array.text),
        3,
        lambda d: one.value(d) in (array.value(d) or ()),
    ).negated_if(no)


constants = st.sampled_from(
    [Condition("TRUE", 3, lambda _: True), Condition("false", 3, lambda _: False)]
)
flags = st.sampled_from(of_type("boolean")).map(
    lambda flag: Condition(flag.text, 3, lambda d: flag.value(d) is True)
)


@st.composite
def combined(draw: st.DrawFn, inner: st.SearchStrategy[Condition]) -> Condition:
    """Conditions joined by AND or OR, or one negated; brackets where they are needed."""
    binding = draw(st.sampled_from([0, 1, 2]))
    parts = draw(
        st.lists(inner, min_size=1 if binding == 2 else 2, max_size=1 if binding == 2 else 4)
    )
    texts = [
        f"({part.text})" if part.binding < binding or draw(st.booleans()) else part.text
        for part in parts
    ]
    if binding == 2:
        return Condition(f"NOT {texts[0]}", 2, lambda d: not parts[0].holds(d))
    word, join = ("OR", any) if binding == 0 else ("AND", all)
    return Condition(
        f" {draw(st.sampled_from([word, word.lower()]))} ".join(texts),
        binding,
        lambda d: join(part.holds(d) for part in parts),
    )


simple = comparisons() | tests_of_one() | memberships() | flags | constants
conditions = st.recursive(simple, combined, max_leaves=8)

# What text made of the language's own pieces may look like; hardly any of it is a condition.
PIECES = [
    *("AND", "OR", "NOT", "IN", "BETWEEN", "IS", "NULL", "LIKE", "ANY", "TRUE", "false"),
    *("(", ")", ",", "=", "<>", "!=", "<", "<=", ">", ">=", "READ", "write", "operation"),
    *("agent.name", "agent.grade", "agent.domains", "agent.clearance", "item.own", "item.tag"),
    *("'a'", '"b%"', "'public'", "1", "-2.50", "0x1", "'", '"', ";", "--", "/*", "::text", "$1"),
    *("SELECT", "lower", "agent", "item.", "E'a'", "$$a$$", "{#", "%s", "?", ".", "[", "\\", "é"),
]


@st.composite
def damaged(draw: st.DrawFn) -> str:
    """A condition with one part replaced by another piece, or by none."""
    text = draw(conditions).text
    start = draw(st.integers(0, len(text)))
    end = min(len(text), start + draw(st.integers(0, 12)))
    return f"{text[:start]} {draw(st.sampled_from(['', *PIECES]))} {text[end:]}"


soups = st.lists(st.sampled_from(PIECES), max_size=14).map(" ".join) | damaged()
