-- A fact may have been told ahead of its time. When its time comes, it becomes what the item says.
CREATE OR REPLACE FUNCTION memwarden_internal.settle_due(p_after uuid)
RETURNS uuid
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
SET lock_timeout = '2s'
AS $function$
DECLARE
    v_item record;
    -- Asked of once: a clock that moves within a query finds nothing by index.
    v_now  timestamptz := clock_timestamp();
BEGIN
    SELECT i.org_id, i.scope_id, i.layer, i.item_id INTO v_item
      FROM memwarden_data.item AS i
     WHERE i.status = 'ACTIVE' AND i.exclusive AND NOT upper_inf(i.valid_during) AND upper(i.valid_during) <= v_now
       AND (p_after IS NULL OR i.item_id > p_after)
       AND (i.expires_at IS NULL OR i.expires_at > v_now)
       AND EXISTS (SELECT FROM memwarden_data.timeline AS t
                    WHERE t.org_id = i.org_id AND t.item_id = i.item_id AND t.version_id <> i.version_id
                      AND t.recorded_during @> v_now AND t.valid_during @> v_now)
     ORDER BY i.item_id
     LIMIT 1;
    BEGIN
        -- Busy now: the next run takes it.
        IF v_item.item_id IS NOT NULL AND EXISTS (
               SELECT FROM memwarden_data.write_lock AS w
                WHERE w.org_id = v_item.org_id AND w.scope_id = v_item.scope_id AND w.layer = v_item.layer
                  FOR NO KEY UPDATE SKIP LOCKED)
           AND EXISTS (SELECT FROM memwarden_data.item AS i
                        WHERE i.org_id = v_item.org_id AND i.item_id = v_item.item_id AND i.status = 'ACTIVE') THEN
            PERFORM memwarden_internal.settle_head(v_item.org_id, v_item.item_id, 0, memwarden_internal.uuid7(), clock_timestamp());
        END IF;
    EXCEPTION WHEN lock_not_available THEN
        RAISE NOTICE 'item % is in use', v_item.item_id;
    END;
    RETURN v_item.item_id;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.settle_due IS
    'Settles the next item, by number, whose head holds no longer while another of its values does. Returns it; NULL when there is none.';
GRANT EXECUTE ON FUNCTION memwarden_internal.settle_due TO memwarden_jobs, memwarden_admin;

CREATE OR REPLACE PROCEDURE memwarden.settle_values()
LANGUAGE plpgsql SECURITY INVOKER
AS $procedure$
BEGIN
    CALL memwarden_internal.run_job('memwarden_settle');
END
$procedure$;
COMMENT ON PROCEDURE memwarden.settle_values IS
    'Updates items whose value''s time has passed while another value holds now, as a job. The value of a subject and predicate that '
    'holds now becomes the content of the item. It is safe to run twice at once and to kill. It commits after each item, so it '
    'cannot run inside a transaction.';
GRANT EXECUTE ON PROCEDURE memwarden.settle_values TO memwarden_jobs, memwarden_admin;
