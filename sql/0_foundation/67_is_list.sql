CREATE OR REPLACE FUNCTION memwarden_internal.is_list(p_array anyarray)
RETURNS boolean
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
AS $function$
BEGIN
    RETURN CASE WHEN p_array IS NULL THEN NULL
                WHEN array_ndims(p_array) > 1 THEN false
                ELSE array_position(p_array, NULL) IS NULL END;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.is_list IS
    'Whether an array has one dimension, or no element, and no NULL in it; NULL for NULL.';
