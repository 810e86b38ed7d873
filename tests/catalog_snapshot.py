"""What an installation looks like in the catalog, in a form that two databases can be compared by.

Names instead of numbers throughout: object ids, and the order in which things were made, differ
between databases that are the same.
"""

from __future__ import annotations

import re
from typing import Any

from psycopg import Connection
from psycopg.rows import tuple_row

Snapshot = dict[str, str]

_OURS = "n.nspname IN ('memwarden', 'memwarden_internal', 'memwarden_data')"
# Of pg_partman's templates only that they are there: their columns are of the day they were made.
_TEMPLATE = "n.nspname = 'partman' AND c.relname LIKE 'template%'"
_MEMBER = """(SELECT e.extname FROM pg_depend AS d JOIN pg_extension AS e ON e.oid = d.refobjid
               WHERE d.objid = {oid} AND d.classid = '{catalog}'::regclass AND d.deptype = 'e'
                 AND d.refclassid = 'pg_extension'::regclass)"""
_GRANTS = """(SELECT string_agg(a::text, ' ' ORDER BY a::text COLLATE "C")
                FROM unnest(coalesce({acl}, acldefault('{kind}', {owner}))) AS a)"""
_OPTIONS = """(SELECT string_agg(o, ' ' ORDER BY o COLLATE "C") FROM unnest({array}) AS o)"""


def _member(catalog: str, oid: str) -> str:
    return _MEMBER.format(catalog=catalog, oid=oid)


def _grants(acl: str, kind: str, owner: str) -> str:
    return _GRANTS.format(acl=acl, kind=kind, owner=owner)


def _options(array: str) -> str:
    return _OPTIONS.format(array=array)


# Each yields a name and everything about it in further columns.
_QUERIES = {
    "extension": """
        SELECT e.extname, e.extversion, n.nspname FROM pg_extension AS e
          JOIN pg_namespace AS n ON n.oid = e.extnamespace WHERE e.extname <> 'plpgsql_check'""",
    # Not those of a demonstration or an evaluation, which another test may run at this moment.
    "role": """
        SELECT r.rolname, r.rolsuper, r.rolcanlogin, r.rolbypassrls, r.rolinherit, r.rolcreaterole,
               r.rolcreatedb, r.rolconfig
          FROM pg_roles AS r
         WHERE r.rolname LIKE 'memwarden\\_%' AND r.rolname !~ '^memwarden_(demo|evaluation)_'""",
    "membership": """
        SELECT m.member::regrole || ' in ' || m.roleid::regrole, m.admin_option
          FROM pg_auth_members AS m
         WHERE m.member::regrole::text LIKE 'memwarden\\_%'
           AND m.member::regrole::text !~ '^memwarden_(demo|evaluation)_'""",
    "schema": f"""
        SELECT n.nspname, n.nspowner::regrole, {_grants("n.nspacl", "n", "n.nspowner")},
               obj_description(n.oid, 'pg_namespace'), {_member("pg_namespace", "n.oid")}
          FROM pg_namespace AS n
         WHERE n.nspname LIKE 'memwarden%' OR n.nspname = 'partman'""",
    "function": f"""
        SELECT p.oid::regprocedure, pg_get_functiondef(p.oid), p.proowner::regrole,
               p.proleakproof, {_grants("p.proacl", "f", "p.proowner")},
               obj_description(p.oid, 'pg_proc'), {_member("pg_proc", "p.oid")},
               (SELECT string_agg(s.provider || '=' || s.label, ' ' ORDER BY s.provider)
                  FROM pg_seclabel AS s WHERE s.objoid = p.oid)
          FROM pg_proc AS p JOIN pg_namespace AS n ON n.oid = p.pronamespace
         WHERE n.nspname LIKE 'memwarden%'""",
    "type": f"""
        SELECT t.oid::regtype, t.typtype, t.typowner::regrole,
               {_grants("t.typacl", "T", "t.typowner")}, obj_description(t.oid, 'pg_type'),
               {_member("pg_type", "t.oid")}
          FROM pg_type AS t JOIN pg_namespace AS n ON n.oid = t.typnamespace
          LEFT JOIN pg_class AS c ON c.oid = t.typrelid
         WHERE n.nspname LIKE 'memwarden%' AND t.typelem = 0 AND coalesce(c.relkind, 'c') = 'c'""",
    "relation": f"""
        SELECT c.oid::regclass, c.relkind, c.relpersistence, c.relowner::regrole, am.amname,
               c.relrowsecurity, c.relforcerowsecurity, c.relreplident,
               pg_get_expr(c.relpartbound, c.oid), pg_get_partkeydef(c.oid),
               (SELECT i.inhparent::regclass FROM pg_inherits AS i WHERE i.inhrelid = c.oid),
               {_options("c.reloptions")},
               {_grants("c.relacl", "r", "c.relowner")}, obj_description(c.oid, 'pg_class'),
               CASE WHEN c.relkind = 'v' THEN pg_get_viewdef(c.oid) END,
               {_member("pg_class", "c.oid")}
          FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
          LEFT JOIN pg_am AS am ON am.oid = c.relam
         WHERE c.relkind IN ('r', 'p', 'v', 'm', 'c', 'f') AND ({_OURS} OR {_TEMPLATE})""",
    "column": f"""
        SELECT a.attrelid::regclass || '.' || a.attname,
               rank() OVER (PARTITION BY a.attrelid ORDER BY a.attnum),
               format_type(a.atttypid, a.atttypmod), a.attnotnull, a.attidentity, a.attgenerated,
               a.attstorage, a.attcompression, a.attcollation::regcollation, a.attislocal,
               pg_get_expr(d.adbin, d.adrelid), {_options("a.attacl::text[]")},
               col_description(a.attrelid, a.attnum)
          FROM pg_attribute AS a JOIN pg_class AS c ON c.oid = a.attrelid
          JOIN pg_namespace AS n ON n.oid = c.relnamespace
          LEFT JOIN pg_attrdef AS d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
         WHERE a.attnum > 0 AND NOT a.attisdropped
           AND c.relkind IN ('r', 'p', 'v', 'm', 'c', 'f') AND {_OURS}""",
    "index": f"""
        SELECT x.indexrelid::regclass, pg_get_indexdef(x.indexrelid), x.indisvalid, x.indisprimary,
               x.indisclustered, x.indisreplident, i.relowner::regrole,
               (SELECT h.inhparent::regclass FROM pg_inherits AS h WHERE h.inhrelid = i.oid)
          FROM pg_index AS x JOIN pg_class AS i ON i.oid = x.indexrelid
          JOIN pg_class AS c ON c.oid = x.indrelid JOIN pg_namespace AS n ON n.oid = c.relnamespace
         WHERE c.relkind IN ('r', 'p', 'm') AND {_OURS}""",
    "constraint": f"""
        SELECT coalesce(c.oid::regclass::text, t.oid::regtype::text) || ' ' || k.conname,
               pg_get_constraintdef(k.oid), k.convalidated, k.conislocal,
               obj_description(k.oid, 'pg_constraint')
          FROM pg_constraint AS k LEFT JOIN pg_class AS c ON c.oid = k.conrelid
          LEFT JOIN pg_type AS t ON t.oid = k.contypid
          JOIN pg_namespace AS n ON n.oid = k.connamespace
         WHERE coalesce(c.oid, t.oid) IS NOT NULL AND {_OURS}""",
    "policy": f"""
        SELECT p.polrelid::regclass || ' ' || p.polname, p.polcmd, p.polpermissive,
               (SELECT string_agg(r::regrole::text, ' ' ORDER BY r::regrole::text COLLATE "C")
                  FROM unnest(p.polroles) AS r),
               pg_get_expr(p.polqual, p.polrelid), pg_get_expr(p.polwithcheck, p.polrelid)
          FROM pg_policy AS p JOIN pg_class AS c ON c.oid = p.polrelid
          JOIN pg_namespace AS n ON n.oid = c.relnamespace WHERE {_OURS}""",
    "trigger": f"""
        SELECT t.tgrelid::regclass || ' ' || t.tgname, pg_get_triggerdef(t.oid), t.tgenabled,
               t.tgparentid <> 0
          FROM pg_trigger AS t JOIN pg_class AS c ON c.oid = t.tgrelid
          JOIN pg_namespace AS n ON n.oid = c.relnamespace
         WHERE NOT t.tgisinternal AND {_OURS}""",
    "sequence": f"""
        SELECT s.seqrelid::regclass, s.seqtypid::regtype, s.seqstart, s.seqincrement, s.seqmin,
               s.seqmax, s.seqcache, s.seqcycle, c.relowner::regrole,
               {_grants("c.relacl", "s", "c.relowner")},
               (SELECT d.refobjid::regclass || '.' || a.attname FROM pg_depend AS d
                  JOIN pg_attribute AS a ON a.attrelid = d.refobjid AND a.attnum = d.refobjsubid
                 WHERE d.objid = c.oid AND d.classid = 'pg_class'::regclass
                   AND d.deptype IN ('a', 'i'))
          FROM pg_sequence AS s JOIN pg_class AS c ON c.oid = s.seqrelid
          JOIN pg_namespace AS n ON n.oid = c.relnamespace WHERE {_OURS}""",
    "grant in partman": """
        SELECT o.kind || ' ' || o.name, string_agg(a::text, ' ' ORDER BY a::text COLLATE "C")
          FROM (SELECT 'relation' AS kind, c.oid::regclass::text AS name,
                       coalesce(c.relacl, acldefault('r', c.relowner)) AS acl
                  FROM pg_class AS c WHERE c.relnamespace = to_regnamespace('partman')
                UNION ALL
                SELECT 'routine', p.oid::regprocedure::text,
                       coalesce(p.proacl, acldefault('f', p.proowner))
                  FROM pg_proc AS p WHERE p.pronamespace = to_regnamespace('partman')) AS o,
               unnest(o.acl) AS a
         WHERE a::text LIKE 'memwarden%' GROUP BY 1""",
    "partition set": """
        SELECT p.parent_table, p.control, p.time_encoder, p.time_decoder, p.partition_interval,
               p.partition_type, p.premake, p.automatic_maintenance, p.template_table, p.retention,
               p.datetime_string, p.infinite_time_partitions, p.inherit_privileges, p.jobmon
          FROM partman.part_config AS p""",
    "default privilege": """
        SELECT d.defaclrole::regrole || ' ' || d.defaclobjtype::text,
               d.defaclnamespace::regnamespace, d.defaclacl
          FROM pg_default_acl AS d""",
    "event trigger": """
        SELECT t.evtname, t.evtevent, t.evtfoid::regproc, t.evtenabled
          FROM pg_event_trigger AS t""",
}


def catalog_snapshot(connection: Connection[Any], *kinds: str) -> Snapshot:
    """Return kind and name of everything that memwarden is made of, and what it is like.

    The connection must be a superuser's; names are looked up with an empty search path, which is
    put back. Of some kinds alone, where they are named.
    """
    assert _QUERIES.keys() >= set(kinds)
    snapshot: Snapshot = {}
    with connection.transaction(), connection.cursor(row_factory=tuple_row) as cursor:
        cursor.execute("SET LOCAL search_path = ''")
        for kind in kinds or _QUERIES:
            has_partman = cursor.execute("SELECT to_regclass('partman.part_config')").fetchone()
            if kind == "partition set" and has_partman == (None,):
                continue
            for name, *properties in cursor.execute(_QUERIES[kind]).fetchall():
                key = f"{kind} {name}"
                assert key not in snapshot, f"two of one name: {key}"
                snapshot[key] = "\n".join(str(value) for value in properties)
    return snapshot


def of_kind(snapshot: Snapshot, kind: str) -> Snapshot:
    """Return what a snapshot has of one kind."""
    return {name: looks for name, looks in snapshot.items() if name.startswith(f"{kind} ")}


def lasting(snapshot: Snapshot) -> Snapshot:
    """Return what does not depend on when and on which PostgreSQL a store was made.

    Partitions are of the months in which a database was in use. From PostgreSQL 18 on NOT NULL is a
    constraint as well, whose name an older table does not have: the column says the same.
    """
    return {
        name: looks
        for name, looks in snapshot.items()
        if not re.search(r"_p2\d{7}", name)
        and not (name.startswith("constraint ") and looks.startswith("NOT NULL "))
    }


def differences(left: Snapshot, right: Snapshot) -> dict[str, tuple[str | None, str | None]]:
    """Return what differs, by name; empty when the two are the same."""
    names = sorted(left.keys() | right.keys())
    pairs = {name: (left.get(name), right.get(name)) for name in names}
    return {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}
