# ruff: noqa: E501 - a pattern is easier to read whole
"""Hidden instructions: text that gives orders to the model that will read it.

What is looked for is how such orders are made, not known sentences: a verb in the imperative, aimed
at what holds the model (its instructions, its limits, its secrets, whoever approves its acts). The
same words in a report, a question or an explanation are no order.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..findings import Hit
from .exfiltration import exfiltration, tool_calls
from .override import foreign_override, override
from .oversight import autonomy, memory
from .roles import fake_roles, role

_FAMILIES = (
    override,
    foreign_override,
    role,
    exfiltration,
    autonomy,
    memory,
    fake_roles,
    tool_calls,
)


def blatant(text: str, lower: str) -> Iterator[Hit]:
    """Yield the place from the first to the last sign in a text that shows several kinds of them."""
    firsts = []
    for family in _FAMILIES:
        hit = next(iter(family(text, lower)), None)
        if hit is not None:
            firsts.append(hit)
    if len(firsts) >= 2:
        yield Hit(min(h.start for h in firsts), max(h.end for h in firsts), 0.95)
