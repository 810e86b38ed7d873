-- Of each source a table that joins memories to its rows, memwarden_data.reference_<source_id>. Its foreign key is also
-- how the table is found: it follows renaming and dumps, and nobody can put another table in its place.
CREATE OR REPLACE FUNCTION memwarden_internal.canonical_relation(p_source_id integer)
RETURNS oid
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN (SELECT k.confrelid FROM pg_constraint AS k
             WHERE k.conrelid = to_regclass('memwarden_data.reference_' || p_source_id) AND k.conname = 'canonical_row');
END
$function$;
COMMENT ON FUNCTION memwarden_internal.canonical_relation IS 'The table of a canonical source; NULL where it was dropped.';

CREATE OR REPLACE FUNCTION memwarden_internal.create_junction(p_source_id integer, p_key_type regtype)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
BEGIN
    -- To the item deferred: rebuild_heads() lays all heads out anew within one transaction.
    EXECUTE format(
        'CREATE TABLE memwarden_data.%1$I ('
        '    org_id bigint NOT NULL, scope_id bigint NOT NULL, item_id uuid NOT NULL, key text NOT NULL, canonical_key %2$s, '
        '    pinned_version text, principal_id bigint NOT NULL, linked_at timestamptz NOT NULL, PRIMARY KEY (org_id, item_id, key), '
        '    CONSTRAINT memory FOREIGN KEY (org_id, item_id) REFERENCES memwarden_data.item DEFERRABLE INITIALLY DEFERRED); '
        'CREATE INDEX ON memwarden_data.%1$I (canonical_key); '
        'COMMENT ON TABLE memwarden_data.%1$I IS ''Which memories refer to which row of a canonical source. key: as it was '
        'linked; canonical_key: NULL since the row is gone.''',
        'reference_' || p_source_id, p_key_type);
    PERFORM memwarden_internal.secure_tables();
END
$function$;
COMMENT ON FUNCTION memwarden_internal.create_junction IS
    'Makes the table of references to a source, still without the key to it.';

CREATE OR REPLACE FUNCTION memwarden_internal.attach_junction(p_source_id integer, p_relation regclass, p_key_column text)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
BEGIN
    -- Who deletes a row of theirs is not to be stopped by what agents remember, and does not delete a memory.
    EXECUTE format(
        'ALTER TABLE memwarden_data.%I ADD CONSTRAINT canonical_row FOREIGN KEY (canonical_key) REFERENCES %s (%I) ON UPDATE '
        'CASCADE ON DELETE SET NULL',
        'reference_' || p_source_id, p_relation, p_key_column);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.attach_junction IS 'Adds the foreign key from the references to the rows of the source.';

-- What hangs on the tables of references belongs to the release as what hangs on the others does.
CREATE OR REPLACE FUNCTION memwarden_internal.reference_parts()
RETURNS TABLE (name text, body text)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_source record;
    v_view   text;
BEGIN
    FOR v_source IN
        SELECT s.source_id, s.name, memwarden_internal.canonical_state(s.source_id) NOT IN ('missing', 'unreadable') AS is_readable
          FROM memwarden_data.canonical_source AS s ORDER BY s.source_id
    LOOP
        v_view := format('memwarden.%I', 'reference_' || v_source.name);
        RETURN QUERY VALUES (format('policy memwarden_data.reference_%s application', v_source.source_id), format(
            'CREATE POLICY application ON memwarden_data.%1$I FOR SELECT '
            '    TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor '
            '    USING (org_id = ANY ((SELECT memwarden_internal.visible_orgs())::bigint[]) '
            '           AND scope_id = ANY ((SELECT memwarden_internal.visible_scopes())::bigint[]) '
            '           AND EXISTS (SELECT FROM memwarden_data.item AS i WHERE i.org_id = %1$I.org_id AND i.item_id = %1$I.item_id))',
            'reference_' || v_source.source_id));
        IF v_source.is_readable THEN
            RETURN QUERY VALUES ('view ' || v_view, memwarden_internal.reference_view(v_source.source_id));
        END IF;
        IF v_source.is_readable OR to_regclass(v_view) IS NOT NULL THEN
            RETURN QUERY VALUES ('rights ' || v_view, format(
                'GRANT SELECT ON %s TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor', v_view));
        END IF;
    END LOOP;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.reference_parts IS
    'The policy of every table of references, the view that resolves them where its table can be read, and the grants '
    'on it.';

CREATE OR REPLACE FUNCTION memwarden_internal.reference_view(p_source_id integer)
RETURNS text
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_source   record;
    v_relation regclass := memwarden_internal.canonical_relation(p_source_id);
BEGIN
    SELECT s.name, s.key_column, s.text_column, s.key_type::regtype AS key_type, s.version_column IS NOT NULL AS has_versions,
           coalesce(s.version_column, s.key_column) AS version_or_key
      INTO v_source
      FROM memwarden_data.canonical_source AS s WHERE s.source_id = p_source_id;
    -- The content is read where it lives, with the rights of who asks.
    RETURN format(
        'CREATE OR REPLACE VIEW memwarden.%I WITH (security_invoker = true) AS '
        'SELECT r.item_id, r.key, r.pinned_version, CASE WHEN %L THEN c.%I::text END AS current_version, '
        '       c.%I IS NOT NULL AND (NOT %L OR r.pinned_version IS NOT DISTINCT FROM c.%I::text) AS is_current, '
        '       c.%I::text AS "text", r.linked_at '
        '  FROM memwarden_internal.list_references(%s) AS r LEFT JOIN %s AS c ON c.%I = r.canonical_key::%s; ',
        'reference_' || v_source.name, v_source.has_versions, v_source.version_or_key, v_source.key_column, v_source.has_versions,
        v_source.version_or_key, v_source.text_column, p_source_id, v_relation, v_source.key_column, v_source.key_type)
        || format(
        'COMMENT ON VIEW memwarden.%I IS ''Lists the references of memories that the caller sees, read with the caller''''s own '
        'rights on the table referred to.''',
        'reference_' || v_source.name);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.reference_view IS 'The statements that make memwarden.reference_<name>.';

-- For erasing: nothing else deletes an item.
CREATE OR REPLACE FUNCTION memwarden_internal.unlink_references(p_orgs bigint[], p_item_ids uuid[])
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_source_id integer;
BEGIN
    FOR v_source_id IN SELECT s.source_id FROM memwarden_data.canonical_source AS s ORDER BY s.source_id LOOP
        EXECUTE format('DELETE FROM memwarden_data.%I AS r WHERE r.org_id = ANY ($1) AND r.item_id = ANY ($2)', 'reference_' || v_source_id)
          USING p_orgs, p_item_ids;
    END LOOP;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.unlink_references IS 'Deletes the references of items that are erased.';
