CREATE OR REPLACE FUNCTION memwarden_internal.version_of_number(p_org_id bigint, p_item_id uuid, p_version integer)
RETURNS uuid
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    -- By the index of what is over, and by that of what is not.
    RETURN coalesce((SELECT v.version_id FROM memwarden_data.version AS v
                      WHERE v.org_id = p_org_id AND v.item_id = p_item_id AND v.version = p_version AND NOT upper_inf(v.recorded_during)),
                    (SELECT v.version_id FROM memwarden_data.version AS v
                      WHERE v.org_id = p_org_id AND v.item_id = p_item_id AND v.version = p_version AND upper_inf(v.recorded_during)));
END
$function$;
COMMENT ON FUNCTION memwarden_internal.version_of_number IS
    'The version of an item that has a number; NULL where there is none.';
