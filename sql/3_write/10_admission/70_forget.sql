CREATE OR REPLACE FUNCTION memwarden_internal.forget_allowances()
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
BEGIN
    -- No window is longer than a day. What a writer holds stays for the next time.
    DELETE FROM memwarden_data.allowance AS a
     USING (SELECT f.org_id, f.principal_id, f.scope_id, f.layer, f.shard
              FROM memwarden_data.allowance AS f
             WHERE CASE WHEN f.scope_id = 0
                        THEN NOT EXISTS (SELECT FROM unnest(f.used_at) AS u WHERE u > clock_timestamp() - interval '25 hours')
                        ELSE NOT EXISTS (SELECT FROM memwarden_data.scope AS s WHERE s.scope_id = f.scope_id AND s.closed_at IS NULL) END
               FOR UPDATE SKIP LOCKED) AS f
     WHERE a.org_id = f.org_id AND a.principal_id = f.principal_id AND a.scope_id = f.scope_id AND a.layer = f.layer AND a.shard = f.shard;
    DELETE FROM memwarden_data.promotion AS p
     WHERE NOT EXISTS (SELECT FROM memwarden_data.write_request AS r WHERE r.request_id = p.request_id AND r.outcome = 'DEFERRED');
END
$function$;
COMMENT ON FUNCTION memwarden_internal.forget_allowances IS
    'Deletes shards of rate limits that nobody uses, of sessions that are closed, and the marks of promotions that are decided.';
