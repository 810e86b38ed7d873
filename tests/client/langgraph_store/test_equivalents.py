"""What the tests of PostgresStore protect that look at its tables, asked of memwarden; and more."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import pytest
from psycopg.conninfo import make_conninfo

pytest.importorskip("langgraph.store.base", reason="needs memwarden[langgraph]")

from langgraph.store.base import (
    GetOp,
    IndexConfig,
    ListNamespacesOp,
    MatchCondition,
    PutOp,
    SearchOp,
)

from client.langgraph_store.clock import Clock
from memwarden import Client, InvalidArgument
from memwarden.embedders import LexicalEmbedder
from memwarden.langgraph import MemwardenIndexConfig, MemwardenStore, PutRefused, lives
from memwarden.langgraph.filters import contained, passes

if TYPE_CHECKING:
    from conftest import World

NS = ("notes",)
MODEL = "colours"
COLOURS = ("red", "green", "blue", "grey")


class Colours:
    """An embedder of memwarden: one number for each colour that a text names."""

    name = MODEL
    dimension = len(COLOURS)

    def __init__(self) -> None:
        self.asked: list[str] = []

    def embed(self, texts: Sequence[str]) -> list[list[float] | None]:
        """A text without a colour has no vector."""
        self.asked += texts
        found = [[float(text.count(colour)) for colour in COLOURS] for text in texts]
        return [each if any(each) else None for each in found]


@pytest.fixture
def dsn(shared_world: World, home: str) -> str:
    """How a new agent logs in as itself."""
    return make_conninfo(shared_world.dsn, user=shared_world.register(home))


@pytest.fixture
def client(dsn: str) -> Iterator[Client]:
    """Yield the client of that agent."""
    with Client.connect(dsn) as client:
        yield client


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch, shared_world: World, home: str) -> Clock:
    """Time that passes in the home of the agent."""
    clock = Clock(shared_world.admin, home)
    monkeypatch.setattr(lives, "time", clock)
    return clock


def keys(found: Sequence[Any]) -> list[str]:
    """The keys of an answer, in its order."""
    return [item.key for item in found]


def test_names_are_matched_to_the_letter(client: Client) -> None:
    """No pattern of SQL and no regular expression, and `*` is one label.

    Proves: Z11
    """
    store = MemwardenStore(client)
    names = [("a%", "x_y"), ("ab", "xzy"), ("a+b", "x"), ("aab", "x"), ("a\\b",), ("a*", "x")]
    names += [("foo",), ("foobar",)]
    for name in names:
        store.put(name, "k%", {"v": 1})
    for name in names:
        assert {item.namespace for item in store.search(name)} == {name}
        assert store.list_namespaces(prefix=name) == [name]
        assert store.list_namespaces(suffix=name) == [name]
        assert store.get(name, "k%") is not None
        assert store.get(name, "kk") is None
    assert store.search(("a",)) == []
    assert store.list_namespaces(suffix=("y",)) == []
    assert len(store.list_namespaces(prefix=("*", "x"))) == 3


def test_true_is_no_number_in_a_filter() -> None:
    """Values are compared as JSON: 1 is 1.0 and not true, nor in a list.

    Proves: Z11
    """
    value = {"flag": True, "one": 1, "list": [1, {"deep": True}]}
    met: list[dict[str, Any]] = [
        {"flag": True},
        {"one": 1.0},
        {"one": {"$gte": 1, "$lt": 2}},
        {"one": {"$ne": True}},
        {"list": [1.0, {"deep": True}]},
    ]
    unmet: list[dict[str, Any]] = [
        {"flag": 1},
        {"flag": {"$gt": 0}},
        {"flag": {"$eq": 1}},
        {"one": True},
        {"one": {"$lte": True}},
        {"list": [True, {"deep": True}]},
        {"list": [1, {"deep": 1}]},
        {"one": 2**60},
    ]
    assert all(passes(value, each) for each in met)
    assert not any(passes(value, each) for each in unmet)
    assert contained({"one": 2**60, "flag": True}) == {"flag": True}


def test_what_is_over_fills_no_page(client: Client, clock: Clock) -> None:
    """Whatever `omit_expired` says: memwarden returns nothing that is over.

    Proves: Z11
    """
    store = MemwardenStore(client, ttl={"omit_expired": False, "default_ttl": 1})
    for key in ("c", "b", "over", "a"):
        store.put(NS, key, {"text": f"tea {key}"})
    store.put(("gone",), "k", {"text": "coffee"})
    clock.expire(NS, "over")
    clock.expire(("gone",), "k")
    for query in (None, "tea"):
        pages = [store.search(NS, query=query, limit=2, offset=offset) for offset in (0, 2)]
        assert [len(page) for page in pages] == [2, 1]
        assert set(keys(pages[0] + pages[1])) == {"a", "b", "c"}
    assert store.list_namespaces() == [NS]
    assert store.get(("gone",), "k") is None


def test_a_read_prolongs_a_life_where_the_store_has_a_ttl(client: Client, clock: Clock) -> None:
    """As long as it was put for, seldom more than ten times, and the order of pages stays.

    Proves: Z11
    """
    store = MemwardenStore(client, ttl={"default_ttl": 1})
    for key in ("a", "b", "c"):
        store.put(NS, key, {"text": f"tea {key}"})
    store.put(NS, "long", {"text": "coffee"}, ttl=None)
    clock.sleep(40)
    assert store.get(NS, "a") is not None
    assert store.get(NS, "b", refresh_ttl=False) is not None
    assert keys(store.search(NS, query="tea c", limit=1)) == ["c"]
    assert store.get(NS, "long") is not None
    clock.sleep(40)
    assert keys(store.search(NS)) == ["long", "c", "a"]
    assert keys(store.search(NS, limit=1, offset=2)) == ["a"]
    ends = clock.ends(NS, "a")
    assert store.get(NS, "a") is not None
    assert clock.ends(NS, "a") == ends
    # The same value again is a put as well.
    store.put(NS, "a", {"text": "tea a"}, ttl=10)
    with pytest.raises(PutRefused):
        store.put(NS, "a", {"text": "tea a"}, ttl=10**9)
    without = MemwardenStore(client)
    assert without.get(NS, "c", refresh_ttl=True) is not None
    seldom = MemwardenStore(client, ttl={"refresh_on_read": False})
    ends = clock.ends(NS, "c")
    assert seldom.get(NS, "c") is not None
    assert [*seldom.search(NS, filter={"text": "tea c"})] != []
    assert clock.ends(NS, "c") == ends
    clock.sleep(70)
    assert set(keys(without.search(NS, refresh_ttl=True))) == {"long", "a"}
    assert clock.ends(NS, "long") is None


def test_who_may_not_write_reads_without_prolonging(
    shared_world: World, client: Client, clock: Clock, home: str
) -> None:
    """The answer is the same, and the life ends when it did.

    Proves: Z11
    """
    MemwardenStore(client).put(NS, "a", {"text": "tea"}, ttl=1)
    ends = clock.ends(NS, "a")
    reader = shared_world.register(home, writes=False)
    with Client.connect(make_conninfo(shared_world.dsn, user=reader)) as other:
        store = MemwardenStore(other, scopes={(): home}, ttl={})
        assert keys(store.search(NS)) == ["a"]
        assert store.get(NS, "a") is not None
        with pytest.raises(PutRefused):
            store.put(NS, "b", {"text": "milk"})
    assert clock.ends(NS, "a") == ends


def test_the_index_compares_the_fields_that_it_names(
    shared_world: World, client: Client, dsn: str
) -> None:
    """The nearest field counts, and what is not indexed is found by its key alone.

    Proves: Z11
    """
    shared_world.admin.execute("SELECT memwarden.register_embedding_model(%s, 4)", (MODEL,))
    colours = Colours()
    index = MemwardenIndexConfig(embed=colours, fields=["tags[*]"])
    store = MemwardenStore(client, index=index)
    store.put(NS, "one", {"tags": ["red"], "note": "blue"})
    store.put(NS, "two", {"tags": ["red", "green"]})
    store.put(NS, "note", {"tags": ["grey"], "note": "blue"}, index=["note"])
    store.put(NS, "none", {"tags": ["red"]}, index=False)
    store.put(NS, "bare", {"note": "blue"})
    found = store.search(NS, query="red")
    assert {item.key: round(item.score or 0, 3) for item in found} == {
        "one": 1,
        "two": 1,
        "note": 0,
    }
    assert keys(store.search(NS, query="green", limit=1)) == ["two"]
    assert keys(store.search(NS, query="blue", limit=1)) == ["note"]
    assert len(store.search(NS)) == len(store.search(NS, query="no colour")) == 5
    # A field that is known is not embedded again, but by a store that did not put it.
    asked = len(colours.asked)
    store.search(NS, query="grey")
    assert colours.asked[asked:] == ["grey"]
    with Client.connect(dsn, embedder=colours) as embedding:
        other = MemwardenStore(embedding, index=index)
        other.put(NS, "again", {"tags": ["red"], "note": "grey"}, index=False)
        assert set(keys(other.search(NS, query="red"))) == {"one", "two", "note"}

    async def later(texts: Sequence[str]) -> list[list[float]]:
        return [[0.0] for _ in texts]

    for wrong in (
        MemwardenIndexConfig(fields=["x"]),
        MemwardenIndexConfig(embed=LexicalEmbedder()),
        IndexConfig(embed=later),
    ):
        with pytest.raises(InvalidArgument):
            MemwardenStore(client, index=wrong)


def test_an_operation_is_one_call_of_the_client(
    monkeypatch: pytest.MonkeyPatch, client: Client
) -> None:
    """But for what is not there, of which the scope is looked at as well.

    Proves: Z11
    """
    store = MemwardenStore(client)
    store.search(NS, query="v")  # for a minute the client knows by which model the store goes
    calls: list[Any] = []
    fetch = client._session.fetch

    def counted(*arguments: Any, **named: Any) -> Any:
        calls.append(arguments)
        return fetch(*arguments, **named)

    monkeypatch.setattr(client._session, "fetch", counted)
    put = [PutOp(NS, str(number), {"v": number}) for number in range(5)]
    everywhere = ListNamespacesOp((MatchCondition("prefix", NS),))
    for ops, expected in (
        (put[:1], 1),
        (put[1:], 1),
        ([GetOp(NS, "1")], 1),
        ([GetOp(NS, "none")], 2),
        ([SearchOp(NS)], 1),
        ([SearchOp(NS, query="v")], 1),
        ([everywhere], 1),
        ([PutOp(NS, "1", None)], 2),
    ):
        calls.clear()
        store.batch(ops)
        assert len(calls) == expected, ops
