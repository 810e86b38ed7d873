"""`memwarden settle`: a judge decides about memories that are marked as contradictory."""

from __future__ import annotations

import json
from collections import Counter
from typing import Annotated, Any

import typer

from memwarden._sync.client import Client
from memwarden.cli.options import AsJson, Dsn, connected, told_errors
from memwarden.cli.repeating import Every, repeat
from memwarden.cli.terminal import cell, console, print_json, table
from memwarden.errors import MemwardenError
from memwarden.settling import Settled
from memwarden.settling import settle as run
from memwarden.worker.plugin import PluginError


def settle(
    *,
    judges: Annotated[
        str,
        typer.Option(
            help="The settings of the plug-in judges, a JSON object: "
            '{"judges": [{"judge": "nli", "folder": "/models/nli"}]}.'
        ),
    ],
    layer: Annotated[str | None, typer.Option(help="By default all.", show_default=False)] = None,
    threshold: Annotated[float, typer.Option(min=0, max=1, help="How sure it must be.")] = 0.85,
    most: Annotated[int, typer.Option(min=1, help="Disputes to decide about in a run.")] = 100,
    every: Every = None,
    dsn: Dsn = "",
    as_json: AsJson = False,
) -> None:
    """Have a judge settle disputes: pairs that do not contradict each other lose their mark.

    As the login's agent, whose role permits DELETE for both memories. What the judge finds to
    contradict, or cannot tell, stays marked for a person. With --every it goes on until it ends.
    """
    with told_errors():
        from memwarden.worker.plugins.judges import Judges
    settings = _settings(judges)

    def settled(memory: Client) -> list[Settled]:
        try:
            judge = Judges().consensus(settings)
        except PluginError as error:
            raise MemwardenError(str(error)) from None
        return run(memory, judge, layer=layer, threshold=threshold, most=most)

    if every is not None:

        def once() -> list[Settled]:
            with Client.connect(dsn) as memory:
                return settled(memory)

        repeat(every, once, _told, as_json)
        return
    with told_errors(), connected(dsn) as memory:
        done = settled(memory)
    if as_json:
        print_json(done)
        return
    out = console()
    rows = table(out, "memory", "other", "outcome", "relation", whole=("memory", "other"))
    for each in done:
        rows.add_row(
            cell(each.item_id), cell(each.other_item_id), cell(each.outcome), cell(each.relation)
        )
    out.print(rows)


def _told(done: list[Settled]) -> str:
    by = Counter(each.outcome for each in done)
    return "disputes " + (", ".join(f"{name} {by[name]}" for name in sorted(by)) or "none")


def _settings(text: str) -> dict[str, Any]:
    try:
        settings = json.loads(text)
    except ValueError:
        settings = None
    if not isinstance(settings, dict):
        raise typer.BadParameter("a JSON object", param_hint="--judges")
    return settings
