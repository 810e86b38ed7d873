CREATE OR REPLACE FUNCTION memwarden.register_canonical_source(
    name text, relation regclass, key_column text, text_column text, version_column text DEFAULT NULL, category text DEFAULT NULL,
    kind text DEFAULT 'canonical', threshold double precision DEFAULT 0.5, org text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_org_id    bigint;
    v_key_type  text;
    v_source_id integer;
BEGIN
    -- What its owner does to that table the engine meets with its own rights: a matter of trust, decided by who has all.
    IF NOT memwarden_internal.is_superuser() THEN
        PERFORM memwarden_internal.raise_error('not_superuser', format('login role %I', session_user));
    END IF;
    PERFORM memwarden_internal.check_canonical_arguments(name, category, kind, threshold);
    PERFORM memwarden_internal.require_canonical_table(relation);
    v_key_type := memwarden_internal.require_canonical_key(relation, key_column);
    PERFORM memwarden_internal.require_canonical_column(relation, 'text_column', text_column, '{text,character varying}');
    IF version_column IS NOT NULL THEN
        PERFORM memwarden_internal.require_canonical_column(relation, 'version_column', version_column,
            '{bigint,integer,smallint,numeric,uuid,text,character varying,date,timestamp with time zone,timestamp without time zone}');
    END IF;
    PERFORM memwarden_internal.require_searchable(relation, text_column);
    v_org_id := memwarden_internal.administered_org(org, 'full');

    v_source_id := memwarden_internal.store_canonical_source(v_org_id, name, coalesce(category, name), kind, relation,
        key_column, v_key_type,
                                                             text_column, version_column, threshold);
    PERFORM memwarden_internal.attach_junction(v_source_id, relation, key_column);
    PERFORM memwarden_internal.apply_bound(ARRAY(SELECT p.name FROM memwarden_internal.reference_parts() AS p));
    PERFORM memwarden_internal.record_access_change(v_org_id, 'register_canonical_source', jsonb_build_object(
        'source', name, 'relation', relation::text, 'kind', kind, 'threshold', threshold));
END
$function$;
COMMENT ON FUNCTION memwarden.register_canonical_source IS
    'Declares a table as the home of a category of state, which memories may refer to and may not repeat. It concerns memories in '
    'layers of full admission. There can be at most 16 sources. The call makes a table of references with a foreign key to the rows, '
    'and the view memwarden.reference_NAME. When a row is deleted, its foreign key becomes NULL: the memory stays and knows that the '
    'row is gone. A name whose table or column is gone may be registered again; references find their rows by key. The call waits '
    'for running writes, and locks the table and memory against others for a moment. Only a superuser may call it. The engine reads '
    'the table with its own rights, so the owner of the table must be trusted. name: lower-case letters, digits and _, at most 41. '
    'relation: an ordinary or partitioned table without row security for memwarden_owner, which needs USAGE on its schema, SELECT on '
    'the columns named here and REFERENCES on the key. key_column: a column that is unique by itself, of type bigint, integer, '
    'smallint, uuid, text or varchar. text_column: a column of type text or varchar; beyond 1,000 rows it must have a GIN or GiST '
    'index of pg_trgm. version_column: the column whose value a reference pins; without one nothing is pinned. category: what kind '
    'of state it is, in words. kind: canonical (a copy is refused with CANONICAL_COPY), the default, or record (VERBATIM_RECORD). '
    'threshold: the share of repeated words, 0.2 to 1, from which on a memory is a copy; 0.5 by default. org: the organisation whose '
    'writes are compared and which may refer to it; all by default. Raises 42501 for others and for missing rights (the detail is '
    'the GRANT to run), 22023 for what does not fit, 42704 for unknown columns or organisations, 42710 when the name is taken, 25001 '
    'at an isolation level other than READ COMMITTED, 2BP01 when a view of somebody else depends on a view that has to be made anew. '
    'Raises 55P03 when others hold it up for longer than 30 seconds, or lock_timeout. '
    'Source: agent memory primitives, 13.';

CREATE OR REPLACE FUNCTION memwarden_internal.check_canonical_arguments(p_name text, p_category text, p_kind text,
    p_threshold double precision)
RETURNS void
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    IF p_name IS NULL OR p_name !~ '^[a-z][a-z0-9_]{0,40}$' THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'name: lower-case letters, digits and _, at most 41');
    ELSIF p_kind IS NULL OR p_kind NOT IN ('canonical', 'record') THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'kind: canonical or record');
    ELSIF p_threshold IS NULL OR NOT p_threshold BETWEEN 0.2 AND 1 THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'threshold: 0.2 to 1');
    ELSIF length(p_category) NOT BETWEEN 1 AND 200 THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'category: 1 to 200 characters');
    END IF;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.check_canonical_arguments IS
    'Raises 22023 for what a canonical source cannot be called or be like.';

CREATE OR REPLACE FUNCTION memwarden_internal.store_canonical_source(
    p_org_id bigint, p_name text, p_category text, p_kind text, p_relation regclass, p_key_column text, p_key_type text,
    p_text_column text, p_version_column text, p_threshold double precision)
RETURNS integer
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_source_id integer;
    v_old       record;
BEGIN
    -- Two at once: the number of sources holds.
    PERFORM memwarden_internal.hold_table('memwarden_data.canonical_source');
    SELECT s.source_id, s.key_column, s.key_type, memwarden_internal.canonical_relation(s.source_id)::regclass AS relation INTO v_old
      FROM memwarden_data.canonical_source AS s WHERE s.name = p_name;
    IF FOUND AND memwarden_internal.canonical_state(v_old.source_id) <> 'missing' THEN
        PERFORM memwarden_internal.raise_error('already_exists', format('canonical source %L', p_name));
    ELSIF FOUND THEN
        UPDATE memwarden_data.canonical_source AS s
           SET org_id = p_org_id, category = p_category, kind = p_kind, relation = p_relation::text, key_column = p_key_column,
               key_type = p_key_type, text_column = p_text_column, version_column = p_version_column, threshold = p_threshold,
                   enabled = true
         WHERE s.source_id = v_old.source_id;
        IF v_old.relation IS NOT NULL THEN
            EXECUTE format('ALTER TABLE memwarden_data.%I DROP CONSTRAINT canonical_row', 'reference_' || v_old.source_id);
        END IF;
        IF (v_old.relation, v_old.key_column, v_old.key_type) IS DISTINCT FROM (p_relation, p_key_column, p_key_type) THEN
            EXECUTE format('ALTER TABLE memwarden_data.%I ALTER COLUMN canonical_key TYPE %s USING NULL',
                           'reference_' || v_old.source_id, p_key_type::regtype);
            PERFORM memwarden_internal.find_rows_again(v_old.source_id, p_relation, p_key_column);
        END IF;
        RETURN v_old.source_id;
    ELSIF (SELECT count(*) FROM memwarden_data.canonical_source AS s) >= 16 THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'name: there are 16 canonical sources, and every write is '
            'compared with each');
    END IF;
    INSERT INTO memwarden_data.canonical_source AS s
        (org_id, name, category, kind, relation, key_column, key_type, text_column, version_column, threshold)
    VALUES (p_org_id, p_name, p_category, p_kind, p_relation::text, p_key_column, p_key_type, p_text_column, p_version_column, p_threshold)
    RETURNING s.source_id INTO v_source_id;
    PERFORM memwarden_internal.create_junction(v_source_id, p_key_type::regtype);
    RETURN v_source_id;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.store_canonical_source IS
    'The row of a source and its table of references: new, or those of a source whose table or column is gone. Raises '
    '42710 when the name is taken, 22023 for a seventeenth.';

CREATE OR REPLACE FUNCTION memwarden_internal.find_rows_again(p_source_id integer, p_relation regclass, p_key_column text)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
BEGIN
    EXECUTE format('UPDATE memwarden_data.%I AS r SET canonical_key = c.%I FROM %s AS c WHERE c.%I::text = r.key',
                   'reference_' || p_source_id, p_key_column, p_relation, p_key_column);
    -- A table with checks to come cannot be altered.
    SET CONSTRAINTS memwarden_data.memory IMMEDIATE;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.find_rows_again IS
    'Points the references of a source to the rows of a new table that bear their keys.';
