"""Tokens live by a key that is rotated, under a master key that no table holds."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import psycopg
import pytest
from psycopg import Connection
from psycopg.rows import DictRow

from helpers import write
from races import together

from .brokerage import ANA, AUTHENTICATE, Brokerage, acting, drinks, fault, refusal

KEY_FILE = """
CREATE FUNCTION pg_temp.key_file(path text) RETURNS void LANGUAGE plpython3u AS $$
import os
os.environ.pop("MEMWARDEN_MASTER_KEY_FILE", None)
if path is not None:
    os.environ["MEMWARDEN_MASTER_KEY_FILE"] = path
$$"""


def test_a_rotated_key_verifies_what_it_signed_and_signs_no_more(
    office: Brokerage, client: Connection[DictRow]
) -> None:
    """Tokens overlap for the five minutes they can live; a key known to others ends at once.

    Proves: A6
    """
    admin = office.world.connect(office.world.role("memwarden_admin"))
    key_of = "SELECT key_id FROM memwarden_data.token WHERE token_id = %s"

    def rotate(*, at_once: bool) -> int:
        row = admin.execute("SELECT memwarden.rotate_token_key(%s) AS key", (at_once,)).fetchone()
        assert row is not None
        return int(row["key"])

    old = office.issue()
    key = rotate(at_once=False)
    new = office.issue()
    assert office.world.value(key_of, old["token_id"]) < key
    assert office.world.value(key_of, new["token_id"]) == key
    for row in (old, new):
        with acting(client, row["token"]):
            assert drinks(client) == ANA
    with acting(client, new["token"]):
        assert rotate(at_once=True) > key
        # The transaction was authenticated before; its token has not been revoked.
        assert drinks(client) == ANA
        assert refusal(client, new["token"]) == "its key was retired"
    assert refusal(client, old["token"]) == "its key was retired"
    with acting(client, office.token()):
        assert drinks(client) == ANA
    current = "SELECT count(*) FROM memwarden_data.token_key WHERE retires_at IS NULL"
    assert office.world.value(current) == 1


def test_a_retired_key_is_over_when_its_time_is(
    office: Brokerage, client: Connection[DictRow]
) -> None:
    """A token that outlives its key, which only a row changed by hand could."""
    token = office.token()
    office.world.admin.execute(
        "UPDATE memwarden_data.token_key SET retires_at = clock_timestamp() + interval '1 hour'"
    )
    with acting(client, token):
        assert drinks(client) == ANA
    office.world.admin.execute("UPDATE memwarden_data.token_key SET retires_at = clock_timestamp()")
    assert refusal(client, token) == "its key was retired"


def test_tokens_issued_while_keys_are_made_and_rotated_all_verify(
    office: Brokerage, client: Connection[DictRow]
) -> None:
    """Brokers who find no key at the same moment, and a rotation in between.

    Proves: A6
    """
    world = office.world
    world.admin.execute("UPDATE memwarden_data.token_key SET retires_at = clock_timestamp()")
    admin = world.connect()

    def rotate() -> str:
        admin.execute("SELECT memwarden.rotate_token_key()")
        return ""

    brokers = [world.connect(office.broker) for _ in range(4)]

    def issue(broker: Connection[DictRow]) -> str:
        row = broker.execute("SELECT * FROM memwarden.issue_token('ana', %s)", (office.app,))
        return str(row.fetchall()[0]["token"])

    for _ in range(5):
        tokens = together([*(lambda b=b: issue(b) for b in brokers), rotate])
        for token in filter(None, tokens):
            with acting(client, token):
                assert drinks(client) == ANA
        world.admin.execute("UPDATE memwarden_data.token_key SET retires_at = clock_timestamp()")
        for token in filter(None, tokens):
            assert refusal(client, token) == "its key was retired"


@pytest.fixture
def as_role(office: Brokerage) -> Iterator[Callable[[str, str | None], Connection[DictRow]]]:
    """One superuser's session that is somebody else and whose server has lost its master key."""
    connection = office.world.connect()
    connection.execute(KEY_FILE)

    def become(role: str, key_file: str | None) -> Connection[DictRow]:
        connection.execute("RESET SESSION AUTHORIZATION")
        connection.execute("SELECT pg_temp.key_file(%s)", (key_file,))
        connection.execute(f"SET SESSION AUTHORIZATION {role}")
        return connection

    yield become
    connection.close()


def test_a_server_without_a_master_key_issues_and_accepts_nothing(
    office: Brokerage, as_role: Callable[[str, str | None], Connection[DictRow]]
) -> None:
    """It says what is missing; a ticket is nobody's, and what needs no token works.

    Proves: A6
    """
    token = office.token()
    issue = "SELECT memwarden.issue_token('ana', %s)"
    state, detail = fault(as_role(office.broker, None), issue, office.app)
    assert (state, "MEMWARDEN_MASTER_KEY_FILE" in detail) == ("55000", True)
    client = as_role(office.app, None)
    state, detail = fault(client, AUTHENTICATE, token)
    assert (state, "MEMWARDEN_MASTER_KEY_FILE" in detail) == ("55000", True)
    client.execute("SELECT set_config('memwarden.ticket', %s, false)", (a_ticket(token),))
    assert drinks(client) == []
    client.execute("RESET memwarden.ticket")
    agent = office.world.register(f"/org/{office.org}/user/carl")
    assert write(as_role(agent, None), "semantic", {"a": 1})["outcome"] == "COMMITTED"


def test_a_master_key_that_cannot_be_read_is_a_fault_and_no_identity(
    office: Brokerage, as_role: Callable[[str, str | None], Connection[DictRow]]
) -> None:
    """A file that is absent or holds no key is the server's fault: nothing is signed."""
    token = office.token()
    for path in ("/nowhere/master.key", "/etc/hostname"):
        issue = "SELECT memwarden.issue_token('ana', %s)"
        assert fault(as_role(office.broker, path), issue, office.app)[0] == "F0000"
        assert fault(as_role(office.app, path), AUTHENTICATE, token)[0] == "F0000"


def a_ticket(token: str) -> str:
    """What a ticket of that token looks like."""
    return f"{token.split('.')[1]}:{token[-64:]}"


def test_another_master_key_makes_every_token_forged(
    office: Brokerage,
    as_role: Callable[[str, str | None], Connection[DictRow]],
    client: Connection[DictRow],
) -> None:
    """What is in the tables, and so in a dump, signs nothing.

    Proves: A6
    """
    world, token = office.world, office.token()
    path = world.value("SELECT current_setting('data_directory') || '/../another.key'")
    key = "COPY (SELECT repeat('ab', 32)) TO PROGRAM 'cat > {}'"
    world.admin.execute(key.format(path))
    assert refusal(as_role(office.app, path), token) == "it was not issued here"
    row = as_role(office.broker, path).execute(
        "SELECT * FROM memwarden.issue_token('ana', %s)", (office.app,)
    )
    with pytest.raises(psycopg.errors.InvalidAuthorizationSpecification):
        client.execute(AUTHENTICATE, (row.fetchall()[0]["token"],))
