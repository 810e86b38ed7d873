-- What follows for recall. A new version has a new beginning: whoever corrects or renews a memory has looked at it.
CREATE OR REPLACE FUNCTION memwarden_internal.is_found_false(p_org_id bigint, p_item_id uuid, p_version_id uuid)
RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
-- Asked row by row, by functions that plan anew.
SET plan_cache_mode = force_generic_plan
AS $function$
BEGIN
    RETURN coalesce((
        SELECT r.verdict = 'FALSE' FROM memwarden_data.revalidated AS r
         WHERE r.org_id = p_org_id AND r.item_id = p_item_id AND r.version_id = p_version_id AND r.verdict IS NOT NULL
         ORDER BY r.checked_at DESC LIMIT 1), false);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.is_found_false IS
    'Whether the last sweep that looked at a memory, as it is now, found it false.';
