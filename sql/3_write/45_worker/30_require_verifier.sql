CREATE OR REPLACE FUNCTION memwarden.require_verifier(
    layer text, purpose text, plugin text, quorum integer DEFAULT 1, patience interval DEFAULT '5 minutes',
    on_timeout text DEFAULT 'reject', org text DEFAULT NULL, settings jsonb DEFAULT '{}')
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_org_id    bigint := memwarden_internal.administered_org(require_verifier.org, 'full');
    v_admission text;
BEGIN
    SELECT l.admission INTO v_admission FROM memwarden_data.kept_layer AS l
     WHERE l.org_id = v_org_id AND l.principal_id = 0 AND l.layer = require_verifier.layer;
    IF v_admission IS NULL THEN
        PERFORM memwarden_internal.raise_error('unknown_object', format('layer %L', require_verifier.layer));
    ELSIF v_admission <> 'full' AND require_verifier.purpose IN ('verify', 'gate', 'judge') THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', format('purpose: layer %L has no such gate', require_verifier.layer));
    END IF;
    BEGIN
        INSERT INTO memwarden_data.verifier AS v (org_id, layer, purpose, plugin, quorum, patience, on_timeout, settings)
        VALUES (v_org_id, require_verifier.layer, require_verifier.purpose, require_verifier.plugin, require_verifier.quorum,
                require_verifier.patience, require_verifier.on_timeout, require_verifier.settings)
        ON CONFLICT ON CONSTRAINT verifier_pkey
        DO UPDATE SET quorum = excluded.quorum, patience = excluded.patience, on_timeout = excluded.on_timeout,
            settings = excluded.settings;
    EXCEPTION WHEN check_violation OR not_null_violation THEN
        PERFORM memwarden_internal.raise_error('invalid_argument',
            'purpose: verify, classify, gate or judge; plugin: lower-case letters, digits and _, at most 63; quorum: 1 to 9; '
            'patience: 1 second to 7 days; on_timeout: reject or accept; settings: an object, at most 16 KiB');
    END;
    IF require_verifier.purpose = 'verify' THEN
        -- The next run of sweep() asks it about what is stored.
        UPDATE memwarden_data.sweep AS s SET finished_at = NULL WHERE s.sweep = 'verdicts';
    END IF;
    PERFORM memwarden_internal.record_access_change(v_org_id, 'require_verifier', jsonb_build_object(
        'layer', require_verifier.layer, 'purpose', require_verifier.purpose, 'plugin', require_verifier.plugin,
        'quorum', require_verifier.quorum, 'patience', require_verifier.patience, 'on_timeout', require_verifier.on_timeout));
END
$function$;
COMMENT ON FUNCTION memwarden.require_verifier IS
    'Requires the verdict of a worker''s plug-in for writes of a layer, or changes that requirement. Until the verdict is there, '
    'such writes are DEFERRED with AWAITING_VERDICT. A verifier is asked about memories that are stored as well, see '
    'sweep(). purpose: verify (does the evidence support it), classify (is it harmful), gate '
    '(accept, reject or defer the request) or judge (how does it relate to the memories near it). plugin: the name of the plug-in, '
    'as `memwarden worker` lists it. quorum: how many verdicts, 1 (the default) to 9. patience: how long to wait for them, 1 second '
    'to 7 days; 5 minutes by default. on_timeout: reject (VERDICT_TIMEOUT), the default, or accept, which goes on without the '
    'verdict. org: the organisation; by default all; for one plug-in an organisation''s own setting precedes that of all. settings: '
    'what the plug-in takes, at most 16 KiB; they name the environment variable of a secret and never hold one. Raises 42704 for an '
    'unknown layer or organisation, 22023 for a layer without such a gate and for a value out of range, 42501 without the right, '
    '25001 at an isolation level other than READ COMMITTED. Source: chapter 12.2.3.';
GRANT EXECUTE ON FUNCTION memwarden.require_verifier TO memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden.release_verifier(layer text, purpose text, plugin text, org text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_org_id bigint := memwarden_internal.administered_org(release_verifier.org, 'full');
BEGIN
    DELETE FROM memwarden_data.verifier AS v
     WHERE v.org_id = v_org_id AND v.layer = release_verifier.layer AND v.purpose = release_verifier.purpose
         AND v.plugin = release_verifier.plugin;
    IF NOT FOUND THEN
        PERFORM memwarden_internal.raise_error('unknown_object', format('verifier %L', release_verifier.plugin));
    END IF;
    PERFORM memwarden_internal.record_access_change(v_org_id, 'release_verifier', jsonb_build_object(
        'layer', release_verifier.layer, 'purpose', release_verifier.purpose, 'plugin', release_verifier.plugin));
END
$function$;
COMMENT ON FUNCTION memwarden.release_verifier IS
    'Ends a requirement that require_verifier() made. Requests that wait for the plug-in go on when they are tried again, at the '
    'latest when the plug-in''s patience is over. Raises 42704 where there is none, 42501 without the right, 25001 at an isolation '
    'level other than READ COMMITTED.';
GRANT EXECUTE ON FUNCTION memwarden.release_verifier TO memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden_internal.list_verifiers()
RETURNS TABLE (org text, layer text, purpose text, plugin text, quorum integer, patience interval, on_timeout text, settings jsonb)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
DECLARE
    v_orgs bigint[] := memwarden_internal.job_orgs();
BEGIN
    RETURN QUERY
    SELECT o.name, v.layer, v.purpose, v.plugin, v.quorum, v.patience, v.on_timeout, v.settings
      FROM memwarden_data.verifier AS v JOIN memwarden_data.organisation AS o ON o.org_id = v.org_id
     WHERE v.org_id = 0 OR v.org_id = ANY (v_orgs);
END
$function$;
COMMENT ON VIEW memwarden.verifiers IS
    'Lists the plug-ins that judge writes of a layer, see require_verifier(). Rows of organisation global hold for all organisations.';
GRANT EXECUTE ON FUNCTION memwarden_internal.list_verifiers TO memwarden_auditor, memwarden_admin, memwarden_worker;
