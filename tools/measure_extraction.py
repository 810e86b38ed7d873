#!/usr/bin/env python3
"""Count the candidates that the built-in rules find in conversations, and how many are right.

usage: tools/measure_extraction.py FILE

FILE is locomo/dev_flat.json of the data from outside (docs/capture.md says where). What is wrong
was decided by hand, reading every candidate beside its turn: it names the turns below. A candidate
is wrong when it does not say, by itself, something of its speaker that holds beyond that moment.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "plpython"))

from memwarden_core.extraction.candidates import candidates

# Candidates that were read: how many there were, and those that are wrong, by conversation, turn
# and rule. With other rules they are to be read again.
READ = 38
WRONG = {
    ("conv-26", "D11:13", "preference"),
    ("conv-30", "D3:6", "decision"),
    ("conv-30", "D13:20", "asked"),
    ("conv-41", "D18:17", "preference"),
    ("conv-41", "D18:19", "preference"),
}


def main() -> int:
    """Print the figures; 1 where the candidates are not those that were read."""
    turns = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))["turns"]
    found = []
    for turn in turns:
        speaker, _, text = turn["text"].partition(": ")
        for each in candidates({"role": "user", "speaker": speaker, "text": text}):
            rule = each["justification"].removeprefix("rule ")
            found.append((turn["sid"], turn["dia"], rule, each["confidence"]))
    rules = Counter(rule for *_, rule, _ in found)
    print(f"{len(turns)} turns, {len(found)} candidates: {dict(rules)}")
    for floor in (0.0, 0.5):
        kept = [each for each in found if each[3] >= floor]
        right = sum(each[:3] not in WRONG for each in kept)
        print(f"confidence {floor} or more: {right} of {len(kept)} right")
    if len(found) != READ:
        print(f"{READ} were read by hand: read them again", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
