"""`memwarden metrics`, `health` and `gate`: how well memory is, for people and for CI."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated

import typer
from rich.text import Text

from memwarden.cli.options import AsJson, Dsn, ExitCode, connected
from memwarden.cli.terminal import cell, console, lines, print_json, table
from memwarden.results import Health, Metric

Org = Annotated[str | None, typer.Option(help="Only this organisation.", show_default=False)]

_STYLES = {
    "OK": "green",
    "HEALTHY": "green",
    "WARNING": "yellow",
    "DEGRADED": "yellow",
    "UNKNOWN": "yellow",
    "ALERT": "red",
    "CRITICAL": "red",
}


def _styled(state: str) -> Text:
    return Text(state, style=_STYLES.get(state, "dim"))


def metrics(
    *,
    org: Org = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Also what is well, and each part.")
    ] = False,
    dsn: Dsn = "",
    as_json: AsJson = False,
) -> None:
    """Show the metrics that are not well, and what to do; with --all every metric."""
    with connected(dsn) as memory:
        found = memory.metrics(org)
    if as_json:
        print_json(found)
        return
    shown = [each for each in found if everything or (each.state != "OK" and each.part == "*")]
    out = console()
    heads = ("metric", "organisation", "value", "healthy", "state", "what to do")
    rows = table(out, *heads, whole=("metric",))
    for each in shown:
        rows.add_row(
            lines(each.metric, None if each.part == "*" else each.part),
            cell(each.org),
            cell(_value(each)),
            cell(each.healthy),
            _styled(each.state),
            cell(None if each.state == "OK" else each.remedy),
        )
    if shown:
        out.print(rows)
    if not everything:
        well = sum(each.state == "OK" for each in found)
        out.print(f"{well} values are well; --all shows them")


def _value(metric: Metric) -> str | None:
    return None if metric.value is None else f"{metric.value:.4g} {metric.unit}"


def health(*, org: Org = None, dsn: Dsn = "", as_json: AsJson = False) -> None:
    """Show how well the memory of each organisation is, and what costs how much."""
    with connected(dsn) as memory:
        found = memory.health(org)
    if as_json:
        print_json(found)
        return
    _show(found)


def _show(found: Iterable[Health]) -> None:
    out = console()
    rows = table(out, "organisation", "score", "state", "a day ago", "costs", "without data")
    for each in found:
        costs = (f"{one['metric']} {one['cost']:.3f}" for one in each.costs if one["cost"] > 0)
        rows.add_row(
            cell(each.org),
            cell(each.score),
            _styled(each.state),
            cell(each.a_day_ago),
            lines(*costs),
            lines(*each.missing),
        )
    out.print(rows)


def gate(
    *,
    least: Annotated[float, typer.Option(help="The least score, 0 to 1.", min=0, max=1)] = 0.7,
    org: Org = None,
    dsn: Dsn = "",
    as_json: AsJson = False,
) -> None:
    """Let a deployment pass, or not: exit with 1 where the score is too low or unknown.

    What it reads is as of the last `CALL memwarden.take_metrics()`. Metrics without data never
    count as good: where they are more than half of the weight, the score is unknown. Exits with 2
    when it could not look.
    """
    with connected(dsn, ExitCode.UNABLE) as memory:
        found = memory.health(org)
        known = {} if as_json else {(m.metric, m.org): m for m in memory.metrics(org)}
    failing = [each for each in found if each.score is None or each.score < least]
    if as_json:
        print_json(found)
    else:
        for each in failing:
            print(f"{each.org}: {_verdict(each, least)}")
            for one in each.costs:
                if one["cost"] > 0:
                    print(f"  {one['metric']} costs {one['cost']:.3f}{_why(one, each, known)}")
            if each.missing:
                print(f"  without data: {', '.join(each.missing)}")
        if not failing:
            print(f"pass: {len(found)} organisations with at least {least:g}")
    if not found:
        print("there is no organisation that this login may see")
    if failing or not found:
        raise typer.Exit(ExitCode.FAILED)


def _verdict(health: Health, least: float) -> str:
    if health.score is None:
        return f"unknown, only {health.measured:.0%} of the weight has data"
    return f"{health.score:.3f} is less than {least:g} ({health.state})"


def _why(cost: dict[str, object], health: Health, known: dict[tuple[str, str], Metric]) -> str:
    metric = known.get((str(cost["metric"]), health.org))
    if metric is None:  # operation, which is the mean of several
        return ": see memwarden metrics"
    return f": {_value(metric)}, healthy is {metric.healthy}; {metric.remedy}"
