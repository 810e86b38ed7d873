"""Whoever locks a whole table, organisation or store waits for that no longer than it says."""

from __future__ import annotations

import re

from psycopg.rows import DictRow

LOCKS = re.compile(
    r"LOCK TABLE"
    r"|FROM memwarden_data\.(?:organisation|write_lock|layer|shelf|vector_move|storage|region)\b"
    r"[^;]*?FOR (?:NO KEY )?UPDATE(?! (?:OF \w+ )?SKIP LOCKED)"
)

# Who calls them has set how long they wait; or nobody waits behind them.
ELSEWHERE = {
    "memwarden_internal.close_doors": "sets lock_timeout before each lock",
    "memwarden_internal.hold_promoted": "within hold_scopes()",
    "memwarden_internal.shut": "within hold_scopes()",
    "memwarden_internal.finish_move": "within arrange_next_shelf()",
    "memwarden_internal.make_wide_shelf": "within arrange_next_shelf()",
    "memwarden_internal.refresh_wide_shelf": "within arrange_next_shelf()",
    "memwarden_internal.keep_embedders_out": "within arrange_next_shelf()",
    "memwarden_internal.give_month": "within try_to_maintain(), which is told how long",
    "memwarden_internal.schedule_jobs": "by setup(), when all else is done",
    "memwarden_internal.tune_layer": "within tune_next_layer()",
    "memwarden_internal.write_alone": "as every writer; those do not exclude each other",
    "memwarden_internal.write_set": "as every writer; those do not exclude each other",
}


def test_locks_of_all_are_waited_for_with_a_bound(functions: list[DictRow]) -> None:
    """By lock_timeout in the definition, or bound_wait() before the lock; none is listed idly."""
    loose = set()
    for f in functions:
        text = re.sub(r"'[^']*(LOCK TABLE[^']*)'", r"\1", f["text"])
        found = LOCKS.search(text)
        if found is None:
            continue
        settled = any(s.startswith("lock_timeout") for s in f["settings"] or [])
        if not settled and "bound_wait(" not in text[: found.start()]:
            loose.add(f["qualified"])
    assert loose == ELSEWHERE.keys()
    assert {f["qualified"] for f in functions if "hold_table(" in f["code"]}
