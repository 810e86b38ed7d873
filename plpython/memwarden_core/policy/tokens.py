"""The words of a policy condition: what it may be made of, and where each piece stands.

Everything is refused here that the language does not have, so that the SQL parser behind it sees
only brackets, connectives, comparisons and names that this package has made up.
"""

from __future__ import annotations

import re

from ..late import late
from ..light import NamedTuple

MAX_CHARACTERS = 2_000
MAX_NESTING = 50

RIGHTS = ("READ", "WRITE", "DELETE", "ADMIN")
_KEYWORDS = frozenset(("AND", "OR", "NOT", "IN", "BETWEEN", "IS", "NULL", "LIKE", "ANY"))

# Control characters, and those that make a text read otherwise than it is.
_UNSEEN = late("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")


class Language(NamedTuple):
    """What conditions of one kind speak of: attributes of owners, perhaps an operation."""

    owners: tuple[str, ...]
    path: str
    operations: bool
    hint: str


POLICY = Language(
    ("agent", "item"),
    r"\.[^\W\d]\w*",
    True,
    "agent.<attribute>, item.<attribute>, operation",
)

_PIECE = r"""
    (?P<blank>[ \t\r\n]+)
    | (?P<string>'(?:[^']|'')*+'|"(?:[^"]|"")*+")
    | (?P<number>-?[0-9][\w.]*)
    | (?P<compare><=|>=|<>|!=|=|<|>)
    | (?P<mark>[(),])
    | (?P<attribute>(?:%s)%s)
    | (?P<word>[^\W\d]\w*)
    """
_NUMBER = late(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?")


class PolicyError(ValueError):
    """What is wrong with a condition, and the offset of the character it is wrong at."""

    def __init__(self, message: str, position: int) -> None:
        super().__init__(message)
        self.message = message
        self.position = position


class Token(NamedTuple):
    """A piece of a condition. The kind is a keyword, a mark, ``compare`` or one of OPERANDS."""

    kind: str
    text: str
    position: int


OPERANDS = frozenset(("attribute", "operation", "right", "string", "number", "boolean"))
_STARTS = OPERANDS | {"(", "NOT"}
_ENDS = frozenset((")", "AND", "OR", "end"))
_AFTER_OPERAND = _ENDS | {"compare", ",", "NOT", "IN", "BETWEEN", "IS", "LIKE"}
# What may follow a piece. NOT has three meanings and AND two: what stands before tells which.
_FOLLOWS: dict[str, frozenset[str]] = {
    **dict.fromkeys(OPERANDS | {")"}, _AFTER_OPERAND),
    **dict.fromkeys(("start", "(", "AND", "OR", "NOT"), _STARTS),
    **dict.fromkeys(("BETWEEN", "BETWEEN x AND", "LIKE", ","), OPERANDS),
    "BETWEEN x": frozenset(("AND",)),
    "x NOT": frozenset(("IN", "BETWEEN", "LIKE")),
    "IS": frozenset(("NOT", "NULL")),
    "IS NOT": frozenset(("NULL",)),
    "NULL": _ENDS,
    "compare": OPERANDS | {"(", "ANY"},
    "ANY": frozenset("("),
    "IN": OPERANDS | {"("},
}
_IN_CONTEXT = {
    **dict.fromkeys(((before, "NOT") for before in OPERANDS | {")"}), "x NOT"),
    **dict.fromkeys((("BETWEEN", operand) for operand in OPERANDS), "BETWEEN x"),
    ("BETWEEN x", "AND"): "BETWEEN x AND",
    ("IS", "NOT"): "IS NOT",
}


def tokens(condition: str, language: Language = POLICY) -> list[Token]:
    """The pieces of a condition, each at a place where it may stand. Raises: PolicyError."""
    if len(condition) > MAX_CHARACTERS:
        raise PolicyError(f"a condition has at most {MAX_CHARACTERS:,} characters", MAX_CHARACTERS)
    unseen = _UNSEEN.search(condition)
    if unseen:
        name = f"U+{ord(unseen[0]):04X}"
        raise PolicyError(f"{name}: control characters are not allowed", unseen.start())
    found = _pieces(condition, language)
    _check_order([*found, Token("end", "", len(condition))])
    _check_brackets(found)
    return found


def unquoted(text: str) -> str:
    """What a string literal says."""
    return text[1:-1].replace(text[0] * 2, text[0])


def _pieces(condition: str, language: Language) -> list[Token]:
    pattern = re.compile(_PIECE % ("|".join(language.owners), language.path), re.VERBOSE)
    found = []
    position = 0
    while position < len(condition):
        piece = pattern.match(condition, position)
        if piece is None:
            raise _unreadable(condition, position)
        if piece.lastgroup != "blank":
            found.append(_token(str(piece.lastgroup), piece[0], position, language))
        position = piece.end()
    return found


def _unreadable(condition: str, position: int) -> PolicyError:
    character = condition[position]
    if character in "'\"":
        return PolicyError("the string is not closed", position)
    if condition.startswith(("--", "/*"), position):
        return PolicyError("comments are not allowed", position)
    return PolicyError(f"unexpected character {character!r}", position)


def _token(group: str, text: str, position: int, language: Language) -> Token:
    if group == "mark":
        return Token(text, text, position)
    if group == "word":
        return Token(_word(text, position, language), text, position)
    if group == "number" and not _NUMBER.fullmatch(text):
        raise PolicyError(f"{text[:50]!r}: numbers look like 7 or -0.5", position)
    line_end = re.search(r"[\t\r\n]", text)
    if line_end:
        raise PolicyError("a string stands on one line", position + line_end.start())
    return Token(group, text, position)


def _word(text: str, position: int, language: Language) -> str:
    """The kind of a word outside quotes; those of SQL may be written small."""
    word = text.upper() if text.isascii() else text
    if word in _KEYWORDS:
        return word
    if word in ("TRUE", "FALSE"):
        return "boolean"
    if language.operations and word in RIGHTS:
        return "right"
    if language.operations and word == "OPERATION":
        return "operation"
    if text in language.owners:
        raise PolicyError(f"{text} needs an attribute, as in {text}.name", position)
    raise PolicyError(
        f"unknown word {text[:50]!r}: a condition has {language.hint} and quoted strings,"
        " and no functions",
        position,
    )


def _check_order(found: list[Token]) -> None:
    previous, state = "", "start"
    for token in found:
        if token.kind not in _FOLLOWS[state]:
            raise _misplaced(token, previous)
        previous, state = token.text, _IN_CONTEXT.get((state, token.kind), token.kind)


def _misplaced(token: Token, previous: str) -> PolicyError:
    if token.kind == "NULL":
        message = "NULL stands in IS NULL and IS NOT NULL only"
    elif token.kind == "end":
        message = "the condition ends too early" if previous else "the condition is empty"
    else:
        message = f"unexpected {token.text[:50]!r}"
        message += f" after {previous[:50]!r}" if previous else " at the start"
    return PolicyError(message, token.position)


def _check_brackets(found: list[Token]) -> None:
    """Brackets close, lists follow IN, and nothing goes deeper than the parser is let."""
    opened: list[Token] = []
    in_list = [False]
    negations = [0]
    previous = ""
    for token in found:
        if token.kind == "(":
            opened.append(token)
            in_list.append(previous == "IN")
            negations.append(0)
        elif token.kind == ")":
            if not opened:
                raise PolicyError("this bracket closes none", token.position)
            for stack in (opened, in_list, negations):
                stack.pop()
        elif token.kind == "," and not in_list[-1]:
            raise PolicyError("a list stands after IN only", token.position)
        elif token.kind == "NOT":
            negations[-1] += 1
        elif token.kind in ("AND", "OR"):
            negations[-1] = 0
        if len(opened) + sum(negations) > MAX_NESTING:
            raise PolicyError(f"nested deeper than {MAX_NESTING}", token.position)
        previous = token.kind
    if opened:
        raise PolicyError("this bracket is not closed", opened[-1].position)
