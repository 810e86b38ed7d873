-- Which wing of the house a public function belongs to: the folder of sql/ that defines it. The build writes the list.
CREATE OR REPLACE FUNCTION memwarden_internal.function_areas()
RETURNS TABLE (name text, area text)
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
AS $function$
VALUES
@function_areas@
$function$;
COMMENT ON FUNCTION memwarden_internal.function_areas IS 'Lists the public functions with the area that each belongs to.';
GRANT EXECUTE ON FUNCTION memwarden_internal.function_areas
    TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor, memwarden_admin;
