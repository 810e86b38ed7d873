"""The stores that peers.py compares: each written to and searched as its own documentation says."""

from __future__ import annotations

import importlib
import json
import logging
import os
import uuid
from pathlib import Path
from typing import Any, Protocol

import psycopg

from store import (
    AGENT,
    RAW_INSERT,
    RAW_INSERT_MANY,
    RAW_TABLE,
    WRITE,
    WRITE_MANY,
    grounds,
    scope_path,
)
from workload import DIMENSION, array_literal, vector_literal

RAW_INDEXES = (
    "CREATE INDEX ON raw_memory USING hnsw (embedding vector_cosine_ops)",
    "CREATE INDEX ON raw_memory USING gin (words)",
)
RAW_SEARCH = """
SELECT id, content, embedding <=> %(vector)s::vector AS distance FROM raw_memory
 WHERE scope_id = %(scope)s ORDER BY distance LIMIT 10"""
RECALL = """
SELECT item_id, text, standing, score
  FROM memwarden.recall(%s, %s::real[], scopes => ARRAY[%s])"""
Memory = tuple[str, list[float]]


class Stub:
    """An embedder that knows its texts: vectors are given, and embedding costs nothing."""

    def __init__(self, vectors: dict[str, list[float]]) -> None:
        self.vectors = vectors

    def embed(self, text: str, _action: str | None = None) -> list[float]:
        """The vector of a text, as mem0 asks for it."""
        return self.vectors[text]

    def embed_batch(self, texts: list[str], _action: str = "add") -> list[list[float]]:
        """The vectors of texts, as mem0 asks for them."""
        return self.embed_all(texts)

    def embed_all(self, texts: list[str]) -> list[list[float]]:
        """The vectors of texts, as LangGraph asks for them."""
        return [self.vectors[text] for text in texts]


class Store(Protocol):
    """One client of one side. `scope` is 0 for what is measured, 1 for what warms up."""

    def __init__(self, dsn: str, stub: Stub, *, empty: bool = False) -> None:
        """Connect; `empty`: into a database without tables."""

    def write(self, scope: int, text: str) -> None:
        """Store one memory, durably."""

    def write_many(self, scope: int, texts: list[str]) -> None:
        """Store several, as the side does that."""

    def search(self, scope: int, text: str) -> int:
        """Find the ten nearest in the scope; returns how many were found."""

    def server(self) -> int:
        """The number of the server process that works for this client."""


class Raw:
    """A bare table with an HNSW and a GIN index."""

    stored = "SELECT count(*) FROM raw_memory WHERE scope_id = 0"

    def __init__(self, dsn: str, stub: Stub, *, empty: bool = False) -> None:
        self.connection = psycopg.connect(dsn, autocommit=True)
        self.stub = stub
        if empty:
            for statement in ("CREATE EXTENSION vector", RAW_TABLE, *RAW_INDEXES):
                self.connection.execute(statement)

    def write(self, scope: int, text: str) -> None:
        """One INSERT."""
        vector = vector_literal(self.stub.embed(text))
        content = json.dumps({"text": text})
        self.connection.execute(RAW_INSERT, {"scope": scope, "content": content, "vector": vector})

    def write_many(self, scope: int, texts: list[str]) -> None:
        """One INSERT of all rows."""
        rows = [
            {"scope": scope, "content": {"text": text}, "embedding": self.stub.embed(text)}
            for text in texts
        ]
        self.connection.execute(RAW_INSERT_MANY, (json.dumps(rows),))

    def search(self, scope: int, text: str) -> int:
        """By the vector alone."""
        asked = {"scope": scope, "vector": vector_literal(self.stub.embed(text))}
        return len(self.connection.execute(RAW_SEARCH, asked).fetchall())

    def server(self) -> int:
        """The one connection's."""
        return self.connection.info.backend_pid


class LangGraph:
    """PostgresStore on one connection, as `from_conn_string` makes it, with its HNSW index."""

    stored = "SELECT count(*) FROM store WHERE prefix = 'bench.0'"

    def __init__(self, dsn: str, stub: Stub, *, empty: bool = False) -> None:
        module = importlib.import_module("langgraph.store.postgres")
        self.operation = importlib.import_module("langgraph.store.base").PutOp
        index = {"dims": DIMENSION, "embed": stub.embed_all, "fields": ["text"]}
        self.context = module.PostgresStore.from_conn_string(dsn, index=index)
        self.store = self.context.__enter__()
        if empty:
            self.store.setup()

    def write(self, scope: int, text: str) -> None:
        """One put(): a row, and a row with its vector."""
        self.store.put(("bench", str(scope)), str(uuid.uuid4()), {"text": text})

    def write_many(self, scope: int, texts: list[str]) -> None:
        """One batch() of as many."""
        namespace = ("bench", str(scope))
        self.store.batch(
            [self.operation(namespace, str(uuid.uuid4()), {"text": text}) for text in texts]
        )

    def search(self, scope: int, text: str) -> int:
        """By the vector alone."""
        return len(self.store.search(("bench", str(scope)), query=text, limit=10))

    def server(self) -> int:
        """The one connection's."""
        return int(self.store.conn.info.backend_pid)


class Mem0:
    """Memory over its pgvector store: no model is asked, and history goes to SQLite, as shipped."""

    stored = "SELECT count(*) FROM mem0 WHERE payload ->> 'user_id' = 'user0'"

    def __init__(self, dsn: str, stub: Stub, *, empty: bool = False) -> None:
        # Read when it is imported: no message goes to its makers, and nothing into the home.
        folder = os.environ["MEM0_DIR"]
        os.environ["MEM0_TELEMETRY"] = "False"
        memory = importlib.import_module("mem0").Memory
        # It would say that spaCy is not there, which is an extra.
        logging.getLogger("mem0.utils.spacy_models").setLevel(logging.ERROR)
        # Clients of these are made and never asked.
        unasked = {"provider": "openai", "config": {"api_key": "none"}}
        self.memory = memory.from_config(
            {
                "vector_store": {
                    "provider": "pgvector",
                    "config": {"connection_string": dsn, "embedding_model_dims": DIMENSION},
                },
                "history_db_path": str(Path(folder, "history.db")),
                "embedder": unasked,
                "llm": unasked,
            }
        )
        self.memory.embedding_model = stub
        if empty:
            self.write(1, next(iter(stub.vectors)))

    def write(self, scope: int, text: str) -> None:
        """One add(): a row, and a row of the history."""
        self.memory.add(text, user_id=f"user{scope}", infer=False)

    def write_many(self, scope: int, texts: list[str]) -> None:
        """One add() of as many messages, which stores them one by one."""
        messages = [{"role": "user", "content": text} for text in texts]
        self.memory.add(messages, user_id=f"user{scope}", infer=False)

    def search(self, scope: int, text: str) -> int:
        """By vector and words. As shipped, it leaves out what is less alike than 0.1."""
        asked = {"user_id": f"user{scope}"}
        return len(self.memory.search(text, filters=asked, top_k=10, threshold=0.0)["results"])

    def server(self) -> int:
        """One client takes one connection of its pool at a time: the same, again and again."""
        with self.memory.vector_store.connection_pool.connection() as connection:
            return int(connection.info.backend_pid)


class Memwarden:
    """The functions of memwarden, as an agent that logs in."""

    stored = f"""
        SELECT count(*) FROM memwarden_data.item JOIN memwarden_data.scope AS s USING (scope_id)
         WHERE s.path = '{scope_path(0)}'"""

    def __init__(self, dsn: str, stub: Stub, *, empty: bool = False) -> None:
        assert not empty, "peers.py makes its database: Stores.create()"
        self.connection = psycopg.connect(dsn, user=AGENT, autocommit=True)
        self.stub = stub

    def write(self, scope: int, text: str) -> None:
        """One governed write, with one piece of evidence."""
        content = json.dumps({"text": text})
        vector = array_literal(self.stub.embed(text))
        asked = (content, scope_path(scope), vector, json.dumps(grounds(content)))
        self._expect(self.connection.execute(WRITE, asked).fetchall())

    def write_many(self, scope: int, texts: list[str]) -> None:
        """One governed batch."""
        requests = [
            {
                "layer": "episodic",
                "content": {"text": text},
                "scope": scope_path(scope),
                "embedding": self.stub.embed(text),
                "evidence": [{"uri": "bench:notes", "excerpt": text}],
            }
            for text in texts
        ]
        self._expect(self.connection.execute(WRITE_MANY, (json.dumps(requests),)).fetchall())

    def search(self, scope: int, text: str) -> int:
        """One recall by vector and words, which is recorded."""
        asked = (text, array_literal(self.stub.embed(text)), scope_path(scope))
        return len(self.connection.execute(RECALL, asked).fetchall())

    def server(self) -> int:
        """The one connection's."""
        return self.connection.info.backend_pid

    @staticmethod
    def _expect(rows: list[tuple[Any, ...]]) -> None:
        refused = {outcome for (outcome,) in rows} - {"COMMITTED"}
        if refused:
            raise SystemExit(f"a write ended as {', '.join(map(str, refused))}")


class KnownVectors:
    """The embedder of memwarden's client: looks a text up behind its subject and predicate."""

    # Vectors without a model's name, as the other sides have them.
    name: Any = None
    dimension = DIMENSION

    def __init__(self, stub: Stub) -> None:
        self.stub = stub

    def embed(self, texts: list[str]) -> list[list[float]]:
        """The vectors of memories."""
        return [self.stub.vectors[text.split(" ", 2)[2]] for text in texts]

    def embed_query(self, texts: list[str]) -> list[list[float]]:
        """The vectors of questions."""
        return self.stub.embed_all(texts)


class MemwardenClient:
    """The Python client, as an agent that logs in."""

    stored = Memwarden.stored
    # Asks for no evidence: LangGraph's put() has none to give.
    layer = "working"

    def __init__(self, dsn: str, stub: Stub, *, empty: bool = False) -> None:
        assert not empty, "peers.py makes its database: Stores.create()"
        memwarden = importlib.import_module("memwarden")
        self.connection = psycopg.connect(dsn, user=AGENT, autocommit=True, prepare_threshold=None)
        self.client = memwarden.Client(self.connection, embedder=KnownVectors(stub))

    def request(self, scope: int, text: str) -> dict[str, Any]:
        """What one memory is written as: what the adapter writes."""
        return {
            "layer": self.layer,
            "content": {"text": text},
            "scope": scope_path(scope),
            "subject": f"bench/{scope}",
            "predicate": str(uuid.uuid4()),
        }

    def write(self, scope: int, text: str) -> None:
        """One governed write."""
        self._expect([self.client.write(**self.request(scope, text))])

    def write_many(self, scope: int, texts: list[str]) -> None:
        """One governed batch."""
        self._expect(self.client.write_many([self.request(scope, text) for text in texts]))

    def search(self, scope: int, text: str) -> int:
        """One recall by vector and words, which is recorded."""
        found: list[Any] = self.client.recall(text, scopes=[scope_path(scope)], layers=[self.layer])
        return len(found)

    def server(self) -> int:
        """The one connection's."""
        return self.connection.info.backend_pid

    @staticmethod
    def _expect(results: list[Any]) -> None:
        refused = {result.outcome for result in results} - {"COMMITTED"}
        if refused:
            raise SystemExit(f"a write ended as {', '.join(map(str, refused))}")


class MemwardenAdapter(MemwardenClient):
    """LangGraph's store over that client."""

    def __init__(self, dsn: str, stub: Stub, *, empty: bool = False) -> None:
        super().__init__(dsn, stub, empty=empty)
        module = importlib.import_module("memwarden.langgraph")
        self.operation = importlib.import_module("langgraph.store.base").PutOp
        self.store = module.MemwardenStore(
            self.client,
            scopes={("bench", str(number)): scope_path(number) for number in (0, 1)},
            layer=self.layer,
        )

    def write(self, scope: int, text: str) -> None:
        """One put(), which raises where it is refused."""
        self.store.put(("bench", str(scope)), str(uuid.uuid4()), {"text": text})

    def write_many(self, scope: int, texts: list[str]) -> None:
        """One batch() of as many."""
        namespace = ("bench", str(scope))
        self.store.batch(
            [self.operation(namespace, str(uuid.uuid4()), {"text": text}) for text in texts]
        )

    def search(self, scope: int, text: str) -> int:
        """One recall, through the store."""
        found: list[Any] = self.store.search(("bench", str(scope)), query=text, limit=10)
        return len(found)


SIDES: dict[str, type[Raw | LangGraph | Mem0 | Memwarden | MemwardenClient]] = {
    "pgvector table": Raw,
    "LangGraph": LangGraph,
    "mem0": Mem0,
    "memwarden": Memwarden,
    "memwarden client": MemwardenClient,
    "memwarden adapter": MemwardenAdapter,
}
