"""Every way to read memory, found in the catalog: functions and what to call them with, relations.

A path that is new is found by itself; an argument that is new must be taught here.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from psycopg import Connection
from psycopg.rows import DictRow
from psycopg.types.json import Jsonb

READERS = tuple(f"memwarden_{group}" for group in ("agent", "reviewer", "curator", "auditor"))

# Who adds a function that changes something names it here: a test of its own says what it tells.
CHANGES = {
    *("annotate", "authenticate", "change_agent", "close_scope", "create_scope", "define_role"),
    "consolidate",
    *("configure_layer", "reset_layer", "use_profile", "observe_profile"),
    *("capture", "capture_many", "extract", "claim_captures", "submit_candidates"),
    *("define_capture_source", "calibrate"),
    *("open_session", "set_goal", "advance_plan", "observe", "note", "end_turn"),
    *("working_memory", "render_working_memory", "search_session", "close_session"),
    "resume_session",
    *("set_retention", "drop_retention", "remediate", "relax_threshold"),
    *("renew", "run_gc", "run_hygiene"),
    *("before_call", "start_task", "set_injection_policy", "drop_injection_policy"),
    "set_ablation",
    *("define_attribute", "define_policy_set", "define_predicate", "define_schema", "drop_policy"),
    *("register_subject", "unregister_subject", "find_subject"),
    *("erase_subject", "expire", "grant_scope", "merge", "move_scope", "promote", "reclassify"),
    *("recover", "define_sensitivity_rule", "enable_sensitivity_rule", "set_sensitivity_action"),
    *("define_source", "drop_source", "record_evidence", "reveal", "set_write_budget"),
    # They read tables that are not memwarden's, with the caller's rights there.
    *("link_reference", "references_of", "canonical_links"),
    *("register_agent", "retract", "revoke_scope", "revoke_tokens", "rollback", "rollback_batch"),
    *("set_durability_rule", "drop_durability_rule"),
    "settle_dispute",
    *("define_write_class", "define_pack", "use_pack", "set_auto_promotion", "set_storage_budget"),
    *("record_consent", "record_audit"),
    # For administrators: numbers and names of classes.
    "preview_pack",
    *("approve", "approve_with_edit", "reject", "await_decision"),
    *("set_approval_policy", "drop_approval_policy", "set_reputation_threshold"),
    *("set_policy", "set_scope_language", "set_synonyms", "write", "write_many"),
    *("set_escalation", "set_noise_policy", "forget_noise", "decide_many"),
    *("add_alias", "define_entity_type", "define_relation_type", "merge_entities", "pin_ontology"),
    *("register_entity", "remove_alias", "set_entity_attribute", "split_entity", "unmerge_entity"),
    *("define_probe", "drop_probe", "run_probes"),
    *("report_outcome", "record_recalls"),
    *("pin", "unpin", "hold", "lift_hold", "set_hold_policy", "link_action"),
    *("define_surface", "drop_surface", "set_hedge"),
    *("define_external_source", "drop_external_source"),
    *("define_integrity_rule", "drop_integrity_rule", "order_predicates"),
    # For administrators: ids, and nothing of what they say.
    "preview_integrity_rule",
    # Makes a change, looks, and takes it back. For administrators.
    "preview_policy",
    # Looks as rollback_batch() would, and asks who may do that.
    "preview_rollback",
    # For who watches: figures, measured at this moment.
    "health_gate",
}

# They leave a line in the log of recalls, or ask as who changes does, and read memory all the same.
LOGGED = {"recall", "compile_context", "push", "explain_recall", "explain_retention", "citable"}

# What a function is to be told, though it has a default: it wants one of several.
TOLD: dict[str, dict[str, Any]] = {"push": {"task": "what is there?", "threshold": 1e-9}}

FUNCTIONS = """
SELECT p.proname AS name, p.provolatile = 'v' AND p.proname <> ALL (%s) AS changes,
       p.pronargs - p.pronargdefaults AS required,
       ARRAY(SELECT a.name FROM unnest(p.proargnames, p.proargmodes) WITH ORDINALITY AS a (name, mode, n)
              WHERE coalesce(a.mode, 'i') IN ('i', 'b', 'v') ORDER BY a.n) AS names,
       ARRAY(SELECT format_type(t, NULL)
               FROM unnest(p.proargtypes) WITH ORDINALITY AS a (t, n) ORDER BY a.n) AS types
  FROM pg_proc AS p
 WHERE p.pronamespace = 'memwarden'::regnamespace AND p.prokind IN ('f', 'p')
   AND EXISTS (SELECT FROM unnest(%s::text[]) AS r
                WHERE has_function_privilege(r, p.oid, 'EXECUTE'))
 ORDER BY 1"""  # noqa: E501

RELATIONS = """
SELECT c.oid::regclass::text AS name, c.relispartition AS is_partition,
       has_any_column_privilege(%s, c.oid, 'SELECT') AS readable,
       ARRAY(SELECT a.attname::text FROM pg_attribute AS a
              WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped) AS columns
  FROM pg_class AS c
 WHERE c.relnamespace::regnamespace::text IN ('memwarden', 'memwarden_data')
   AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
 ORDER BY 1"""

POLICED = """
SELECT DISTINCT format('%%I.%%I', p.schemaname, p.tablename) AS name
  FROM pg_policies AS p WHERE p.roles && ARRAY[%s]::name[]"""

# What gives a hidden thing away: markers in contents and names of scopes, and every UUID.
TOKEN = re.compile(r"\b(?:mk|sc)[0-9a-f]{10}\b|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")

# Calls with the rights of who asks, one after the other, many at a time: most of what a call takes
# is the way there and back.
ANSWERS = """
CREATE FUNCTION public.answers(query text, passed jsonb)
RETURNS TABLE (rows bigint, said text)
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    arguments jsonb;
    message text; detail text; hint text; context text;
BEGIN
    FOR arguments IN SELECT e.value FROM jsonb_array_elements(passed) WITH ORDINALITY AS e ORDER BY e.ordinality LOOP
        BEGIN
            EXECUTE query INTO rows, said USING arguments;
        EXCEPTION WHEN undefined_object OR object_not_in_prerequisite_state THEN
            GET STACKED DIAGNOSTICS message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT,
                context = PG_EXCEPTION_CONTEXT;
            rows := NULL;
            said := concat_ws(E'\\n', message, detail, hint, context);
        END;
        RETURN NEXT;
    END LOOP;
END $$"""  # noqa: E501

Values = Mapping[tuple[str, str], Sequence[Any]]


@dataclass(frozen=True)
class Function:
    """A function, and its arguments as (name, type)."""

    name: str
    changes: bool
    required: list[tuple[str, str]]
    optional: list[tuple[str, str]]

    def calls(self, values: Values) -> Iterator[dict[str, Any]]:
        """Arguments to call it with: all values of those it needs, a dozen of each other."""
        unknown = [each for each in self.required if each not in values]
        assert not unknown, f"{self.name}(): teach checks.py what to pass as {unknown}"
        always = TOLD.get(self.name, {}).copy()
        if ("k", "integer") in self.optional:
            always["k"] = 1000
        names = [name for name, _ in self.required]
        needed = [values[each] for each in self.required]
        for chosen in itertools.product(*needed):
            yield always | dict(zip(names, chosen, strict=True))
        first = always | dict(zip(names, (each[0] for each in needed), strict=True))
        for name, type_ in self.optional:
            known = values.get((name, type_), ())
            for value in known[:: 1 + len(known) // 12]:
                yield first | {name: value}


def functions(admin: Connection[DictRow], roles: Iterable[str]) -> list[Function]:
    """Every function and procedure of the public schema that one of the roles may execute."""
    made = []
    for row in admin.execute(FUNCTIONS, (list(LOGGED), list(roles))).fetchall():
        arguments = list(zip(row["names"], row["types"], strict=True))
        needed = row["required"]
        made.append(Function(row["name"], row["changes"], arguments[:needed], arguments[needed:]))
    return made


def relations(admin: Connection[DictRow], role: str) -> list[DictRow]:
    """Every table, partition and view, and whether the role may select from it."""
    return admin.execute(RELATIONS, (role,)).fetchall()


def grant_tables(admin: Connection[DictRow], role: str, group: str) -> None:
    """Let a login select from every table that has policies for its group, as a DBA might.

    Application roles hold no such right: they read through functions and views.
    """
    for row in admin.execute(POLICED, (group,)).fetchall():
        admin.execute(f"GRANT SELECT ON {row['name']} TO {role}")


NUMBERS = itertools.count()


def prepare(connection: Connection[DictRow], found: list[DictRow]) -> dict[str, str]:
    """Prepare a SELECT on every readable relation, planned once for all; their names."""
    connection.execute("SET plan_cache_mode = force_generic_plan")
    prepared = {each["name"]: f"seen{next(NUMBERS)}" for each in found if each["readable"]}
    statements = [
        f"PREPARE {made} AS SELECT t.* FROM {name} AS t" for name, made in prepared.items()
    ]
    connection.execute("; ".join(statements))
    return prepared


def answers(
    connection: Connection[DictRow], function: Function, values: Values
) -> Iterator[tuple[dict[str, Any], bool, str]]:
    """Call a function with all there is to pass: the arguments of each call, whether it found rows.

    And its answer as text: the rows, or all an error says. That something is unknown, or not sealed
    yet, is an answer, any other error is not. What the caller passed itself is taken out of an
    error's text.
    """
    types = dict(function.required + function.optional)
    for names, group in itertools.groupby(function.calls(values), key=tuple):
        calls = list(group)
        passed = ", ".join(f"{name} => {_from_json(name, types[name])}" for name in names)
        query = (
            f"SELECT count(*), string_agg(f::text, ' ') FROM memwarden.{function.name}({passed}) f"
        )
        listed = json.dumps([{n: _as_json(v) for n, v in each.items()} for each in calls])
        rows = connection.execute(
            "SELECT * FROM public.answers(%s, %s)", (query, listed)
        ).fetchall()
        for arguments, row in zip(calls, rows, strict=True):
            said = row["said"] or ""
            if row["rows"] is None:
                for value in arguments.values():
                    for each in value if isinstance(value, list) else [value]:
                        said = said.replace(str(each), "")
            yield arguments, bool(row["rows"]), said


def _from_json(name: str, of_type: str) -> str:
    if of_type == "jsonb":
        return f"$1 -> '{name}'"
    if of_type.endswith("[]"):
        return f"ARRAY(SELECT jsonb_array_elements_text($1 -> '{name}'))::{of_type}"
    return f"($1 ->> '{name}')::{of_type}"


def _as_json(value: Any) -> Any:
    if isinstance(value, Jsonb):
        return value.obj
    return value if isinstance(value, list | int | float | bool) else str(value)


def tokens(text: str) -> set[str]:
    """The markers and UUIDs in a text."""
    return set(TOKEN.findall(text))
