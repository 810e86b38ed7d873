"""Calls that tests make of the public API, as a caller would."""

from __future__ import annotations

import json
from typing import Any

from psycopg import Connection
from psycopg.rows import DictRow
from psycopg.types.json import Json, Jsonb


def ask_for_little(admin: Connection[Any]) -> None:
    """Have no layer ask for evidence or a human, or set a pace, in a database that a test made.

    And have no job load a dictionary: that takes seconds.
    """
    admin.execute("DELETE FROM memwarden_data.lexicon")
    lower_thresholds(admin)


def lower_thresholds(admin: Connection[Any]) -> None:
    """Have no layer ask for evidence or a human, or set a pace; each release can do this."""
    admin.execute("UPDATE memwarden_data.approval_policy SET approval = 'never'")
    admin.execute(
        """
        UPDATE memwarden_data.layer
           SET rate_limit = NULL, fact_threshold = 0, min_authority = 0, min_external = 0,
               self_reference = 'allow', duplicate_similarity = NULL, conflict = 'accumulate'
        """
    )


def write(connection: Connection[DictRow], layer: str, content: Any, **arguments: Any) -> DictRow:
    """Call ``memwarden.write`` with named arguments."""
    for name in ("evidence", "filter", "attributes", "origin"):
        if name in arguments:
            arguments[name] = Jsonb(arguments[name])
    casts = {"embedding": "::real[]", "ttl": "::interval"}
    casts |= dict.fromkeys(("request_id", "corrects"), "::uuid")
    named = "".join(f", {name} => %({name})s{casts.get(name, '')}" for name in arguments)
    row = connection.execute(
        f"SELECT * FROM memwarden.write(%(layer)s, %(content)s{named})",
        {"layer": layer, "content": Jsonb(content)} | arguments,
    ).fetchone()
    assert row is not None
    return row


def set_up_now(admin: Connection[DictRow]) -> None:
    """Have a copied store be new: where nobody calls its jobs, they are late after a while."""
    admin.execute("UPDATE memwarden_data.storage SET applied_at = clock_timestamp()")


def write_many(connection: Connection[DictRow], requests: list[Any]) -> list[DictRow]:
    """Call ``memwarden.write_many``."""
    return connection.execute(
        "SELECT * FROM memwarden.write_many(%s)", (Json(requests, dumps=json.dumps),)
    ).fetchall()


NAMES = {"scope", "layer", "kind", "class", "classification", "embedding_model"}


def beside_names(answer: DictRow) -> DictRow:
    """Return the answer to a write without the name that led nowhere, which it repeats."""
    detail = answer["detail"]
    if isinstance(detail, dict):
        detail = {name: value for name, value in detail.items() if name not in NAMES}
    return {**answer, "detail": detail}


def recall(connection: Connection[DictRow], **arguments: Any) -> list[DictRow]:
    """Call ``memwarden.recall`` with named arguments."""
    return _asked(connection, "recall", arguments)


def ranked(connection: Connection[DictRow], **arguments: Any) -> list[DictRow]:
    """What recall answers, each with the `sum` that ranks it and the components that made it."""
    found = recall(connection, **arguments)
    steps = _asked(connection, "explain_recall", arguments)
    answers = [step["facts"] for step in steps if step["step"] == "answer"]
    assert [facts["item_id"] for facts in answers] == [str(row["item_id"]) for row in found]
    for row, facts in zip(found, answers, strict=True):
        parts = {f"{part['part']}_score": part["component"] for part in facts["parts"]}
        row.update({**parts, "sum": facts["sum"]})
    return found


def _asked(
    connection: Connection[DictRow], function: str, arguments: dict[str, Any]
) -> list[DictRow]:
    given = {
        name: Jsonb(value) if name in ("filter", "weights") else value
        for name, value in arguments.items()
    }
    casts = {"embedding": "::real[]", "layers": "::text[]", "scopes": "::text[]"}
    named = ", ".join(f"{name} => %({name})s{casts.get(name, '')}" for name in given)
    return connection.execute(f"SELECT * FROM memwarden.{function}({named})", given).fetchall()
