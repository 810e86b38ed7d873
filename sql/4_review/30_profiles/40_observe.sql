-- What a write's terms would be if another profile were chosen, for whom it is tried: see observe_profile().
CREATE OR REPLACE FUNCTION memwarden_internal.tried_terms(p_terms jsonb)
RETURNS jsonb
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_profile  text := p_terms ->> 'observed';
    -- Whose profile would be another: the organisation's, or the server's.
    v_org_id   bigint := (SELECT CASE WHEN o.observed IS NULL THEN 0 ELSE o.org_id END
                            FROM memwarden_data.organisation AS o WHERE o.org_id = (p_terms ->> 'org_id')::bigint);
    v_policies jsonb := memwarden_internal.tried_policies(
        p_terms -> 'approval_policies', v_org_id, p_terms ->> 'layer_name', v_profile);
BEGIN
    RETURN memwarden_internal.tried_settings(
               (p_terms ->> 'org_id')::bigint, v_org_id, (p_terms ->> 'principal_id')::bigint, p_terms ->> 'layer_name', v_profile)
        || jsonb_build_object(
               'observed', '', 'approval_policies', v_policies,
               'asks_approval', (p_terms ->> 'asks_approval')::boolean
                   OR p_terms ->> 'admission' = 'full' AND v_policies @? '$[*] ? (@.approval != "never")');
END
$function$;
COMMENT ON FUNCTION memwarden_internal.tried_terms IS
    'What of the terms of a write would be otherwise under the profile that is tried: settings and approval policies. What somebody '
    'set by hand stays.';

CREATE OR REPLACE FUNCTION memwarden_internal.tried_policies(p_policies jsonb, p_chosen_for bigint, p_layer text, p_profile text)
RETURNS jsonb
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
AS $function$
SELECT coalesce(jsonb_agg(y.policy), '[]')
  FROM (SELECT e.policy FROM jsonb_array_elements(p_policies) AS e (policy)
         WHERE e.policy ->> 'profile' IS NULL OR (e.policy ->> 'org_id')::bigint <> p_chosen_for
         UNION ALL
        SELECT to_jsonb(n) || jsonb_build_object('org_id', p_chosen_for, 'class', '*', 'profile', p_profile)
          FROM memwarden_internal.profile_policies(p_profile) AS n WHERE n.layer = p_layer) AS y
$function$;
COMMENT ON FUNCTION memwarden_internal.tried_policies IS
    'Approval policies of a layer with those of a profile in the place of those that another brought to an organisation (p_chosen_for; '
    '0: the server).';

CREATE OR REPLACE FUNCTION memwarden_internal.tried_settings(
    p_org_id bigint, p_chosen_for bigint, p_principal_id bigint, p_layer text, p_profile text)
RETURNS jsonb
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN (
        SELECT coalesce(jsonb_object_agg(n.name, CASE
                   WHEN n.name = ANY (l.fixed) AND memwarden_internal.is_weaker(r.stricter, n.value, to_jsonb(l) -> n.name)
                   THEN to_jsonb(l) -> n.name ELSE n.value END), '{}')
          FROM memwarden_internal.profile_settings(p_profile) AS n
          JOIN memwarden_internal.setting_rules() AS r ON r.name = n.name
          JOIN memwarden_data.layer AS l ON l.layer = n.layer
          LEFT JOIN memwarden_internal.own_settings(p_org_id, p_principal_id, p_layer) AS o ON o.name = n.name
          LEFT JOIN memwarden_internal.profile_settings(memwarden_internal.profile_before()) AS w ON w.layer = n.layer AND w.name = n.name
         WHERE n.layer = p_layer
           AND CASE WHEN p_chosen_for <> 0 THEN o.profile IS NOT NULL OR o.name IS NULL
                    -- As set_server_profile() goes by.
                    ELSE o.name IS NULL AND (w.name IS NULL OR to_jsonb(l) -> n.name = w.value) END);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.tried_settings IS
    'The settings of a layer that would be others for a writer if a profile were chosen for an organisation (p_chosen_for; 0: the '
    'server), and their values: those that nobody set by hand.';

CREATE OR REPLACE FUNCTION memwarden.observe_profile(profile text, org text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_org_id bigint := memwarden_internal.administered_org(observe_profile.org, 'full');
BEGIN
    IF observe_profile.profile IS NOT NULL THEN
        PERFORM memwarden_internal.require_profile(observe_profile.profile);
    END IF;
    UPDATE memwarden_data.organisation AS o
       SET observed = observe_profile.profile,
           observed_since = CASE WHEN observe_profile.profile IS NULL THEN o.observed_since ELSE clock_timestamp() END
     WHERE o.org_id = v_org_id AND o.observed IS DISTINCT FROM observe_profile.profile;
    PERFORM memwarden_internal.record_access_change(v_org_id, 'observe_profile', jsonb_build_object('profile', observe_profile.profile));
END
$function$;
COMMENT ON FUNCTION memwarden.observe_profile IS
    'Tries a profile on live writes, from the next one on. The present profile decides; what the tried one would have said is noted '
    'with each request, see profile_report(). What somebody set by hand counts in both. Each write passes the gates twice, and none '
    'takes the short way of plain writes. Gates that add_gate() added are asked twice, too. profile: open, balanced or strict; null '
    'ends it, and what was noted stays. org: the organisation; by default the caller''s, and for members of memwarden_admin the '
    'server: all organisations that have neither a profile of their own nor one that they try. Raises as use_profile() does.';
GRANT EXECUTE ON FUNCTION memwarden.observe_profile TO memwarden_curator, memwarden_admin;
