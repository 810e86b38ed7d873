CREATE OR REPLACE FUNCTION memwarden.link_reference(item_id uuid, source text, key text, pinned_version text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_principal_id bigint := memwarden_internal.open_door();
    v_refusal      text := memwarden_internal.change_refusal(v_principal_id, link_reference.item_id, 'WRITE', false);
    v_item         record;
    v_row          record;
BEGIN
    IF v_refusal IN ('UNKNOWN', 'SCOPE_CLOSED') THEN
        PERFORM memwarden_internal.raise_error('unknown_object', format('active item %s', link_reference.item_id));
    ELSIF v_refusal IS NOT NULL THEN
        PERFORM memwarden_internal.raise_error('not_permitted', format('WRITE of item %s: %s', link_reference.item_id, v_refusal));
    END IF;
    SELECT i.org_id, i.scope_id INTO v_item FROM memwarden_data.item AS i
     WHERE i.org_id = ANY (memwarden_internal.visible_orgs()) AND i.item_id = link_reference.item_id FOR KEY SHARE;
    v_row := memwarden_internal.canonical_row(link_reference.source, link_reference.key);
    IF v_item.org_id IS NULL OR v_row.key IS NULL THEN
        -- A key that is not there and one that the caller may not read answer alike.
        PERFORM memwarden_internal.raise_error('unknown_object', format('a row of canonical source %L with that key',
            link_reference.source));
    ELSIF v_row.version IS NULL AND link_reference.pinned_version IS NOT NULL THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'pinned_version: the source has no versions');
    ELSIF length(link_reference.pinned_version) NOT BETWEEN 1 AND 200 THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'pinned_version: 1 to 200 characters');
    END IF;
    EXECUTE format(
        'INSERT INTO memwarden_data.%I AS r (org_id, scope_id, item_id, key, canonical_key, pinned_version, principal_id, linked_at) '
        'VALUES ($1, $2, $3, $4, $4::%s, $5, $6, clock_timestamp()) '
        'ON CONFLICT (org_id, item_id, key) DO UPDATE SET canonical_key = excluded.canonical_key, pinned_version = '
        'excluded.pinned_version, '
        '    principal_id = excluded.principal_id, linked_at = excluded.linked_at', 'reference_' || v_row.source_id,
        v_row.key_type::regtype)
      USING v_item.org_id, v_item.scope_id, link_reference.item_id, v_row.key,
            coalesce(link_reference.pinned_version, v_row.version), v_principal_id;
EXCEPTION WHEN foreign_key_violation THEN
    -- The row has just been deleted.
    PERFORM memwarden_internal.raise_error('unknown_object', format('a row of canonical source %L with that key', link_reference.source));
END
$function$;
COMMENT ON FUNCTION memwarden.link_reference IS
    'Links a memory to a row of a canonical source. A second call with the same key moves the pinned version. The '
    'caller must be permitted to change the memory, and its login to read the key column of the source. source: the '
    'name of the canonical source. key: the key of the row, in text form. pinned_version: the version that the memory '
    'speaks of; default the present one, where the source has versions. Raises 42704 for a memory, source or key that '
    'the caller does not see; 42501 without the right to change the memory; 22023 for a pin on a source without '
    'versions; 28000 without an identity; 55000 where storage and functions are of different versions; 55P03 when a '
    'table is locked for longer than lock_timeout; 25001 at an isolation level other than READ COMMITTED. Source: '
    'agent memory primitives, 13.';
GRANT EXECUTE ON FUNCTION memwarden.link_reference TO memwarden_agent, memwarden_reviewer, memwarden_curator;

CREATE OR REPLACE FUNCTION memwarden_internal.canonical_row(
    p_source text, p_key text, OUT source_id integer, OUT key_type text, OUT key text, OUT version text)
RETURNS record
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_source record;
    v_row    record;
BEGIN
    SELECT s.*, memwarden_internal.canonical_relation(s.source_id) AS oid INTO v_source
      FROM memwarden_data.canonical_source AS s
     WHERE s.name = p_source AND s.org_id = ANY (memwarden_internal.visible_orgs());
    -- Asked of the login: a session may set any role.
    IF has_column_privilege(session_user, v_source.oid, v_source.key_column, 'SELECT') THEN
        source_id := v_source.source_id;
        key_type := v_source.key_type;
        SELECT r.key, r.version INTO v_row
          FROM memwarden_internal.read_key(v_source.oid, v_source.key_column, v_source.key_type::regtype, v_source.version_column,
              p_key) AS r;
        key := v_row.key;
        version := v_row.version;
    END IF;
EXCEPTION WHEN undefined_table OR undefined_column OR insufficient_privilege OR lock_not_available OR data_exception THEN
    -- Gone, taken back, being changed, or no key of that type: there is no such row for the caller.
    key := NULL;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.canonical_row IS
    'Where a source keeps its references, and the key and present version of a row; key is NULL unless there is such a '
    'row and the login may read its key.';

CREATE OR REPLACE FUNCTION memwarden_internal.read_key(
    p_relation oid, p_key_column text, p_key_type regtype, p_version_column text, p_key text, OUT key text, OUT version text)
RETURNS record
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET row_security = off
SET lock_timeout = '1s'
AS $function$
DECLARE
    v_key     text;
    v_version text;
BEGIN
    EXECUTE format('SELECT c.%1$I::text, CASE WHEN $2 THEN c.%2$I::text END FROM %3$s AS c WHERE c.%1$I = $1::%4$s',
                   p_key_column, coalesce(p_version_column, p_key_column), p_relation::regclass, p_key_type)
       INTO v_key, v_version USING p_key, p_version_column IS NOT NULL;
    key := v_key;
    version := v_version;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.read_key IS 'Key and version of a row, as text; NULL where there is none.';
