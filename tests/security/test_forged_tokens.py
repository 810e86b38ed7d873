"""A token that was not issued, or not for this login, or is told to everybody, is refused."""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable
from typing import Any

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from psycopg import Connection, sql
from psycopg.rows import DictRow

from .brokerage import ANA, AUTHENTICATE, BOB, Brokerage, acting, drinks, refusal


def altered(token: str) -> dict[str, str]:
    """The token with each of its parts changed, and what is not shaped like a token at all."""
    part = token.split(".")

    def changed(position: int, value: str) -> str:
        return ".".join([*part[:position], value, *part[position + 1 :]])

    return {
        "version": changed(0, "mw2"),
        "token": changed(1, str(uuid.uuid4())),
        "principal": changed(2, str(int(part[2]) + 1)),
        "engine": changed(2, "0"),
        "expiry": changed(3, str(int(part[3]) + 1000)),
        "audience": changed(4, b"postgres".hex()),
        "signature": changed(5, part[5][::-1]),
        "no signature": ".".join(part[:5]),
        "empty signature": changed(5, ""),
        "signature of zeros": changed(5, "0" * 64),
        "signature in capitals": changed(5, part[5].upper()),
        "truncated": token[:-1],
        "longer": token + "0",
        "line after it": token + "\n",
        "blank before it": " " + token,
        "two tokens": token + token,
        "part twice": ".".join([*part[:2], part[1], *part[2:]]),
        "no UUID": changed(1, "-" * 36),
        "huge": "mw1." + "0" * 50_000_000,
        "longest": token + "0" * (2000 - len(token)),
        "garbage": "\x01\x7f\u00ff\u2028\U0001f4a5" * 40,
        "empty": "",
        "wildcard": "%" * 100,
    }


@pytest.fixture
def mutated(office: Brokerage, client: Connection[DictRow]) -> tuple[Connection[DictRow], Any]:
    """A connection, and three valid tokens: two of one agent, one of another."""
    return client, [office.token("ana"), office.token("ana"), office.token("bob")]


def test_a_token_is_accepted_as_it_was_issued_or_not_at_all(
    office: Brokerage, client: Connection[DictRow]
) -> None:
    """Each part altered, cut, lengthened, empty, null, huge, garbage: refused, and the same nobody.

    Proves: A6
    """
    token = office.token()
    for what, forged in altered(token).items():
        with client.transaction():
            assert refusal(client, forged) in {
                "it is no token of issue_token()",
                "it was not issued here",
            }, what
            assert drinks(client) == [], what
    assert refusal(client, None) == "it is no token of issue_token()"
    with acting(client, token):
        assert drinks(client) == ANA


def test_bytes_that_are_no_text_are_refused_before_anybody_reads_them(
    office: Brokerage, client: Connection[DictRow]
) -> None:
    """The protocol's own checks: no NUL, no broken UTF-8."""
    for garbage in (b"\x00", b"\xff\xfe" * 40, office.token().encode() + b"\x80"):
        with pytest.raises(psycopg.errors.CharacterNotInRepertoire):
            client.execute("SELECT memwarden.authenticate(convert_from(%b, 'UTF8'))", (garbage,))


@settings(max_examples=150, deadline=None, database=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_no_mutation_of_a_token_is_accepted(mutated: Any, data: st.DataObject) -> None:
    """Characters replaced, removed, inserted, swapped between two tokens: never accepted.

    Proves: A6
    """
    client, tokens = mutated
    alphabet = st.sampled_from("0123456789abcdef.-mwA \n\u0660")
    token: str = data.draw(st.sampled_from(tokens))
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, len(token)))
        end = data.draw(st.integers(start, min(len(token), start + 40)))
        other = data.draw(st.sampled_from(tokens))
        token = (
            token[:start]
            + data.draw(st.text(alphabet, max_size=40) | st.just(other[start:end]))
            + token[end:]
        )
    if token not in tokens:
        refusal(client, token)


def test_a_token_written_into_the_query_is_refused(
    office: Brokerage, client: Connection[DictRow]
) -> None:
    """As a literal it would be in pg_stat_activity and in logs: said so, though it is valid.

    Proves: A6
    """
    token = office.token()
    literal = f"SELECT memwarden.authenticate('{token}')"
    client.execute("PREPARE with_parameter AS SELECT memwarden.authenticate($1)")
    body = sql.SQL("BEGIN PERFORM memwarden.authenticate({}); END").format(token)
    exposed: dict[str, Callable[[], object]] = {
        "simple query": lambda: client.execute(literal),
        "several statements": lambda: client.execute(f"SELECT 1; {literal}"),
        "prepared by the protocol": lambda: client.execute(literal, prepare=True),
        "EXECUTE": lambda: client.execute(f"EXECUTE with_parameter('{token}')"),
        "a comment": lambda: client.execute(f"{AUTHENTICATE} -- {token}", (token,)),
        "DO block": lambda: client.execute(sql.SQL("DO {}").format(body.as_string(client))),
    }
    for how, call in exposed.items():
        with pytest.raises(psycopg.errors.InvalidAuthorizationSpecification) as raised:
            call()
        assert raised.value.diag.message_primary == "the token is written into the query", how
    with acting(client, token):
        assert drinks(client) == ANA


def test_no_token_is_left_in_the_log_or_in_a_table(
    office: Brokerage, client: Connection[DictRow]
) -> None:
    """Accepted, refused and in an error: neither the server's log nor any table holds it.

    Proves: A6
    """
    token, forged = office.token(), "mw1.forged" + uuid.uuid4().hex * 3
    refusal(client, forged)
    with pytest.raises(psycopg.Error), acting(client, token):
        client.execute("SELECT 1 / 0")
    world = office.world
    log = world.value("SELECT pg_read_file(current_setting('data_directory') || '/../log')")
    assert "division by zero" in log
    assert [secret for secret in (token, token[-64:], forged) if secret in log] == []
    row = world.value("SELECT string_agg(t::text, ' ') FROM memwarden_data.token AS t")
    assert token.split(".")[1] in row
    assert re.search("[0-9a-f]{64}", row) is None


def test_only_the_login_it_was_issued_for_can_use_it(office: Brokerage) -> None:
    """Another login of the same rights, also after SET ROLE to the right one.

    Proves: A6
    """
    world, token = office.world, office.token()
    other = world.role("memwarden_agent")
    world.admin.execute(f"GRANT {office.app} TO {other}")
    thief = world.connect(other)
    assert refusal(thief, token) == "it was issued for another login role"
    thief.execute(f"SET ROLE {office.app}")
    assert refusal(thief, token) == "it was issued for another login role"
    superuser = world.connect()
    assert refusal(superuser, token) == "it was issued for another login role"
    superuser.execute(f"SET SESSION AUTHORIZATION {office.app}")
    with acting(superuser, token):
        assert drinks(superuser) == ANA


def test_a_login_that_is_somebody_cannot_become_somebody_else(office: Brokerage) -> None:
    """Bound to a principal, also to a disabled one; bound in the middle, it is whom it is bound to.

    Proves: A6
    """
    world = office.world
    bound = world.register(f"/org/{office.org}/user/carl")
    carl = world.connect(bound)
    token = office.token("bob", audience=bound)
    assert refusal(carl, token) == f"login role {bound} is bound to a principal"
    world.admin.execute("SELECT memwarden.change_agent(%s, enabled => false)", (bound,))
    assert refusal(carl, token) == f"login role {bound} is bound to a principal"
    assert drinks(carl) == []
    world.admin.execute("SELECT memwarden.change_agent(%s, enabled => true)", (bound,))
    world.admin.execute("SELECT memwarden.unbind_login(%s)", (bound,))
    with acting(carl, token):
        assert drinks(carl) == BOB
        world.admin.execute("SELECT memwarden.bind_login(%s, %s)", (bound, bound))
        assert drinks(carl) == []
        who = carl.execute("SELECT agent FROM memwarden.whoami()").fetchall()
        assert who == [{"agent": bound}]
