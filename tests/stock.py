"""Databases that tests, or files of tests, use one after the other, each put back as it was made.

Making a database and warming a connection to it take longer than most tests. Between two tests
the rows go, those that the template has come back, and sequences begin again. A database whose
catalog has changed is dropped, and so is one that has served for long: what was deleted leaves
room behind that searches walk through.
"""

from __future__ import annotations

from typing import Any

from psycopg import Connection

from warm import Pool

MOST_TESTS = 40

# Names of the tables: those that hold nothing, and those whose rows come back, settings' watchers
# last: deleting settings tells them.
TABLES = """
SELECT c.oid::regclass::text AS name,
       c.relname IN ('settings_change', 'kept_terms') AS is_watcher
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
        "pg_policy",
        "pg_constraint",
        "pg_extension",
        "pg_publication",
        "pg_default_acl",
        "pg_description",
    ),
    "pg_type WHERE typtype IN ('d', 'e', 'r')",
    # Of a table that a test has had analysed: plans depend on it.
    "pg_statistic WHERE starelid >= 16384",
    "pg_attribute WHERE attrelid IN (SELECT oid FROM pg_class WHERE relpersistence <> 't')",
    "pg_db_role_setting WHERE setdatabase IN"
    " (SELECT oid FROM pg_database WHERE datname = current_database())",
)
# Who may use a schema changes; which there are does not.
SCHEMAS = "pg_namespace WHERE nspname !~ '^pg_(toast_)?temp_'"

# Gates of a test's own, the functions that they call, and what else a test made beside memwarden.
# What was there before and was changed goes as well: then there is less than before. Of an
# extension nothing can go, which is an error.
OWN = """
SELECT o.statement FROM (
    SELECT 1, format('DROP TRIGGER %I ON %s', t.tgname, t.tgrelid::regclass)
      FROM pg_trigger AS t
     WHERE age(t.xmin) < v_age AND NOT t.tgisinternal AND t.tgparentid = 0
     UNION ALL
    SELECT 2, format('DROP %s IF EXISTS %s CASCADE', k.word, c.oid::regclass)
      FROM pg_class AS c JOIN (VALUES ('v', 'VIEW'), ('r', 'TABLE')) AS k (kind, word)
        ON k.kind = c.relkind
     WHERE age(c.xmin) < v_age AND c.relpersistence <> 't'
       AND c.relnamespace::regnamespace::text !~ '^memwarden'
     UNION ALL
    SELECT 3, format('DROP ROUTINE IF EXISTS %s CASCADE', p.oid::regprocedure)
      FROM pg_proc AS p
     WHERE age(p.xmin) < v_age AND p.pronamespace <> pg_my_temp_schema()
       AND p.pronamespace::regnamespace::text !~ '^memwarden'
    ) AS o (step, statement)
 ORDER BY o.step"""


def is_new(source: str) -> str:
    """A condition: rows of a table were added or changed since the mark, or are fewer."""
    table, _, condition = source.partition(" WHERE ")
    changed = f"age(xmin) < v_age AND {condition}" if condition else "age(xmin) < v_age"
    return f"EXISTS (SELECT FROM {table} WHERE {changed})"


class Stock:
    """One database, and what is needed to put it back."""

    def __init__(self, keeper: Connection[Any]) -> None:
        keeper.autocommit = True
        self.keeper = keeper
        self.pool = Pool(keeper.info.dsn)
        self.served = 0
        self.keeper.execute("SET session_replication_role = replica")
        self.keeper.execute(self._put_back())
        self.keeper.execute(
            "SELECT set_config('stock.mark', pg_current_xact_id()::xid::text, false)"
        )

    def _rows(self, query: str, *parameters: Any) -> list[tuple[Any, ...]]:
        return self.keeper.execute(query, parameters).fetchall()

    def _put_back(self) -> str:
        """The function that puts all tables back; it says whether that is all there is to do."""
        body, counts = [], []
        for number, (name, _) in enumerate(self._rows(TABLES)):
            empty = not self._rows(f"SELECT EXISTS (SELECT FROM ONLY {name})")[0][0]
            if empty:
                body.append(f"DELETE FROM ONLY {name};")
                continue
            columns = self._rows(COLUMNS, name)[0][0]
            self.keeper.execute(
                f"CREATE TEMP TABLE kept_{number} AS SELECT {columns} FROM ONLY {name}"
            )
            count = self._rows(f"SELECT count(*) FROM ONLY {name}")[0][0]
            body.append(
                f"IF (SELECT count(*) FROM ONLY {name}) <> {count} OR {is_new(name)} THEN"
                f" DELETE FROM ONLY {name};"
                f" INSERT INTO {name} ({columns}) OVERRIDING SYSTEM VALUE"
                f" SELECT {columns} FROM pg_temp.kept_{number}; END IF;"
            )
        for (name,) in self._rows(SEQUENCES):
            value, is_called = self._rows(f"SELECT last_value, is_called FROM {name}")[0]
            body.append(f"PERFORM setval('{name}', {value}, {is_called});")
        # Taken at the end: what this session makes for itself is no change.
        for source in (*CATALOGS, SCHEMAS):
            count = self._rows(f"SELECT count(*) FROM {source}")[0][0]
            counts.append(f"(SELECT count(*) FROM {source}) <> {count}")
        return f"""
            CREATE FUNCTION pg_temp.put_back() RETURNS boolean LANGUAGE plpgsql AS $put_back$
            DECLARE
                v_age integer := age(current_setting('stock.mark')::xid);
                v_drop text;
            BEGIN
                FOR v_drop IN {OWN} LOOP
                    EXECUTE v_drop;
                END LOOP;
                IF {" OR ".join(counts + [is_new(source) for source in CATALOGS])} THEN
                    RETURN false;
                END IF;
                {chr(10).join(body)}
                PERFORM set_config('stock.mark', pg_current_xact_id()::xid::text, false);
                RETURN true;
            END $put_back$"""

    def put_back(self, served: int) -> bool:
        """Make the database as it was after so many tests; False says that it has to go."""
        self.served += served
        if self.served >= MOST_TESTS:
            return False
        # A connection that a test has closed is not gone at once.
        self.keeper.execute(
            "SELECT pg_terminate_backend(a.pid, 5000) FROM pg_stat_activity AS a"
            " WHERE a.datname = current_database() AND a.backend_type = 'client backend'"
            " AND a.pid <> ALL (%s)",
            ([c.info.backend_pid for c in [self.keeper, *self.pool.free]],),
        )
        return bool(self._rows("SELECT pg_temp.put_back()")[0][0])
