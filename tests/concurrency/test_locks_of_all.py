"""What locks a whole organisation or table gives up where somebody does not let go."""

from __future__ import annotations

from typing import TYPE_CHECKING

import psycopg
import pytest

from helpers import write

if TYPE_CHECKING:
    from conftest import World
    from shipped import Shipped

HOME = "/org/acme/user/ana"
SHORT = """
CREATE OR REPLACE FUNCTION memwarden_internal.bound_wait(p_usual interval) RETURNS text
LANGUAGE plpgsql AS $$ BEGIN
    PERFORM set_config('lock_timeout', '50ms', true);
    RETURN '0';
END $$"""
A_WRITER = "SELECT FROM memwarden_data.write_lock FOR NO KEY UPDATE"
THE_ORGANISATION = "SELECT FROM memwarden_data.organisation FOR NO KEY UPDATE"
CALLS = [
    (A_WRITER, "rebuild_heads()"),
    (A_WRITER, "set_synonyms('acme', '{}')"),
    (A_WRITER, "erase_subject('Ana', 'asked for', org => 'acme')"),
    (A_WRITER, "define_predicate('knows', NULL, 'acme', 'known by')"),
    (THE_ORGANISATION, "define_predicate('speaks', 'accumulate', 'acme')"),
    (THE_ORGANISATION, "hold('a case', subject => 'Ana', org => 'acme')"),
    ("SELECT FROM memwarden_data.shelf FOR UPDATE", "rebuild_heads()"),
    (
        "SELECT FROM memwarden_data.layer FOR UPDATE",
        "configure_layer('semantic', '{\"lock_wait\": \"1 s\"}')",
    ),
    (
        "LOCK TABLE memwarden_data.kept_layer",
        "configure_layer('semantic', '{\"lock_wait\": \"1 s\"}')",
    ),
]


@pytest.fixture
def world(shipped: Shipped) -> World:
    """A store as `memwarden init` leaves it."""
    return shipped.world


def test_what_holds_everybody_up_gives_up(world: World) -> None:
    """Where its session sets no bound, too: it says what is busy, and nothing is changed.

    Proves: Q4
    """
    agent = world.agent(HOME)
    assert write(agent, "episodic", "Ana grows tomatoes on the balcony.")["outcome"] == "COMMITTED"
    caller, holder = world.connect(), world.connect()
    caller.execute("SET statement_timeout = '20s'")
    endless = []
    for held, asked in CALLS:
        with holder.transaction(force_rollback=True):
            holder.execute(held)
            with caller.transaction(force_rollback=True):
                # Nobody else sees it, and nothing is left of it.
                caller.execute(SHORT)
                with pytest.raises(psycopg.OperationalError) as error:
                    caller.execute(f"SELECT * FROM memwarden.{asked}")
        if error.value.sqlstate != "55P03" or not error.value.diag.message_detail:
            endless.append((held, asked, str(error.value)))
    assert endless == []
