-- What a memory cites may have been changed, replaced, disputed, taken back or erased since. So a job weighs it again once a week, with
-- what the store holds then; and after an update at once what was recorded before it was known who recorded the words.
CREATE OR REPLACE FUNCTION memwarden_internal.is_weighed(p_record jsonb)
RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
RETURN p_record ? 'merged'
    -- Of all other words only the writer has seen, and they make no standing.
    OR NOT (p_record @? '$.evidence[*] ? ((exists(@.evidence_id) || exists(@.item_id)) && !exists(@.held))'
            OR p_record @? '$.verified_by[*] ? (!exists(@.looked))');
COMMENT ON FUNCTION memwarden_internal.is_weighed IS
    'Whether a record of provenance says of each piece of evidence that the store holds who recorded it, and of each verifier whether '
    'it looked at the source, so that weighing again would tell nothing new of its standing.';

CREATE OR REPLACE FUNCTION memwarden_internal.rests_on_records(p_record jsonb)
RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
RETURN NOT p_record ? 'merged' AND p_record @? '$.evidence[*] ? (exists(@.evidence_id) || exists(@.item_id) || exists(@.capture_id))';
COMMENT ON FUNCTION memwarden_internal.rests_on_records IS
    'Whether a record of provenance cites a capture, recorded evidence or a memory, of which the store may hold something else today.';

CREATE OR REPLACE FUNCTION memwarden_internal.weighed_record(p_record jsonb, p_grounds jsonb)
RETURNS jsonb
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
-- What numbers become as JSON, the caller's session must not say.
SET extra_float_digits = 1
AS $function$
SELECT p_record || jsonb_build_object('evidence', w.grounds, 'fact_score', memwarden_internal.score_of(w.grounds)) || CASE
       WHEN p_record ? 'verified_by' THEN jsonb_build_object('verified_by', (
           SELECT coalesce(jsonb_agg(v.e || jsonb_build_object('looked', memwarden_internal.looks_at_source(v.e ->> 'verifier'))
                                     ORDER BY v.place), '[]')
             FROM jsonb_array_elements(p_record -> 'verified_by') WITH ORDINALITY AS v (e, place))) ELSE '{}' END
  FROM (SELECT jsonb_agg(CASE WHEN r.e IS NULL OR g.e ?| '{believed,contradicts}' THEN g.e
                              ELSE g.e || jsonb_build_object('support', r.e -> 'support', 'by_rules', g.e -> 'support') END
                         ORDER BY g.place) AS grounds
          FROM jsonb_array_elements(p_grounds) WITH ORDINALITY AS g (e, place)
          -- What verifiers scored stays as they scored it.
          LEFT JOIN jsonb_array_elements(p_record -> 'evidence') AS r (e)
            ON r.e ? 'by_rules' AND r.e -> 'index' = g.e -> 'index' AND r.e -> 'excerpt_hash' IS NOT DISTINCT FROM g.e -> 'excerpt_hash'
       ) AS w
$function$;
COMMENT ON FUNCTION memwarden_internal.weighed_record IS
    'A record of provenance with its evidence as it is weighed today (p_grounds), the scores of verifiers kept, and whether each of '
    'them looked at the source.';

CREATE OR REPLACE FUNCTION memwarden_internal.weigh_standing(
    p_org_id bigint, p_item_id uuid, p_now timestamptz, p_waits boolean DEFAULT true)
RETURNS boolean
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_item  record;
    v_today record;
    v_new   jsonb;
BEGIN
    IF p_waits THEN
        SELECT i.scope_id, i.version_id INTO v_item FROM memwarden_data.item AS i
         WHERE i.org_id = p_org_id AND i.item_id = p_item_id AND i.status = 'ACTIVE' FOR NO KEY UPDATE;
    ELSE
        SELECT i.scope_id, i.version_id INTO v_item FROM memwarden_data.item AS i
         WHERE i.org_id = p_org_id AND i.item_id = p_item_id AND i.status = 'ACTIVE' FOR NO KEY UPDATE SKIP LOCKED;
    END IF;
    IF v_item.version_id IS NULL THEN
        RETURN false;
    END IF;
    SELECT w.record, w.supersedes, w.grounds INTO v_today
      FROM memwarden_internal.weigh_today(p_org_id, v_item.version_id, p_now, false) AS w
     -- Who took a change back wrote none of the words that came back.
     WHERE NOT EXISTS (SELECT FROM memwarden_data.provenance AS p
                        WHERE p.org_id = p_org_id AND p.version_id = v_item.version_id AND p.event = 'RESTATE')
       -- What cannot be read counts as held.
       AND NOT memwarden_internal.is_hidden_source(p_org_id, w.evidence, w.known);
    v_new := memwarden_internal.weighed_record(v_today.record, v_today.grounds);
    IF v_new IS NULL OR v_today.record ? 'merged'
       OR memwarden_internal.standing_of(v_new - 'lowered') = memwarden_internal.standing_of(v_today.record - 'lowered') THEN
        RETURN false;
    END IF;
    PERFORM memwarden_internal.append_standing(
        p_org_id, v_item.scope_id, p_item_id, v_item.version_id, v_today.supersedes, v_new, p_now);
    IF v_new ?| '{lowered,doubted_by}' THEN
        -- What is firmer now may need more to be lowered.
        PERFORM memwarden_internal.settle_standing(p_org_id, p_item_id);
    END IF;
    RETURN true;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.weigh_standing IS
    'Weighs the evidence of a memory again, with what the store holds today, and appends a record where its standing changes. Returns '
    'whether it did. p_waits: whether it waits for somebody who holds the memory.';

CREATE OR REPLACE FUNCTION memwarden_internal.standings_batch(
    p_org_id bigint, p_item_id uuid, p_count integer,
    OUT org_id bigint, OUT item_id uuid, OUT looked bigint, OUT faults bigint, OUT findings jsonb, OUT is_over boolean)
RETURNS record
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET plan_cache_mode = force_custom_plan
AS $function$
DECLARE
    v_now   timestamptz := clock_timestamp();
    v_items uuid[];
    v_orgs  bigint[];
BEGIN
    findings := '[]';
    faults := 0;
    -- In the order in which they were first written: what cites a memory is weighed after it.
    SELECT array_agg(n.org_id ORDER BY n.org_id, n.item_id), array_agg(n.item_id ORDER BY n.org_id, n.item_id) INTO v_orgs, v_items
      FROM (SELECT i.org_id, i.item_id FROM memwarden_data.item AS i
             WHERE (i.org_id, i.item_id) > (p_org_id, p_item_id) ORDER BY i.org_id, i.item_id LIMIT p_count) AS n;
    looked := coalesce(cardinality(v_items), 0);
    org_id := v_orgs[looked];
    item_id := v_items[looked];
    is_over := looked < p_count;
    FOR v_place IN 1 .. looked LOOP
        IF EXISTS (SELECT FROM memwarden_data.item AS i
                    CROSS JOIN LATERAL (SELECT p.record FROM memwarden_data.provenance AS p
                                         WHERE p.org_id = i.org_id AND p.version_id = i.version_id
                                         ORDER BY p.provenance_id DESC LIMIT 1) AS p
                    WHERE i.org_id = v_orgs[v_place] AND i.item_id = v_items[v_place] AND i.status = 'ACTIVE'
                      AND (NOT memwarden_internal.is_weighed(p.record) OR memwarden_internal.rests_on_records(p.record)))
           AND memwarden_internal.weigh_standing(v_orgs[v_place], v_items[v_place], v_now) THEN
            faults := faults + 1;
        END IF;
    END LOOP;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.standings_batch IS
    'Weighs the next memories again that rest on what the store holds, or were recorded before it was known who recorded the words '
    'they cite; item_id: the last of these memories, faults: how many have another standing now.';
