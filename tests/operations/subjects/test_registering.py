"""Who registers whom by what: rights, wrong arguments, repeated and simultaneous calls."""

from __future__ import annotations

from typing import Any

import pytest
from psycopg import errors

from operations.erasure.conftest import holding, remember
from operations.subjects.conftest import Register
from races import overlap

WRONG: tuple[Any, ...] = (
    None,
    [],
    "petra",
    {},
    {"email": []},
    {"twitter": "@petra"},
    {"email": 7},
    {"email": ["a@b.org", None]},
    *({"email": wrong} for wrong in ("petra", "petra@", "@b.org", "a b@c.org", "a@b", "a@-b.org")),
    *(
        {"phone": wrong}
        for wrong in ("091 123 4567", "+1", "+385", "call me", "+385 91 123 4567 x3")
    ),
    *({kind: short} for kind in ("name", "account", "adapter") for short in ("", "  ", "x", " x")),
    {"name": "x" * 1001},
    {"account": [f"id-{number}" for number in range(101)]},
    {"account": ["id-1"] * 101},
    {"account": [f"id-{number}" for number in range(60_000)]},
)


@pytest.mark.parametrize("wrong", WRONG, ids=lambda wrong: str(wrong)[:30])
def test_what_is_no_identifier_is_refused(register: Register, wrong: Any) -> None:
    """An unknown kind, a blank, one character, too many, what is no address and no number.

    Proves: R1 (identifiers from a registry)
    """
    with pytest.raises(errors.InvalidParameterValue):
        register.call("register_subject", "Petra", wrong)


@pytest.mark.parametrize("subject", [None, "", "  ", "x" * 1001])
def test_a_subject_has_a_name(register: Register, subject: Any) -> None:
    """Proves: R1 (identifiers from a registry)."""
    with pytest.raises(errors.InvalidParameterValue):
        register.call("register_subject", subject, {"name": "Petra"})


def test_a_second_call_adds_and_what_was_mistyped_can_be_removed(register: Register) -> None:
    """Another spelling of what is there adds nothing.

    Proves: R1 (identifiers from a registry)
    """
    first = {("email", "petra@example.org"), ("name", "Petra Horvat")}
    assert register.add("Petra", email="Petra@Example.org", name="Petra  Horvat") == first
    assert register.add("petra", email="petra@EXAMPLE.org", name="petra horvat") == first
    both = first | {("account", "AB-1"), ("account", "ab-1")}
    assert register.add("PETRA", account=["AB-1", "ab-1"]) == both
    assert register.listed() == {"Petra": both}
    assert register.remove("Petra", account="ab-1") == both - {("account", "ab-1")}
    with pytest.raises(errors.InvalidParameterValue):
        register.remove("Petra", account="ab-1")
    with pytest.raises(errors.InvalidParameterValue):
        register.add("Petra", account=[f"id-{number}" for number in range(98)])
    assert register.remove("Petra") == set()
    with pytest.raises(errors.UndefinedObject):
        register.remove("Petra")
    changes = register.world.rows(
        "SELECT detail FROM memwarden.access_changes WHERE org = %s AND action LIKE '%%subject'",
        register.org,
    )
    assert len(changes) == 5
    assert "etra" not in str(changes)


def test_only_who_may_erase_registers_and_reads(register: Register) -> None:
    """Not an agent, nor an administrator of another organisation; nobody reads the table.

    Proves: R1 (identifiers from a registry)
    """
    register.add("Petra", account="Qz-1")
    groups = ("memwarden_agent", "memwarden_curator")
    own = register.world.agent(
        f"/org/{register.org}", groups=groups, role="curator", descendants=True
    )
    listed = "SELECT * FROM memwarden.registered_subjects"
    (row,) = own.execute(listed).fetchall()
    assert (row["org"], row["subject"], row["identifier"]) == (register.org, "Petra", "Qz-1")
    assert register.add("Petra", own, account="Qz-2") >= {("account", "Qz-2")}
    stranger = Register(register.world).agent(groups=groups, descendants=True)
    plain = register.world.agent(register.home, groups=groups)
    for connection in (stranger, plain):
        assert connection.execute(listed).fetchall() == []
        for call in ("register_subject", "unregister_subject"):
            with pytest.raises(errors.InsufficientPrivilege):
                register.call(call, "Petra", {"account": "Qz-1"}, connection)
        with pytest.raises(errors.InsufficientPrivilege):
            connection.execute("SELECT * FROM memwarden.find_subject(%s, 'Petra')", (register.org,))
    for connection in (stranger, plain, own):
        for table in ("registered_subject", "erased_subject"):
            with pytest.raises(errors.InsufficientPrivilege):
                connection.execute(f"SELECT * FROM memwarden_data.{table}")


ERASE = "SELECT * FROM memwarden.erase_subject('Petra', 'asked for', org => %s)"


def test_an_erasure_waits_for_a_registration_and_finds_what_it_brought(register: Register) -> None:
    """The register is read behind the lock.

    Proves: R1 (identifiers from a registry)
    """
    item = remember(register.agent(), "invoice of Qz-0417", layer="episodic")
    first, second = register.world.connect(), register.world.connect()
    done = overlap(
        register.world.admin,
        first,
        lambda: register.add("Petra", first, account="Qz-0417"),
        second,
        lambda: second.execute(ERASE, (register.org,)).fetchall(),
    )
    assert done[0]["items"] == 1
    assert register.listed() == {}
    assert item not in register.found("Petra")


def test_a_registration_that_waited_for_the_erasure_of_its_subject_is_refused(
    register: Register,
) -> None:
    """Nothing of the person is left behind. Who asks again registers somebody new.

    Proves: R1 (identifiers from a registry)
    """
    remember(register.agent(), "tea", subject="Petra", predicate="likes")
    first, second = register.world.connect(), register.world.connect()

    def add() -> None:
        with pytest.raises(errors.SerializationFailure):
            register.add("Petra", second, account="Qz-0417")

    overlap(
        register.world.admin,
        first,
        lambda: first.execute(ERASE, (register.org,)),
        second,
        add,
    )
    assert register.listed() == {}
    assert register.add("Petra", account="Qz-0417") == {("account", "Qz-0417")}


def test_who_was_erased_is_taken_out_of_a_restored_register(register: Register) -> None:
    """By a keyed hash: the list of erasures holds no word. Who was registered since stays.

    Proves: R1 (backups)
    """
    remember(register.agent(), "invoice of Qz-0417", layer="episodic")
    register.add("Petra", account="Qz-0417")
    admin = register.world.admin
    admin.execute(
        "CREATE TEMP TABLE backup AS SELECT s.* FROM memwarden_data.registered_subject AS s"
        "  JOIN memwarden_data.organisation AS o USING (org_id) WHERE o.name = %s",
        (register.org,),
    )
    register.remove("Petra")
    assert register.erase("Petra", "Qz-0417")["status"] == "COMPLETED"
    listed = [e for e in register.export() if e["subjects"]]
    assert "etra" not in str(listed)
    admin.execute("INSERT INTO memwarden_data.registered_subject SELECT * FROM backup")
    assert register.listed() != {}
    (breach,) = register.world.rows(
        "SELECT b.detail FROM memwarden_data.organisation AS o,"
        " memwarden_internal.unfinished_erasures(o.org_id) AS b WHERE o.name = %s",
        register.org,
    )
    assert breach["detail"]["registered"] == 1
    register.apply(listed)
    assert register.listed() == {}
    register.add("Petra", name="Petra Novak")
    register.apply(listed)
    assert register.listed() == {"Petra": {("name", "Petra Novak")}}
    assert register.erase("Petra")["places"]["registered_subject"] == 1
    admin.execute("DROP TABLE backup")
    assert "registered_subject" not in holding(register.world, "Petra Novak")
