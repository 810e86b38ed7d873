-- The values that were encrypted: made by a write, opened for an auditor.
CREATE OR REPLACE FUNCTION memwarden_internal.sealing_key(p_org_id bigint)
RETURNS bytea
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_wrapped bytea;
BEGIN
    SELECT k.wrapped INTO v_wrapped FROM memwarden_data.sealing_key AS k WHERE k.org_id = p_org_id;
    IF NOT FOUND THEN
        v_wrapped := memwarden_internal.new_wrapped_key();
        IF v_wrapped IS NULL THEN
            RETURN NULL;
        END IF;
        INSERT INTO memwarden_data.sealing_key AS k (org_id, wrapped, created_at) VALUES (p_org_id, v_wrapped, clock_timestamp())
        ON CONFLICT DO NOTHING;
        SELECT k.wrapped INTO v_wrapped FROM memwarden_data.sealing_key AS k WHERE k.org_id = p_org_id;
    END IF;
    RETURN v_wrapped;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.sealing_key IS
    'The wrapped key of an organisation''s sensitive values, made when it is first needed; NULL where the server has no '
    'master key.';

CREATE OR REPLACE FUNCTION memwarden_internal.keep_sealed(p_org_id bigint, p_item_id uuid, p_sealed jsonb)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
BEGIN
    INSERT INTO memwarden_data.sensitive_value (org_id, item_id, value_id, kind, sealed, sealed_at)
    SELECT p_org_id, p_item_id, s.key, s.value ->> 'kind', decode(s.value ->> 'sealed', 'hex'), clock_timestamp()
      FROM jsonb_each(p_sealed) AS s
    ON CONFLICT DO NOTHING;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.keep_sealed IS 'Stores what a committed request had encrypted, with its item.';

CREATE OR REPLACE FUNCTION memwarden_internal.unseal(p_wrapped bytea, p_org_id bigint, p_kind text, p_value_id text, p_sealed bytea)
RETURNS text
LANGUAGE plpython3u STABLE STRICT PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
import os
if "memwarden:@python_hash@" not in GD: plpy.execute("SELECT memwarden_internal.load_python()")
try:
    return GD["memwarden:@python_hash@"].unseal(
        os.environ.get("MEMWARDEN_MASTER_KEY_FILE"), p_wrapped, p_org_id, p_kind, p_value_id, p_sealed)
except ValueError as error:
    plpy.error(str(error), sqlstate="F0000")
$function$;
COMMENT ON FUNCTION memwarden_internal.unseal IS
    'An encrypted value in clear. Raises F0000 when the master key is missing or another one, or the value was tampered '
    'with.';

CREATE OR REPLACE FUNCTION memwarden.reveal(token text)
RETURNS text
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_principal_id bigint := memwarden_internal.require_principal();
    v_parts        text[] := regexp_match(reveal.token, E'^\\[encrypted:([a-z0-9_.]+):([a-p]{32})\\]$');
    v_found        record;
BEGIN
    IF v_parts IS NULL THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'token: [encrypted:KIND:ID], as it stands in the content');
    END IF;
    SELECT s.org_id, s.item_id, s.kind, s.value_id, s.sealed, k.wrapped INTO v_found
      FROM memwarden_data.sensitive_value AS s
      JOIN memwarden_data.sealing_key AS k ON k.org_id = s.org_id
      JOIN memwarden_data.item AS i ON i.org_id = s.org_id AND i.item_id = s.item_id
     WHERE s.org_id = ANY (memwarden_internal.visible_orgs()) AND s.value_id = v_parts[2] AND s.kind = v_parts[1]
       AND memwarden_internal.may_read(v_principal_id, i.scope_id)
       AND memwarden_internal.refusal(v_principal_id, 'READ', i.label_id, i.principal_id) IS NULL
     ORDER BY s.sealed_at LIMIT 1;
    IF NOT FOUND THEN
        PERFORM memwarden_internal.raise_error('unknown_object', format('value %s', v_parts[2]));
    END IF;
    PERFORM memwarden_internal.record_access_change(v_found.org_id, 'reveal',
        jsonb_build_object('value_id', v_found.value_id, 'kind', v_found.kind, 'item_id', v_found.item_id));
    -- Whoever rolls back takes the record with it, and not this.
    RAISE LOG 'memwarden: % was shown value % of item %', session_user, v_found.value_id, v_found.item_id;
    RETURN memwarden_internal.unseal(v_found.wrapped, v_found.org_id, v_found.kind, v_found.value_id, v_found.sealed);
END
$function$;
COMMENT ON FUNCTION memwarden.reveal IS
    'Returns the value that a token [encrypted:KIND:ID] stands for. The caller is a member of memwarden_auditor that sees an item '
    'from which the value was taken. The view access_changes records who asked. token: the token, as it stands in the content. '
    'Raises 42704 for an unknown value, one whose item is gone, or that the caller may not see, 22023 for a text that is no token, '
    '28000 without identity, 25001 at an isolation level other than READ COMMITTED, F0000 when the server''s master key is not the '
    'one it was encrypted under. Source: four-layer design, 6.';
GRANT EXECUTE ON FUNCTION memwarden.reveal TO memwarden_auditor;
