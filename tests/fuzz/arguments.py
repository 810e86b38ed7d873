"""What the fuzz passes to the public functions: known names and ids, and what nobody should pass.

Every argument is the text of a literal, or None for NULL: the server casts it to the type of the
signature, so a value that is none of its type never reaches a function.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from hypothesis import strategies as st

from conftest import World

Literal = str | None

LONG = "lorem ipsum " * 1_000
TEXTS: list[str] = [
    "",
    " ",
    "\n",
    "nobody",
    "*",
    "'; DROP TABLE x; --",
    '"',
    "\\",
    "%s%n",
    "{}",
    "[]",
    "null",
    '{"a": "\\u0000"}',
    "[" * 5_000,
    "1e999",
    "(a+)+$",
    "/",
    "/org/",
    "/global",
    "/org/acme/user/nobody",
    "x" * 64,
    LONG,
    "\x01\x7f",
    "\u202e\ufeff\u200b",
    "\U0010ffff",
    "e\u0301" * 300,
    "2026-02-30",
    "-infinity",
    "00000000-0000-0000-0000-000000000000",
]
INTEGERS = ["0", "1", "-1", "2", "3", "100", "1000", "32768", "65536", "2147483647", "-2147483648"]
BIGINTS = [*INTEGERS, "9223372036854775807", "-9223372036854775808"]
DOUBLES = ["0", "1", "0.5", "-1", "1.5", "NaN", "Infinity", "-Infinity", "1e308", "5e-324", "-0"]
TIMES = [
    "2026-01-01Z",
    "now",
    "infinity",
    "-infinity",
    "4713-01-01 BC",
    "294276-12-31Z",
    "1970-01-01Z",
    "0001-01-01Z",
]
INTERVALS = [
    "1 day",
    "1 hour",
    "0",
    "-1 day",
    "1 microsecond",
    "1 month",
    "178000000 years",
    "-178000000 years",
    "infinity",
    "-infinity",
    "1 month -30 days",
    "2147483647 days",
]
RANGES = ["empty", "(,)", "[2026-01-01,2026-02-01)", "[infinity,infinity]", "[,-infinity]"]
VECTORS = [
    "{}",
    "{1}",
    "{NULL}",
    "{NaN}",
    "{{1,2},{3,4}}",
    "[5:6]={1,2}",
    "{" + ",".join(["0.5"] * 384) + "}",
    "{" + ",".join(["0"] * 384) + "}",
    "{" + ",".join(["NaN"] * 384) + "}",
    "{" + ",".join(["3e38"] * 384) + "}",
    "{" + ",".join(["1"] * 20_000) + "}",
]
SCALARS: list[Any] = [None, True, 0, -1, 1.5, "", "x", [], {}, "NaN", "infinity", "1 day", "-1 day"]
DOCUMENTS = [
    "null",
    "true",
    "0",
    "1e400",
    "-1",
    '"x"',
    "[]",
    "{}",
    "[null]",
    "[[]]",
    "[{}]",
    '{"": null}',
    '{"a": {"a": {"a": [1e400]}}}',
    '["x", 1, null]',
    "[" * 2_000 + "]" * 2_000,
    json.dumps(["x"] * 5_000),
    json.dumps({f"k{n}": n for n in range(3_000)}),
    json.dumps({"text": LONG}),
]
# json keeps its text, so what jsonb refuses by itself gets through here.
JSON_TEXTS = [
    *DOCUMENTS,
    '{"a": "\\u0000"}',
    '[{"layer": "semantic", "content": {"text": "\\u0000"}}]',
    '[{"layer": "semantic\\u0000", "content": {"text": "x"}}]',
    '[{"layer": "semantic", "content": {"text": "\\ud800"}}]',
    '[{"layer": "semantic", "content": {"a": 1, "a": 2}}]',
    '[{"\\u0000": 1}]',
]
# Argument names of one meaning, and the column that says what there is.
COLUMNS = {
    "agent": "principal.name",
    "into_entity": "entity.entity_key",
    "path": "scope.path",
    "scope": "scope.path",
    "new_parent": "scope.path",
    "target": "scope.path",
    "target_scope": "scope.path",
    "into_scope": "scope.path",
    "org": "organisation.name",
    "login_role": "principal_login.login_role",
    "model": "embedding_model.name",
    "embedding_model": "embedding_model.name",
    "channel": "review_channel.name",
    "from_layer": "layer.layer",
    "to_layer": "layer.layer",
}
# Documents of the form that an argument takes, to be spoilt.
WELL_FORMED: dict[str, list[Any]] = {
    "captures": [[{"source": "chat", "content": {"text": "x"}, "external_id": "1"}]],
    "candidates": [[{"content": {"text": "x"}, "subject": "x", "spans": [{"start": 0, "end": 1}]}]],
    "verdict": [
        {"decision": "accept", "score": 0.5, "reason": "x", "retry_after": 5},
        {"decision": "defer", "retry_after": 60},
        {"labels": [{"label": "x", "score": 0.9}]},
        {"relations": [{"item_id": TEXTS[-1], "relation": "same", "score": 0.9}]},
    ],
    "evidence": [[{"uri": "https://a.example", "excerpt": "x", "accessed_at": "2026-01-01"}]],
    "requests": [
        [
            {"layer": "semantic", "content": {"text": "x"}, "confidence": 0.5, "ttl": "1 day"},
            {"layer": "episodic", "content_text": "{}", "embedding": [1, 2], "valid_from": "now"},
            {"layer": "session", "content": 1, "domains": ["x"], "attributes": {}, "evidence": []},
        ]
    ],
    "permissions": [[{"operation": "READ", "layers": ["semantic"], "kind": "x", "reach": "own"}]],
    "weights": [{"vector": 0.5, "keyword": 0.5, "recency": 0.1, "semantic": {"vector": 1}}],
    "answers": [[{"text": "x", "source": "x", "score": 0.5}]],
    "recalls": [
        [
            {"purpose": "recall", "query": "x", "k": 1, "threshold": 0.5, "scopes": ["x"]}
            | {"item_ids": [], "version_ids": [], "scores": [], "layers": ["semantic"]}
        ]
    ],
}


@dataclass
class Argument:
    """One argument of a function: its name, type, and whether a call may leave it out."""

    name: str
    type: str
    optional: bool


@dataclass
class Function:
    """A public function or procedure, the codes it announces and the words its source knows."""

    name: str
    kind: str
    arguments: list[Argument]
    announced: set[str]
    words: list[str]
    signature: str


@dataclass
class Known:
    """What there is in the store, to get past the first check."""

    texts: dict[str, list[str]] = field(default_factory=dict)
    uuids: dict[str, list[str]] = field(default_factory=dict)
    documents: dict[str, list[str]] = field(default_factory=dict)

    def texts_of(self, function: Function, name: str) -> list[str]:
        """The names that an argument could mean; the words in the source come after them."""
        return [*self.texts.get(name.rstrip("s"), []), *self.texts.get(name, []), *function.words]

    def uuids_of(self, name: str) -> list[str]:
        """The ids that an argument could mean, those of its own name first."""
        own = self.uuids.get(name) or self.uuids.get(name.rstrip("s") + "_id") or []
        return [*own, *self.uuids["item_id"], *self.uuids["any"]]


def look_around(world: World) -> Known:
    """Read every text and id of the storage, by column; a few of each."""
    known = Known()
    columns = world.rows(
        "SELECT c.relname AS table, a.attname AS column, a.atttypid::regtype::text AS type"
        "  FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid"
        " WHERE c.relnamespace = 'memwarden_data'::regnamespace AND c.relkind IN ('r', 'p')"
        "   AND NOT c.relispartition AND a.attnum > 0 AND NOT a.attisdropped"
        "   AND a.atttypid IN ('text'::regtype, 'uuid'::regtype, 'jsonb'::regtype)"
        "   AND c.relname NOT LIKE 'sensitivity%%' AND c.relname <> 'access_log'"
        " ORDER BY 1, a.attnum"
    )
    for row in columns:
        found = [
            str(value["v"])
            for value in world.rows(
                f'SELECT DISTINCT x.v COLLATE "C" AS v FROM (SELECT "{row["column"]}"::text AS v'
                f"  FROM memwarden_data.{row['table']}) AS x"
                " WHERE length(x.v) BETWEEN 1 AND 2000 ORDER BY 1 LIMIT 12"
            )
        ]
        qualified = f"{row['table']}.{row['column']}"
        if row["type"] == "uuid":
            known.uuids.setdefault(row["column"], []).extend(found[:6])
            known.uuids.setdefault("any", []).extend(found[:3])
        elif row["type"] == "jsonb":
            known.documents.setdefault(row["column"], []).extend(found[:3])
            known.documents.setdefault("any", []).extend(found[:1])
        else:
            known.texts.setdefault(row["column"], []).extend(found)
            known.texts.setdefault(row["table"], []).extend(found)
            for name, column in COLUMNS.items():
                if column == qualified:
                    known.texts.setdefault(name, [])[:0] = found
    known.documents |= {name: list(map(json.dumps, made)) for name, made in WELL_FORMED.items()}
    known.documents["erasures"] = [world.value("SELECT memwarden.export_erasures(NULL)::text")]
    head = world.value("SELECT memwarden.log_head()::text")
    known.documents["head"] = [head or "{}"]
    recall = json.loads(known.documents["recalls"][0])
    recall[0]["recall_id"] = world.value("SELECT memwarden_internal.uuid7()::text")
    known.documents["recalls"] = [json.dumps(recall)]
    known.uuids["proposal_id"] = [
        str(row["request_id"])
        for row in world.rows(
            "SELECT r.request_id FROM memwarden_data.review AS r"
            " ORDER BY r.decided_at NULLS FIRST, 1 LIMIT 8"
        )
    ]
    return known


def array(values: Sequence[Literal]) -> str:
    """The literal of an array."""
    quoted = (
        "NULL" if v is None else '"' + v.replace("\\", "\\\\").replace('"', '\\"') + '"'
        for v in values
    )
    return "{" + ",".join(quoted) + "}"


def plausible(function: Function, argument: Argument, known: Known) -> Sequence[Literal]:
    """Values that are likely to mean something there."""
    match argument.type:
        case "text":
            return [*known.texts_of(function, argument.name)]
        case "text[]":
            texts = known.texts_of(function, argument.name)
            return [array([text]) for text in texts] + [array([*texts[:3]])]
        case "uuid":
            return [*known.uuids_of(argument.name)]
        case "uuid[]":
            return [array([one]) for one in known.uuids_of(argument.name)]
        case "jsonb" | "json":
            return [*known.documents.get(argument.name, []), *known.documents["any"], "{}", "[]"]
        case "boolean":
            return ["true", "false"]
        case "interval":
            return ["1 day", "1 hour"]
        case "timestamp with time zone":
            return ["2026-01-01Z", "now"]
        case "date":
            return ["2026-01-01", "today"]
        case "real[]":
            return [VECTORS[6]]
        case "tstzrange":
            return ["(,)"]
        case "regclass":
            return ["public.customer", "pg_catalog.pg_class", "memwarden_data.item"]
        case "regprocedure":
            return ["memwarden.whoami()", "pg_catalog.now()", "public.gate(jsonb)"]
        case _:
            return ["1", "2", "0.5"][: 2 if argument.type != "double precision" else 3]


def hostile(function: Function, argument: Argument, known: Known) -> Sequence[Literal]:
    """Values that should be refused, or come out well."""
    match argument.type:
        case "text":
            return [None, *TEXTS]
        case "text[]":
            good = known.texts_of(function, argument.name)[:1]
            lists: list[list[Literal]] = [[], [None], ["nobody"], [*good, None], [*good, *good]]
            return [
                None,
                *map(array, lists),
                *(array([text]) for text in TEXTS[:4]),
                array([LONG]),
                array(["x"] * 2_000),
                '{{"a","b"},{"c","d"}}',
                '[3:4]={"a","b"}',
            ]
        case "uuid":
            return [None, TEXTS[-1], "ffffffff-ffff-ffff-ffff-ffffffffffff"]
        case "uuid[]":
            good = known.uuids_of(argument.name)[:1]
            many = [f"{n:032x}" for n in range(1, 2_001)]
            return [
                None,
                "{}",
                "{NULL}",
                array([*good, None]),
                array([*good, *good]),
                "{{" + good[0] + "},{" + good[0] + "}}",
                array(many),
                array([TEXTS[-1]]),
            ]
        case "jsonb":
            return [None, *DOCUMENTS]
        case "json":
            return [None, *JSON_TEXTS]
        case "boolean":
            return [None, "true", "false"]
        case "interval":
            return [None, *INTERVALS]
        case "timestamp with time zone":
            return [None, *TIMES]
        case "date":
            return [None, "infinity", "-infinity", "0001-01-01", "5874897-12-31", "4713-01-01 BC"]
        case "real[]":
            return [None, *VECTORS]
        case "double precision[]":
            return [None, "{}", "{NULL}", "{NaN,1,1}", "{-1}", "{Infinity,1,1,1,1,1}", "{{1},{2}}"]
        case "tstzrange":
            return [None, *RANGES]
        case "regclass" | "regprocedure":
            return [None, "0"]
        case "bigint":
            return [None, *BIGINTS]
        case "integer":
            return [None, *INTEGERS]
        case "double precision":
            return [None, *DOUBLES]
        case other:
            raise AssertionError(f"say in hostile() what could be wrong with a {other}")


def documents(function: Function, known: Known) -> st.SearchStrategy[str]:
    """JSON of the names that the source of the function knows."""
    names = st.sampled_from([*function.words, "x", ""])
    leaves = st.one_of(
        st.sampled_from(SCALARS),
        names,
        st.sampled_from([10**30, 1e300, 2**31, "\U0010ffff", "x" * 5_000, TEXTS[-1]]),
        st.sampled_from([*known.uuids["item_id"][:3], *known.texts["scope"][:3], "semantic"]),
    )
    trees = st.recursive(
        leaves,
        lambda inner: st.one_of(
            st.lists(inner, max_size=3), st.dictionaries(names, inner, max_size=5)
        ),
        max_leaves=8,
    )
    return trees.map(json.dumps)


def mutated(document: str, place: int, value: Any) -> str:
    """A document in which one value is another."""
    whole = [json.loads(document)]
    places: list[tuple[Any, Any]] = [(whole, 0)]
    for holder, key in places:
        inner = holder[key]
        if isinstance(inner, dict):
            places += [(inner, name) for name in inner]
        elif isinstance(inner, list):
            places += [(inner, number) for number in range(len(inner))]
    holder, key = places[place % len(places)]
    holder[key] = value
    return json.dumps(whole[0])


def values(function: Function, argument: Argument, known: Known) -> st.SearchStrategy[Literal]:
    """Draw one argument: as often something sensible as something that is not."""
    good, bad = plausible(function, argument, known), hostile(function, argument, known)
    drawn = [st.sampled_from(good or bad), st.sampled_from(bad)]
    if argument.type in ("json", "jsonb"):
        drawn.append(documents(function, known))
        whole = st.sampled_from(known.documents.get(argument.name) or known.documents["any"])
        drawn.append(st.builds(mutated, whole, st.integers(0, 10_000), st.sampled_from(SCALARS)))
    elif argument.type == "text":
        drawn.append(
            st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=40)
        )
    return st.one_of(drawn)


def calls(function: Function, known: Known) -> st.SearchStrategy[dict[str, Literal]]:
    """Draw a call: what is required, and some of what is optional."""
    required = {a.name: values(function, a, known) for a in function.arguments if not a.optional}
    optional = {a.name: values(function, a, known) for a in function.arguments if a.optional}
    return st.fixed_dictionaries(required, optional=optional)


FUNCTIONS = """
SELECT p.oid::regprocedure::text AS signature, p.proname AS name, p.prokind::text AS kind,
       obj_description(p.oid, 'pg_proc') AS comment, p.pronargs - p.pronargdefaults AS required,
       coalesce(p.proargnames, '{}') AS names, p.proargmodes::text[] AS modes,
       ARRAY(SELECT t.oid::regtype::text
               FROM unnest(p.proargtypes) WITH ORDINALITY AS t (oid, n) ORDER BY t.n) AS types
  FROM pg_proc AS p WHERE p.pronamespace = 'memwarden'::regnamespace ORDER BY p.proname
"""


def public_functions(world: World) -> list[Function]:
    """Read the catalog: signatures, comments and sources."""
    sources = {
        row["name"]: row["source"]
        for row in world.rows(
            "SELECT n.nspname || '.' || p.proname AS name,"
            "       CASE WHEN p.prosqlbody IS NULL THEN p.prosrc"
            "            ELSE pg_get_function_sqlbody(p.oid) END AS source"
            "  FROM pg_proc AS p JOIN pg_namespace AS n ON n.oid = p.pronamespace"
            " WHERE n.nspname IN ('memwarden', 'memwarden_internal')"
            "   AND p.proname NOT IN ('python_source', 'storage_parts', 'errors', 'reasons')"
        )
    }
    found = world.rows(FUNCTIONS)
    comments = {row["name"]: row["comment"] for row in found}
    functions = []
    for row in found:
        comment = row["comment"]
        for other in re.findall(r"\bas (\w+)(?:\(\)| does)", comment):
            comment += comments.get(other, "")
        inputs = [
            name
            for place, name in enumerate(row["names"])
            if row["modes"] is None or row["modes"][place] in "ib"
        ]
        functions.append(
            Function(
                name=row["name"],
                kind=row["kind"],
                arguments=[
                    Argument(name, type, place >= row["required"])
                    for place, (name, type) in enumerate(zip(inputs, row["types"], strict=True))
                ],
                announced=set(re.findall(r"\b[0-9A-Z]{5}\b", comment)),
                words=words(f"memwarden.{row['name']}", sources),
                signature=row["signature"],
            )
        )
    return functions


def words(name: str, sources: dict[str, str]) -> list[str]:
    """The short literals in a function and in those that it calls itself."""
    text = sources.get(name, "")
    for called in re.findall(r"\bmemwarden_internal\.\w+(?=\()", text):
        text += sources.get(called, "")
    return list(dict.fromkeys(re.findall(r"'([A-Za-z][\w*.-]{0,30})'", text)))[:60]
