"""`memwarden metrics`, `health` and `gate`: how well memory is, for people and for CI."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import Annotated, Any

import typer
from rich.text import Text

from memwarden.cli.options import AsJson, Dsn, ExitCode, Moment, connected
from memwarden.cli.terminal import cell, console, lines, print_json, printable, table
from memwarden.results import GateAnswer, Health, Metric

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
    """Show the metrics that are not well, and what to do; with --all every metric.

    What there is nothing to measure of, since it was never set up or nobody uses it, is shown with
    --all.
    """
    with connected(dsn) as memory:
        found = memory.metrics(org)
    if as_json:
        print_json(found)
        return
    quiet = ("OK", "NOT_MEASURED")
    shown = [each for each in found if everything or (each.state not in quiet and each.part == "*")]
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
            cell(None if each.state in quiet else each.remedy),
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
    rows = table(out, "organisation", "score", "state", "a day ago", "costs", "missing")
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
    since: Moment = None,
    org: Org = None,
    dsn: Dsn = "",
    as_json: AsJson = False,
) -> None:
    """Let a deployment pass, or not: exit with 1 where a score is too low, with 7 if none is known.

    It measures at this moment, so what an evaluation has just reported counts; with --since, of
    writes and recalls nothing before it does. A score needs metrics of 0.3 of the weight. Where
    something is missing that should be there, the score must do whatever that would say. An
    organisation in which nobody writes or recalls stops no other. Exits with 2 when it could not
    look.
    """
    with connected(dsn, ExitCode.UNABLE) as memory:
        found = memory.health_gate(least, org=org, since=since)
        known = {} if as_json else {(m.metric, m.org): m for m in memory.metrics(org)}
    if as_json:
        print_json(found)
    else:
        for each in found:
            print(f"{printable(each.org)}: {_verdict(each, least)}")
            for line in _reasons(each, known):
                print(f"  {line}")
    if not found:
        print("there is no organisation that this login may see", file=sys.stderr)
    raise typer.Exit(_ending(found))


def _ending(found: Sequence[GateAnswer]) -> ExitCode:
    answers = {each.answer for each in found}
    if "FAIL" in answers:
        return ExitCode.FAILED
    if "PASS" in answers and all(each.answer == "PASS" or each.is_idle for each in found):
        return ExitCode.OK
    return ExitCode.UNKNOWN


def _verdict(gate: GateAnswer, least: float) -> str:
    told = {"PASS": "pass", "FAIL": "fail"}.get(gate.answer, "not known")
    idle = ", nobody writes or recalls" if gate.is_idle else ""
    if gate.score is None:
        return f"{told}, only {gate.measured:.0%} of the weight has data{idle}"
    return f"{told}, {gate.score:.3f} of {gate.measured:.0%} of the weight, least {least:g}{idle}"


def _reasons(gate: GateAnswer, known: dict[tuple[str, str], Metric]) -> Iterator[str]:
    if gate.answer != "PASS":
        for one in gate.costs:
            if one["cost"] > 0:
                yield f"{one['metric']} costs {one['cost']:.3f}{_why(one, gate, known)}"
    if gate.missing:
        yield f"missing: {', '.join(gate.missing)}"
    if gate.not_measured:
        yield f"not measured: {', '.join(gate.not_measured)}"


def _why(cost: dict[str, Any], gate: GateAnswer, known: dict[tuple[str, str], Metric]) -> str:
    metric = known.get((cost["metric"], gate.org))
    if metric is None:  # operation, which is the mean of several
        return ": see memwarden metrics"
    return f": {cost['value']:.4g} {metric.unit}, healthy is {metric.healthy}; {metric.remedy}"
