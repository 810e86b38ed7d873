"""What `Memory()` and `Memory.from_config` are made of: a connection, and a model that extracts."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from psycopg.conninfo import make_conninfo

from memwarden._sync.client import Client
from memwarden.errors import InvalidArgument, NotReady
from memwarden.mem0.given import Message

Extract = Callable[[Sequence[Message]], Sequence[str]]

# Of a configuration of mem0: what says nothing here, since history and shape are the server's.
_PASSED_OVER = ("history_db_path", "version")
_OWN = ("dsn", "scope", "layer", "defaults")
_OPENAI = "https://api.openai.com/v1"
# Of the settings of its pgvector those that say where the database is.
_WHERE = ("host", "port", "dbname", "user", "password", "sslmode")


def connected(dsn: str | None = None) -> Client:
    """Connect as MEMWARDEN_DSN says; without it, libpq's own variables (PGHOST, ...) decide."""
    return Client.connect(os.environ.get("MEMWARDEN_DSN", "") if dsn is None else dsn)


def arguments(config: Mapping[str, Any]) -> tuple[str | None, dict[str, Any]]:
    """Read a configuration of mem0: where the database is, and the arguments of `Memory`.

    Raises:
        InvalidArgument: it asks for what is not here; the message names it.
    """
    dsn: str | None = None
    found: dict[str, Any] = {}
    for name, given in config.items():
        if name in _PASSED_OVER or given is None:
            continue
        section = _section(name, given)
        if name == "vector_store":
            dsn = dsn or _dsn(section)
        elif name == "llm":
            found["extract"] = _by_llm(section)
        elif name == "reranker":
            found["reranker"] = str(section.get("provider"))
        elif name == "memwarden":
            for each in section:
                if each not in _OWN:
                    raise InvalidArgument(
                        f"the configuration of memwarden has no {each}",
                        hint=f"It has {', '.join(_OWN)}.",
                    )
            dsn = section.get("dsn", dsn)
            found |= {each: section[each] for each in _OWN[1:] if each in section}
        else:
            raise InvalidArgument(
                f"{name} of a configuration is not here", hint=_INSTEAD.get(name, _KNOWN)
            )
    return dsn, found


_KNOWN = "A configuration has memwarden, vector_store, llm and reranker."
_INSTEAD = {
    "embedder": "Leave it out: the server has its own, see docs/embeddings.md.",
    "custom_instructions": "Leave it out, or give Memory(extract=...) a function of your own.",
}


def _section(name: str, given: Any) -> Mapping[str, Any]:
    if name != "custom_instructions" and not isinstance(given, Mapping):
        raise InvalidArgument(f"{name} of a configuration is a mapping")
    return given if isinstance(given, Mapping) else {}


def _dsn(section: Mapping[str, Any]) -> str:
    if section.get("provider") != "pgvector":
        raise InvalidArgument(
            f"there is no vector store {section.get('provider')}: memories are in PostgreSQL",
            hint="Leave vector_store out and set MEMWARDEN_DSN, or name pgvector.",
        )
    config = section.get("config") or {}
    where = {name: config[name] for name in _WHERE if config.get(name) is not None}
    return make_conninfo(str(config.get("connection_string") or ""), **where)


def _by_llm(section: Mapping[str, Any]) -> Extract:
    if section.get("provider") != "openai":
        raise InvalidArgument(
            f"there is no llm {section.get('provider')}, but OpenAI-compatible endpoints",
            hint="Name the provider openai, with openai_base_url where it is another's.",
        )
    config = section.get("config") or {}
    from memwarden.worker.plugins.chat import Model

    base = config.get("openai_base_url") or os.environ.get("OPENAI_BASE_URL") or _OPENAI
    if not isinstance(config.get("model"), str):
        raise InvalidArgument("llm of a configuration names no model")
    return extraction(
        Model(
            f"{str(base).rstrip('/')}/chat/completions",
            config["model"],
            config.get("api_key") or os.environ.get("OPENAI_API_KEY"),
            timeout=60,
            max_tokens=int(config.get("max_tokens") or 1000),
        )
    )


def configured_extraction() -> Extract | None:
    """Return the extraction by the model that MEMWARDEN_EXTRACT_URL and _MODEL name, or None.

    Raises:
        InvalidArgument: there is a part of it only.
    """
    if not any(os.environ.get(f"MEMWARDEN_EXTRACT_{each}") for each in ("URL", "MODEL")):
        return None
    from memwarden.worker.plugin import PluginError
    from memwarden.worker.plugins.chat import Model

    try:
        return extraction(Model.of_environment("EXTRACT", max_tokens=1000))
    except PluginError as error:
        raise InvalidArgument(
            f"the model of MEMWARDEN_EXTRACT_URL and MEMWARDEN_EXTRACT_MODEL: {error}"
        ) from None


def extraction(model: Any) -> Extract:
    """Return what has a model say which facts of messages are worth keeping."""
    from memwarden.extraction import NothingSaid
    from memwarden.extraction.llm import LlmExtractor
    from memwarden.worker.plugin import PluginError

    extractor = LlmExtractor()

    def extract(messages: Sequence[Message]) -> list[str]:
        try:
            [found] = extractor.read(model, [{"content": list(messages)}], {})
        except PluginError as error:
            found = NothingSaid(str(error))
        if isinstance(found, NothingSaid):
            raise NotReady(f"the model that extracts does not answer: {found.why}")
        return [str(each.content) for each in found]

    return extract
