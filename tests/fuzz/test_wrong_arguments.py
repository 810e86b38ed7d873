"""Whatever is passed to a public function: it answers, or raises what its comment says.

Every value is tried in turn, and many are drawn at random, where MEMWARDEN_FUZZ says how many calls
of each role are drawn; `make fuzz` does. Without it a part of that, always the same.
"""

from __future__ import annotations

import os
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from fuzz.arguments import Function, calls, hostile, plausible, public_functions
from fuzz.conftest import GROUPS, Fuzz

CALLS = int(os.environ.get("MEMWARDEN_FUZZ", "0"))
ROLES = [*GROUPS, "governor", "everybody", "unbound", "none", "jobs", "superuser"]

# Not shrunk: a fault names the function and its arguments.
RANDOM: Any = {
    "deadline": None,
    "database": None,
    "derandomize": not CALLS,
    "max_examples": CALLS or 40,
    "phases": [Phase.generate],
    "suppress_health_check": list(HealthCheck),
}

# One store, in one worker.
pytestmark = [pytest.mark.timeout(0 if CALLS else 300)]


def report(fuzz: Fuzz) -> None:
    """Fail with all that was found."""
    faults, fuzz.faults = fuzz.faults, {}
    assert not faults, "\n".join(f"{name}: {text}" for (name, _), text in sorted(faults.items()))


def one_wrong(fuzz: Fuzz, role: str, function: Function, first: int) -> int:
    """Call a function with one argument of each kind wrong; return how many calls that were."""
    made = 0
    base = {
        argument.name: next(iter(plausible(function, argument, fuzz.known)), None)
        for argument in function.arguments
        if not argument.optional
    }
    fuzz.call(role, function, base)
    if base:
        fuzz.call(role, function, dict.fromkeys(base))
    for argument in function.arguments:
        null, *others = hostile(function, argument, fuzz.known)
        chosen = others if CALLS else others[(first + made) % 5 :: 5]
        for value in [null, *chosen]:
            fuzz.call(role, function, base | {argument.name: value})
            made += 1
    return made


@pytest.mark.parametrize("role", ["everybody", "governor"] if CALLS else ["everybody"])
def test_each_argument_in_turn_may_be_wrong(fuzz: Fuzz, role: str) -> None:
    """NULL, empty, extreme, hostile or unknown, where the others are as they should be."""
    functions = [function for function in fuzz.may_call(role) if function.kind == "f"]
    made = 0
    for function in functions:
        made += one_wrong(fuzz, role, function, made)
    report(fuzz)
    # It is no test of the first check of each alone.
    assert len(fuzz.succeeded) > len(functions) / 2


@pytest.mark.parametrize("role", ROLES)
def test_arguments_at_random_get_an_answer(fuzz: Fuzz, role: str) -> None:
    """Several wrong at once, and right ones, in every role."""
    functions = [f for f in fuzz.may_call(role) if f.kind == "f" and f.name != "setup"]

    @settings(**RANDOM)
    @given(st.data())
    def call_one(data: st.DataObject) -> None:
        function = data.draw(st.sampled_from(functions or fuzz.functions))
        fuzz.call(role, function, data.draw(calls(function, fuzz.known)))

    call_one()
    report(fuzz)


@pytest.mark.parametrize("role", ["none", "agent"])
def test_who_may_not_call_is_told_so(fuzz: Fuzz, role: str) -> None:
    """NULL for everything, in a role without the right: 42501 and nothing else."""
    allowed = {function.name for function in fuzz.may_call(role)}
    for function in fuzz.functions:
        if function.name not in allowed:
            fuzz.call(role, function, dict.fromkeys(a.name for a in function.arguments))
    report(fuzz)


def test_procedures_answer_wrong_numbers(fuzz: Fuzz) -> None:
    """They commit, so they come last."""
    for function in fuzz.functions:
        if function.kind == "p":
            for argument in function.arguments:
                for value in hostile(function, argument, fuzz.known):
                    fuzz.call("jobs", function, {argument.name: value})
    report(fuzz)


FAULTS = {
    "SELECT 1 / 0": "22012",
    "SELECT NULL::integer[] || (SELECT 1 FROM generate_series(1, 2))": "21000",
    "INSERT INTO memwarden_data.storage (storage_version) VALUES (NULL)": "23502",
    "DO $$ BEGIN RAISE 'no'; END $$": "P0001",
    "SELECT memwarden_internal.raise_error('already_exists', 'unsaid')": "42710",
    "SELECT pg_terminate_backend(pg_backend_pid())": "57P01",
}


@pytest.mark.parametrize("statement", FAULTS)
def test_a_fault_is_noticed(fuzz: Fuzz, statement: str) -> None:
    """The judge itself: errors of PostgreSQL, bare ones, ones not announced, a lost session."""
    admin = fuzz.world.admin
    admin.execute(
        "CREATE FUNCTION memwarden.faulty() RETURNS void LANGUAGE plpgsql AS"
        f" $faulty$ BEGIN EXECUTE $x$ {statement} $x$; END $faulty$;"
        " COMMENT ON FUNCTION memwarden.faulty() IS 'Raises 22023.'"
    )
    try:
        [faulty] = [f for f in public_functions(fuzz.world) if f.name == "faulty"]
        fuzz.call("superuser", faulty, {})
    finally:
        admin.execute("DROP FUNCTION memwarden.faulty()")
    faults, fuzz.faults = fuzz.faults, {}
    assert [text.splitlines()[1].strip()[:5] for text in faults.values()] == [FAULTS[statement]]
