"""What a store asks of a write is chosen as a whole, for the server or an organisation."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import partial
from pathlib import Path
from time import monotonic
from typing import Any

import psycopg
import pytest
from psycopg import Connection
from psycopg.rows import DictRow
from psycopg.types.json import Jsonb

from helpers import write
from races import together
from shipped import SCOPE, Shipped

PROFILES = ("open", "balanced", "strict")
PAGE = Path(__file__).parents[3] / "docs/profiles.md"
SETTINGS = """
SELECT s.layer, s.name, s.value FROM memwarden_internal.profile_settings(%s) AS s
 UNION ALL
SELECT p.layer, 'approval', to_jsonb(
           p.approval || CASE p.approval WHEN 'by_risk' THEN ' from ' || p.auto_below ELSE '' END)
  FROM memwarden_internal.profile_policies(%s) AS p"""


def use(connection: Connection[DictRow], profile: str | None, org: str | None = None) -> None:
    """Choose a profile."""
    connection.execute("SELECT memwarden.use_profile(%s, org => %s)", (profile, org))


def configure(
    connection: Connection[DictRow], layer: str, org: str | None, **settings: Any
) -> None:
    """Set something by hand."""
    connection.execute(
        "SELECT memwarden.configure_layer(%s, %s, org => %s)", (layer, Jsonb(settings), org)
    )


def different(
    connection: Connection[DictRow], profile: str | None = None, org: str | None = None
) -> dict[tuple[str, str], Any]:
    """What holds otherwise than in a profile."""
    rows = connection.execute(
        "SELECT * FROM memwarden.explain_profile(%s, org => %s)", (profile, org)
    ).fetchall()
    return {(row["layer"], row["setting"]): row["value"] for row in rows}


def told(connection: Connection[DictRow]) -> str:
    """What `status()` says of profiles."""
    row = connection.execute(
        "SELECT detail FROM memwarden.status() WHERE component = 'profile'"
    ).fetchone()
    assert row is not None
    return str(row["detail"])


def test_a_bare_store_is_strict(shipped: Shipped) -> None:
    """What the tables are made with is what the profile says. Proves: Z12."""
    assert told(shipped.world.admin).startswith("server strict")
    assert different(shipped.world.admin, "strict") == {}


@pytest.mark.parametrize("org", ["acme", None])
def test_one_follows_another(shipped: Shipped, org: str | None) -> None:
    """Each whole, and back. Proves: Z12."""
    admin = shipped.world.admin
    for profile in (*PROFILES, "balanced", "open", "strict"):
        use(admin, profile, org)
        assert different(admin, org=org) == {}, profile
        for other in PROFILES:
            assert (different(admin, other, org) == {}) == (other == profile)
        assert f"{org or 'server'} {profile}" in told(admin)


@pytest.mark.parametrize("org", ["acme", None])
def test_what_was_set_by_hand_lies_over_each(shipped: Shipped, org: str | None) -> None:
    """It stays when another is chosen, and is shown. Proves: Z12."""
    admin = shipped.world.admin
    use(admin, "balanced", org)
    configure(admin, "semantic", org, no_evidence="ask")
    admin.execute(
        "SELECT memwarden.set_approval_policy('durable', approval => 'pack_auto', org => %s)",
        (org,),
    )
    by_hand = {("semantic", "no_evidence"): "ask", ("durable", "approval"): "pack_auto"}
    for profile in PROFILES:
        use(admin, profile, org)
        found = different(admin, org=org)
        assert found.items() >= by_hand.items(), profile
        assert {setting for _, setting in found} <= {"no_evidence", "approval", "auto_below"}
    assert "but for" in told(admin)
    admin.execute("SELECT memwarden.drop_approval_policy('durable', org => %s)", (org,))
    assert ("durable", "approval") not in different(admin, org=org)


def test_a_store_without_a_profile_keeps_by_hand_what_it_was_not_shipped_with(
    shipped: Shipped,
) -> None:
    """It is custom until somebody chooses one. Proves: Z12."""
    admin = shipped.world.admin
    admin.execute("UPDATE memwarden_data.organisation SET profile = NULL")
    configure(admin, "semantic", None, no_evidence="ask")
    assert told(admin) == "server custom"
    with pytest.raises(psycopg.errors.InvalidParameterValue):
        different(admin)
    assert different(admin, "strict") == {("semantic", "no_evidence"): "ask"}
    for profile in (*PROFILES, "balanced"):
        use(admin, profile)
        assert different(admin) == {("semantic", "no_evidence"): "ask"}


def test_an_organisation_returns_to_the_servers(shipped: Shipped) -> None:
    """Nothing of the profile stays; the server itself has always one. Proves: Z12."""
    admin = shipped.world.admin
    use(admin, "open", "acme")
    use(admin, None, "acme")
    assert different(admin, "strict", "acme") == {}
    assert shipped.world.value("SELECT count(*) FROM memwarden_data.layer_setting") == 0
    with pytest.raises(psycopg.errors.InvalidParameterValue):
        use(admin, None)


def test_a_curator_chooses_for_its_own_and_takes_no_more_of_the_server(shipped: Shipped) -> None:
    """An agent chooses nothing. Proves: Z12."""
    world = shipped.world
    curator = world.agent(
        "/org/acme", groups=("memwarden_curator",), role="curator", descendants=True
    )
    use(curator, "open")
    assert told(curator) == "server strict; acme open but for 5 settings"
    assert {setting for _, setting in different(curator)} == {"rate_limit"}
    world.admin.execute("SELECT memwarden.create_scope('/org/bolt')")
    for org in ("bolt", "global"):
        with pytest.raises(psycopg.Error) as refusal:
            use(curator, "open", org)
        assert refusal.value.sqlstate in ("42501", "42704")
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        use(shipped.agent, "open")


def test_the_page_shows_them_side_by_side(shipped: Shipped) -> None:
    """Every setting of every profile, as it is."""
    shown: dict[tuple[str, str], list[str]] = {}
    setting = ""
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == len(PROFILES) + 2 and "`" in cells[1]:
            setting = cells[0].split(":")[0].strip("`").split(" ")[0] or setting
            for layer in cells[1].replace("`", "").split(", "):
                shown[layer, setting] = cells[2:]
    made: dict[tuple[str, str], list[str]] = {}
    for profile in PROFILES:
        for row in shipped.world.admin.execute(SETTINGS, (profile, profile)):
            made.setdefault((row["layer"], row["name"]), []).append(str(row["value"]))
    assert shown == made


# What becomes of a procedure that cites nothing.
ANSWERS = {
    ("COMMITTED", None): "open",
    ("DEFERRED", "EVIDENCE_UNCLEAR"): "balanced",
    ("REJECTED", "INSUFFICIENT_EVIDENCE"): "strict",
}


def test_every_write_goes_by_the_profile_of_its_moment(shipped: Shipped) -> None:
    """Two organisations, sixteen writers, a hundred changes. Proves: Z12."""
    admin = shipped.world.admin
    homes = {"acme": SCOPE, "bolt": "/org/bolt/user/bo"}
    admin.execute("SELECT memwarden.create_scope(%s)", (homes["bolt"],))
    writers = {org: [shipped.world.agent(home) for _ in range(8)] for org, home in homes.items()}
    chance = random.Random(7)
    # When each profile began to be chosen, and when it was.
    chosen: dict[str, list[tuple[float, float, str]]] = {}
    for org, profile in (("acme", "open"), ("bolt", "strict")):
        use(admin, profile, org)
        chosen[org] = [(0, monotonic(), profile)]
    written: dict[str, list[tuple[float, float, DictRow]]] = {org: [] for org in homes}

    def note(org: str, who: int) -> None:
        for count in range(20):
            began = monotonic()
            content = f"To moor boat {who} at buoy {count}, throw the line twice."
            row = write(writers[org][who], "procedural", content, scope=homes[org])
            written[org].append((began, monotonic(), row))

    def change() -> None:
        for _ in range(100):
            org, profile = chance.choice(list(homes)), chance.choice(PROFILES)
            began = monotonic()
            use(admin, profile, org)
            chosen[org].append((began, monotonic(), profile))

    actions: list[Callable[[], None]] = [change]
    actions += [partial(note, org, who) for org in homes for who in range(8)]
    together(actions)
    for org, rows in written.items():
        assert len(rows) == 160
        ends = [ended for _, ended, _ in chosen[org][1:]] + [float("inf")]
        for began, ended, row in rows:
            said = ANSWERS[row["outcome"], row["reason"]]
            held = {
                profile
                for (first, _, profile), last in zip(chosen[org], ends, strict=True)
                if first <= ended and last >= began
            }
            assert said in held
    # Both were seen to change.
    seen = {(org, ANSWERS[r["outcome"], r["reason"]]) for org in homes for *_, r in written[org]}
    assert len(seen) == 6
