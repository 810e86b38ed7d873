-- What a table must be like before memory can refer to it. The engine reads it with its own rights, and an index, a
-- policy or a cast of somebody else's would run with them: hence no row security, and columns of built-in types only.
CREATE OR REPLACE FUNCTION memwarden_internal.require_canonical_table(p_relation regclass)
RETURNS void
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_table record;
BEGIN
    SELECT c.relkind, c.relpersistence, n.nspname, c.relnamespace INTO v_table
      FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace WHERE c.oid = p_relation;
    IF v_table.relkind IS NULL OR v_table.relkind NOT IN ('r', 'p') OR v_table.relpersistence <> 'p' THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', format('relation: %s is no ordinary, logged table', p_relation));
    ELSIF v_table.nspname IN ('memwarden', 'memwarden_internal', 'memwarden_data', 'information_schema') OR v_table.nspname ~ '^pg_' THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', format('relation: %s is not a table of yours', p_relation));
    ELSIF NOT has_schema_privilege('memwarden_owner', v_table.relnamespace, 'USAGE') THEN
        PERFORM memwarden_internal.raise_error('not_permitted', format('GRANT USAGE ON SCHEMA %I TO memwarden_owner;', v_table.nspname));
    ELSIF row_security_active(p_relation) THEN
        PERFORM memwarden_internal.raise_error('invalid_argument',
            format('relation: row security of %s would hide rows from memwarden_owner', p_relation));
    END IF;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.require_canonical_table IS
    'Raises 22023 unless it is a logged table outside the schemas of PostgreSQL and memwarden whose rows '
    'memwarden_owner sees, 42501 unless it may use the schema.';

CREATE OR REPLACE FUNCTION memwarden_internal.require_canonical_column(p_relation regclass, p_argument text, p_column text, p_types text[])
RETURNS text
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_column record;
BEGIN
    SELECT a.atttypid::regtype::text AS type, c.collisdeterministic IS FALSE AS is_loose, a.attnum INTO v_column
      FROM pg_attribute AS a LEFT JOIN pg_collation AS c ON c.oid = a.attcollation
     WHERE a.attrelid = p_relation AND a.attname = p_column AND a.attnum > 0 AND NOT a.attisdropped;
    IF NOT FOUND THEN
        PERFORM memwarden_internal.raise_error('unknown_object', format('%s: column %I of %s', p_argument, p_column, p_relation));
    ELSIF v_column.type <> ALL (p_types) OR v_column.is_loose THEN
        PERFORM memwarden_internal.raise_error('invalid_argument',
            format('%s: of type %s, with a deterministic collation', p_argument, array_to_string(p_types, ' or ')));
    ELSIF NOT has_column_privilege('memwarden_owner', p_relation, v_column.attnum, 'SELECT') THEN
        PERFORM memwarden_internal.raise_error('not_permitted', format('GRANT SELECT (%I) ON %s TO memwarden_owner;', p_column,
            p_relation));
    END IF;
    RETURN v_column.type;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.require_canonical_column IS
    'The type of a column. Raises 42704 where there is none, 22023 for another type, 42501 unless memwarden_owner may read it.';

CREATE OR REPLACE FUNCTION memwarden_internal.require_canonical_key(p_relation regclass, p_column text)
RETURNS text
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_type text := memwarden_internal.require_canonical_column(
        p_relation, 'key_column', p_column, '{bigint,integer,smallint,uuid,text,character varying}');
BEGIN
    IF NOT EXISTS (
        SELECT FROM pg_index AS i JOIN pg_attribute AS a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0]
         WHERE i.indrelid = p_relation AND a.attname = p_column AND i.indisunique AND i.indimmediate AND i.indisvalid
           AND i.indnkeyatts = 1 AND i.indpred IS NULL) THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', format('key_column: %I alone is no key of %s', p_column, p_relation));
    ELSIF NOT has_column_privilege('memwarden_owner', p_relation, p_column, 'REFERENCES') THEN
        PERFORM memwarden_internal.raise_error('not_permitted', format('GRANT REFERENCES (%I) ON %s TO memwarden_owner;',
            p_column, p_relation));
    END IF;
    RETURN v_type;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.require_canonical_key IS
    'The type of a key column. Raises 22023 unless it is unique by itself, 42501 unless memwarden_owner may refer to it.';

CREATE OR REPLACE FUNCTION memwarden_internal.has_trigram_index(p_relation oid, p_column text)
RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN EXISTS (
        SELECT FROM pg_index AS i
          JOIN pg_attribute AS a ON a.attrelid = i.indrelid AND a.attname = p_column
          JOIN pg_opclass AS o ON o.oid = i.indclass[0]
         WHERE i.indrelid = p_relation AND i.indkey[0] = a.attnum AND i.indisvalid AND i.indpred IS NULL
           AND o.opcname IN ('gin_trgm_ops', 'gist_trgm_ops'));
END
$function$;
COMMENT ON FUNCTION memwarden_internal.has_trigram_index IS
    'Whether the column leads an index of pg_trgm that covers the whole table.';

CREATE OR REPLACE FUNCTION memwarden_internal.require_searchable(p_relation regclass, p_column text)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET row_security = off
AS $function$
DECLARE
    v_count integer;
BEGIN
    IF NOT memwarden_internal.has_trigram_index(p_relation, p_column) THEN
        EXECUTE format('SELECT count(*) FROM (SELECT FROM %s LIMIT 1001) AS first', p_relation) INTO v_count;
        IF v_count > 1000 THEN
            PERFORM memwarden_internal.raise_error('invalid_argument', format(
                'relation: more than 1,000 rows want an index first: CREATE INDEX ON %s USING gin (%I %s.gin_trgm_ops) WITH '
                '(fastupdate = off);',
                p_relation, p_column, (SELECT e.extnamespace::regnamespace FROM pg_extension AS e WHERE e.extname = 'pg_trgm')));
        END IF;
    END IF;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.require_searchable IS
    'Raises 22023 for a table of more than 1,000 rows whose text has no trigram index: every write would read it whole.';
