"""Registered identifiers are encrypted under the key of their subject, and needed to erase."""

from __future__ import annotations

import pytest
from psycopg import errors

from operations.erasure.conftest import holding, remember
from operations.subject_keys.conftest import Vault, keep
from operations.subject_keys.test_lost_keys import without_keys
from operations.subjects.conftest import Register

ERASE = "SELECT * FROM memwarden.erase_subject('Petra', 'asked for', org => %s)"


def test_identifiers_stand_nowhere_in_clear_and_their_key_is_destroyed(register: Register) -> None:
    """Backups and replicas lose them with the key, and the certificate counts nothing in clear.

    Proves: R3
    """
    register.add("Petra", account="Kzqov-0417", name="Petra Kzqova")
    assert holding(register.world, "kzqov") == set()
    done = register.erase("Petra")
    assert done["status"] == "COMPLETED"
    (listed,) = register.world.rows(
        "SELECT in_clear, subject_keys FROM memwarden.erasures WHERE erasure_id = %s",
        done["erasure_id"],
    )
    assert listed == {"in_clear": 0, "subject_keys": 1}


def test_an_erasure_waits_for_keys_that_open_the_register(register: Register) -> None:
    """Also where nothing else is encrypted. A hold keeps everything meanwhile.

    Proves: R1 (identifiers from a registry), R3, Z5
    """
    item = remember(register.agent(), "invoice of Kzqov-0417", layer="episodic")
    register.add("Petra", account="Kzqov-0417")
    register.add("Ana", account="Kzqov-0418")
    with without_keys(register.world) as connection:
        (blocked,) = connection.execute(ERASE, (register.org,)).fetchall()
        assert (blocked["status"], blocked["blocked_reason"]) == ("BLOCKED", "KEYS_UNAVAILABLE")
        assert blocked["unread"] == 1
        with pytest.raises(errors.Error):
            register.add("Petra", connection, account="Kzqov-0419")
        with pytest.raises(errors.Error):
            connection.execute("SELECT memwarden.find_subject(%s, 'Petra')", (register.org,))
        (row,) = connection.execute(
            "SELECT kind, identifier FROM memwarden.registered_subjects"
            " WHERE org = %s AND subject = 'Petra'",
            (register.org,),
        ).fetchall()
        assert row == {"kind": None, "identifier": None}
        (hold,) = connection.execute(
            "SELECT * FROM memwarden.hold('case', subject => 'Petra', org => %s)", (register.org,)
        ).fetchall()
        assert hold["items"] == 1
        connection.execute("SELECT memwarden.lift_hold(%s, 'over')", (hold["hold_id"],))
    register.world.admin.execute("CALL memwarden.enforce_consent()")
    assert item not in register.found("Petra")
    assert register.listed() == {"Ana": {("account", "Kzqov-0418")}}


def test_a_key_that_opens_the_register_outlives_the_last_memory(register: Register) -> None:
    """A deletion by age does not destroy it: the identifiers are needed for what is left.

    Proves: R1 (identifiers from a registry), R3
    """
    vault = Vault(register.world)
    register = Register(vault.world, vault.org)
    item = keep(vault.agent(), {"allergy": "nuts"})["item_id"]
    register.add("Petra Horvat", account="Kzqov-0417")
    doomed = vault.world.value(
        "SELECT memwarden_internal.doomed_keys(ARRAY[org_id], NULL, ARRAY[%s]::uuid[])"
        "  FROM memwarden_data.organisation WHERE name = %s",
        item,
        vault.org,
    )
    assert doomed == []
    register.remove("Petra Horvat")
    assert vault.erase("Petra Horvat")["places"]["subject_key"] == 1


def test_who_was_registered_under_a_destroyed_key_is_registered_anew(register: Register) -> None:
    """What went with the key says nothing, and stands in nobody's way.

    Proves: R1 (identifiers from a registry)
    """
    register.add("Petra", account="Kzqov-0417")
    register.world.admin.execute(
        "WITH gone AS (DELETE FROM memwarden_data.subject_key AS k"
        " USING memwarden_data.organisation AS o"
        " WHERE o.org_id = k.org_id AND o.name = %s RETURNING k.*)"
        " INSERT INTO memwarden_data.destroyed_key (org_id, subject_key_id, erasure_id, generation)"
        " SELECT org_id, subject_key_id, gen_random_uuid(), generation FROM gone",
        (register.org,),
    )
    assert not any(identifier for _, identifier in register.listed()["Petra"])
    assert register.add("Petra", account="Kzqov-0419") == {("account", "Kzqov-0419")}
    assert register.erase("Petra")["status"] == "COMPLETED"
