-- Storage 1 did not record what it was made of. That of release 0.1.0 is known by its columns; what was made between
-- releases bore the same number, and no migration leads on from it.
DO $shape$
BEGIN
    IF (SELECT md5(string_agg(concat_ws(' ', c.relname, a.attname, t.typname, a.attnotnull), E'\n' ORDER BY c.relname COLLATE "C",
        a.attname COLLATE "C"))
          FROM pg_class AS c
          JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
          JOIN pg_type AS t ON t.oid = a.atttypid
         WHERE c.relnamespace = 'memwarden_data'::regnamespace AND c.relkind IN ('r', 'p', 'c') AND NOT c.relispartition
           -- Made while the store is in use.
           AND c.relname !~ '^(reference_\d+|embedding_.*)$') <> 'cf8a2d2e6ad98c320847aeab4e35a261' THEN
        PERFORM memwarden_internal.raise_error('storage_unknown', 'storage 1 with other columns than that of release 0.1.0');
    END IF;
END
$shape$;
ALTER TABLE memwarden_data.storage
    ADD COLUMN built_from text,
    ADD COLUMN shape jsonb,
    ADD COLUMN bound jsonb;
COMMENT ON TABLE memwarden_data.storage IS
    'The versions of the storage that setup() has brought about. built_from: the version and a hash of the statements '
    'that make its tables, which every door compares; shape: what the tables were like then; bound: what setup() has '
    'hung on them since.';
