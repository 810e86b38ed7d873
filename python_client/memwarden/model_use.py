"""Going over to an embedding model while everybody reads and writes on: `memwarden models use`.

All of it happens in one transaction, or nothing, and a second run finds the work done. The model
is the one that recall goes by from then on. A memory that has no vector of it yet is found by its
words, until the worker has made one.
"""

from __future__ import annotations

from typing import Any

import psycopg

from memwarden.embedders import E5_DIMENSION, E5_NAME
from memwarden.errors import InvalidArgument, NotAllowed, NotFound, translated, unreachable
from memwarden.starting import Step, connected, first_row, made_login

# Measured as the best beside words, see docs/embeddings.md.
_E5_WEIGHT = 0.55
# As docs/recall.md has it, measured as those of other models are.
_E5_THRESHOLD = 0.4
_E5_PLUGIN = "e5"
_GROUP = "memwarden_embedder"

Connection = psycopg.Connection[Any]


def use_model(dsn: str, model: str, org: str | None = None, login: str = "embedder") -> list[Step]:
    """Register a model that the extra `embed` brings, have it fill, and make it the active one.

    Any other model is registered already, with an embedder. `login` is made for the worker where
    nobody may embed yet and who asks is a superuser.

    Raises:
        NotFound: there is no such model or organisation.
        NotAllowed: the login is no administrator, or nobody may embed and it is no superuser.
        InvalidArgument: the model has no embedder, or another dimension than the packaged one.
        MemwardenError: the server cannot be reached, or refuses.
    """
    connection = connected(dsn)
    try:
        with connection, connection.transaction():
            return _steps(connection, model, org, login)
    except psycopg.Error as error:
        if error.sqlstate is None:
            raise unreachable(error, ()) from None
        raise translated(error) from None


def _steps(admin: Connection, model: str, org: str | None, login: str) -> list[Step]:
    # Two runs at once: the second waits, then finds the work done.
    admin.execute("SELECT pg_advisory_xact_lock(hashtextextended('memwarden models use', 0))")
    return [
        _registered(admin, model),
        _active(admin, model, org),
        _worker(admin, login),
    ]


def _registered(admin: Connection, model: str) -> Step:
    there = first_row(
        admin,
        "SELECT m.dimension, m.embedder FROM memwarden.embedding_models AS m"
        " WHERE m.model = %(model)s LIMIT 1",
        {"model": model},
    )
    if model != E5_NAME:
        if not there:
            raise NotFound(
                f"embedding model {model}",
                hint=f"{E5_NAME} comes with the extra `embed`; register any other first.",
            )
        return Step("model", model, made=False)
    if not there:
        admin.execute(
            "SELECT memwarden.register_embedding_model(%s, %s, vector_weight => %s,"
            " embedder => %s, relevance_threshold => %s)",
            (model, E5_DIMENSION, _E5_WEIGHT, _E5_PLUGIN, _E5_THRESHOLD),
        )
        return Step("model", model, made=True)
    if there[0] != E5_DIMENSION:
        raise InvalidArgument(f"{model} is registered with {there[0]} numbers, not {E5_DIMENSION}")
    if there[1] is None:
        admin.execute("SELECT memwarden.set_embedder(%s, %s)", (model, _E5_PLUGIN))
    return Step("model", model, made=there[1] is None)


def _active(admin: Connection, model: str, org: str | None) -> Step:
    where = org or "all organisations without a model of their own"
    there = first_row(
        admin,
        "SELECT 1 FROM memwarden.embedding_models AS m"
        " WHERE m.model = %(model)s AND m.org = %(org)s AND m.state = 'active'",
        {"model": model, "org": org or "global"},
    )
    # Once more does no harm: what is missing is looked for anew.
    admin.execute("SELECT memwarden.reembed(%s, %s)", (model, org))
    if not there:
        admin.execute(
            "SELECT memwarden.switch_embedding_model(%s, %s, allow_partial => true)", (model, org)
        )
    return Step("active", model, not there, f"for {where}")


def _worker(admin: Connection, login: str) -> Step:
    there = first_row(
        admin,
        "SELECT r.rolname FROM pg_roles AS r WHERE r.rolcanlogin AND NOT r.rolsuper"
        " AND pg_has_role(r.oid, %(group)s, 'MEMBER') ORDER BY r.rolname <> %(login)s, r.rolname",
        {"group": _GROUP, "login": login},
    )
    if there:
        return Step("login", there[0], made=False)
    if not first_row(admin, "SELECT rolsuper FROM pg_roles WHERE rolname = current_user", {})[0]:
        raise NotAllowed(
            f"no login is a member of {_GROUP}, for the worker that makes the vectors",
            hint=f"A superuser runs: CREATE ROLE {login} LOGIN IN ROLE {_GROUP};",
        )
    return made_login(admin, login, _GROUP, None)
