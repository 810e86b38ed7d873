"""A broker has tokens issued for those who live where it does or below, and does nothing else."""

from __future__ import annotations

import pytest
from psycopg import Connection
from psycopg.rows import DictRow

from helpers import write

from .brokerage import ANA, BOB, NOBODY, Brokerage, acting, drinks, fault
from .conftest import sqlstate

ISSUE = "SELECT memwarden.issue_token(%s, %s, org => %s)"


ISSUE_FOR = "SELECT t.token FROM memwarden.issue_token_for(%s, %s, %s) AS t"
ISSUER = "https://login.example.org"


def test_a_broker_speaks_for_identities_of_its_agents_alone(office: Brokerage) -> None:
    """To the letter; an identity of somebody else's agent and one of nobody answer alike.

    Proves: A4, A6
    """
    world, org = office.world, office.org
    other = Brokerage(world, f"{org}-2")
    admin = world.connect(world.role("memwarden_admin"))
    bind = "SELECT memwarden.bind_identity(%s, %s, %s, %s)"
    for agent, subject, whose in (("ana", "a", org), ("bob", "b", org), ("bob", "c", other.org)):
        admin.execute(bind, (agent, ISSUER, subject, whose))
    assert fault(admin, bind, "bob", ISSUER, "a", org)[0] == "42710"
    wrong: list[tuple[str | None, str]] = [(None, "d"), ("login", "d"), (ISSUER, "")]
    for whom in [*wrong, (ISSUER, "d\n")]:
        assert fault(admin, bind, "ana", *whom, org)[0] == "22023"
    with world.connect(office.broker) as broker, world.connect(office.app) as app:
        for subject, mine in (("a", ANA), ("b", BOB)):
            row = broker.execute(ISSUE_FOR, (ISSUER, subject, office.app)).fetchone()
            assert row is not None
            with acting(app, row["token"]):
                assert drinks(app) == mine
        strangers: list[tuple[str | None, str | None]] = [
            *((ISSUER, "c"), (ISSUER, "x"), (ISSUER, "A"), (ISSUER + "/", "a"), (None, "a")),
            *((ISSUER, None), (ISSUER.upper(), "a")),
        ]
        nobody = ("42704", "agent of this identity that this broker speaks for")
        for stranger in strangers:
            assert fault(broker, ISSUE_FOR, *stranger, office.app) == nobody, stranger
        world.admin.execute("SELECT memwarden.change_agent('ana', %s, enabled => false)", (org,))
        assert fault(broker, ISSUE_FOR, ISSUER, "a", office.app) == nobody
        admin.execute("SELECT memwarden.unbind_identity(%s, 'b')", (ISSUER,))
        assert fault(broker, ISSUE_FOR, ISSUER, "b", office.app) == nobody
        assert fault(broker, "SELECT * FROM memwarden_data.principal_identity")[0] == "42501"
        assert fault(app, ISSUE_FOR, ISSUER, "a", office.app)[0] == "42501"
    assert len(admin.execute("SELECT * FROM memwarden_data.principal_identity").fetchall()) == 2


def test_a_broker_speaks_for_its_home_and_below_and_for_nobody_else(office: Brokerage) -> None:
    """Not a sibling, not above, no other organisation, not the engine, itself, or the unknown.

    Proves: A4, A6
    """
    world, org = office.world, office.org
    other = Brokerage(world, f"{org}-2")
    ana = f"/org/{org}/user/ana"
    world.scope(f"{ana}/task/t")
    office.register("worker", f"{ana}/task/t", kind="worker")
    office.register("above", f"/org/{org}")
    office.register("everywhere", "/global")
    office.register("disabled", ana)
    world.admin.execute("SELECT memwarden.change_agent('disabled', %s, enabled => false)", (org,))

    of_ana = office.service(ana)
    neighbour = office.service(f"/org/{org}/user/bob")
    connection = world.connect(of_ana)
    for agent in ("ana", "worker"):
        connection.execute(ISSUE, (agent, office.app, None))
        connection.execute(ISSUE, (agent, office.app, org))
    refused: list[tuple[str | None, str | None]] = [
        ("bob", None),
        ("above", None),
        ("everywhere", None),
        ("everywhere", "global"),
        ("ana", other.org),
        ("bob", other.org),
        ("ana", "global"),
        ("ana", "nowhere"),
        ("memwarden", None),
        ("memwarden", "global"),
        (of_ana, None),
        (neighbour, None),
        (office.broker, None),
        ("disabled", None),
        ("unknown", None),
        ("Ana", None),
        ("", None),
        (None, None),
    ]
    for name, whose in refused:
        state, detail = fault(connection, ISSUE, name, office.app, whose)
        # What exists elsewhere and what does not exist answer alike.
        assert state == "42704", (name, whose)
        assert detail.endswith("that this broker speaks for"), (name, whose)


def test_a_broker_of_everybody_names_the_organisation(office: Brokerage) -> None:
    """One that lives in /global serves every organisation, and of two Anas the one it names.

    Proves: A4, A6
    """
    world = office.world
    other = Brokerage(world, f"{office.org}-2")
    everybodys = office.service("/global")
    connection = world.connect(everybodys)
    assert fault(connection, ISSUE, "ana", office.app, None)[0] == "42704"
    assert fault(connection, ISSUE, "memwarden", office.app, "global")[0] == "42704"
    assert fault(connection, ISSUE, everybodys, office.app, "global")[0] == "42704"
    client = world.connect(office.app)
    for org in (office.org, other.org):
        token = office.token("ana", broker=everybodys, org=org)
        with acting(client, token):
            who = client.execute("SELECT agent, org FROM memwarden.whoami()").fetchone()
            assert who == {"agent": "ana", "org": org}


def test_a_token_is_issued_for_a_login_that_exists(office: Brokerage) -> None:
    """No unknown role, no role that cannot log in, none at all.

    Proves: A6
    """
    broker = office.world.connect(office.broker)
    for audience in ("nobody_at_all", "memwarden_agent", "public", "", None, office.app.upper()):
        state, detail = fault(broker, ISSUE, "ana", audience, None)
        assert (state, detail.startswith("login role")) == ("42704", True), audience


NEVER = [
    "0",
    "-1 second",
    "0.999999 seconds",
    "5 minutes 0.000001 seconds",
    "1 day",
    "1 month",
    "-1 month 30 days",
    "178000000 years",
    "-178000000 years",
    "infinity",
    "-infinity",
    "12 months -360 days",
    "1200 months -36000 days 1 minute",
    "-1200 months 36000 days 1 minute",
]


@pytest.mark.parametrize("ttl", [*NEVER, None])
def test_a_token_lives_for_a_second_to_five_minutes(office: Brokerage, ttl: str | None) -> None:
    """Whatever the interval is made of: 100 years less 36,000 days compare as none, and are not.

    Proves: A6
    """
    broker = office.world.connect(office.broker)
    issue = "SELECT memwarden.issue_token('ana', %s, %s::interval)"
    assert fault(broker, issue, office.app, ttl)[0] == "22023"


def test_a_month_less_thirty_days_is_no_way_to_a_longer_token(office: Brokerage) -> None:
    """What is left of such an interval counts in seconds, in every month and time zone.

    Proves: A6
    """
    broker = office.world.connect(office.broker)
    for zone in ("UTC", "Europe/Berlin", "Pacific/Kiritimati"):
        broker.execute("SELECT set_config('TimeZone', %s, false)", (zone,))
        for ttl in ("1 month -30 days 5 minutes", "1 day -24 hours 5 minutes", "300", "1 second"):
            row = broker.execute(
                "SELECT expires_at - clock_timestamp() <= interval '5 minutes' AS soon"
                "  FROM memwarden.issue_token('ana', %s, %s::interval)",
                (office.app, ttl),
            ).fetchone()
            assert row == {"soon": True}, (zone, ttl)


def test_only_a_service_is_a_broker(office: Brokerage) -> None:
    """Not an agent, a person or a worker in the same role; and not a login that is nobody.

    Proves: A6
    """
    for kind in ("agent", "human", "worker"):
        connection = office.world.connect(office.service(f"/org/{office.org}", kind=kind))
        assert fault(connection, ISSUE, "ana", office.app, None)[0] == "42704"
    nobody = office.world.connect(office.world.role("memwarden_broker"))
    assert fault(nobody, ISSUE, "ana", office.app, None)[0] == NOBODY


def test_a_broker_reads_and_writes_nothing(office: Brokerage) -> None:
    """It asks who it is and has tokens issued: no memory, no table, no token, not for itself.

    Proves: A6
    """
    world = office.world
    broker = world.connect(office.broker)
    who = broker.execute("SELECT agent, kind FROM memwarden.whoami()").fetchone()
    assert who == {"agent": office.broker, "kind": "service"}
    callable_ = world.rows(
        "SELECT p.proname FROM pg_proc AS p"
        " WHERE p.pronamespace::regnamespace::text IN ('memwarden', 'memwarden_internal')"
        "   AND has_schema_privilege(%(role)s, p.pronamespace, 'USAGE')"
        "   AND has_function_privilege(%(role)s, p.oid, 'EXECUTE')".replace("%(role)s", "%s"),
        office.broker,
        office.broker,
    )
    assert {row["proname"] for row in callable_} == {"issue_token", "issue_token_for", "whoami"}
    for attempt in (
        "SELECT * FROM memwarden.recall('tea')",
        "SELECT memwarden.write('semantic', '1')",
        "SELECT * FROM memwarden.items",
        "SELECT memwarden.get(gen_random_uuid())",
        "SELECT memwarden.revoke_tokens('ana')",
        "SELECT memwarden.rotate_token_key()",
        "SELECT memwarden.register_agent('more', '/global')",
    ):
        assert sqlstate(broker, attempt) == "42501", attempt
    state, _ = fault(broker, "SELECT memwarden.authenticate(%s)", office.token())
    assert state == "42501"
    relations = world.rows(
        "SELECT c.oid::regclass::text AS name FROM pg_class AS c WHERE c.relkind IN ('r', 'p', 'v')"
        " AND c.relnamespace::regnamespace::text IN ('memwarden', 'memwarden_data')"
    )
    assert len(relations) > 30
    readable = [
        row["name"]
        for row in relations
        if sqlstate(broker, f"SELECT FROM {row['name']}") != "42501"
    ]
    assert readable == []


def test_a_broker_that_is_disabled_issues_nothing_more(office: Brokerage) -> None:
    """Not in a session that is open, and not from a snapshot taken while it was still enabled.

    Proves: A6
    """
    world = office.world
    broker = world.connect(office.broker)
    enable = "SELECT memwarden.change_agent(%s, %s, enabled => %s)"
    for isolation in ("READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE"):
        broker.execute(f"BEGIN ISOLATION LEVEL {isolation}")
        assert broker.execute("SELECT agent FROM memwarden.whoami()").fetchall()
        world.admin.execute(enable, (office.broker, office.org, False))
        state, _ = fault(broker, ISSUE, "ana", office.app, None)
        assert state == (NOBODY if isolation == "READ COMMITTED" else "25001")
        broker.execute("ROLLBACK")
        world.admin.execute(enable, (office.broker, office.org, True))
    assert office.token()


def test_a_token_lost_with_its_transaction_was_never_issued(
    office: Brokerage, client: Connection[DictRow]
) -> None:
    """A broker that hands out a token before it commits has handed out nothing.

    Proves: A6
    """
    broker = office.world.connect(office.broker)
    with broker.transaction(force_rollback=True):
        row = broker.execute(
            "SELECT * FROM memwarden.issue_token('ana', %s)", (office.app,)
        ).fetchone()
        assert row is not None
        authenticate = "SELECT memwarden.authenticate(%s)"
        assert fault(client, authenticate, row["token"]) == (NOBODY, "it was not issued here")
    assert fault(client, authenticate, row["token"]) == (NOBODY, "it was not issued here")


def test_a_service_reached_by_token_issues_for_others_only_with_the_role(
    office: Brokerage, client: Connection[DictRow]
) -> None:
    """A shared login that acts for a broker is no broker; with the role it is one, and no more.

    Proves: A4, A6
    """
    world, home = office.world, f"/org/{office.org}/user/ana"
    office.register("helper", home, kind="service")
    with acting(client, office.token("helper")):
        assert fault(client, ISSUE, "ana", office.app, None)[0] == "42501"
    both = world.role("memwarden_agent", "memwarden_broker")
    connection = world.connect(both)
    with acting(connection, office.token("helper", audience=both)):
        row = connection.execute("SELECT * FROM memwarden.issue_token('ana', %s)", (office.app,))
        token = row.fetchall()[0]["token"]
        for agent in ("helper", "bob", office.broker):
            assert fault(connection, ISSUE, agent, office.app, None)[0] == "42704"
    with acting(client, token):
        assert drinks(client) == ANA
        assert write(client, "semantic", {"a": 1})["outcome"] == "COMMITTED"
