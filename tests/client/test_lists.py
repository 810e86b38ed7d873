"""A list that is given as one text is one clear error, in every call that takes a list."""

from __future__ import annotations

import asyncio
import inspect
import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from helpers import write
from memwarden import AsyncClient, Client, InvalidArgument, MemoryManager
from shipped import SCOPE

if TYPE_CHECKING:
    from shipped import Shipped

LIST = re.compile(r"\b(Sequence|Iterable)\[")
# What a call needs beside the list, by the beginning of its type.
GIVEN = {"str": "x", "float": 0.5, "int": 1, "UUID": None, "datetime": None, "Mapping": {}}
# Here a text is one of several things that may be given.
TEXT_TOO = {"source", "identifiers"}


def calls(kind: type[Any]) -> Iterator[tuple[str, str]]:
    """The public calls of a class that take a list, and its name there."""
    for name, method in inspect.getmembers(kind, inspect.isfunction):
        if name.startswith("_"):
            continue
        for each in inspect.signature(method).parameters.values():
            hint = str(each.annotation)
            if LIST.search(hint) and not hint.startswith("Callable") and "str |" not in hint:
                yield name, each.name


def asked(call: Callable[..., Any], name: str, value: Any) -> Any:
    """Make the call with that value, and with something for whatever else it needs."""

    def other(hint: str) -> Any:
        return (
            []
            if LIST.match(hint)
            else next((v for t, v in GIVEN.items() if hint.startswith(t)), "x")
        )

    arguments = {
        each.name: other(str(each.annotation))
        for each in inspect.signature(call).parameters.values()
        if each.default is inspect.Parameter.empty and each.kind is not each.VAR_KEYWORD
    }
    done = call(**arguments | {name: value})
    if inspect.isawaitable(done):

        async def wait() -> Any:
            return await done

        return asyncio.run(wait())
    if hasattr(done, "__anext__"):
        return asyncio.run(anext(done))
    return next(done) if inspect.isgenerator(done) else done


CALLS: list[tuple[Any, str, str]] = [
    (kind, *each) for kind in (Client, AsyncClient) for each in calls(kind)
]


@pytest.mark.parametrize("value", ["semantic", {"a": 1}, 5], ids=["text", "mapping", "number"])
def test_what_is_no_list_is_one_error_before_anything_is_sent(value: Any) -> None:
    """Of every call of the clients that takes a list. No server is there to be asked."""
    assert len(CALLS) > 60
    for kind, call, name in CALLS:
        if name in TEXT_TOO:
            continue
        client = kind(dsn="host=/nowhere")
        with pytest.raises(InvalidArgument) as raised:
            asked(getattr(client, call), name, value)
        assert str(raised.value).startswith(f"{name} must be a list"), (call, name)
        assert raised.value.hint == f"Write {name}=[...]."


def test_the_memory_manager_says_the_same() -> None:
    """Also where it survives that memory is away: it is an error of the caller's."""
    manager = MemoryManager(Client(dsn="host=/nowhere"))
    manager.task_start("wait")  # memory is away
    given: list[tuple[str, Callable[..., Any]]] = [
        ("plan", partial(manager.task_start, "go")),
        ("constraints", partial(manager.task_start, "go")),
        ("evidence", partial(manager.observation, "psql", "97")),
        ("used", manager.complete),
    ]
    for name, call in given:
        with pytest.raises(InvalidArgument, match=f"{name} must be a list"):
            call(**{name: "x"})


def test_a_batch_tells_it_of_the_one_request(shipped: Shipped) -> None:
    """The server refuses it and says which argument; the others are written."""
    good = {"layer": "semantic", "content": "Ana likes tea"}
    client = Client(shipped.agent)
    for name in ("evidence", "domains"):
        first, second = client.write_many([{**good, name: "x"}, {**good, "subject": name}])
        assert first.rejected
        assert name in str(first.detail), first
        assert second.outcome == "COMMITTED"


# Each call of SQL that takes an array in JSON, who makes it, and how the array is called in an
# error; those of write() and observe() are refusals.
ARRAYS = [
    ("agent", "write_many('{}')", "requests"),
    ("agent", "record_recalls('\"x\"')", "recalls"),
    ("agent", "screen_answers('\"x\"')", "answers"),
    ("agent", "start_task('move', goal => 'go', constraints => '\"x\"')", "constraints"),
    ("application", "capture_many('\"x\"')", "captures"),
    ("admin", "define_role('r', permissions => '\"x\"', org => 'acme')", "permissions"),
    ("admin", "define_schema('semantic', 'k', '{}', constraints => '\"x\"')", "constraints"),
    ("admin", "apply_erasures('\"x\"')", "erasures"),
    ("admin", "import_subject_keys('\"x\"')", "keys"),
    ("agent", "recall('tea', layers => 'semantic')", "semantic"),
]


def test_sql_says_which_argument_is_no_array(shipped: Shipped) -> None:
    """One error, or one refusal, and what reads no such array is not called."""
    by = {
        "agent": shipped.agent,
        "application": shipped.application,
        "admin": shipped.world.admin,
    }
    for who, call, name in ARRAYS:
        with pytest.raises(psycopg.DataError) as raised:
            by[who].execute(f"SELECT * FROM memwarden.{call}")
        told = raised.value.diag
        assert name in f"{told.message_primary} {told.message_detail}", call
    for evidence in ("x", {"uri": "chat:1"}):
        refused = write(shipped.agent, "semantic", "Ana likes tea", evidence=evidence)
        [error] = refused["detail"]["errors"]
        assert (error["code"], error["path"]) == ("EVIDENCE_INVALID", "evidence")
    turn = {"source": "chat", "content": {"text": "hm"}, "scope": SCOPE}
    client = Client(shipped.application)
    told_of = client.capture_many([{**turn, "domains": "x"}, {**turn, "captured_for": "x"}, turn])
    assert [each.fault for each in told_of] == ["22023", "22023", None]
    assert "domains, captured_for: an array each" in str(told_of[0].detail)
