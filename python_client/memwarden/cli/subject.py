"""`memwarden subject ...`: by what a person is found."""

from __future__ import annotations

from typing import Annotated

import typer

from memwarden.cli.options import AsJson, Dsn, connected
from memwarden.cli.terminal import cell, console, print_json, table
from memwarden.results import Identifier

subject = typer.Typer(name="subject", help="By what a person is found: to erase, export or hold.")

Subject = Annotated[str, typer.Argument(help="The subject, as memories bear it.")]
Org = Annotated[str | None, typer.Option(help="The organisation; yours by default.")]
Some = list[str] | None
Name = Annotated[Some, typer.Option(help="A name; may be repeated, as all of these.")]
Email = Annotated[Some, typer.Option(help="An e-mail address.")]
Phone = Annotated[Some, typer.Option(help="A phone number with its country: +385 91 123 4567.")]
Account = Annotated[Some, typer.Option(help="An id of another system, to the letter.")]
Adapter = Annotated[Some, typer.Option(help="An id that an adapter gave, to the letter.")]


@subject.command("register")
def register(
    subject: Subject,
    *,
    name: Name = None,
    email: Email = None,
    phone: Phone = None,
    account: Account = None,
    adapter: Adapter = None,
    org: Org = None,
    dsn: Dsn = "",
    as_json: AsJson = False,
) -> None:
    """Register by what a person is found, and show all that is registered of the person."""
    given = _given(name=name, email=email, phone=phone, account=account, adapter=adapter)
    with connected(dsn) as memory:
        _show(memory.register_subject(subject, given, org=org), as_json)


@subject.command("remove")
def remove(
    subject: Subject,
    *,
    name: Name = None,
    email: Email = None,
    phone: Phone = None,
    account: Account = None,
    adapter: Adapter = None,
    org: Org = None,
    dsn: Dsn = "",
    as_json: AsJson = False,
) -> None:
    """Remove what was registered by mistake; without an option, all of the person."""
    given = _given(name=name, email=email, phone=phone, account=account, adapter=adapter)
    with connected(dsn) as memory:
        _show(memory.unregister_subject(subject, given or None, org=org), as_json)


def _given(**kinds: list[str] | None) -> dict[str, list[str]]:
    return {kind: values for kind, values in kinds.items() if values}


def _show(identifiers: list[Identifier], as_json: bool) -> None:
    if as_json:
        print_json(identifiers)
        return
    to = console()
    shown = table(to, "kind", "identifier", whole=("identifier",))
    for each in identifiers:
        shown.add_row(cell(each.kind), cell(each.identifier))
    to.print(shown)
