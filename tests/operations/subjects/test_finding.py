"""A registered person is found by every identifier, to be erased, listed or held."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from helpers import recall, write
from operations.erasure.conftest import holding, remember
from operations.subjects.conftest import Register
from shipped import SCOPE, Shipped

# What names the person of KINDS, and what names another one.
KINDS: dict[str, Any] = {
    "name": "Petra Qzx",
    "email": ["Petra.Qzx@Example.org", "petra@qzbücher.de"],
    "phone": "+385 91 123 4567",
    "account": "Qz-0417",
    "adapter": "usr_aB9qz",
}
RIGHT = (
    "PETRA  QZX called",
    "mail to petra.qzx@example.org, please",
    "her other address is <petra@xn--qzbcher-p2a.de>.",
    "she answers 091/123-4567 at 12:30",
    "call +385 (0)91 123 4567 0800 to 1700",
    "ring 00385911234567",
    "invoice of Qz-0417 is open",
    "ticket of usr_aB9qz",
)
WRONG = (
    "Petra Qzxova called",
    "mail to anna-petra.qzx@example.org",
    "mail to petra.qzx@example.org.uk",
    "the plumber has +385 91 123 4568",
    "order 13850911234567 is on its way",
    "Ivan paid the bill of qz-0417 in May",
    "warehouse Qz-04170 burnt down",
    "who is usr_ab9QZ?",
)


def test_an_erasure_takes_what_each_identifier_finds_and_nothing_else(register: Register) -> None:
    """Names, addresses and numbers however they are written; ids of other systems to the letter.

    Proves: R1 (identifiers from a registry)
    """
    agent = register.agent()
    gone = {remember(agent, text, layer="episodic") for text in RIGHT}
    kept = {remember(agent, text, layer="episodic") for text in WRONG}
    bare = register.erase("Petra", dry_run=True)
    assert bare["items"] == 0
    register.add("Petra", **KINDS)
    assert register.found("petra") == gone
    done = register.erase("Petra")
    assert (done["status"], done["items"]) == ("COMPLETED", len(RIGHT))
    assert done["places"]["registered_subject"] == 1
    left = register.world.rows(
        "SELECT i.item_id FROM memwarden_data.item AS i"
        " JOIN memwarden_data.organisation AS o USING (org_id) WHERE o.name = %s",
        register.org,
    )
    assert {row["item_id"] for row in left} == kept
    assert register.listed() == {}
    assert "registered_subject" not in holding(register.world, "usr_aB9qz")


def test_other_identifiers_of_the_call_are_looked_for_too(register: Register) -> None:
    """The register adds to them. A reason that names a registered one is refused.

    Proves: R1 (identifiers from a registry)
    """
    agent = register.agent()
    remember(agent, "a call about zx-77", layer="episodic")
    remember(agent, "a call about zx-78", layer="episodic")
    register.add("Petra", account="zx-77")
    assert register.erase("Petra", "zx-78", dry_run=True)["items"] == 2
    assert register.erase("Petra", dry_run=True)["items"] == 1


def test_a_subject_is_found_under_its_synonyms(register: Register) -> None:
    """Whichever of the two names was registered, and whenever the synonym came.

    Proves: R1 (identifiers from a registry)
    """
    agent = register.agent()
    item = remember(agent, "ticket of usr_Syn4", layer="episodic")
    register.add("Bobby Qzs", adapter="usr_Syn4")
    assert register.found("Robert Qzs") == set()
    register.world.admin.execute(
        'SELECT memwarden.set_synonyms(%s, \'{"bobby": "robert"}\')', (register.org,)
    )
    assert register.found("Robert Qzs") == register.found("Bobby Qzs") == {item}
    register.erase("Robert Qzs")
    assert register.listed() == {}


def test_a_hold_covers_what_the_identifiers_find(register: Register) -> None:
    """Memories, captures and waiting words; the erasure of another who shares one waits for it.

    Proves: R1 (identifiers from a registry), Z5
    """
    agent = register.agent()
    item = remember(agent, "she pays from account HR-55", layer="episodic")
    other = remember(agent, "she pays from account HR-56", layer="episodic")
    register.add("Petra", account="HR-55")
    register.add("Ana", account="HR-55")
    hold = register.world.rows(
        "SELECT * FROM memwarden.hold('case 9', subject => 'Petra', org => %s)", register.org
    )[0]
    assert hold["items"] == 1
    held = register.world.rows("SELECT item_id FROM memwarden.held_items(%s)", hold["hold_id"])
    assert {row["item_id"] for row in held} == {item}
    assert register.erase("Ana")["blocked_reason"] == "HELD"
    assert register.erase("Ana", "HR-56")["status"] == "BLOCKED"
    register.world.admin.execute("SELECT memwarden.lift_hold(%s, 'over')", (hold["hold_id"],))
    done = register.erase("Ana", "HR-56")
    assert (done["status"], done["items"]) == ("COMPLETED", 2)
    # The identifier is Petra's as well: her own erasure must find what is written later.
    assert register.listed() == {"Petra": {("account", "HR-55")}}
    remains = register.world.value(
        "SELECT remains FROM memwarden.erasures WHERE erasure_id = %s", done["erasure_id"]
    )
    assert remains["registered_subject"] == 1
    assert other not in register.found("Petra")


def test_a_hold_covers_captures_that_name_an_identifier(shipped: Shipped) -> None:
    """In a store as init leaves it, where a person is erased and found by the register.

    Proves: R1 (identifiers from a registry), Z5
    """
    admin, agent = shipped.world.admin, shipped.agent
    admin.execute(
        """SELECT memwarden.register_subject('acme', 'Petra', '{"phone": "+385911234567"}')"""
    )
    said = "Please ring me: 091 123 4567."
    cited = shipped.heard("Petra", said)
    done = write(agent, "episodic", {"note": said}, scope=SCOPE, evidence=[cited])
    shipped.approve(done)
    shipped.heard("Ivan", "Petra's phone is +385 91 123 4567")
    found = admin.execute("SELECT item_id FROM memwarden.find_subject('acme', 'Petra')").fetchall()
    assert len(found) == 1
    assert isinstance(found[0]["item_id"], UUID)
    hold = admin.execute("SELECT * FROM memwarden.hold('case', subject => 'Petra', org => 'acme')")
    number = hold.fetchall()[0]["hold_id"]
    erase = "SELECT * FROM memwarden.erase_subject('Petra', 'asked for', org => 'acme')"
    assert admin.execute(erase).fetchall()[0]["status"] == "BLOCKED"
    admin.execute("SELECT memwarden.lift_hold(%s, 'over')", (number,))
    certificate = admin.execute(erase).fetchall()[0]
    assert (certificate["status"], certificate["evidence"]) == ("COMPLETED", 2)
    assert holding(shipped.world, "123 4567") == set()
    assert recall(agent, query="phone") == []
