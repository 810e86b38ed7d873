-- Recall knows from the layer when a lifetime ends. Where a memory's class or its agent's own lifetimes say something else, the
-- head does.
CREATE OR REPLACE FUNCTION memwarden_internal.fresh_until(
    p_org_id bigint, p_layer text, p_class text, p_principal_id bigint, p_created_at timestamptz, p_updated_at timestamptz)
RETURNS timestamptz
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN (
        SELECT CASE WHEN coalesce(c.decay, l.decay) = 'exempt' THEN 'infinity'
                    ELSE coalesce(
                        CASE l.counted_from WHEN 'creation' THEN p_created_at ELSE p_updated_at END + coalesce(c.soft_ttl, l.soft_ttl),
                        CASE WHEN o.is_own THEN 'infinity'::timestamptz END) END
          FROM memwarden_data.kept_layer AS l
          JOIN memwarden_data.kept_layer AS h ON h.org_id = l.org_id AND h.principal_id = 0 AND h.layer = l.layer
         CROSS JOIN LATERAL (SELECT (l.soft_ttl, l.decay, l.counted_from) IS DISTINCT FROM (h.soft_ttl, h.decay, h.counted_from))
               AS o (is_own)
          LEFT JOIN memwarden_data.write_class AS c ON c.org_id IN (0, p_org_id) AND c.class = p_class
         WHERE l.org_id = p_org_id AND l.layer = p_layer AND l.principal_id IN (0, p_principal_id)
           AND (c.class IS NOT NULL OR o.is_own)
         ORDER BY l.principal_id DESC, c.org_id DESC LIMIT 1);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.fresh_until IS
    'Until when a memory of a class, or of an agent with lifetimes of its own, counts fully in recall: infinity for one that is '
    'exempt from decay or of an agent without limit, NULL where it is as the layer says.';

CREATE OR REPLACE FUNCTION memwarden_internal.end_of_lifetime(
    p_org_id bigint, p_layer text, p_principal_id bigint, p_created_at timestamptz, p_expires_at timestamptz, p_ttl interval,
    p_now timestamptz)
RETURNS timestamptz
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN (
        SELECT CASE WHEN l.counted_from = 'update' THEN p_now + p_ttl
                    WHEN p_created_at + p_ttl > p_now THEN p_created_at + p_ttl
                    -- It was renewed: nothing is written to be over at once.
                    ELSE coalesce(p_expires_at, p_now + p_ttl) END
          FROM memwarden_data.kept_layer AS l
         WHERE l.org_id = p_org_id AND l.layer = p_layer AND l.principal_id IN (0, p_principal_id)
         ORDER BY l.principal_id DESC LIMIT 1);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.end_of_lifetime IS
    'When a memory ends that gets a new version with a time to live: counted from that, or from its creation, as its layer says. '
    'p_expires_at: when it would have ended before.';
