-- Which profile an organisation has; what one asks is in 4_review/30_profiles.
CREATE OR REPLACE FUNCTION memwarden_internal.profile_of(p_org_id bigint)
RETURNS text
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN (SELECT o.profile FROM memwarden_data.organisation AS o
             WHERE o.org_id IN (0, p_org_id) AND o.profile IS NOT NULL ORDER BY o.org_id DESC LIMIT 1);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.profile_of IS
    'The profile of an organisation, its own or the server''s; NULL for settings that are those of none.';
