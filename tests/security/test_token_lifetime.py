"""A token ends when its time, its principal or an administrator says so, and at once."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest
from psycopg import Connection
from psycopg.rows import DictRow

from helpers import write

from .brokerage import ANA, AUTHENTICATE, BOB, NOBODY, Brokerage, acting, drinks, fault, refusal


def test_a_token_expires(office: Brokerage, client: Connection[DictRow]) -> None:
    """At the time it was given, and not before.

    Proves: A6
    """
    row = office.issue(ttl="1 second")
    assert row["expires_at"] - office.world.value("SELECT now()") <= timedelta(seconds=1)
    world = office.world
    world.admin.execute("SELECT pg_sleep_until(%s)", (row["expires_at"],))
    assert refusal(client, row["token"]) == "it has expired"

    lasting = office.issue()
    with acting(client, lasting["token"]):
        assert drinks(client) == ANA
    age = "UPDATE memwarden_data.token SET expires_at = clock_timestamp() WHERE token_id = %s"
    world.admin.execute(age, (lasting["token_id"],))
    assert refusal(client, lasting["token"]) == "it has expired"


REVOCATIONS: dict[str, Callable[[Brokerage, DictRow], object]] = {
    "the token": lambda office, row: office.world.value(
        "SELECT memwarden.revoke_tokens(token_id => %s)", row["token_id"]
    ),
    "all of the agent": lambda office, _: office.world.value(
        "SELECT memwarden.revoke_tokens('ana', org => %s)", office.org
    ),
}


@pytest.mark.parametrize("revoke", REVOCATIONS.values(), ids=REVOCATIONS)
def test_a_revoked_token_ends_within_its_transaction(
    office: Brokerage,
    client: Connection[DictRow],
    revoke: Callable[[Brokerage, DictRow], object],
) -> None:
    """The open transaction it authenticated sees nothing from its next statement on.

    Proves: A6
    """
    row, other = office.issue(), office.issue("bob")
    with client.transaction():
        client.execute(AUTHENTICATE, (row["token"],))
        assert drinks(client) == ANA
        assert revoke(office, row)
        assert drinks(client) == []
        assert fault(client, "SELECT * FROM memwarden.recall('tea')")[0] == NOBODY
        assert fault(client, "SELECT memwarden.write('semantic', '1')")[0] == NOBODY
        assert refusal(client, row["token"]) == "it was revoked"
    assert refusal(client, row["token"]) == "it was revoked"
    assert revoke(office, row) == 0
    with acting(client, other["token"]):
        assert drinks(client) == BOB
    with acting(client, office.token()):
        assert drinks(client) == ANA


def test_what_is_not_there_to_revoke_is_an_error(office: Brokerage) -> None:
    """Neither of both, both, an unknown agent or token, and who may not."""
    world, token_id = office.world, office.issue()["token_id"]
    assert fault(world.admin, "SELECT memwarden.revoke_tokens()")[0] == "22023"
    both = "SELECT memwarden.revoke_tokens('ana', %s)"
    assert fault(world.admin, both, token_id)[0] == "22023"
    assert fault(world.admin, "SELECT memwarden.revoke_tokens('nobody')")[0] == "42704"
    unknown = "SELECT memwarden.revoke_tokens(token_id => gen_random_uuid())"
    assert fault(world.admin, unknown)[0] == "42704"
    stranger = world.role("memwarden_curator")
    home = f"/org/{office.org}x"
    world.scope(home)
    office.register(stranger, home, login_role=stranger, role="curator")
    by_id = "SELECT memwarden.revoke_tokens(token_id => %s)"
    assert fault(world.connect(stranger), by_id, token_id)[0] == "42704"
    curator = world.role("memwarden_curator")
    office.register(curator, f"/org/{office.org}", login_role=curator, role="curator")
    assert world.connect(curator).execute(by_id, (token_id,)).rowcount == 1


def test_a_disabled_agent_ends_within_its_transaction(
    office: Brokerage, client: Connection[DictRow]
) -> None:
    """Its open transaction, its tokens, and no new ones; enabled again, the tokens still live.

    Proves: A6
    """
    token, world = office.token(), office.world
    change = "SELECT memwarden.change_agent('ana', org => %s, enabled => %s)"
    with client.transaction():
        client.execute(AUTHENTICATE, (token,))
        assert drinks(client) == ANA
        world.admin.execute(change, (office.org, False))
        assert drinks(client) == []
        assert fault(client, "SELECT memwarden.write('semantic', '1')")[0] == NOBODY
    assert refusal(client, token) == "its principal is disabled"
    broker = world.connect(office.broker)
    issue = "SELECT memwarden.issue_token('ana', %s)"
    assert fault(broker, issue, office.app)[0] == "42704"
    world.admin.execute(change, (office.org, True))
    with acting(client, token):
        assert drinks(client) == ANA


def test_a_snapshot_shows_no_more_than_it_showed_when_it_was_taken(
    office: Brokerage, client: Connection[DictRow]
) -> None:
    """At REPEATABLE READ a revocation is not seen, and nothing that was written since either.

    Proves: A6
    """
    row = office.issue()
    with client.transaction():
        client.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        client.execute(AUTHENTICATE, (row["token"],))
        assert drinks(client) == ANA
        with (
            office.world.connect(office.app) as other,
            acting(other, office.token()),
        ):
            write(other, "semantic", {"drink": "water"})
        REVOCATIONS["the token"](office, row)
        assert drinks(client) == ANA
        assert fault(client, "SELECT memwarden.write('semantic', '1')")[0] == "25001"
    assert refusal(client, row["token"]) == "it was revoked"


def test_a_transaction_kept_open_acts_for_nobody_a_day_after_its_token(
    office: Brokerage, client: Connection[DictRow]
) -> None:
    """A token that has expired leaves a transaction alone; but not for ever.

    Proves: A6
    """
    age = (
        "UPDATE memwarden_data.token SET expires_at = clock_timestamp() - %s::interval"
        " WHERE token_id = %s"
    )
    row = office.issue()
    with acting(client, row["token"]):
        office.world.admin.execute(age, ("23 hours", row["token_id"]))
        assert drinks(client) == ANA
        office.world.admin.execute(age, ("24 hours", row["token_id"]))
        assert drinks(client) == []
    row = office.issue()
    with acting(client, row["token"]):
        office.world.admin.execute(age, ("23 hours", row["token_id"]))
        assert REVOCATIONS["the token"](office, row) == 1
        assert drinks(client) == []
