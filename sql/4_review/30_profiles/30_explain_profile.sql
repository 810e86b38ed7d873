-- In what the settings that hold differ from a profile.
CREATE OR REPLACE FUNCTION memwarden_internal.profile_differences(p_org_id bigint, p_profile text)
RETURNS TABLE (layer text, setting text, value jsonb, of_profile jsonb)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN QUERY
    SELECT k.layer, n.name, to_jsonb(k) -> n.name, n.value
      FROM memwarden_internal.profile_settings(p_profile) AS n
      JOIN memwarden_data.kept_layer AS k ON k.org_id = p_org_id AND k.principal_id = 0 AND k.layer = n.layer
     WHERE to_jsonb(k) -> n.name IS DISTINCT FROM n.value
     UNION ALL
    SELECT n.layer, v.setting, v.value, v.of_profile
      FROM memwarden_internal.profile_policies(p_profile) AS n
      JOIN memwarden_data.layer AS l ON l.layer = n.layer
      LEFT JOIN LATERAL (SELECT a.* FROM memwarden_data.approval_policy AS a
                          WHERE a.org_id IN (0, p_org_id) AND a.layer = n.layer AND a.class = '*' AND a.agent IS NULL
                          ORDER BY a.org_id DESC, a.profile IS NOT NULL LIMIT 1) AS a ON true
     CROSS JOIN LATERAL (VALUES ('approval', to_jsonb(coalesce(a.approval, 'never')), to_jsonb(n.approval)),
                                -- Where a person is asked always, or never, no risk is.
                                ('auto_below', to_jsonb(CASE a.approval WHEN 'by_risk' THEN a.auto_below END),
                                 to_jsonb(CASE n.approval WHEN 'by_risk' THEN n.auto_below END)),
                                ('layer_risk', to_jsonb(CASE a.approval WHEN 'by_risk' THEN a.layer_risk END),
                                 to_jsonb(CASE n.approval WHEN 'by_risk' THEN n.layer_risk END))) AS v (setting, value, of_profile)
     WHERE v.value IS DISTINCT FROM v.of_profile;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.profile_differences IS
    'The settings of layers and approval policies of an organisation (0: of the server) that are otherwise than in a profile.';

CREATE OR REPLACE FUNCTION memwarden.explain_profile(
    profile text DEFAULT NULL, org text DEFAULT NULL)
RETURNS TABLE (layer text, setting text, value jsonb, of_profile jsonb)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
DECLARE
    v_owner   record := memwarden_internal.settings_asked(explain_profile.org, NULL);
    v_profile text := coalesce(explain_profile.profile, memwarden_internal.profile_of(v_owner.org_id));
BEGIN
    PERFORM memwarden_internal.require_profile(v_profile);
    RETURN QUERY SELECT d.* FROM memwarden_internal.profile_differences(v_owner.org_id, v_profile) AS d ORDER BY d.layer, d.setting;
END
$function$;
COMMENT ON FUNCTION memwarden.explain_profile IS
    'Lists in what the settings of an organisation differ from a profile: what somebody set by hand, or what another profile would '
    'change. Settings that agents have of their own are in explain_settings(). profile: open, balanced or strict; by default the one '
    'that is used. org: the organisation; by default the caller''s, and for members of memwarden_admin the server. value: what holds; '
    'of_profile: what the profile has. Raises 22023 for an unknown profile, or by default where none is used; 42501 or 42704 as '
    'explain_settings() does.';
GRANT EXECUTE ON FUNCTION memwarden.explain_profile
    TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden_internal.profile_status()
RETURNS TABLE (component text, state text, detail text)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
DECLARE
    v_all  boolean := memwarden_internal.is_database_admin();
    v_orgs bigint[] := memwarden_internal.visible_orgs();
BEGIN
    RETURN QUERY
    SELECT 'profile', 'ok',
           string_agg(CASE o.org_id WHEN 0 THEN 'server' ELSE o.name END || ' ' || coalesce(u.profile, 'custom')
               || CASE WHEN u.different > 0 THEN format(' but for %s settings', u.different) ELSE '' END
               || coalesce(' (tries ' || o.observed || ')', ''), '; ' ORDER BY o.org_id)
           || CASE WHEN max(o.others) > 20 THEN format('; and %s organisations more', max(o.others) - 20) ELSE '' END
      FROM (SELECT n.*, row_number() OVER (ORDER BY n.org_id) AS place, count(*) OVER () - 1 AS others
              FROM memwarden_data.organisation AS n
             WHERE n.org_id = 0 OR num_nonnulls(n.profile, n.observed) > 0 AND (v_all OR n.org_id = ANY (v_orgs))) AS o
     CROSS JOIN LATERAL (SELECT m.profile, (SELECT count(*) FROM memwarden_internal.profile_differences(o.org_id, m.profile))
                            AS different
                           FROM memwarden_internal.profile_of(o.org_id) AS m (profile)) AS u
     WHERE o.place <= 21;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.profile_status IS
    'The profile of the server and of each organisation that has its own or tries one, how many settings somebody set otherwise, and '
    'the profile that is tried.';
