"""What a layer asks is read where it holds for an organisation, not where the server has it."""

from __future__ import annotations

import re

from conftest import World

# Who works out or changes what holds, and what is the server's own.
MAY_READ = {
    "settled_layers": "works out what holds",
    "layer_settings": "compares with the server's",
    "set_server_layers": "changes the server's",
    "explain_settings": "shows the server's beside it",
    "tune_layer": "moves the server's threshold",
}
SOURCES = """
SELECT p.proname AS name, p.prosrc AS source
  FROM pg_proc AS p
 WHERE p.pronamespace IN ('memwarden'::regnamespace, 'memwarden_internal'::regnamespace)
   AND p.prosrc ~ 'memwarden_data\\.layer\\M'
 UNION ALL
SELECT c.relname, pg_get_viewdef(c.oid) FROM pg_class AS c
 WHERE c.relkind = 'v'
   AND c.relnamespace IN ('memwarden'::regnamespace, 'memwarden_data'::regnamespace)
   AND pg_get_viewdef(c.oid) ~ 'memwarden_data\\.layer\\M'"""
OWNED = "SELECT name FROM memwarden_internal.setting_rules() WHERE owner <> 'server'"


def test_no_function_or_view_reads_a_setting_past_its_owner(world: World) -> None:
    """Jobs among them. Proves: Z14."""
    owned = {row["name"] for row in world.rows(OWNED)}
    found = set()
    for row in world.rows(SOURCES):
        aliases = re.findall(r"memwarden_data\.layer\s+(?:AS\s+)?(\w+)", row["source"])
        for alias in set(aliases):
            used = set(re.findall(rf"\b{alias}\.(\w+)", row["source"])) & owned
            # The same letter may name another table elsewhere in the text.
            others = re.findall(rf"memwarden_data\.(\w+)\s+(?:AS\s+)?{alias}\b", row["source"])
            if used and (set(others) == {"layer"}) and row["name"] not in MAY_READ:
                found.add((row["name"], alias, tuple(sorted(used))))
    assert found == set()


def test_every_column_of_a_layer_is_a_setting_or_its_name(world: World) -> None:
    """And what is kept has the same columns, in the same order. Proves: Z14."""
    columns, kept = (
        [
            row["attname"]
            for row in world.rows(
                "SELECT attname FROM pg_attribute WHERE attrelid = %s::regclass"
                "   AND attnum > 0 AND NOT attisdropped ORDER BY attnum",
                f"memwarden_data.{table}",
            )
        ]
        for table in ("layer", "kept_layer")
    )
    assert kept == ["org_id", "principal_id", *columns]
    settings = {
        row["name"] for row in world.rows("SELECT name FROM memwarden_internal.setting_rules()")
    }
    assert settings == set(columns) - {"layer", "ordinal", "fixed"}
