-- What is due, a page of memories after the other: the same walk for the job, for whoever changes a rule, and for compliance.
CREATE TYPE memwarden_internal.due_memory AS (
    org_id     bigint,
    item_id    uuid,
    action     text,
    rule       text,
    due_since  timestamptz,
    held       boolean
);
COMMENT ON TYPE memwarden_internal.due_memory IS
    'A memory whose retention is over: what is to follow, by which rule, since when; and whether a legal hold keeps it.';

CREATE OR REPLACE FUNCTION memwarden_internal.shortest_retention(p_org_id bigint)
RETURNS interval
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN (SELECT min(r.keep_at_most) FROM memwarden_internal.retention_rules(p_org_id) AS r);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.shortest_retention IS
    'What is younger is beyond no rule of the organisation; NULL where nothing has a limit.';

CREATE OR REPLACE FUNCTION memwarden_internal.due_memories(
    p_org_id bigint, p_after_org bigint, p_after_item uuid, p_count integer, p_now timestamptz,
    OUT org_id bigint, OUT item_id uuid, OUT due memwarden_internal.due_memory[])
RETURNS record
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
SET plan_cache_mode = force_custom_plan
AS $function$
DECLARE
    v_now    timestamptz := coalesce(p_now, clock_timestamp());
    v_place  record;
    v_ids    uuid[];
    v_some   memwarden_internal.due_memory[];
BEGIN
    due := '{}';
    FOR v_place IN
        WITH page AS MATERIALIZED (
            SELECT i.org_id, i.item_id, i.created_at, i.class FROM memwarden_data.item AS i
             WHERE (i.org_id, i.item_id) > (p_after_org, p_after_item) AND (p_org_id IS NULL OR i.org_id = p_org_id)
             ORDER BY i.org_id, i.item_id LIMIT p_count
        ), limits AS MATERIALIZED (
            -- Once for an organisation, not for each of its memories.
            SELECT o.org_id, memwarden_internal.shortest_retention(o.org_id) AS shortest FROM (SELECT DISTINCT p.org_id FROM page AS p) AS o
        )
        SELECT p.org_id, max(p.item_id::text)::uuid AS last_id,
               array_agg(p.item_id) FILTER (WHERE p.created_at <= v_now - l.shortest OR p.class IS NOT NULL) AS old_ids
          FROM page AS p JOIN limits AS l ON l.org_id = p.org_id
         GROUP BY p.org_id ORDER BY p.org_id
    LOOP
        org_id := v_place.org_id;
        item_id := v_place.last_id;
        v_some := ARRAY(
            SELECT (v_place.org_id, r.item_id, r.action, r.rule, r.due_since, false)::memwarden_internal.due_memory
              FROM memwarden_internal.retention_of(v_place.org_id, v_place.old_ids, v_now) AS r WHERE r.action IS NOT NULL);
        CONTINUE WHEN v_some = '{}';
        v_ids := ARRAY(SELECT k.item_id
                         FROM memwarden_internal.reasons_to_keep(v_place.org_id, ARRAY(SELECT d.item_id FROM unnest(v_some) AS d)) AS k
                        WHERE k.reason = 'HELD');
        due := due || ARRAY(
            SELECT (d.org_id, d.item_id, d.action, d.rule, d.due_since, d.item_id = ANY (v_ids))::memwarden_internal.due_memory
              FROM unnest(v_some) AS d);
    END LOOP;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.due_memories IS
    'Looks at the next p_count memories, of one organisation or of all (NULL), after one of them. org_id, item_id: the last '
    'that was looked at, NULL when there were none. due: those whose retention is over.';

CREATE OR REPLACE FUNCTION memwarden_internal.all_due(p_org_id bigint, p_now timestamptz)
RETURNS SETOF memwarden_internal.due_memory
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER ROWS 1000
AS $function$
DECLARE
    v_page record;
    v_org  bigint := -1;
    v_item uuid := uuid '00000000-0000-0000-0000-000000000000';
BEGIN
    LOOP
        v_page := memwarden_internal.due_memories(p_org_id, v_org, v_item, 10000, p_now);
        EXIT WHEN v_page.item_id IS NULL;
        RETURN QUERY SELECT d.org_id, d.item_id, d.action, d.rule, d.due_since, d.held FROM unnest(v_page.due) AS d;
        v_org := v_page.org_id;
        v_item := v_page.item_id;
    END LOOP;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.all_due IS
    'All memories whose retention is over, of one organisation or of all (NULL), at a moment.';
