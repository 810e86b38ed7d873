"""Databases that tests, or files of tests, use one after the other, each put back as it was made.

Making a database and warming a connection to it take longer than most tests. Between two tests
what was made goes, and the rows; rows that the template has come back, and sequences begin again.
A database in which something else of the catalog has changed is dropped.
"""

from __future__ import annotations

from typing import Any

from psycopg import Connection

from warm import Pool

# Deleted rows leave room behind that searches walk through: after so many tests tables are emptied
# into new files.
TESTS_BETWEEN_NEW_FILES = 40
# A table with more rows, a dictionary, is not kept twice: where it changes, the database goes.
MANY_ROWS = 50_000

# Names of the tables: those that hold nothing, and those whose rows come back, settings' watchers
# last: deleting settings tells them.
TABLES = """
SELECT c.oid::regclass::text AS name,
       c.relname IN ('settings_change', 'kept_terms', 'kept_reader', 'kept_layer') AS is_watcher
  FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
 WHERE c.relkind = 'r' AND c.relpersistence <> 't'
   AND n.nspname NOT IN ('pg_catalog', 'information_schema')
 ORDER BY 2, 1"""
COLUMNS = """
SELECT string_agg(quote_ident(a.attname), ', ' ORDER BY a.attnum)
  FROM pg_attribute AS a
 WHERE a.attrelid = %s::regclass AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''"""
SEQUENCES = """
SELECT c.oid::regclass::text FROM pg_class AS c WHERE c.relkind = 'S' AND c.relpersistence <> 't'"""
# What tells that a test made, changed or dropped something other than rows. Temporary tables come
# and go.
CATALOGS = (
    "pg_class WHERE relpersistence <> 't'",
    "pg_proc WHERE pronamespace <> pg_my_temp_schema()",
    *(
        "pg_trigger",
        "pg_rewrite",
        "pg_attrdef",
        "pg_index",
        "pg_inherits",
        "pg_policy",
        "pg_constraint",
        "pg_extension",
        "pg_publication",
        "pg_event_trigger",
        "pg_foreign_server",
        "pg_default_acl",
        "pg_description",
    ),
    "pg_namespace WHERE nspname !~ '^pg_(toast_)?temp_'",
    "pg_type WHERE typtype IN ('d', 'e', 'r')",
    # Of a table that a test has had analysed: plans depend on it.
    "pg_statistic WHERE starelid >= 16384",
    "pg_attribute WHERE attrelid IN (SELECT oid FROM pg_class WHERE relpersistence <> 't')",
    "pg_db_role_setting WHERE setdatabase IN"
    " (SELECT oid FROM pg_database WHERE datname = current_database())",
)
# Where rights were granted and taken back again, rows are new and say what they said. What is
# left out counts pages and transactions, or tells of objects that other catalogs have.
RIGHTS = {
    "pg_class": (
        """coalesce(relacl, acldefault(CASE relkind WHEN 'S' THEN 's' ELSE 'r' END::"char","""
        " relowner))"
    ),
    "pg_proc": "coalesce(proacl, acldefault('f', proowner))",
    "pg_namespace": "coalesce(nspacl, acldefault('n', nspowner))",
    "pg_attribute": "attacl",
}
LEFT_OUT = (
    "{relacl,proacl,nspacl,attacl,relfilenode,relpages,reltuples,relallvisible,relallfrozen,"
    "relfrozenxid,relminmxid,relhastriggers,relhasrules,relhasindex,relhassubclass}"
)


def contents(source: str) -> str:
    """What the rows of a catalog say, as a query."""
    table, _, condition = source.partition(" WHERE ")
    rights = f"SELECT string_agg(a::text, ',' ORDER BY a::text) FROM unnest({RIGHTS[table]}) AS a"
    return (
        f"(SELECT md5(string_agg(r.row, '' ORDER BY r.row)) FROM (SELECT"
        f" (to_jsonb({table}) - '{LEFT_OUT}'::text[])::text || coalesce(({rights}), '') AS row"
        f" FROM {table} WHERE {condition or 'true'}) AS r)"
    )


# What a test has made, and what drops it.
MADE = """
SELECT format('DROP SCHEMA IF EXISTS %I CASCADE', n.nspname) AS statement
  FROM pg_namespace AS n
 WHERE age(n.xmin) < v_age AND n.oid NOT IN (SELECT k.oid FROM pg_temp.kept_objects AS k)
   AND n.nspname !~ '^pg_'
 UNION ALL
SELECT format('DROP %s IF EXISTS %s CASCADE',
              CASE c.relkind WHEN 'v' THEN 'VIEW' WHEN 'm' THEN 'MATERIALIZED VIEW'
                             WHEN 'S' THEN 'SEQUENCE' ELSE 'TABLE' END, c.oid::regclass)
  FROM pg_class AS c
 WHERE age(c.xmin) < v_age AND c.oid NOT IN (SELECT k.oid FROM pg_temp.kept_objects AS k)
   AND c.relpersistence <> 't'
   AND c.relkind IN ('r', 'p', 'v', 'm', 'S') AND c.relnamespace <> 'pg_toast'::regnamespace
   AND NOT EXISTS (SELECT FROM pg_depend AS d
                    WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid
                      AND d.deptype IN ('e', 'i', 'a') AND d.refclassid IN
                          ('pg_class'::regclass, 'pg_extension'::regclass))
 UNION ALL
SELECT format('DROP ROUTINE IF EXISTS %s CASCADE', p.oid::regprocedure)
  FROM pg_proc AS p
 WHERE age(p.xmin) < v_age AND p.oid NOT IN (SELECT k.oid FROM pg_temp.kept_objects AS k)
   AND p.pronamespace <> pg_my_temp_schema()
   AND NOT EXISTS (SELECT FROM pg_depend AS d
                    WHERE d.classid = 'pg_proc'::regclass AND d.objid = p.oid
                      AND d.deptype = 'e')"""

# Gates of a test's own. One that was only changed goes as well: then there are fewer than before.
TRIGGERS = """
SELECT format('DROP TRIGGER %I ON %s', t.tgname, t.tgrelid::regclass)
  FROM pg_trigger AS t
 WHERE age(t.xmin) < v_age AND NOT t.tgisinternal AND t.tgparentid = 0"""


# By the name that databases of one template begin with: what makes a session the keeper of one.
# Finding that out takes longer than to copy the template.
KEEPERS: dict[str, list[str]] = {}


def is_changed(source: str, count: int) -> str:
    """A condition: rows of a table were added or changed since the mark, or are not so many."""
    return f"(SELECT count(*) <> {count} OR bool_or(age(xmin) < v_age) FROM {source})"


class Stock:
    """One database, and what is needed to put it back."""

    def __init__(self, keeper: Connection[Any]) -> None:
        keeper.autocommit = True
        self.keeper = keeper
        self.pool = Pool(keeper.info.dsn)
        self.served = 0
        self.keeper.execute("SET session_replication_role = replica")
        template = keeper.info.dbname.rpartition("_")[0]
        if template in KEEPERS:
            self.keeper.execute("; ".join(KEEPERS[template]))
        else:
            self._made: list[str] = []
            self._make(
                "CREATE TEMP TABLE kept_objects AS SELECT oid FROM pg_namespace"
                " UNION ALL SELECT oid FROM pg_class UNION ALL SELECT oid FROM pg_proc"
            )
            self._make(self._put_back())
            KEEPERS[template] = self._made
        self.keeper.execute(
            "SELECT set_config('stock.mark', pg_current_xact_id()::xid::text, false)"
        )

    def _make(self, statement: str) -> None:
        self.keeper.execute(statement)
        self._made.append(statement)

    def _rows(self, query: str, *parameters: Any) -> list[tuple[Any, ...]]:
        return self.keeper.execute(query, parameters).fetchall()

    def _put_back(self) -> str:
        """The function that puts all tables back; it says whether that is all there is to do."""
        body, changed, empty = [], [], []
        for number, (name, _) in enumerate(self._rows(TABLES)):
            if not self._rows(f"SELECT EXISTS (SELECT FROM ONLY {name})")[0][0]:
                empty.append(name)
                body.append(f"DELETE FROM ONLY {name};")
                continue
            count = self._rows(f"SELECT count(*) FROM ONLY {name}")[0][0]
            if count > MANY_ROWS:
                changed.append(is_changed(f"ONLY {name}", count))
                continue
            columns = self._rows(COLUMNS, name)[0][0]
            self._make(f"CREATE TEMP TABLE kept_{number} AS SELECT {columns} FROM ONLY {name}")
            body.append(
                f"IF {is_changed(f'ONLY {name}', count)} THEN"
                f" DELETE FROM ONLY {name} WHERE age(xmin) < v_age;"
                # Others are as they were: most often these are all.
                f" IF (SELECT count(*) FROM ONLY {name}) <> {count} THEN"
                f" DELETE FROM ONLY {name};"
                f" INSERT INTO {name} ({columns}) OVERRIDING SYSTEM VALUE"
                f" SELECT {columns} FROM pg_temp.kept_{number}; END IF; END IF;"
            )
        for (name,) in self._rows(SEQUENCES):
            value, is_called = self._rows(f"SELECT last_value, is_called FROM {name}")[0]
            body.append(f"PERFORM setval('{name}', {value}, {is_called});")
        # Taken at the end: what this session makes for itself is no change.
        for source in CATALOGS:
            count = self._rows(f"SELECT count(*) FROM {source}")[0][0]
            if source.partition(" WHERE ")[0] in RIGHTS:
                kept = self._rows(f"SELECT {contents(source)}")[0][0]
                changed.append(f"{is_changed(source, count)} AND {contents(source)} <> '{kept}'")
            else:
                changed.append(is_changed(source, count))
        return f"""
            CREATE FUNCTION pg_temp.put_back(p_into_new_files boolean) RETURNS boolean
            LANGUAGE plpgsql AS $put_back$
            DECLARE
                v_age integer := age(current_setting('stock.mark')::xid);
                v_drop text;
            BEGIN
                FOREACH v_drop IN ARRAY ARRAY({MADE}) || ARRAY({TRIGGERS}) LOOP
                    EXECUTE v_drop;
                END LOOP;
                IF {" OR ".join(changed)} THEN
                    RETURN false;
                END IF;
                IF p_into_new_files THEN
                    TRUNCATE ONLY {", ".join(empty)};
                END IF;
                {chr(10).join(body)}
                PERFORM set_config('stock.mark', pg_current_xact_id()::xid::text, false);
                RETURN true;
            END $put_back$"""

    def put_back(self, served: int) -> bool:
        """Make the database as it was after so many tests; False says that it has to go."""
        self.served += served
        # A connection that a test has closed is not gone at once.
        self.keeper.execute(
            "SELECT pg_terminate_backend(a.pid, 5000) FROM pg_stat_activity AS a"
            " WHERE a.datname = current_database() AND a.backend_type = 'client backend'"
            " AND a.pid <> ALL (%s)",
            ([c.info.backend_pid for c in [self.keeper, *self.pool.free]],),
        )
        into_new_files = self.served >= TESTS_BETWEEN_NEW_FILES
        if into_new_files:
            self.served = 0
        return bool(self._rows("SELECT pg_temp.put_back(%s)", into_new_files)[0][0])
