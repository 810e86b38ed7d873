"""A source that one agent issues is not another's by a second definition."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import psycopg
import pytest

from access import call, refusal

if TYPE_CHECKING:
    from conftest import Stocks, World

PATTERN = "crm:tickets/*"
ISSUERS = "SELECT uri_pattern, issuer FROM memwarden.sources WHERE uri_pattern ~ '^crm:'"


@pytest.fixture
def world(stocks: Stocks) -> Iterator[World]:
    """A store as init leaves it."""
    with stocks.shipped.lend(is_warm=False) as made:
        yield made


def define(world: World, pattern: str, issuer: str | None) -> list[str]:
    """Define a source; return what the administrator is told beside it."""
    admin = world.connect()
    told: list[str] = []
    admin.add_notice_handler(lambda diagnosis: told.append(str(diagnosis.message_primary)))
    call(admin, "define_source", uri_pattern=pattern, type="document", issuer=issuer, org="acme")
    return told


def agent(world: World, scope: str) -> str:
    """The name of a new agent."""
    login = world.register(scope)
    return str(world.value("SELECT agent FROM memwarden.agents WHERE %s = ANY (logins)", login))


@pytest.mark.parametrize("taker", ["another", "anybody"])
def test_a_pattern_of_another_issuer_is_refused(world: World, taker: str) -> None:
    """Until it was dropped, which says so.

    Proves: V9
    """
    first, second = agent(world, "/org/acme/user/ana"), agent(world, "/org/acme/user/bob")
    assert define(world, PATTERN, first) == []
    assert define(world, PATTERN, first) == []
    issuer = second if taker == "another" else None
    given = {"uri_pattern": PATTERN, "type": "document", "issuer": issuer, "org": "acme"}
    refused = refusal(world.admin, "define_source", **given)
    assert refused.sqlstate == psycopg.errors.DuplicateObject.sqlstate
    assert first in str(refused.diag.message_detail)
    assert [row["issuer"] for row in world.rows(ISSUERS)] == [first]
    call(world.admin, "drop_source", uri_pattern=PATTERN, org="acme")
    assert define(world, PATTERN, issuer) == []
    assert [row["issuer"] for row in world.rows(ISSUERS)] == [issuer]


def test_a_part_of_what_another_issues_is_taken_aloud(world: World) -> None:
    """A narrower pattern is meant to take some of it; whose it was, is said.

    Proves: V9
    """
    first, second = agent(world, "/org/acme/user/ana"), agent(world, "/org/acme/user/bob")
    define(world, PATTERN, first)
    (told,) = define(world, "crm:tickets/billing/*", second)
    assert PATTERN in told
    assert define(world, "crm:tickets/sales/*", first) == []
    assert define(world, "crm:orders/*", second) == []
