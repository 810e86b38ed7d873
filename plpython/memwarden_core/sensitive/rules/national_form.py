"""What a rule for the numbers of a state is made of."""

from __future__ import annotations

import re

from ...light import Any
from ..decoding.decode import LONG_TOKEN
from ..personal.numbers import OTHER_NUMBERS


def number(
    name: str,
    pattern: str,
    examples: list[str],
    words: list[str],
    alone: bool = False,
    wrong: str | None = None,
    check: str | None = None,
) -> dict[str, Any]:
    """A rule for the numbers that ``check`` knows, by default a module of python-stdnum.

    Unless ``alone``, one of the words must name the number in the text.
    """
    first, second, third = examples
    wrong = wrong or _with_another_end(first)
    call = f"{words[0].strip('*')}: " if words else ""
    return {
        "id": f"pii.id.{name.replace('_', '')}",
        "version": 1,
        "kind": "pii.national_id",
        "level": "high",
        "action": "block",
        "score": 0.85 if alone else 0.9,
        "pattern": rf"\b({pattern})\b",
        "validator": check or f"stdnum:{name}",
        **(_alone(pattern) if alone else _by_name(words)),
        "tests": {
            "positive": [
                f"{call}{first}",
                f"{call}{second}.",
                f"On file ({call}{third}) since May",
            ],
            "negative": [
                f"{call}{wrong}",
                f"{call}X{second}9",
                f"Invoice number {third}" if alone else f"Seen near {third} of them",
            ],
        },
    }


def named(
    name: str,
    pattern: str,
    examples: list[str],
    words: list[str],
    wrong: str | None = None,
    check: str | None = None,
) -> dict[str, Any]:
    """A second rule for numbers that stand alone: in any shape, where the text names them."""
    rule = number(name, pattern, examples, words, wrong=wrong, check=check)
    return rule | {"id": rule["id"] + ".named"}


def _with_another_end(number: str) -> str:
    end = number[-1]
    return number[:-1] + (str((int(end) + 1) % 10) if end.isdigit() else "J" if end != "J" else "K")


def _alone(pattern: str) -> dict[str, Any]:
    """Members of a rule for numbers that nothing needs to name."""
    # Of letters and figures without a gap many patterns at once are dear to look for.
    is_word = "A-Z" in pattern and " " not in pattern
    return {
        "not_context": list(OTHER_NUMBERS),
        "prefilter_pattern": LONG_TOKEN if is_word else pattern,
    }


def _by_name(words: list[str]) -> dict[str, Any]:
    """Members of a rule for numbers that one of the words must name."""
    return {
        "context": words,
        "prefilter": sorted({_longest(word) for word in words}),
        "prefilter_pattern": "[0-9]{2}[ .\\-/]?[0-9]{2}",
    }


def _longest(phrase: str) -> str:
    """The longest word of a phrase, whose words may be joined by anything."""
    return max(re.split(r"[ *]+", phrase.strip("* ")), key=len)


D = "[0-9]"
DATE = r"[0-9]{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12][0-9]|3[01])"
DATE_OR_COORDINATION = r"[0-9]{2}(?:0[1-9]|1[0-2])(?:[06][1-9]|[1278][0-9]|[39][01])"
DAY = r"(?:0[1-9]|[12][0-9]|3[01])(?:0[1-9]|1[0-2])[0-9]{2}"
