-- A profile is chosen for the server or for an organisation. What somebody set by hand lies over it.
CREATE OR REPLACE FUNCTION memwarden.use_profile(profile text, org text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_org_id bigint := memwarden_internal.administered_org(use_profile.org, 'full');
BEGIN
    IF use_profile.profile IS NOT NULL OR v_org_id = 0 THEN
        PERFORM memwarden_internal.require_profile(use_profile.profile);
    END IF;
    PERFORM memwarden_internal.lock_settings();
    PERFORM memwarden_internal.hold_table('memwarden_data.approval_policy');
    IF v_org_id = 0 THEN
        PERFORM memwarden_internal.set_server_profile(use_profile.profile);
    ELSE
        DELETE FROM memwarden_data.layer_setting AS s WHERE s.org_id = v_org_id AND s.profile IS NOT NULL;
        INSERT INTO memwarden_data.layer_setting (org_id, layer, name, value, profile)
        SELECT v_org_id, n.layer, n.name, n.value, use_profile.profile
          FROM memwarden_internal.profile_settings(use_profile.profile) AS n
          JOIN memwarden_data.kept_layer AS k ON k.org_id = 0 AND k.principal_id = 0 AND k.layer = n.layer
         -- What keeps one organisation from taking the server's strength from the others is no matter of its own.
         WHERE n.name <> 'rate_limit' OR memwarden_internal.is_database_admin()
            OR NOT memwarden_internal.is_weaker('less', n.value, to_jsonb(k.rate_limit));
    END IF;
    DELETE FROM memwarden_data.approval_policy AS a WHERE a.org_id = v_org_id AND a.profile IS NOT NULL;
    INSERT INTO memwarden_data.approval_policy (org_id, layer, approval, auto_below, sync_from, layer_risk, profile)
    SELECT v_org_id, n.layer, n.approval, n.auto_below, n.sync_from, n.layer_risk, use_profile.profile
      FROM memwarden_internal.profile_policies(use_profile.profile) AS n
      JOIN memwarden_data.layer AS l ON l.layer = n.layer;
    UPDATE memwarden_data.organisation AS o SET profile = use_profile.profile
     WHERE o.org_id = v_org_id AND o.profile IS DISTINCT FROM use_profile.profile;
    PERFORM memwarden_internal.record_access_change(v_org_id, 'use_profile', jsonb_build_object('profile', use_profile.profile));
END
$function$;
COMMENT ON FUNCTION memwarden.use_profile IS
    'Chooses what is asked of writes, from the next one on. open: no evidence and no person. balanced: evidence is weighed and never '
    'demanded but in procedural, which a person approves; a person is also asked where a write contradicts what stands firmer, and '
    'from a risk on. strict: evidence is demanded, and a person approves what is to last. Secrets, personal data, orders to the '
    'reader, duplicates, contradictions, schema, rights and history are looked at in each. What was set by hand, with '
    'configure_layer() or set_approval_policy(), lies over the profile, see explain_profile(). profile: open, balanced or strict; null '
    'returns an organisation to the server''s. org: the organisation; by default the caller''s, and for members of memwarden_admin the '
    'server. Where a curator chooses, its organisation gets no more than the server''s rate_limit. Raises 22023 for an unknown '
    'profile, 42704 for an unknown organisation, 42501 without the right, 25001 at an isolation level other than READ COMMITTED. '
    'Raises 55P03 when others hold it up for longer than 30 seconds, or lock_timeout.';
GRANT EXECUTE ON FUNCTION memwarden.use_profile TO memwarden_curator, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden_internal.set_server_profile(p_profile text)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_was   text := memwarden_internal.profile_before();
    v_layer record;
BEGIN
    FOR v_layer IN
        SELECT l.layer, jsonb_object_agg(n.name, n.value) AS settings
          FROM memwarden_data.layer AS l
          JOIN memwarden_internal.profile_settings(p_profile) AS n ON n.layer = l.layer
          LEFT JOIN memwarden_internal.profile_settings(v_was) AS w ON w.layer = n.layer AND w.name = n.name
         -- What is otherwise than in the profile so far, somebody set by hand.
         WHERE w.name IS NULL OR to_jsonb(l) -> n.name = w.value
         GROUP BY l.layer, l.ordinal
         ORDER BY l.ordinal
    LOOP
        PERFORM memwarden_internal.set_server_layers(v_layer.layer, v_layer.settings, NULL);
    END LOOP;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.set_server_profile IS
    'Gives the settings of the server that are as its profile has them the values of another.';

CREATE OR REPLACE FUNCTION memwarden_internal.profile_before()
RETURNS text
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    -- Before there were profiles, a server was made with what is in strict.
    RETURN (SELECT coalesce(o.profile, 'strict') FROM memwarden_data.organisation AS o WHERE o.org_id = 0);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.profile_before IS
    'By which profile it is told what of the server''s settings somebody set by hand: what is otherwise than there.';
