CREATE OR REPLACE FUNCTION memwarden_internal.forget_pushed()
RETURNS trigger
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
BEGIN
    DELETE FROM memwarden_data.pushed_memory AS p WHERE p.org_id = OLD.org_id AND p.session_id = OLD.session_id;
    RETURN NULL;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.forget_pushed IS 'Trigger: a session that is over, or gone, has nothing before it.';
