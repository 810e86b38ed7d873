"""What the MCP server's tools say of themselves, and what a memory server is asked for."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import pytest
from psycopg.conninfo import make_conninfo

from shipped import SCOPE, Shipped

mcp = pytest.importorskip("mcp", reason="needs memwarden[mcp]")
from memwarden.mcp.principals import OnePrincipal  # noqa: E402
from memwarden.mcp.server import build  # noqa: E402

# What the strict mode of function calling takes: the subset of JSON Schema that a model's output
# is constrained by.
KEYWORDS = {
    *("type", "description", "properties", "required", "additionalProperties", "items", "anyOf"),
    *("enum", "const", "format", "pattern", "minimum", "maximum", "exclusiveMinimum"),
    *("exclusiveMaximum", "multipleOf", "minItems", "maxItems"),
}
TYPES = {"string", "number", "integer", "boolean", "object", "array", "null"}
FORMATS = {"date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"}


def faults(schema: dict[str, Any], path: str = "", depth: int = 0) -> Iterator[str]:
    """What a strict mode would refuse of a schema, or a model not understand."""
    if unknown := schema.keys() - KEYWORDS:
        yield f"{path}: {sorted(unknown)}"
    kinds = [schema["type"]] if isinstance(schema.get("type"), str) else schema.get("type", [])
    if not set(kinds) <= TYPES or bool(kinds) == bool("anyOf" in schema):
        yield f"{path}: neither a type nor a choice of types"
    if schema.get("format", "uuid") not in FORMATS:
        yield f"{path}: {schema['format']}"
    for n, each in enumerate(schema.get("anyOf", [])):
        yield from faults(each, f"{path}|{n}", depth)
    if "array" in kinds:
        yield from faults(schema.get("items", {}), f"{path}[]", depth)
    if "object" in kinds:
        properties = schema.get("properties", {})
        if schema.get("additionalProperties") is not False or depth > 9:
            yield f"{path}: open, or too deep"
        if sorted(schema.get("required", [])) != sorted(properties):
            yield f"{path}: not every property is required"
        for name, each in properties.items():
            if not each.get("description"):
                yield f"{path}.{name}: not described"
            yield from faults(each, f"{path}.{name}", depth + 1)


def all_given(schema: Any) -> Any:
    """The schema as SDKs make it strict: each property is required, null says that it is not."""
    if isinstance(schema, list):
        return [all_given(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    if schema.get("type") == "object":
        for name, each in schema["properties"].items():
            if name not in schema.get("required", []):
                assert {"type": "null"} in each["anyOf"], name
        schema = schema | {"required": list(schema["properties"])}
    return {name: all_given(each) for name, each in schema.items()}


@pytest.mark.parametrize("profile", ["agent", "reviewer"])
def test_a_strict_mode_takes_every_tool(profile: Any) -> None:
    """Each argument is typed and described, objects are closed, and null stands for left out.

    Proves: Z11 (MCP)
    """
    tools = asyncio.run(build(profile, OnePrincipal("")).list_tools())
    assert len(tools) == {"agent": 16, "reviewer": 7}[profile]
    for tool in tools:
        assert tool.input_schema["type"] == "object"
        assert list(faults(all_given(tool.input_schema))) == [], tool.name
        assert tool.description
        hints = tool.annotations
        assert hints is not None
        marks = (hints.read_only_hint, hints.destructive_hint, hints.idempotent_hint)
        assert None not in (*marks, hints.open_world_hint), tool.name
        assert not (hints.read_only_hint and hints.destructive_hint), tool.name
        assert tool.output_schema is not None
        assert tool.output_schema["type"] == "object"
        assert {"refused", "what_to_do"} <= tool.output_schema["properties"].keys(), tool.name
    evidence = {each.name: each for each in tools}.get("add_memory")
    if evidence is not None:
        told = evidence.input_schema["properties"]["evidence"]
        assert '"excerpt": ' in told["description"]
        assert told["anyOf"][0]["items"]["properties"].keys() == {"uri", "excerpt"}


def test_an_agent_sdk_makes_every_tool_strict() -> None:
    """The converter of one that is in use takes each, and leaves nothing that is refused.

    Proves: Z11 (MCP)
    """
    converter = pytest.importorskip("agents.strict_schema", reason="openai-agents is missing")
    for profile in ("agent", "reviewer"):
        for tool in asyncio.run(build(profile, OnePrincipal("")).list_tools()):
            schema = converter.ensure_strict_json_schema(dict(tool.input_schema))
            assert list(faults(schema)) == [], tool.name


Call = Callable[..., Awaitable[Any]]


class Memory:
    """The tools as a model calls them; each answer is checked against its schema by the client."""

    def __init__(self, host: Any) -> None:
        self._host = host

    async def __call__(self, tool: str, **arguments: Any) -> Any:
        """Call a tool that is not refused."""
        answer = await self._host.call_tool(tool, arguments)
        assert not answer.is_error, answer.content[0].text
        return answer.structured_content

    async def refused(self, tool: str, **arguments: Any) -> Any:
        """Call a tool that is refused."""
        answer = await self._host.call_tool(tool, arguments)
        assert answer.is_error
        return answer.structured_content

    async def tell(self, *facts: tuple[str, str | None, str]) -> list[Any]:
        """Add facts of subject, predicate and content; what became of each."""
        names = ("subject", "predicate", "content")
        told = await self(
            "add_memories", memories=[dict(zip(names, fact, strict=True)) for fact in facts]
        )
        return list(told["results"])

    async def all(self, **which: Any) -> set[tuple[Any, ...]]:
        """What is remembered, as facts."""
        told = await self("list_memories", **which)
        assert told["total"] == len(told["memories"])
        return {(m.get("subject"), m.get("predicate"), m["content"]) for m in told["memories"]}

    async def search(self, query: str) -> list[str]:
        """What a search answers, best first."""
        told = await self("search_memories", query=query)
        assert bool(told["memories"]) != bool(told.get("unknown"))
        return [each["content"] for each in told["memories"]]

    async def forget(self, **which: Any) -> int:
        """Count, then forget so many."""
        counted = (await self("forget", **which))["count"]
        told = await self("forget", **which, expected=counted, reason="the user asked for it")
        assert told["forgotten"] == counted
        return int(counted)


KNOWS = ("Alice", "knows", "Bob")
WORKS = ("Alice", None, "Alice works at Acme Corp")
CODES = ("Alice", None, "Alice likes programming")
FIRM = ("Acme Corp", "is a", "company")
BOB = ("Bob", None, "Bob works at TechCo")


async def new_memories(memory: Memory) -> None:
    """Two are told, two are there."""
    told = await memory.tell(WORKS, BOB)
    assert [each["outcome"] for each in told] == ["COMMITTED"] * 2
    assert await memory.all() == {WORKS, BOB}


async def the_same_again(memory: Memory) -> None:
    """It is there once."""
    await memory.tell(WORKS)
    [told] = await memory.tell(WORKS)
    assert (told["stored"], told["outcome"]) == (True, "ALREADY_COMMITTED")
    assert await memory.all() == {WORKS}


async def bad_ones_among_good_ones(memory: Memory) -> None:
    """Each has its own answer, at its place: of another shape, out of range, no JSON of a store."""
    bad: list[Any] = [
        {"content": "x", "colour": 2},
        {"content": 5},
        {"content": "x", "confidence": 7},
        {"content": "x", "valid_from": "soon"},
        {"content": "a\0b"},
        {},
        [],
        None,
        "tea",
    ]
    good = [{"content": f"Alice has {n} herons"} for n in range(2, 2 + len(bad))]
    memories = [each for pair in zip(good, bad, strict=True) for each in pair]
    told = await memory("add_memories", memories=memories)
    assert [each["outcome"] for each in told["results"]] == ["COMMITTED", "REJECTED"] * len(bad)
    assert told["outcomes"] == {"COMMITTED": len(bad), "REJECTED": len(bad)}
    assert all(each["reason"] and each["what_to_do"] for each in told["results"][1::2])
    assert "colour" in told["results"][1]["message"]


async def an_empty_list(memory: Memory) -> None:
    """No memories to add, none to forget."""
    assert await memory.tell() == []
    assert await memory("forget", item_ids=[]) == {
        "count": 0,
        "memories": [],
        "what_to_do": "There is nothing of that kind to forget.",
    }


async def a_relation(memory: Memory) -> None:
    """Of one to another."""
    [told] = await memory.tell(KNOWS)
    assert told["stored"]
    assert await memory.all(about="Alice", predicate="knows") == {KNOWS}


async def a_second_value_of_a_relation(memory: Memory) -> None:
    """Both stand where there may be several; else the answer says what was replaced."""
    one, other = [("Alice", "recommends[]", name) for name in ("Bob", "Carol")]
    assert [each["stored"] for each in await memory.tell(one, other)] == [True, True]
    assert await memory.all(about="Alice", predicate="recommends") == {one, other}
    await memory.tell(("Alice", "lives in", "Rome"))
    [told] = await memory.tell(("Alice", "lives in", "Oslo"))
    assert told["detail"]["replaced"][0]["value"] == "Rome"
    assert "[]" in told["what_to_do"]
    assert await memory.all(predicate="Lives_in") == {("Alice", "lives in", "Oslo")}


async def the_same_relation_again(memory: Memory) -> None:
    """It is there once."""
    told = await memory.tell(KNOWS, KNOWS)
    assert [each["outcome"] for each in told] == ["COMMITTED", "ALREADY_COMMITTED"]
    assert await memory.all() == {KNOWS}


async def more_about_somebody(memory: Memory) -> None:
    """Whatever the case of the name."""
    await memory.tell(WORKS)
    await memory.tell(CODES, ("Alice", None, "Alice has a dog"))
    assert len(await memory.all(about="alice")) == 3


async def more_of_which_some_is_known(memory: Memory) -> None:
    """What is new is added."""
    await memory.tell(CODES)
    told = await memory.tell(CODES, ("Alice", None, "Alice has a dog"))
    assert [each["outcome"] for each in told] == ["ALREADY_COMMITTED", "COMMITTED"]
    assert len(await memory.all(about="Alice")) == 2


async def deleting_by_name(memory: Memory) -> None:
    """With what says something of others about it."""
    await memory.tell(WORKS, BOB, KNOWS, ("Bob", "knows", "Carol"))
    counted = await memory("forget", about="Bob")
    assert counted["count"] == len(counted["memories"]) == 3
    assert len(await memory.all()) == 4
    wrong = await memory.refused("forget", about="Bob", expected=2, reason="asked")
    assert wrong["refused"] == "CHANGED_SINCE"
    why = await memory.refused("forget", about="Bob", expected=3)
    assert why["refused"] == "INVALID_ARGUMENT"
    assert await memory.forget(about="bob") == 3
    assert await memory.all() == {WORKS}


async def deleting_nothing(memory: Memory) -> None:
    """A name that nobody has; and nothing named."""
    await memory.tell(WORKS)
    assert await memory.forget(about="Nobody") == 0
    unnamed = await memory.refused("forget", expected=1, reason="all of it")
    assert unnamed["refused"] == "INVALID_ARGUMENT"
    assert await memory.all() == {WORKS}


async def deleting_one_observation(memory: Memory) -> None:
    """By what it says."""
    await memory.tell(WORKS, CODES)
    assert await memory.forget(about="Alice", value="alice likes programming") == 1
    assert await memory.all() == {WORKS}


async def deleting_one_relation(memory: Memory) -> None:
    """The other stays."""
    other = ("Alice", "works_with", "Bob")
    await memory.tell(KNOWS, other)
    assert await memory.forget(about="Alice", predicate="knows", value="Bob") == 1
    assert await memory.all() == {other}


async def reading_an_empty_store(memory: Memory) -> None:
    """No memory, and no answer."""
    assert await memory("list_memories") == {"memories": [], "total": 0}
    assert await memory.search("Alice") == []


async def reading_all(memory: Memory) -> None:
    """All, or the newest with the number of all."""
    facts = {WORKS, CODES, FIRM, BOB, KNOWS}
    await memory.tell(*facts)
    assert await memory.all() == facts
    some = await memory("list_memories", limit=2)
    assert (len(some["memories"]), some["total"]) == (2, 5)


async def searching_by_name(memory: Memory) -> None:
    """What is about it, and nothing else."""
    await memory.tell(WORKS, CODES, FIRM, BOB)
    assert sorted(await memory.search("Alice")) == sorted([WORKS[2], CODES[2]])


async def searching_by_type(memory: Memory) -> None:
    """What is of it, and nothing else."""
    await memory.tell(WORKS, FIRM, BOB, ("Bob", "is a", "person"))
    assert await memory.search("company") == ["company"]
    assert await memory.all(predicate="is a", words="company") == {FIRM}


async def searching_by_content(memory: Memory) -> None:
    """By a word of it."""
    await memory.tell(WORKS, CODES, BOB)
    assert await memory.search("programming") == [CODES[2]]


async def searching_in_capitals(memory: Memory) -> None:
    """The same."""
    await memory.tell(WORKS, CODES, BOB)
    assert sorted(await memory.search("ALICE")) == sorted([WORKS[2], CODES[2]])


async def searching_for_what_is_not_there(memory: Memory) -> None:
    """It says that nothing is known, and how to say so."""
    await memory.tell(WORKS, CODES, BOB)
    for word in ("NonExistent", "xyzzy"):
        told = await memory("search_memories", query=word)
        assert told["memories"] == []
        assert told["unknown"]["phrase"]


async def opening_by_name(memory: Memory) -> None:
    """With what points to it from elsewhere, and what it points to."""
    back = ("Carol", "knows", "Alice")
    await memory.tell(KNOWS, back, CODES, BOB)
    assert await memory.all(about="Alice") == {KNOWS, back, CODES}
    assert await memory.all(about="Nobody") == set()


async def reading_what_was_deleted(memory: Memory) -> None:
    """That it was deleted and why, and no words."""
    [told] = await memory.tell(CODES)
    assert await memory.forget(item_ids=[told["item_id"]]) == 1
    gone = await memory("get_memory", item_id=told["item_id"], with_history=True)
    assert (gone["deleted"], gone["status"]) == (True, "EXPIRED")
    assert gone["message"] == "the user asked for it"
    assert "content" not in gone
    assert gone["versions"][-1]["content"] == CODES[2]
    assert await memory.search("programming") == []
    again = await memory.refused("update_memory", item_id=told["item_id"], content="x")
    assert again["refused"] == "NOT_FOUND"


QUESTIONS = [
    *(new_memories, the_same_again, an_empty_list, bad_ones_among_good_ones),
    *(a_relation, a_second_value_of_a_relation),
    *(the_same_relation_again, more_about_somebody, more_of_which_some_is_known),
    *(deleting_by_name, deleting_nothing, deleting_one_observation, deleting_one_relation),
    *(reading_an_empty_store, reading_all, searching_by_name, searching_by_type),
    *(searching_by_content, searching_in_capitals, searching_for_what_is_not_there),
    *(opening_by_name, reading_what_was_deleted),
]


@pytest.fixture
def dsn(shipped: Shipped) -> str:
    """How the agent connects, in a store as `memwarden init` leaves it."""
    info = shipped.agent.info
    return make_conninfo(shipped.world.dsn, user=info.user, dbname=info.dbname)


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda each: each.__name__)
def test_what_a_memory_server_is_asked_for(
    question: Callable[[Memory], Awaitable[None]], dsn: str
) -> None:
    """Through the protocol's client, in a store as `memwarden init` leaves it.

    Proves: Z11 (MCP)
    """

    async def use() -> None:
        async with mcp.Client(build("agent", OnePrincipal(dsn))) as host:
            await question(Memory(host))

    asyncio.run(use())


def test_memories_outlive_the_server_that_took_them(dsn: str) -> None:
    """The 22nd question: another server, another connection, the same memory.

    Proves: Z11 (MCP)
    """

    async def use(question: Callable[[Memory], Awaitable[Any]]) -> Any:
        async with mcp.Client(build("agent", OnePrincipal(dsn))) as host:
            return await question(Memory(host))

    asyncio.run(use(lambda memory: memory.tell(WORKS, KNOWS)))
    assert asyncio.run(use(lambda memory: memory.all())) == {WORKS, KNOWS}


def test_an_agent_cites_what_was_recorded(shipped: Shipped, dsn: str) -> None:
    """The list has what it may cite, without the words; a memory that cites it keeps them.

    Proves: Z11 (MCP)
    """
    shipped.heard("Ana", "I prefer green tea.")
    shipped.application.execute(
        "SELECT memwarden.capture('chat', '\"not for it\"', scope => '/org/acme')"
    )
    shipped.world.admin.execute(
        "SELECT memwarden.define_source('https://docs.example.org/*', 'document', org => 'acme')"
    )

    async def use() -> None:
        async with mcp.Client(build("agent", OnePrincipal(dsn))) as host:
            memory = Memory(host)
            told = await memory("list_sources")
            [capture] = told["captures"]
            assert (capture["speakers"], capture["source"]) == (["Ana"], "chat")
            assert capture["scope"] == SCOPE
            assert "green tea" not in str(told)
            assert told["sources"][0]["uri_pattern"] == "https://docs.example.org/*"
            evidence = [{"uri": capture["uri"], "excerpt": "I prefer green tea."}]
            kept = await memory(
                *("add_memory",),
                content="green tea",
                subject="Ana",
                predicate="prefers",
                evidence=evidence,
            )
            read = await memory("get_memory", item_id=kept["item_id"])
            [cited] = read["provenance"]["evidence"]
            assert cited["uri"] == capture["uri"]
            wrong = await memory.refused("add_memory", content="x", subjekt="y", confidence=2)
            assert wrong["refused"] == "INVALID_ARGUMENT"
            assert "subjekt" in wrong["message"]
            assert "confidence" in wrong["message"]

    asyncio.run(use())


def test_forgetting_asks_for_the_right_of_each(shipped: Shipped, dsn: str) -> None:
    """What others wrote stays, and the answer says which and why.

    Proves: Z11 (MCP)
    """
    shipped.application.execute(
        "SELECT memwarden.write('semantic', '\"Ana has a cat\"', subject => 'Ana', scope => %s)",
        (SCOPE,),
    )

    async def use() -> None:
        async with mcp.Client(build("agent", OnePrincipal(dsn))) as host:
            memory = Memory(host)
            await memory.tell(("Ana", None, "Ana likes rowing"))
            assert (await memory("forget", about="Ana"))["count"] == 2
            told = await memory("forget", about="Ana", expected=2, reason="asked")
            assert told["forgotten"] == 1
            [kept] = [each for each in told["results"] if "refused" in each]
            assert kept["refused"] == "NOT_ALLOWED"
            assert await memory.all() == {("Ana", None, "Ana has a cat")}
            none = await memory.refused("forget", about="Ana", expected=1, reason="asked")
            assert none["forgotten"] == 0

    asyncio.run(use())
