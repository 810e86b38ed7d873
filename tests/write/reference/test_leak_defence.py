"""How closely an agent is watched is set for it: primary, backstop or off."""

from __future__ import annotations

import uuid

import pytest

from access import call, state
from conftest import World
from write.reference.canon import COLD, make_table, records, register, say, verdict

RULE, ENTRY = records()[COLD], records()["audit-1"]
COPIED = ("REJECTED", "CANONICAL_COPY")
STAYS = ("COMMITTED", None)


def test_a_backstop_accepts_and_notes(ruled: World, home: str) -> None:
    """The answer, the request and the administrators' overview say so.

    Proves: N6
    """
    role = ruled.register(home)
    agent = ruled.connect(role)
    call(ruled.admin, "set_leak_defence", agent=role, mode="backstop")
    answer = say(agent, RULE)
    assert verdict(answer) == STAYS
    note = {"source": "rules", "mode": "backstop", "similarity": 1.0}
    assert answer["detail"] == {"canonical": [note]}
    call(ruled.admin, "set_leak_defence", agent=role, mode=None)
    refused = say(agent, RULE + " That is all.")
    assert verdict(refused) == COPIED
    admin = ruled.connect(ruled.role("memwarden_admin"))
    seen = [row for row in call(admin, "canonical_copies") if row["agent"] == role]
    assert [(row["outcome"], row["mode"], row["source"]) for row in seen] == [
        ("REJECTED", "primary", "rules"),
        ("COMMITTED", "backstop", "rules"),
    ]
    assert seen[1]["request_id"] == answer["request_id"]
    passes = ruled.value(
        "SELECT jsonb_path_query_first("
        "    memwarden_internal.gates_of(gates), '$[*] ? (@.gate == \"35_reference\")')"
        "  FROM memwarden_data.write_request WHERE request_id = %s",
        answer["request_id"],
    )
    assert (passes["decision"], passes["reason"]) == ("ACCEPT", "CANONICAL_COPY")


def test_off_looks_for_nothing(ruled: World, home: str) -> None:
    """Nothing is refused and nothing noted.

    Proves: N6
    """
    role = ruled.register(home)
    call(ruled.admin, "set_leak_defence", agent=role, mode="off")
    answer = say(ruled.connect(role), RULE)
    assert verdict(answer) == STAYS
    assert answer["detail"] is None


def test_what_is_set_for_one_source_goes_before_what_is_set_for_all(
    ruled: World, home: str
) -> None:
    """An agent that works on the rules themselves is still refused records, and the reverse.

    Proves: N6, N9
    """
    role = ruled.register(home)
    agent = ruled.connect(role)
    call(ruled.admin, "set_leak_defence", agent=role, mode="off", source="rules")
    assert verdict(say(agent, RULE)) == STAYS
    assert verdict(say(agent, ENTRY)) == ("REJECTED", "VERBATIM_RECORD")
    call(ruled.admin, "set_leak_defence", agent=role, mode="off")
    call(ruled.admin, "set_leak_defence", agent=role, mode="primary", source="rules")
    assert verdict(say(agent, ENTRY)) == STAYS
    assert verdict(say(agent, "He said: " + RULE)) == COPIED


def test_a_refusal_for_one_source_names_what_others_noted(ruled: World, home: str) -> None:
    """The reason is that of the source that refused."""
    role = ruled.register(home)
    call(ruled.admin, "set_leak_defence", agent=role, mode="backstop", source="rules")
    answer = say(ruled.connect(role), RULE + " " + ENTRY)
    assert verdict(answer) == ("REJECTED", "VERBATIM_RECORD")
    assert {(n["source"], n["mode"]) for n in answer["detail"]["canonical"]} == {
        ("rules", "backstop"),
        ("audit", "primary"),
    }


@pytest.mark.every_version
def test_only_administrators_calibrate_and_look(ruled: World, home: str) -> None:
    """Not even who administers the organisation: a source is for all of them.

    Proves: N6
    """
    role = ruled.register(home)
    for groups in (["memwarden_agent"], ["memwarden_curator"], ["memwarden_auditor"]):
        other = ruled.connect(ruled.role(*groups))
        for function, arguments in (
            ("set_leak_defence", {"agent": role, "mode": "off"}),
            ("change_canonical_source", {"name": "rules", "enabled": False}),
            ("canonical_copies", {}),
        ):
            with pytest.raises(Exception, match="permission denied"):
                call(other, function, **arguments)


def test_what_is_not_there_cannot_be_set(ruled: World, home: str) -> None:
    """Unknown agents, sources and modes."""
    role = ruled.register(home)
    for arguments, code in (
        ({"agent": uuid.uuid4().hex, "mode": "off"}, "42704"),
        ({"agent": role, "mode": "off", "source": "none"}, "42704"),
        ({"agent": role, "mode": "Off"}, "22023"),
    ):
        assert state(ruled.admin, "set_leak_defence", **arguments) == code
    for changes, code in (
        ({"name": "none"}, "42704"),
        ({"name": "rules", "threshold": 1.1}, "22023"),
        ({"name": "rules", "threshold": float("nan")}, "22023"),
    ):
        assert state(ruled.admin, "change_canonical_source", **changes) == code


def test_the_threshold_of_a_source_is_its_own(world: World) -> None:
    """Half a rule, in as many own words, is a copy from a third of it on and not from half.

    Proves: N6, N9
    """
    make_table(world, "rules", {COLD: RULE})
    register(world, "rules", threshold=0.33)
    agent = world.agent()
    words = RULE.split()
    text = " ".join(words[: int(len(words) * 0.4)]) + ", so much for it, " + "indeed " * 20
    assert verdict(say(agent, text)) == COPIED
    call(world.admin, "change_canonical_source", name="rules", threshold=0.6)
    assert verdict(say(agent, text)) == STAYS
    call(world.admin, "change_canonical_source", name="rules", enabled=False)
    assert verdict(say(agent, RULE)) == STAYS
    call(world.admin, "change_canonical_source", name="rules", enabled=True)
    assert verdict(say(agent, RULE + " Indeed.")) == COPIED
    shown = world.rows("SELECT threshold, enabled, state FROM memwarden.canonical_sources")
    assert shown == [{"threshold": 0.6, "enabled": True, "state": "ok"}]
