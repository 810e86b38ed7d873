"""A made-up release that changes a working copy in every way that a release can."""

from __future__ import annotations

import lzma

from server_checkout import WorkingCopy

VERSION = "99.0.0"
NEW_COLUMN = "note"

MIGRATION = """\
ALTER TABLE memwarden_data.item ADD COLUMN note text CHECK (length(note) < 100);
COMMENT ON COLUMN memwarden_data.item.note IS 'A remark.';
CREATE INDEX item_note ON memwarden_data.item (org_id, note) WHERE note IS NOT NULL;
ALTER TABLE memwarden_data.log ADD COLUMN note text;
"""
TABLE = """\
CREATE TABLE memwarden_data.remark (
    remark_id  bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    org_id     bigint NOT NULL REFERENCES memwarden_data.organisation,
    body       text NOT NULL
);
CREATE INDEX remark_org ON memwarden_data.remark (org_id);
COMMENT ON TABLE memwarden_data.remark IS 'Remarks.';
"""
BOUND = """\
GRANT SELECT ON memwarden_data.remark TO memwarden_auditor;
CREATE POLICY application ON memwarden_data.remark FOR SELECT TO memwarden_auditor
    USING (org_id = ANY ((SELECT memwarden_internal.visible_orgs())::bigint[]));
CREATE OR REPLACE TRIGGER append_only BEFORE UPDATE ON memwarden_data.remark
    FOR EACH STATEMENT EXECUTE FUNCTION memwarden_internal.refuse_change();
CREATE OR REPLACE VIEW memwarden.remarks WITH (security_invoker = true) AS
SELECT r.remark_id, r.body FROM memwarden_data.remark AS r;
GRANT SELECT ON memwarden.remarks TO memwarden_auditor;
"""
FUNCTION = """\
CREATE OR REPLACE FUNCTION memwarden.remark(body text)
RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
BEGIN
    INSERT INTO memwarden_data.remark (org_id, body) VALUES (0, remark.body);
    RETURN lastval();
END
$function$;
COMMENT ON FUNCTION memwarden.remark IS 'Remarks something.';
GRANT EXECUTE ON FUNCTION memwarden.remark TO memwarden_admin;
"""


def keep_script(copy: WorkingCopy, release: str) -> None:
    """Keep the install script of a release from which later ones are reached."""
    script = copy.directory / f"build/memwarden--{release}.sql"
    kept = copy.directory / f"migrations/released/{script.name}.xz"
    kept.write_bytes(lzma.compress(script.read_bytes(), preset=0))


def make_next_release(copy: WorkingCopy, old_version: str) -> None:
    """Turn a copy of this tree into the release after it."""
    copy.edit("memwarden.control", f"'{old_version}'", f"'{VERSION}'")
    # Functions: one changes its body, one loses a right, one goes, one comes.
    copy.edit("sql/0_foundation/60_canonical_form.sql", "v_result record;", "v_result record; --")
    copy.edit(
        "sql/3_write/60_gates/95_pipeline.sql",
        "GRANT EXECUTE ON FUNCTION memwarden.remove_gate TO memwarden_admin;\n",
        "",
    )
    (copy.directory / "sql/3_write/60_gates/64_request_status.sql").unlink()
    (copy.directory / "sql/8_operations/40_status/30_remark.sql").write_text(FUNCTION)
    copy.edit(
        "plpython/memwarden_core/server.py",
        "return embedding.lexical_embedding(text[:100_000])",
        "return [1.0] + [0.0] * 383",
    )
    # Storage: columns, one of them of a partitioned table, and a table.
    migrations = copy.directory / "migrations"
    number = 2 + len(list(migrations.glob("[0-9][0-9][0-9][0-9]_*.sql")))
    (migrations / f"{number:04}_remarks.sql").write_text(MIGRATION + TABLE)
    # The storage that is left behind went out with its release.
    keys = migrations / "storage.keys"
    keys.write_text(keys.read_text().replace(" unreleased\n", f" {old_version}\n"))
    (copy.directory / "sql/2_model/10_memory/65_remark.table.sql").write_text(TABLE)
    copy.edit(
        "sql/2_model/10_memory/40_item.table.sql",
        "    PRIMARY KEY (org_id, item_id)",
        "    note text CHECK (length(note) < 100),\n    PRIMARY KEY (org_id, item_id)",
    )
    with (copy.directory / "sql/2_model/10_memory/40_item.table.sql").open("a") as file:
        file.write(MIGRATION.split("\n", 1)[1].rsplit("ALTER", 1)[0])
    copy.edit(
        "sql/2_model/10_memory/60_log.table.sql",
        "    PRIMARY KEY (recorded_at, log_seq)",
        "    note text,\n    PRIMARY KEY (recorded_at, log_seq)",
    )
    # What hangs on the tables: a view goes, a policy, a trigger and a view come.
    copy.edit(
        "sql/8_operations/40_status/15_gate_statistics.sql",
        "COMMENT ON VIEW memwarden.gate_statistics IS",
        "COMMENT ON FUNCTION memwarden_internal.list_gate_statistics IS",
    )
    (copy.directory / "sql/8_operations/40_status/30_remark.bound.sql").write_text(BOUND)
    keep_script(copy, old_version)
