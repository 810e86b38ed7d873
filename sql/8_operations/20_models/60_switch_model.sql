CREATE OR REPLACE FUNCTION memwarden.switch_embedding_model(model text, org text DEFAULT NULL, allow_partial boolean DEFAULT false)
RETURNS text
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_org_id   bigint := memwarden_internal.administered_org(switch_embedding_model.org, 'full');
    v_model_id smallint := memwarden_internal.require_model(switch_embedding_model.model);
    v_before   text;
    v_now      timestamptz := clock_timestamp();
BEGIN
    IF switch_embedding_model.model = 'lexical' THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'model: lexical is what stands in where a call has no '
            'vector; it cannot be what a vector is of');
    END IF;
    -- Two switches of one organisation take turns here.
    PERFORM memwarden_internal.hold_organisation(v_org_id);
    v_before := memwarden_internal.active_model(v_org_id);
    PERFORM memwarden_internal.require_fit(v_org_id, v_model_id, coalesce(switch_embedding_model.allow_partial, false));
    UPDATE memwarden_data.embedding_use AS u
       SET is_active = false, is_tended = false, seen = NULL, retired_at = v_now, changed_at = v_now
     WHERE u.org_id = v_org_id AND u.is_active AND u.model_id <> v_model_id;
    INSERT INTO memwarden_data.embedding_use AS u (org_id, model_id, is_active, changed_at)
    VALUES (v_org_id, v_model_id, true, v_now)
    ON CONFLICT ON CONSTRAINT embedding_use_pkey DO UPDATE SET is_active = true, retired_at = NULL, changed_at = excluded.changed_at;
    PERFORM memwarden_internal.record_access_change(v_org_id, 'switch_embedding_model', jsonb_build_object(
        'model', switch_embedding_model.model, 'before', v_before, 'allow_partial', switch_embedding_model.allow_partial));
    RETURN v_before;
END
$function$;
COMMENT ON FUNCTION memwarden.switch_embedding_model IS
    'Makes a model the active one, used where a call names none, and returns the name of the one before. The next recall uses the '
    'model. Nothing is copied, and nobody waits. The model before keeps its vectors until drop_embedding_model(), so the same call '
    'leads back; the worker no longer makes its missing vectors. model: the name of the model. org: one organisation; by default all '
    'that have not switched on their own. allow_partial: true switches while memories lack a vector of the model, and finds them by '
    'their words alone; false, the default, refuses until reembed() has made every vector that can be made. Raises 55000 where '
    'vectors are missing, or a kind''s schema wants another dimension; 55P03 where a scope of many memories was too busy to get its '
    'index; 22023 for lexical; 42704 for an unknown model or organisation, 42501 without the right, 25001 at an isolation level '
    'other than READ COMMITTED.';
GRANT EXECUTE ON FUNCTION memwarden.switch_embedding_model TO memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden_internal.require_fit(p_org_id bigint, p_model_id smallint, p_allow_partial boolean)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_covered record;
    v_kinds   text;
BEGIN
    IF NOT p_allow_partial THEN
        v_covered := memwarden_internal.vector_coverage(p_org_id, p_model_id);
        IF v_covered.missing > 0 THEN
            PERFORM memwarden_internal.raise_error('model_not_ready', format('%s of %s memories have no vector of it',
                v_covered.missing, v_covered.items));
        END IF;
    END IF;
    -- Writes of such a kind would be refused from then on.
    v_kinds := (SELECT string_agg(c.layer || '/' || c.kind, ', ' ORDER BY c.layer, c.kind)
                  FROM memwarden_data.content_schema AS c
                 WHERE c.current AND c.org_id = ANY (memwarden_internal.served_orgs(p_org_id))
                   AND c.embedding_dimension <> (SELECT m.dimension FROM memwarden_data.embedding_model AS m
                       WHERE m.model_id = p_model_id));
    IF v_kinds IS NOT NULL THEN
        PERFORM memwarden_internal.raise_error('model_not_ready', format('schemas want another embedding_dimension: %s', v_kinds));
    ELSIF NOT memwarden_internal.index_model(p_model_id) THEN
        PERFORM memwarden_internal.raise_error('scope_busy', 'a scope of many memories has no index for the model yet');
    END IF;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.require_fit IS
    'Raises 55000 where an organisation cannot go over to a model: vectors are missing, or schemas want another '
    'dimension; 55P03 where a shelf is too busy for its index.';
