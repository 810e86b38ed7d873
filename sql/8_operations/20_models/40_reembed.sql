CREATE OR REPLACE FUNCTION memwarden.reembed(model text, org text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_org_id   bigint := memwarden_internal.administered_org(reembed.org, 'full');
    v_model_id smallint := memwarden_internal.require_model(reembed.model);
BEGIN
    IF NOT EXISTS (SELECT FROM memwarden_data.embedder AS e WHERE e.model_id = v_model_id) THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', format('model: %s has no embedder, see set_embedder()', reembed.model));
    END IF;
    INSERT INTO memwarden_data.embedding_use AS u (org_id, model_id, is_tended, changed_at)
    VALUES (v_org_id, v_model_id, true, clock_timestamp())
    ON CONFLICT ON CONSTRAINT embedding_use_pkey DO UPDATE
       -- Without what it has seen it begins anew, from the first memory.
       SET is_tended = true, seen = NULL, retired_at = NULL, changed_at = excluded.changed_at;
    UPDATE memwarden_data.embedding_job AS j SET state = 'ready', attempts = 0, run_at = clock_timestamp(), last_error = NULL
     WHERE j.model_id = v_model_id AND j.org_id = ANY (memwarden_internal.served_orgs(v_org_id)) AND j.state = 'dead';
    PERFORM memwarden_internal.record_access_change(v_org_id, 'reembed', jsonb_build_object('model', reembed.model));
    PERFORM pg_notify('memwarden_embedding', '');
END
$function$;
COMMENT ON FUNCTION memwarden.reembed IS
    'Has the worker make the missing vectors of a model, now and from now on. It concerns every existing memory, and each that is '
    'later written or changed without a vector. Recall goes on with the active model meanwhile. The view memwarden.embedding_models '
    'shows the progress. A second call for the same model checks everything anew, and tries again what was set aside. org: the '
    'organisation, with its memories and those of all; by default every organisation without an active model of its own. Raises '
    '22023 for a model without an embedder, 42704 for an unknown model or organisation, 42501 without the right, 25001 at an '
    'isolation level other than READ COMMITTED.';
GRANT EXECUTE ON FUNCTION memwarden.reembed TO memwarden_admin;
