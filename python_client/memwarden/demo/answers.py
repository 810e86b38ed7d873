"""Shows questions with what recall answered, and how much of their evidence was found."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from memwarden.cli.memory import show_recalled
from memwarden.cli.terminal import printable, table
from memwarden.demo.ask import Answer, K
from memwarden.demo.conversation import Conversation
from memwarden.demo.report import heading

_SHOWN = 3


def show_answers(
    out: Console, conversation: Conversation, answers: Sequence[Answer], count: int
) -> None:
    """Print the first `count` questions with their best answers."""
    shown = min(count, len(answers))
    heading(out, f"Questions about {conversation.name}: {shown} of {len(answers)}")
    for answer in answers[:count]:
        question = answer.question
        out.print()
        out.print(Text(printable(question.text), style="bold cyan"))
        place = f"yes, in place {answer.rank}" if answer.rank else "no"
        out.print(
            Text(
                f"expected: {printable(question.answer)} "
                f"(evidence {printable(', '.join(question.dia_ids))}); in the top {K}: {place}"
            )
        )
        show_recalled(out, list(answer.items[:_SHOWN]))


def show_evidence_recall(out: Console, asked: dict[str, Sequence[Answer]]) -> None:
    """Print how much of the evidence the first places held, by conversation and over all."""
    heading(out, f"Evidence recall@{K}: the share of the evidence turns in the first {K} places")
    numbers = ("questions", "turns only", "turns and facts")
    rows = table(out, "conversation", *numbers, right=numbers)
    for name, count, found, with_facts in evidence_recall(asked):
        if name == "all" or len(asked) > 1:
            rows.add_row(Text(printable(name)), str(count), f"{found:.3f}", f"{with_facts:.3f}")
    out.print(rows)
    out.print(
        "A noted fact counts for the turns it cites. Questions without named evidence are left out."
    )


def evidence_recall(asked: dict[str, Sequence[Answer]]) -> list[tuple[str, int, float, float]]:
    """Return (name, questions, turns only, turns and facts) of each conversation, and of all."""
    everything = [answer for answers in asked.values() for answer in answers]
    return [
        (
            name,
            len(answers),
            sum(each.found for each in answers) / len(answers),
            sum(each.found_with_facts for each in answers) / len(answers),
        )
        for name, answers in (*asked.items(), ("all", everything))
        if answers
    ]
