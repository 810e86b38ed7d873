"""`memwarden erase`: forgetting a person."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from memwarden.cli.options import AsJson, Because, Dsn, connected
from memwarden.cli.terminal import print_json
from memwarden.results import Certificate


def erase(
    subject: Annotated[str, typer.Argument(help="The subject, as memories bear it.")],
    *,
    reason: Because,
    identifier: Annotated[
        list[str] | None,
        typer.Option(help="A name, address or number of the person; may be repeated."),
    ] = None,
    org: Annotated[str | None, typer.Option(help="The organisation; yours by default.")] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do it without asking.")] = False,
    dsn: Dsn = "",
    as_json: AsJson = False,
) -> None:
    """Erase all that concerns a person, for good, after showing how much that is.

    Asks before it acts. With --json, or where there is no terminal to ask on, it only counts, and
    exits with 2, unless --yes is given.
    """
    identifiers = identifier or []
    with connected(dsn) as memory:
        if not yes:
            found = memory.erase_subject(
                subject, reason, identifiers=identifiers, org=org, dry_run=True
            )
            _show(found, as_json)
            if as_json or not sys.stdin.isatty():
                typer.echo("nothing was erased: --yes does it without asking", err=True)
                raise typer.Exit(2)
            typer.confirm("Erase this for good?", abort=True)
        done = memory.erase_subject(subject, reason, identifiers=identifiers, org=org)
    _show(done, as_json)


def _show(certificate: Certificate, as_json: bool) -> None:
    if as_json:
        print_json(certificate)
        return
    layers = ", ".join(certificate.layers) or "none"
    print(f"{certificate.status}: items {certificate.items}, versions {certificate.versions},")
    print(f"requests {certificate.requests}, recorded evidence {certificate.evidence},")
    print(f"log entries {certificate.log_entries}; in {layers}")
    if certificate.blocked_reason is not None:
        print(f"{certificate.blocked_reason}: {certificate.unread} documents could not be read")
    if certificate.erasure_id is not None:
        print(f"erasure {certificate.erasure_id}")
