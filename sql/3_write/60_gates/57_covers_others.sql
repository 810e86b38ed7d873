-- Whoever overwrites what another said, and then ends its own words, would have ended what it may not end.
CREATE OR REPLACE FUNCTION memwarden_internal.others_version(
    p_principal_id bigint, p_org_id bigint, p_item_id uuid, p_after integer DEFAULT 0)
RETURNS integer
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN (SELECT max(v.version)
              FROM memwarden_data.item AS i
              JOIN memwarden_data.version AS v ON v.org_id = i.org_id AND v.item_id = i.item_id
             WHERE i.org_id = p_org_id AND i.item_id = p_item_id AND i.version > 1
               AND v.version > p_after AND v.version < i.version AND v.status = 'SUPERSEDED' AND v.principal_id <> p_principal_id
               AND (v.expires_at IS NULL OR v.expires_at > clock_timestamp())
               AND memwarden_internal.refusal(p_principal_id, 'DELETE', i.label_id, 0) IS NOT NULL);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.others_version IS
    'The number of the last version of an item, after number p_after, that was overwritten, would still hold, and that the principal '
    'may not delete since another wrote it. NULL where there is none.';

CREATE OR REPLACE FUNCTION memwarden_internal.own_requests(p_principal_id bigint, p_org_id bigint, p_item_id uuid)
RETURNS uuid[]
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN ARRAY(
        SELECT DISTINCT g.request_id
          FROM memwarden_data.log AS g
          JOIN memwarden_data.version AS v ON v.org_id = g.org_id AND v.version_id = g.version_id
         WHERE g.org_id = p_org_id AND g.item_id = p_item_id AND g.operation IN ('INSERT', 'UPDATE', 'RESTORE')
           AND v.version > coalesce(memwarden_internal.others_version(p_principal_id, p_org_id, p_item_id), 0));
END
$function$;
COMMENT ON FUNCTION memwarden_internal.own_requests IS 'The changes that made the versions of an item since another''s.';

CREATE OR REPLACE FUNCTION memwarden_internal.others_replaced(p_principal_id bigint, p_org_id bigint, p_item_id uuid)
RETURNS uuid[]
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    -- What one statement ended, it ended in the transaction that stored the words.
    RETURN ARRAY(
        SELECT DISTINCT o.item_id
          FROM memwarden_data.log AS g
          JOIN memwarden_data.log AS e ON e.system_identifier = g.system_identifier AND e.transaction_id = g.transaction_id
           AND e.org_id = g.org_id AND e.request_id = g.request_id AND e.operation = 'SUPERSEDE' AND e.item_id <> g.item_id
          JOIN memwarden_data.item AS o ON o.org_id = e.org_id AND o.item_id = e.item_id
         WHERE g.org_id = p_org_id AND g.item_id = p_item_id AND g.operation IN ('INSERT', 'UPDATE')
           AND g.request_id = ANY (memwarden_internal.own_requests(p_principal_id, p_org_id, p_item_id))
           AND o.status = 'SUPERSEDED' AND o.version_id = e.version_id AND o.principal_id <> p_principal_id
           AND (o.expires_at IS NULL OR o.expires_at > clock_timestamp())
           AND memwarden_internal.refusal(p_principal_id, 'DELETE', o.label_id, 0) IS NOT NULL);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.others_replaced IS
    'The memories of others that ended since the principal wrote an item, and that it may not delete.';

CREATE OR REPLACE FUNCTION memwarden_internal.covers_others(p_principal_id bigint, p_org_id bigint, p_item_id uuid)
RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    -- Whoever may delete what others wrote is asked no more: a change may have been a large one.
    RETURN (SELECT memwarden_internal.refusal(p_principal_id, 'DELETE', i.label_id, 0) IS NOT NULL
              FROM memwarden_data.item AS i WHERE i.org_id = p_org_id AND i.item_id = p_item_id)
       AND (memwarden_internal.others_version(p_principal_id, p_org_id, p_item_id) IS NOT NULL
            OR memwarden_internal.others_replaced(p_principal_id, p_org_id, p_item_id) <> '{}');
END
$function$;
COMMENT ON FUNCTION memwarden_internal.covers_others IS
    'Whether an item stands in the place of what another said and the principal may not delete.';

CREATE OR REPLACE FUNCTION memwarden_internal.no_sooner_than_others(
    p_principal_id bigint, p_org_id bigint, p_item_id uuid, p_expires_at timestamptz)
RETURNS timestamptz
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN (SELECT nullif(greatest(p_expires_at, coalesce(max(o.expires_at), p_expires_at)), 'infinity')
              FROM (SELECT coalesce(v.expires_at, 'infinity') AS expires_at
                      FROM memwarden_data.item AS i
                      JOIN memwarden_data.version AS v ON v.org_id = i.org_id AND v.item_id = i.item_id
                     WHERE i.org_id = p_org_id AND i.item_id = p_item_id AND v.status IN ('ACTIVE', 'SUPERSEDED')
                       AND v.principal_id <> p_principal_id
                       AND memwarden_internal.refusal(p_principal_id, 'DELETE', i.label_id, 0) IS NOT NULL
                     ORDER BY v.version DESC LIMIT 1) AS o);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.no_sooner_than_others IS
    'When a new version of an item ends: at p_expires_at, and no sooner than the last words of another that the principal may not '
    'delete. NULL for never.';
