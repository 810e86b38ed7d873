-- Everybody who reads asks the head when it ends. What retention lets nobody read ends there, whoever writes the head.
CREATE OR REPLACE FUNCTION memwarden_internal.cap_lifetime()
RETURNS trigger
LANGUAGE plpgsql VOLATILE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    NEW.expires_at := NEW.kept_until;
    RETURN NEW;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.cap_lifetime IS
    'Trigger cap_lifetime: a head ends no later than retention says. It fires only where that is earlier.';

CREATE OR REPLACE FUNCTION memwarden_internal.own_end(
    p_org_id bigint, p_version_id uuid, p_expires_at timestamptz, p_kept_until timestamptz)
RETURNS timestamptz
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    IF p_expires_at = p_kept_until THEN
        RETURN (SELECT v.expires_at FROM memwarden_data.version AS v
                 WHERE v.org_id = p_org_id AND v.version_id = p_version_id AND v.tier = 'hot');
    END IF;
    RETURN p_expires_at;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.own_end IS
    'When the time to live of a memory is over, whatever retention says; p_expires_at and p_kept_until are those of its head.';
