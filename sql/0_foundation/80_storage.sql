-- Storage is made by setup(), not by CREATE EXTENSION: tables that are members of an extension lose
-- rows, partitions and policies in a dump. The build embeds every *.table.sql, *.bound.sql and
-- migration here as text.
CREATE OR REPLACE FUNCTION memwarden_internal.storage_version()
RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
RETURN @storage_version@;
COMMENT ON FUNCTION memwarden_internal.storage_version IS 'The version of the storage that these functions work with.';

-- A number alone does not tell what two builds of it made: the key does.
CREATE OR REPLACE FUNCTION memwarden_internal.storage_key(p_version integer DEFAULT @storage_version@)
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
RETURN CASE p_version
@storage_keys@ END;
COMMENT ON FUNCTION memwarden_internal.storage_key IS
    'The version of the storage and a hash of the statements that make its tables: of the one that these functions work '
    'with, or of an earlier one that a release brought; NULL for another.';

CREATE OR REPLACE FUNCTION memwarden_internal.storage_parts()
RETURNS TABLE (ordinal integer, phase text, name text, body text)
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
AS $memwarden_storage$
VALUES
@storage_parts@
$memwarden_storage$;
COMMENT ON FUNCTION memwarden_internal.storage_parts IS
    'The statements that make the storage. phase: table (once), migration (by number), bound (policies, triggers, views '
    'and grants, one object each, made where they differ).';
