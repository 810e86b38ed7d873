"""The text that a model reads: what of it fits, and how what is remembered is written on a line."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

Tokenizer: TypeAlias = Callable[[str], int]
"""How many tokens a text takes, by the tokenizer of the model that is to read it."""

HEADER = "Remembered, one JSON object a line."
# As memwarden_internal.quoted_line() has it: tags, fences, the marks of a chat's turns, line ends
# that JSON lets pass, what has no width, what turns the direction of writing.
_UNSAFE = re.compile(
    "[<>`|#\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufe00-\ufe0f"
    "\ufeff\ufff9-\ufffb\U000e0000-\U000e01ef]"
)


def quoted_line(document: Any) -> str:
    """Return a document as one line of JSON that its words cannot break out of."""
    text = json.dumps(document, ensure_ascii=False, allow_nan=False)
    return _UNSAFE.sub(
        lambda found: (
            json.dumps(found[0])[1:-1] if found[0] > "\x7f" else f"\\u{ord(found[0]):04x}"
        ),
        text,
    )


def quoted_lines(documents: Iterable[Any]) -> str:
    """Return documents one a line, with their numbers."""
    return "\n".join(
        quoted_line({"n": number, **document}) for number, document in enumerate(documents, 1)
    )


def fitting(text: str, count: Tokenizer, budget: int) -> tuple[str, list[int]]:
    """Return a prompt without the memories that its budget has no room for.

    Memories yield from the last one on, together with those that they contradict; working memory
    stays, also where it alone is more than the budget.

    Args:
        text: the prompt, pushed memories at its end below their header.
        count: the tokens of a text.
        budget: how many there may be.

    Returns:
        The text, and the positions from 1 on of the memories that were left out.
    """
    lines = text.split("\n")
    header = next((at for at, line in enumerate(lines) if line.startswith(HEADER)), None)
    if header is None:
        return text, []
    memories = {
        int(said["n"]): (line, said) for line in lines[header + 1 :] if (said := json.loads(line))
    }
    left_out: set[int] = set()
    while count(text) > budget and len(left_out) < len(memories):
        last = max(set(memories) - left_out)
        together = {last}
        while (
            grown := {other for each in together for other in _contradicted(memories, each)}
            - together
        ):
            together |= grown
        left_out |= together
        kept = [line for position, (line, _) in memories.items() if position not in left_out]
        text = "\n".join(lines[: header + 1] + kept if kept else lines[:header])
    return text, sorted(left_out)


def _contradicted(memories: dict[int, tuple[str, Any]], position: int) -> list[int]:
    return [
        int(other)
        for other in memories[position][1].get("contradicts", ())
        if int(other) in memories
    ]
