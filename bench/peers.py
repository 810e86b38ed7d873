#!/usr/bin/env python3
"""Measure memwarden beside a pgvector table, LangGraph's PostgresStore and mem0, on one server.

Each measurement begins with an empty store: a fresh copy of the side's database. The sides take
turns, so that the noise of the machine meets all of them.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psycopg
from psycopg import Connection, sql
from psycopg.conninfo import make_conninfo

from measure import machine
from peer_plot import draw
from peer_stores import SIDES
from store import Stores

HERE = Path(__file__).resolve().parent
RUN = "memwarden_bench_run"


@dataclass
class Figures:
    """The rounds of one measurement of one side."""

    rates: list[float] = field(default_factory=list)
    passed: list[float] = field(default_factory=list)
    server: list[float] = field(default_factory=list)
    client: list[float] = field(default_factory=list)

    def add(self, part: dict[str, Any], things: int) -> None:
        """One round of so many memories or questions."""
        self.rates.append(things / (part["ended"] - part["began"]))
        self.passed.append(statistics.median(part["calls"]))
        self.server.append(part["server"] * 1000 / things)
        self.client.append(part["client"] * 1000 / things)

    def rate(self) -> str:
        """A second: the median of the rounds, and the least and the most."""
        middle = statistics.median(self.rates)
        return f"{middle:,.0f} ({min(self.rates):,.0f} to {max(self.rates):,.0f})"

    def times(self) -> str:
        """Milliseconds each: what passes for the caller, and the processor time of both ends."""
        passed, server, client = map(statistics.median, (self.passed, self.server, self.client))
        return f"{passed:.2f}; {server:.2f} + {client:.2f}"


class Bench:
    """The server, and the environment of the peers."""

    def __init__(self, dsn: str, folder: Path) -> None:
        self.dsn = dsn
        self.folder = folder
        # With the Python that the environment of this program was made with.
        own = str(Path(sys.prefix, "bin"))
        path = [each for each in os.environ["PATH"].split(os.pathsep) if each != own]
        made = subprocess.run(
            [HERE.parent / "tools/python-env", HERE / "peers.txt"],
            env=os.environ | {"PATH": os.pathsep.join(path)},
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
        self.python = Path(made.stdout.strip(), "bin/python")
        self.admin: Connection[Any] = psycopg.connect(dsn, autocommit=True)

    def clients(self, side: str, database: str, *arguments: str) -> str:
        """What the clients of one side print. mem0 keeps its history in a new folder."""
        with tempfile.TemporaryDirectory(dir=self.folder) as folder:
            own = side.startswith("memwarden ")
            paths = [str(HERE.parent / part) for part in ("python_client", "plpython")]
            return subprocess.run(
                [
                    # The client and its adapter run with what this program runs with.
                    sys.executable if own else self.python,
                    HERE / "peer_clients.py",
                    f"--side={side}",
                    f"--dsn={make_conninfo(self.dsn, dbname=database)}",
                    *arguments,
                ],
                env=os.environ
                | {"MEM0_DIR": folder}
                | ({"PYTHONPATH": os.pathsep.join(paths)} if own else {}),
                stdout=subprocess.PIPE,
                text=True,
                check=True,
            ).stdout

    def prepare(self, side: str) -> None:
        """Make the database of a side, with its tables and indexes."""
        if side.startswith("memwarden "):
            return  # a copy of what "memwarden" has
        if side == "memwarden":
            stores = Stores.create(self.dsn, scopes=2, database=self.template(side))
            stores.agent.close()
            stores.admin.close()
            return
        self.drop(self.template(side))
        self.admin.execute(sql.SQL("CREATE DATABASE {}").format(self.name(self.template(side))))
        self.clients(side, self.template(side), "--prepare")

    def measure(self, side: str, clients: int, batch: int, items: int, searches: int) -> Any:
        """One measurement in a fresh copy of the side's database."""
        self.drop(RUN)
        self.admin.execute(
            sql.SQL("CREATE DATABASE {} TEMPLATE {}").format(
                self.name(RUN), self.name(self.template(side))
            )
        )
        # What the copy has left to write is not the work of whom it is for.
        self.admin.execute("CHECKPOINT")
        answer = json.loads(
            self.clients(
                side,
                RUN,
                f"--items={items}",
                f"--searches={searches}",
                f"--batch={batch}",
                f"--clients={clients}",
            )
        )
        with psycopg.connect(self.dsn, dbname=RUN) as connection:
            stored = connection.execute(SIDES[side].stored).fetchone()
        if stored != (items,):
            raise SystemExit(f"{side}: {stored} memories are stored, and {items} were written")
        if answer["searches"]["found"] != 10 * searches:
            print(f"{side}: {answer['searches']['found']} found by {searches}", file=sys.stderr)
        self.drop(RUN)
        return answer

    def drop(self, database: str) -> None:
        """Drop a database of the bench."""
        self.admin.execute(
            sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(self.name(database))
        )

    @staticmethod
    def template(side: str) -> str:
        """The name of a side's database."""
        return f"memwarden_bench_{side.split()[0].lower()}"

    @staticmethod
    def name(database: str) -> sql.Identifier:
        """Quoted."""
        return sql.Identifier(database)


def table(title: str, figures: dict[tuple[str, int], dict[str, str]]) -> None:
    """Print one table: a row for each measurement, a column for each side."""
    print(f"\n| {title} | clients | {' | '.join(SIDES)} |")
    print("|---" * (2 + len(SIDES)) + "|")
    for (what, clients), sides in figures.items():
        print(f"| {what} | {clients} | {' | '.join(sides[side] for side in SIDES)} |")


def run(bench: Bench, given: argparse.Namespace) -> dict[tuple[str, int], dict[str, Figures]]:
    """All rounds; each begins with another side."""
    batches = f"writes in batches of {given.batch}"
    names = ("writes one by one", batches, "searches, ten best")
    figures: dict[tuple[str, int], dict[str, Figures]] = {
        (name, clients): {side: Figures() for side in SIDES}
        for name in names
        for clients in given.clients
    }
    sides = list(SIDES)
    for number in range(given.rounds):
        turn = number % len(sides)
        for clients in given.clients:
            for name, batch in ((names[0], 1), (batches, given.batch)):
                for side in sides[turn:] + sides[:turn]:
                    asked = given.searches if batch == 1 else 0
                    answer = bench.measure(side, clients, batch, given.items, asked)
                    figures[name, clients][side].add(answer["writes"], given.items)
                    if asked:
                        figures[names[2], clients][side].add(answer["searches"], asked)
                    rate = figures[name, clients][side].rates[-1]
                    print(f"{side}, {clients}: {name}, {rate:.0f} a second", file=sys.stderr)
        keep(given.report, figures)
    return figures


def keep(report: Path, figures: dict[tuple[str, int], dict[str, Figures]]) -> None:
    """Write what is known so far."""
    known = {
        f"{what}, {clients}": {side: vars(f) for side, f in sides.items()}
        for (what, clients), sides in figures.items()
    }
    report.write_text(json.dumps(known, indent=2) + "\n")


def main() -> None:
    """Prepare the sides, measure them in turns, print and keep the report."""
    parser = argparse.ArgumentParser(description="Measure memwarden beside its peers.")
    parser.add_argument("--dsn", required=True, help="superuser connection string of the server")
    parser.add_argument("--items", type=int, default=1_500)
    parser.add_argument("--batch", type=int, default=100)
    parser.add_argument("--searches", type=int, default=400)
    parser.add_argument("--clients", type=int, nargs="+", default=[1, 8])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--report", type=Path, default=Path("build/peers.json"))
    parser.add_argument("--plot", type=Path, help="also draw the rates a second, as SVG")
    given = parser.parse_args()

    given.report.parent.mkdir(parents=True, exist_ok=True)
    bench = Bench(given.dsn, given.report.parent)
    load = os.getloadavg()[0]
    for side in SIDES:
        bench.prepare(side)
    figures = run(bench, given)
    version = bench.admin.execute("SHOW server_version").fetchone()
    print(f"{datetime.now(UTC):%Y-%m-%d}, PostgreSQL {version[0] if version else '?'}, {machine()}")
    print(f"{given.items:,} memories in one scope, 384 dimensions, {given.rounds} rounds;")
    print(f"load of the machine {load:.1f} at the beginning, {os.getloadavg()[0]:.1f} at the end")
    table("a second", {k: {s: f.rate() for s, f in v.items()} for k, v in figures.items()})
    table(
        "ms each: passed; processor of server + client",
        {k: {s: f.times() for s, f in v.items()} for k, v in figures.items()},
    )
    if given.plot:
        rates = {
            f"{what}, clients: {clients}": {side: f.rates for side, f in sides.items()}
            for (what, clients), sides in figures.items()
        }
        given.plot.write_text(draw(rates), encoding="utf-8")
    for side in SIDES:
        bench.drop(bench.template(side))


if __name__ == "__main__":
    main()
