-- When a lifetime ends. Of nearly all memories recall knows it from their layer; where the class says something else, the head does.
CREATE OR REPLACE FUNCTION memwarden_internal.fresh_until(
    p_org_id bigint, p_layer text, p_class text, p_created_at timestamptz, p_updated_at timestamptz)
RETURNS timestamptz
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $function$
BEGIN
    RETURN (
        SELECT CASE WHEN coalesce(c.decay, l.decay) = 'exempt' THEN 'infinity'
                    ELSE CASE l.counted_from WHEN 'creation' THEN p_created_at ELSE p_updated_at END + coalesce(c.soft_ttl, l.soft_ttl) END
          FROM memwarden_data.layer AS l
          JOIN memwarden_data.write_class AS c ON c.org_id IN (0, p_org_id) AND c.class = p_class
         WHERE l.layer = p_layer
         ORDER BY c.org_id DESC LIMIT 1);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.fresh_until(bigint, text, text, timestamptz, timestamptz) IS
    'Until when a memory of a class counts fully in recall: infinity for one that is exempt from decay, NULL where nothing limits it.';
REVOKE ALL ON FUNCTION memwarden_internal.fresh_until(bigint, text, text, timestamptz, timestamptz) FROM PUBLIC;

CREATE OR REPLACE FUNCTION memwarden_internal.end_of_lifetime(
    p_layer text, p_created_at timestamptz, p_expires_at timestamptz, p_ttl interval, p_now timestamptz)
RETURNS timestamptz
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $function$
BEGIN
    RETURN (
        SELECT CASE WHEN l.counted_from = 'update' THEN p_now + p_ttl
                    WHEN p_created_at + p_ttl > p_now THEN p_created_at + p_ttl
                    -- It was renewed: nothing is written to be over at once.
                    ELSE coalesce(p_expires_at, p_now + p_ttl) END
          FROM memwarden_data.layer AS l WHERE l.layer = p_layer);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.end_of_lifetime(text, timestamptz, timestamptz, interval, timestamptz) IS
    'When a memory ends that gets a new version with a time to live: counted from that, or from its creation, as its layer says. '
    'p_expires_at: when it would have ended before.';
REVOKE ALL ON FUNCTION memwarden_internal.end_of_lifetime(text, timestamptz, timestamptz, interval, timestamptz) FROM PUBLIC;
