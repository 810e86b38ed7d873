-- What a memory refers to is told with the caller's rights on the memory; what stands there, with its rights on the table.
CREATE OR REPLACE FUNCTION memwarden.canonical_links(item_id uuid)
RETURNS TABLE (source text, key text, pinned_version text, linked_at timestamptz, canonical_key text,
               relation regclass, key_column text, key_type text, text_column text, version_column text)
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_principal_id bigint := memwarden_internal.require_principal();
    v_org_id       bigint;
    v_source       record;
BEGIN
    SELECT i.org_id INTO v_org_id FROM memwarden_data.item AS i
     WHERE i.org_id = ANY (memwarden_internal.visible_orgs()) AND i.item_id = canonical_links.item_id
       AND memwarden_internal.may_read(v_principal_id, i.scope_id)
       AND memwarden_internal.refusal(v_principal_id, 'READ', i.label_id, i.principal_id) IS NULL
       AND (i.expires_at IS NULL OR i.expires_at > clock_timestamp());
    IF NOT FOUND THEN
        RETURN;
    END IF;
    FOR v_source IN SELECT s.*, memwarden_internal.canonical_relation(s.source_id)::regclass AS oid
                      FROM memwarden_data.canonical_source AS s ORDER BY s.name LOOP
        source := v_source.name;
        relation := v_source.oid;
        key_column := v_source.key_column;
        key_type := v_source.key_type;
        text_column := v_source.text_column;
        version_column := v_source.version_column;
        FOR key, pinned_version, linked_at, canonical_key IN EXECUTE format(
            'SELECT r.key, r.pinned_version, r.linked_at, r.canonical_key::text '
            '  FROM memwarden_data.%I AS r WHERE r.org_id = $1 AND r.item_id = $2 ORDER BY r.key', 'reference_' || v_source.source_id)
          USING v_org_id, canonical_links.item_id
        LOOP
            RETURN NEXT;
        END LOOP;
    END LOOP;
END
$function$;
COMMENT ON FUNCTION memwarden.canonical_links IS
    'Lists the references of a memory to canonical sources, unresolved. No row is returned for a memory that the '
    'caller does not see. key, pinned_version: as they were linked. canonical_key: NULL where the row is gone. '
    'relation, key_column, key_type, text_column, version_column: where the source lives; relation is NULL where its '
    'table was dropped. Raises 28000 without an identity.';
GRANT EXECUTE ON FUNCTION memwarden.canonical_links
    TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor;

CREATE OR REPLACE FUNCTION memwarden.references_of(item_id uuid)
RETURNS TABLE (source text, key text, pinned_version text, current_version text, is_current boolean, "text" text)
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_link  record;
    v_count integer;
BEGIN
    FOR v_link IN SELECT l.* FROM memwarden.canonical_links(item_id) AS l LOOP
        source := v_link.source;
        key := v_link.key;
        pinned_version := v_link.pinned_version;
        current_version := NULL;
        "text" := NULL;
        is_current := CASE WHEN v_link.canonical_key IS NULL THEN false END;
        IF v_link.canonical_key IS NOT NULL AND v_link.relation IS NOT NULL THEN
            BEGIN
                EXECUTE format('SELECT CASE WHEN $2 THEN c.%I::text END, c.%I::text FROM %s AS c WHERE c.%I = $1::%s',
                               coalesce(v_link.version_column, v_link.key_column), v_link.text_column, v_link.relation,
                               v_link.key_column, v_link.key_type::regtype)
                   INTO current_version, "text" USING v_link.canonical_key, v_link.version_column IS NOT NULL;
                GET DIAGNOSTICS v_count = ROW_COUNT;
                is_current := v_count > 0 AND (v_link.version_column IS NULL OR pinned_version IS NOT DISTINCT FROM current_version);
            EXCEPTION WHEN insufficient_privilege OR undefined_table OR undefined_column THEN
                -- The caller may not read it there, so it does not read it here.
                NULL;
            END;
        END IF;
        RETURN NEXT;
    END LOOP;
END
$function$;
COMMENT ON FUNCTION memwarden.references_of IS
    'Lists what a memory refers to, resolved now with the caller''s own rights on the tables. No row is returned for '
    'a memory that the caller does not see. is_current: whether the row is there in the version that was pinned; '
    'false for a row that was deleted or that the row security of its table hides from the caller; NULL where the '
    'caller may not read the table. current_version, text: the row as it is now; NULL where the caller may not read '
    'the table. Raises 28000 without an identity. Source: agent memory primitives, 13.';
GRANT EXECUTE ON FUNCTION memwarden.references_of TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor;

CREATE OR REPLACE FUNCTION memwarden_internal.list_references(p_source_id integer)
RETURNS TABLE (item_id uuid, key text, canonical_key text, pinned_version text, linked_at timestamptz)
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_principal_id bigint := memwarden_internal.current_principal();
BEGIN
    IF to_regclass('memwarden_data.reference_' || p_source_id) IS NULL THEN
        RETURN;
    END IF;
    FOR item_id, key, canonical_key, pinned_version, linked_at IN EXECUTE format(
        'SELECT r.item_id, r.key, r.canonical_key::text, r.pinned_version, r.linked_at '
        '  FROM memwarden_data.%I AS r JOIN memwarden_data.item AS i ON i.org_id = r.org_id AND i.item_id = r.item_id '
        ' WHERE ($1 OR i.org_id = ANY ($2) AND i.scope_id = ANY ($3) '
        '              AND (CASE WHEN i.principal_id = $4 THEN -i.label_id ELSE i.label_id END) = ANY ($5)) '
        '   AND (i.expires_at IS NULL OR i.expires_at > clock_timestamp())', 'reference_' || p_source_id)
      USING memwarden_internal.is_superuser(), memwarden_internal.visible_orgs(), memwarden_internal.readable_scopes(v_principal_id),
            v_principal_id, memwarden_internal.readable_labels(v_principal_id)
    LOOP
        RETURN NEXT;
    END LOOP;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.list_references IS
    'References of the memories that the caller sees, for the views memwarden.reference_<name>.';
GRANT EXECUTE ON FUNCTION memwarden_internal.list_references
    TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor;
