-- Heads know until when retention lets them be read: no reader waits for a job, and none joins a rule.
CREATE OR REPLACE FUNCTION memwarden_internal.settle_kept_until(p_org_id bigint, p_item_ids uuid[], p_now timestamptz DEFAULT NULL)
RETURNS integer
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_soon  timestamptz := coalesce(p_now, clock_timestamp()) + interval '2 days';
    v_count integer;
BEGIN
    IF p_item_ids = '{}' THEN
        RETURN 0;
    END IF;
    WITH ends AS (
        -- As retention_of(): the longest duty, otherwise the shortest permission. Legal holds keep a memory, for nobody to read.
        SELECT r.item_id, bool_or(r.applies_to = 'classification' AND r.name = 'personal') AS is_personal,
               CASE WHEN min(r.permitted_until) IS NOT NULL THEN greatest(min(r.permitted_until), max(r.required_until)) END AS at
          FROM memwarden_internal.rules_of_items(p_org_id, p_item_ids, p_now) AS r GROUP BY r.item_id
    ), free AS MATERIALIZED (
        -- Whoever writes one of them does not wait for this, nor this for him: who writes says it himself.
        SELECT i.item_id, CASE WHEN e.is_personal OR e.at <= v_soon THEN e.at END AS kept_until, v.expires_at
          FROM memwarden_data.item AS i
          JOIN ends AS e ON e.item_id = i.item_id
          JOIN memwarden_data.version AS v ON v.org_id = i.org_id AND v.version_id = i.version_id
         WHERE i.org_id = p_org_id AND i.item_id = ANY (p_item_ids)
           AND i.kept_until IS DISTINCT FROM CASE WHEN e.is_personal OR e.at <= v_soon THEN e.at END
         ORDER BY i.item_id
           FOR NO KEY UPDATE OF i SKIP LOCKED
    )
    UPDATE memwarden_data.item AS i SET kept_until = f.kept_until, expires_at = f.expires_at
      FROM free AS f WHERE i.org_id = p_org_id AND i.item_id = f.item_id;
    GET DIAGNOSTICS v_count = ROW_COUNT;
    RETURN v_count;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.settle_kept_until IS
    'Writes into heads until when the rules of retention let these memories be read: into those with personal data, and into those that '
    'end within two days. Skips what somebody writes just now. Returns how many changed. Source: chapter 12.10.4.';

CREATE OR REPLACE FUNCTION memwarden_internal.settle_next_kept(
    p_after_org bigint, p_after_item uuid, p_last_org bigint, p_last_item uuid, p_now timestamptz DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET plan_cache_mode = force_custom_plan
AS $function$
DECLARE
    v_soon timestamptz := coalesce(p_now, clock_timestamp()) + interval '2 days';
BEGIN
    PERFORM memwarden_internal.settle_kept_until(g.org_id, g.item_ids, p_now)
       FROM (SELECT i.org_id, array_agg(i.item_id) AS item_ids
               FROM memwarden_data.item AS i
               JOIN (SELECT o.org_id, memwarden_internal.shortest_retention(o.org_id) AS shortest
                       FROM memwarden_data.organisation AS o
                      WHERE o.org_id BETWEEN p_after_org AND p_last_org) AS l ON l.org_id = i.org_id
              WHERE (i.org_id, i.item_id) > (p_after_org, p_after_item) AND (i.org_id, i.item_id) <= (p_last_org, p_last_item)
                AND (i.kept_until IS NOT NULL OR i.class IS NOT NULL OR i.created_at <= v_soon - l.shortest
                     OR EXISTS (SELECT FROM memwarden_data.personal_item AS p WHERE p.org_id = i.org_id AND p.item_id = i.item_id))
              GROUP BY i.org_id) AS g;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.settle_next_kept IS
    'settle_kept_until() for the memories behind one and up to another, as far as a rule of retention may end them soon.';

-- Whoever changes a rule changes at once what is read: what is over by it, and what was over by the rule before. The job does the rest.
CREATE OR REPLACE FUNCTION memwarden_internal.due_soon(p_org_id bigint)
RETURNS memwarden_internal.due_memory[]
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN ARRAY(SELECT d FROM memwarden_internal.all_due(nullif(p_org_id, 0), now() + interval '2 days') AS d);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.due_soon IS
    'The memories whose retention is over in two days, of one organisation or of all (0): more than one run of the job away.';

CREATE OR REPLACE FUNCTION memwarden_internal.settle_due_soon(p_org_id bigint, p_before memwarden_internal.due_memory[])
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
BEGIN
    PERFORM memwarden_internal.settle_kept_until(g.org_id, g.item_ids)
       FROM (SELECT d.org_id, array_agg(DISTINCT d.item_id) AS item_ids
               FROM unnest(p_before || memwarden_internal.due_soon(p_org_id)) AS d GROUP BY d.org_id) AS g;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.settle_due_soon IS
    'settle_kept_until() for the memories that are due soon, and for those that were by the rules before.';
