-- What is over ends. Looking takes no lock; acting takes the scopes of ten memories, for some milliseconds, and waits for nobody.
CREATE OR REPLACE FUNCTION memwarden_internal.enforce_next_retention(
    p_after_org bigint, p_after_item uuid, p_now timestamptz DEFAULT NULL,
    OUT org_id bigint, OUT item_id uuid, OUT expired integer, OUT deleted integer)
RETURNS record
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_page record := memwarden_internal.due_memories(NULL, p_after_org, p_after_item, 200, p_now);
    v_due  memwarden_internal.due_memory[];
    v_done record;
BEGIN
    expired := 0;
    deleted := 0;
    org_id := v_page.org_id;
    item_id := v_page.item_id;
    v_due := ARRAY(SELECT d FROM (SELECT u.org_id, u.item_id, u.action, u.rule, u.due_since, u.held
                                    FROM unnest(v_page.due) AS u WHERE NOT u.held ORDER BY u.org_id, u.item_id LIMIT 11) AS d);
    IF cardinality(v_due) = 11 THEN
        -- The next call goes on behind the tenth.
        v_due := v_due[1:10];
        org_id := v_due[10].org_id;
        item_id := v_due[10].item_id;
    END IF;
    FOR v_done IN
        SELECT e.expired, e.deleted
          FROM (SELECT d.org_id, array_agg(d.item_id) AS ids FROM unnest(v_due) AS d GROUP BY d.org_id ORDER BY d.org_id) AS o
         CROSS JOIN LATERAL memwarden_internal.end_by_retention(o.org_id, o.ids, p_now) AS e
    LOOP
        expired := expired + v_done.expired;
        deleted := deleted + v_done.deleted;
    END LOOP;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.enforce_next_retention IS
    'Looks at 200 memories after one of them, and ends at most ten whose retention is over: those that nobody works on just '
    'now and no legal hold keeps. Returns where to go on, NULL after the last; and how many expired and were deleted.';

CREATE OR REPLACE FUNCTION memwarden_internal.end_by_retention(
    p_org_id bigint, p_item_ids uuid[], p_now timestamptz DEFAULT NULL, OUT expired integer, OUT deleted integer)
RETURNS record
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_free uuid[] := memwarden_internal.hold_for_deletion(p_org_id, p_item_ids, false);
    v_held uuid[];
    v_due  record;
BEGIN
    PERFORM memwarden_internal.stop_new_reasons(p_org_id, v_free);
    v_held := ARRAY(SELECT k.item_id FROM memwarden_internal.reasons_to_keep(p_org_id, v_free) AS k WHERE k.reason = 'HELD');
    -- Once more with the scopes held: a consent may have come, or another version.
    SELECT coalesce(array_agg(r.item_id) FILTER (WHERE r.action = 'delete'), '{}') AS to_delete,
           coalesce(array_agg(r.item_id) FILTER (WHERE r.action = 'archive'), '{}') AS to_archive,
           coalesce(array_agg(r.item_id) FILTER (WHERE r.action = 'cold'), '{}') AS to_cool
      INTO v_due
      FROM memwarden_internal.retention_of(p_org_id, v_free, p_now) AS r WHERE r.action IS NOT NULL AND r.item_id <> ALL (v_held);
    expired := (SELECT count(*) FROM memwarden_internal.end_items(
        p_org_id, v_due.to_archive || v_due.to_cool, 'EXPIRED', 'EXPIRE', 'RETENTION_OVER', 0, NULL, p_now));
    -- The tiers are as of now, whatever the layer's warm_after and cold_after are.
    UPDATE memwarden_data.version AS v SET tier = 'warm'
     WHERE v.org_id = p_org_id AND v.item_id = ANY (v_due.to_archive) AND v.tier = 'hot' AND NOT upper_inf(v.recorded_during);
    UPDATE memwarden_data.version AS v SET tier = 'cold'
     WHERE v.org_id = p_org_id AND v.item_id = ANY (v_due.to_cool) AND v.tier <> 'cold' AND NOT upper_inf(v.recorded_during);
    deleted := 0;
    IF v_due.to_delete <> '{}' THEN
        deleted := cardinality((memwarden_internal.delete_for_good(
            p_org_id, v_due.to_delete, 'RETENTION_OVER', 'RETENTION', false, p_now)).deleted);
    END IF;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.end_by_retention IS
    'Does with memories what their retention wants now: deletes them for good, or expires them and moves their versions to '
    'the warm or the cold tier. Leaves those that another transaction works on, and those that a legal hold keeps.';

CREATE OR REPLACE FUNCTION memwarden_internal.retention_step(p_cursor jsonb)
RETURNS jsonb
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_next record := memwarden_internal.enforce_next_retention(
        coalesce((p_cursor ->> 'org_id')::bigint, -1), coalesce((p_cursor ->> 'item_id')::uuid, '00000000-0000-0000-0000-000000000000'));
BEGIN
    IF v_next.item_id IS NOT NULL THEN
        PERFORM memwarden_internal.settle_next_kept(
            coalesce((p_cursor ->> 'org_id')::bigint, -1),
            coalesce((p_cursor ->> 'item_id')::uuid, '00000000-0000-0000-0000-000000000000'), v_next.org_id, v_next.item_id);
    END IF;
    RETURN CASE WHEN v_next.item_id IS NOT NULL THEN jsonb_build_object('org_id', v_next.org_id, 'item_id', v_next.item_id) END;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.retention_step IS
    'enforce_next_retention(), for the job: takes what it returned last, NULL to begin with; NULL after the last memory.';
GRANT EXECUTE ON FUNCTION memwarden_internal.retention_step TO memwarden_jobs, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden_internal.retention_job_step(p_after text)
RETURNS text
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
BEGIN
    IF p_after IS NULL OR starts_with(p_after, '{') THEN
        -- Behind the last memory the organisations begin: none has this number.
        RETURN coalesce(memwarden_internal.retention_step(p_after::jsonb)::text, '-1');
    END IF;
    RETURN memwarden_internal.check_next_org(p_after::bigint)::text;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.retention_job_step IS
    'One step of enforce_retention(): the next memories whose retention is over and then, behind the last, the next organisation to be '
    'checked for breaches.';
GRANT EXECUTE ON FUNCTION memwarden_internal.retention_job_step TO memwarden_jobs, memwarden_admin;

CREATE OR REPLACE PROCEDURE memwarden.enforce_retention()
LANGUAGE plpgsql SECURITY INVOKER
AS $procedure$
BEGIN
    CALL memwarden_internal.run_job('memwarden_retention');
END
$procedure$;
COMMENT ON PROCEDURE memwarden.enforce_retention IS
    'Ends memories whose retention is over, as a job, and then checks compliance. A memory is deleted for good, or expires and '
    'moves to the warm or cold tier, as its rule says; retention_rules lists the rules. Legal holds are respected, pins and action '
    'links are not. A memory that somebody works on is left to the next run. It is safe to run twice at once and to kill. It commits '
    'after every ten memories, so it cannot run inside a transaction. Raises 25001 at an isolation '
    'level other than READ COMMITTED, 22023 where a deletion is given no reason. Source: chapter 12.10.4, R5.';
GRANT EXECUTE ON PROCEDURE memwarden.enforce_retention TO memwarden_jobs, memwarden_admin;
