"""Gates are added, moved, switched off and removed by an administrator, and by nobody else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg import Connection
from psycopg.rows import DictRow

from helpers import write
from write.gates.obedient import SIGNATURE, add_obedient_gate, answering, create_gate_function

if TYPE_CHECKING:
    from conftest import World

TEXT = {"text": "Ana prefers green tea"}
PROTECTED = ["reset", "identity", "access", "canonical", "schema", "scope_lock", "commit", "store"]
MOVABLE = ["idempotency", "deadline", "admission", "known"]


def pipeline(world: World) -> list[tuple[int, str, bool]]:
    """Position, name and whether it is on, of every gate in order."""
    rows = world.rows('SELECT "position", gate, enabled FROM memwarden.pipeline')
    return [(row["position"], row["gate"], row["enabled"]) for row in rows]


def names(world: World) -> list[str]:
    """The gates in order."""
    return [name for _, name, _ in pipeline(world)]


@pytest.fixture
def admin(world: World) -> Connection[DictRow]:
    """An administrator who is no superuser."""
    return world.connect(world.role("memwarden_admin"))


def test_a_gate_is_added_moved_switched_off_and_on_and_removed(
    world: World, admin: Connection[DictRow]
) -> None:
    """Each change holds for the next write of every agent, without a restart.

    Proves: W7
    """
    agent = world.agent()
    before = pipeline(world)
    function = create_gate_function(world)

    def ask() -> str:
        return str(write(agent, "semantic", answering("REJECT", reason="NO"))["gate"])

    admin.execute("SELECT memwarden.add_gate(40, 'house_rule', %s)", (function,))
    listed = admin.execute("SELECT function FROM memwarden.pipeline WHERE gate = 'house_rule'")
    assert "obey" in str(listed.fetchall())
    assert ask() == "40_house_rule"
    admin.execute("SELECT memwarden.move_gate('house_rule', 12)")
    assert ask() == "12_house_rule"
    assert names(world).index("house_rule") == names(world).index("idempotency") + 1
    admin.execute("SELECT memwarden.disable_gate('house_rule')")
    assert (12, "house_rule", False) in pipeline(world)
    assert write(agent, "semantic", answering("REJECT"))["outcome"] == "COMMITTED"
    admin.execute("SELECT memwarden.enable_gate('house_rule')")
    assert write(agent, "semantic", answering("REJECT", n=1))["gate"] == "12_house_rule"
    admin.execute("SELECT memwarden.remove_gate('house_rule')")
    assert pipeline(world) == before
    assert write(agent, "semantic", answering("REJECT", n=2))["outcome"] == "COMMITTED"


def test_gates_run_in_the_order_of_their_positions(
    world: World, admin: Connection[DictRow]
) -> None:
    """A request is refused by the first that refuses it; at one position the name decides.

    Proves: W2, W7
    """
    agent = world.agent()
    for position, name in ((50, "second"), (40, "first"), (50, "almost")):
        function = create_gate_function(world, f"public.{name}")
        admin.execute("SELECT memwarden.add_gate(%s, %s, %s)", (position, name, function))
    order: list[str] = []
    for name in ("first", "almost", "second"):
        order.append(write(agent, "semantic", answering("REJECT", n=len(order)))["gate"])
        admin.execute("SELECT memwarden.remove_gate(%s)", (name,))
    assert order == ["40_first", "50_almost", "50_second"]


@pytest.mark.parametrize("gate", MOVABLE)
def test_a_built_in_gate_can_be_switched_off_but_not_removed(
    world: World, admin: Connection[DictRow], gate: str
) -> None:
    """The trail then goes without it; status() warns; setup() leaves it switched off.

    Proves: W7
    """
    agent = world.agent()
    admin.execute("SELECT memwarden.disable_gate(%s)", (gate,))
    answer = write(agent, "semantic", TEXT)
    assert answer["outcome"] == "COMMITTED"
    trail = agent.execute(
        "SELECT gates FROM memwarden.request_status(%s)", (answer["request_id"],)
    ).fetchall()[0]["gates"]
    assert gate not in {entry["gate"][3:] for entry in trail}
    with pytest.raises(psycopg.errors.ObjectInUse):
        admin.execute("SELECT memwarden.remove_gate(%s)", (gate,))
    world.admin.execute("SELECT * FROM memwarden.setup()")
    states = world.rows("SELECT component, state, detail FROM memwarden.status()")
    warned = [row for row in states if row["component"] == "gates"]
    assert [row["state"] for row in warned] == ["warning"]
    assert f"{gate} (disabled)" in warned[0]["detail"]
    admin.execute("SELECT memwarden.enable_gate(%s)", (gate,))
    assert all(enabled for _, _, enabled in pipeline(world))


@pytest.mark.parametrize("gate", PROTECTED)
def test_what_holds_the_pipeline_together_cannot_be_touched(shared_world: World, gate: str) -> None:
    """Not moved, disabled, enabled, removed, and no other gate takes its name.

    Proves: W7, Z1
    """
    admin = shared_world.connect(shared_world.role("memwarden_admin"))
    before = pipeline(shared_world)
    for call in ("move_gate(%s, 40)", "disable_gate(%s)", "enable_gate(%s)", "remove_gate(%s)"):
        with pytest.raises(psycopg.errors.ObjectInUse) as caught:
            admin.execute(f"SELECT memwarden.{call}", (gate,))
        assert caught.value.diag.message_hint
    function = create_gate_function(shared_world, f"public.{gate}_twin")
    with pytest.raises(psycopg.errors.DuplicateObject):
        admin.execute("SELECT memwarden.add_gate(40, %s, %s)", (gate, function))
    assert pipeline(shared_world) == before


@pytest.mark.parametrize(
    "call",
    [
        "add_gate(40, 'x', 'public.obey(jsonb)')",
        "move_gate('known', 20)",
        "disable_gate('known')",
        "enable_gate('known')",
        "remove_gate('known')",
    ],
)
@pytest.mark.parametrize("group", ["agent", "reviewer", "curator", "auditor"])
def test_only_an_administrator_changes_the_pipeline(
    shared_world: World, group: str, call: str
) -> None:
    """Whoever writes, reviews, curates or audits is denied, by every function.

    Proves: W7, Z1
    """
    if shared_world.value("SELECT to_regprocedure('public.obey(jsonb)') IS NULL"):
        create_gate_function(shared_world)
    other = shared_world.connect(shared_world.role(f"memwarden_{group}"))
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        other.execute(f"SELECT memwarden.{call}")


@pytest.mark.parametrize(
    ("position", "name", "error"),
    [
        (8, "early", psycopg.errors.InvalidParameterValue),
        (90, "late", psycopg.errors.InvalidParameterValue),
        (None, "nowhere", psycopg.errors.InvalidParameterValue),
        (40, "", psycopg.errors.InvalidParameterValue),
        (40, None, psycopg.errors.InvalidParameterValue),
        (40, "Upper", psycopg.errors.InvalidParameterValue),
        (40, 'x"; DROP TABLE t; --', psycopg.errors.InvalidParameterValue),
        (40, "x" * 42, psycopg.errors.InvalidParameterValue),
        (40, "known", psycopg.errors.DuplicateObject),
    ],
)
def test_a_gate_needs_a_position_and_a_name_of_its_own(
    shared_world: World, position: int | None, name: str | None, error: type[Exception]
) -> None:
    """Between the canonical form and the commit; lower-case; not taken.

    Proves: W7
    """
    if shared_world.value("SELECT to_regprocedure('public.obey(jsonb)') IS NULL"):
        create_gate_function(shared_world)
    with pytest.raises(error):
        shared_world.admin.execute(
            "SELECT memwarden.add_gate(%s, %s, 'public.obey(jsonb)')", (position, name)
        )


@pytest.mark.parametrize("name", ["no_such_gate", "", ".*", "40_known", None])
def test_an_unknown_gate_is_not_found(shared_world: World, name: str | None) -> None:
    """Whatever is asked of it: 42704, also for what would match as a pattern.

    Proves: W7
    """
    for call in ("move_gate(%s, 40)", "disable_gate(%s)", "enable_gate(%s)", "remove_gate(%s)"):
        with pytest.raises(psycopg.errors.UndefinedObject):
            shared_world.admin.execute(f"SELECT memwarden.{call}", (name,))


UNSAFE: dict[str, dict[str, Any]] = {
    "with the caller's rights": {"definer": False},
    "another argument": {"signature": SIGNATURE.replace("request jsonb", "request text")},
    "another order": {
        "signature": "(request jsonb, OUT reason text, OUT decision text, OUT detail jsonb,"
        " OUT retry_at timestamptz)"
    },
    "fewer results": {
        "signature": "(request jsonb, OUT decision text, OUT reason text)",
        "body": "BEGIN END",
    },
    "two arguments": {"signature": SIGNATURE.replace("(request", "(a text, request")},
    "no results": {"signature": "(request jsonb)", "returns": "RETURNS void", "body": "BEGIN END"},
}


@pytest.mark.parametrize("case", UNSAFE)
def test_a_function_that_is_no_gate_is_refused(shared_world: World, case: str) -> None:
    """SECURITY DEFINER and exactly the signature of a gate.

    Proves: W7
    """
    name = f"public.unsafe_{list(UNSAFE).index(case)}"
    create_gate_function(shared_world, name, **UNSAFE[case])
    with pytest.raises(psycopg.errors.InsufficientPrivilege) as caught:
        shared_world.admin.execute(
            "SELECT memwarden.add_gate(40, 'unsafe', oid) FROM pg_proc WHERE oid = %s::regproc",
            (name,),
        )
    assert "SECURITY DEFINER" in str(caught.value.diag.message_hint)


@pytest.mark.parametrize("owner", ["postgres", "memwarden_owner", "member", "distant member"])
def test_a_gate_owned_by_whom_nobody_may_borrow_rights_from_is_refused(
    world: World, owner: str
) -> None:
    """Superuser, memwarden_owner, its members; and when it becomes theirs later, it fails closed.

    Proves: W7, Z1
    """
    member = world.role()
    if "member" in owner:
        group = world.role() if owner == "distant member" else member
        world.admin.execute(f"GRANT memwarden_owner TO {group} WITH INHERIT FALSE")
        if group != member:
            world.admin.execute(f"GRANT {group} TO {member} WITH INHERIT FALSE")
        owner = member
    create_gate_function(world, "public.later")
    create_gate_function(world, "public.unsafe")
    world.admin.execute(f"ALTER FUNCTION public.unsafe OWNER TO {owner}")
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        world.admin.execute("SELECT memwarden.add_gate(40, 'unsafe', 'public.unsafe(jsonb)')")

    world.admin.execute("SELECT memwarden.add_gate(40, 'later', 'public.later(jsonb)')")
    agent = world.agent()
    assert write(agent, "semantic", TEXT)["outcome"] == "COMMITTED"
    world.admin.execute(f"ALTER FUNCTION public.later OWNER TO {owner}")
    answer = write(agent, "semantic", {"text": "more"})
    assert (answer["outcome"], answer["reason"]) == ("REJECTED", "GATE_FAULT")


def test_new_partitions_have_every_gate_and_what_is_switched_off_stays_off(world: World) -> None:
    """A month that begins next year is guarded as this one is.

    Proves: W7, Z1
    """
    add_obedient_gate(world)
    world.admin.execute("SELECT memwarden.disable_gate('known')")
    world.admin.execute("SELECT memwarden.move_gate('admission', 21)")
    world.admin.execute("UPDATE partman.part_config SET premake = premake + 3")
    world.admin.execute("SELECT memwarden.maintain()")
    triggers = world.rows(
        "SELECT c.relname, array_agg(t.tgname || t.tgenabled::text ORDER BY t.tgname) AS gates"
        "  FROM pg_trigger AS t JOIN pg_class AS c ON c.oid = t.tgrelid"
        " WHERE t.tgname ~ '^gate_' GROUP BY c.relname"
    )
    tables = world.rows(
        "SELECT count(*) AS n FROM pg_partition_tree('memwarden_data.write_request')"
    )
    assert len(triggers) == tables[0]["n"] > 10
    assert {tuple(row["gates"]) for row in triggers} == {tuple(triggers[0]["gates"])}
    assert {"gate_38_knownD", "gate_21_admissionO", "gate_40_obedientO"} <= set(
        triggers[0]["gates"]
    )
