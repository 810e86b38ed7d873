"""Exceptions come from one table, carry a detail, and are announced by what raises them."""

from __future__ import annotations

import re

from psycopg.rows import DictRow

from conftest import World

RAISED = re.compile(r"memwarden_internal\.raise_error\(\s*'(\w+)'(,|\))")

# canonical_json() raises what its Python half names.
COMPUTED = {"memwarden.canonical_json": {"invalid_json", "not_canonical"}}


def raised(function: DictRow) -> set[str]:
    """Return the names of the errors that a function raises itself."""
    names = {name for name, _ in RAISED.findall(function["text"])}
    return names | COMPUTED.get(function["qualified"], set())


def reachable(function: DictRow, functions: dict[str, DictRow]) -> set[str]:
    """Return the names of the errors of a function and of all it calls; triggers not included."""
    seen, todo, names = set(), [function], set[str]()
    while todo:
        one = todo.pop()
        if one["qualified"] not in seen:
            seen.add(one["qualified"])
            names |= raised(one)
            called = re.findall(r"\bmemwarden(?:_internal)?\.\w+(?=\()", one["code"])
            todo += [functions[name] for name in called if name in functions]
    return names


def test_every_exception_goes_through_raise_error(functions: list[DictRow]) -> None:
    """A bare RAISE passes on what was caught."""
    others = {
        f["qualified"]
        for f in functions
        if re.search(r"\bRAISE\b(?!;| NOTICE| WARNING| LOG)|plpy\.(error|fatal)", f["text"])
    }
    assert others == {
        "memwarden_internal.raise_error",
        # Python; they complain of the server's key file, which no caller can help.
        "memwarden_internal.keyed_hash",
        "memwarden_internal.new_wrapped_key",
        "memwarden_internal.sign_text",
        "memwarden_internal.clean_request",
        "memwarden_internal.unseal",
        # It passes on what ended the job, once that is noted.
        "memwarden_internal.run_job",
        "memwarden_internal.subject_key_generations",
        "memwarden_internal.new_subject_key",
        "memwarden_internal.rewrapped_subject_key",
        "memwarden_internal.seal_for_subject",
        "memwarden_internal.blind_for_subject",
        "memwarden_internal.blinded_words",
        # They take their own change back by raising what they catch at once.
        "memwarden.preview_policy",
        "memwarden_internal.agree",
        "memwarden_internal.refuse_inside_extension_script",
    }


def test_every_error_is_defined_and_every_definition_used(
    world: World, functions: list[DictRow]
) -> None:
    """Each definition has a valid SQLSTATE, a message and a hint."""
    errors = world.rows("SELECT * FROM memwarden_internal.errors()")
    assert {e["name"] for e in errors} == set().union(*map(raised, functions))
    assert len({e["name"] for e in errors}) == len(errors)
    for error in errors:
        assert re.fullmatch(r"[0-9A-Z]{5}", error["sqlstate_code"])
        assert error["message"]
        assert error["hint"]


def test_every_exception_is_raised_with_a_detail(functions: list[DictRow]) -> None:
    """The detail says which object; the table of errors cannot."""
    bare = [f["qualified"] for f in functions for _, end in RAISED.findall(f["text"]) if end != ","]
    assert bare == []


def test_public_functions_announce_what_they_raise(world: World, functions: list[DictRow]) -> None:
    """Their comment names the SQLSTATE, or another public function that "raises as" they do."""
    codes = {
        e["name"]: e["sqlstate_code"]
        for e in world.rows("SELECT * FROM memwarden_internal.errors()")
    }
    by_name = {f["qualified"]: f for f in functions}
    silent = {}
    for f in functions:
        if f["schema"] == "memwarden":
            comment = f["comment"]
            for other in re.findall(r"\bas (\w+)(?:\(\)| does)", comment):
                comment += by_name.get(f"memwarden.{other}", f)["comment"]
            missing = {codes[name] for name in reachable(f, by_name)} - set(
                re.findall(r"\b[0-9A-Z]{5}\b", comment)
            )
            if missing:
                silent[f["qualified"]] = missing
    assert silent == {}
