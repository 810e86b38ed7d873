-- Verifiers that came later, or that nobody waited for, are asked about what is reported, each once about a version; revalidate() asks
-- all of them again about a sample.
CREATE OR REPLACE FUNCTION memwarden_internal.ask_afterwards(
    p_org_id bigint, p_item_id uuid, p_now timestamptz, p_again boolean DEFAULT false)
RETURNS integer
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET plan_cache_mode = force_custom_plan
AS $function$
DECLARE
    v_item  record;
    v_today record;
BEGIN
    SELECT i.version_id, i.layer, ARRAY(SELECT v.e ->> 'verifier'
               FROM jsonb_array_elements(coalesce(p.record -> 'verified_by', '[]')) AS v (e) WHERE NOT p_again) AS answered
      INTO v_item
      FROM memwarden_data.item AS i
     CROSS JOIN LATERAL (SELECT p.record FROM memwarden_data.provenance AS p
                          WHERE p.org_id = i.org_id AND p.version_id = i.version_id ORDER BY p.provenance_id DESC LIMIT 1) AS p
     WHERE i.org_id = p_org_id AND i.item_id = p_item_id AND i.status = 'ACTIVE' AND (i.standing = 'reported' OR p_again)
       AND (i.expires_at IS NULL OR i.expires_at > p_now)
       -- Of words that two memories made together no verdict says more.
       AND NOT p.record ? 'merged' AND p.record @? '$.evidence[*] ? (exists(@.excerpt_hash) && !exists(@.believed))';
    IF NOT FOUND OR NOT EXISTS (
           SELECT FROM memwarden_internal.wanted_verdicts(p_org_id, v_item.layer, 'verify') AS w
            WHERE w.plugin <> ALL (v_item.answered)
              AND NOT EXISTS (SELECT FROM memwarden_data.verdict AS d
                               WHERE d.org_id = p_org_id AND d.request_id = v_item.version_id AND d.purpose = 'verify'
                                 AND d.plugin = w.plugin AND d.part = w.part AND NOT p_again)
              AND NOT EXISTS (SELECT FROM memwarden_data.job AS j
                               WHERE j.org_id = p_org_id AND j.request_id = v_item.version_id AND j.purpose = 'verify'
                                 AND j.plugin = w.plugin AND j.part = w.part AND NOT (p_again AND j.finished_at IS NOT NULL))) THEN
        RETURN 0;
    END IF;
    SELECT w.search_text, w.subject, w.predicate, w.content, w.subject_key_id, w.asked INTO v_today
      FROM memwarden_internal.weigh_today(p_org_id, v_item.version_id, p_now, true) AS w WHERE w.asked @? '$[*].excerpt';
    IF NOT FOUND THEN
        -- Its writer does not read the words any more.
        RETURN 0;
    END IF;
    IF p_again THEN
        -- What they answered before stands on the record.
        DELETE FROM memwarden_data.verdict AS d
         WHERE d.org_id = p_org_id AND d.request_id = v_item.version_id AND d.purpose = 'verify';
        DELETE FROM memwarden_data.job AS j
         WHERE j.org_id = p_org_id AND j.request_id = v_item.version_id AND j.purpose = 'verify' AND j.finished_at IS NOT NULL;
    END IF;
    RETURN memwarden_internal.make_questions(p_org_id, v_item.version_id, v_item.layer, 'verify', jsonb_build_object(
        'claim', v_today.search_text, 'subject', v_today.subject, 'predicate', v_today.predicate, 'content', v_today.content,
        'layer', v_item.layer, 'evidence', v_today.asked, 'subject_key', v_today.subject_key_id), p_now, v_item.answered);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.ask_afterwards IS
    'Asks the verifiers of its layer about a memory that is reported and cites words, as far as none of them was asked about this '
    'version. p_again: whatever its standing, and also those that have answered. Returns the number of new questions.';

CREATE OR REPLACE FUNCTION memwarden_internal.room_for_questions(p_now timestamptz)
RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
BEGIN
    -- Nobody answered in time: it is asked again when the pass comes by.
    DELETE FROM memwarden_data.job AS j
     WHERE j.job_id IN (SELECT o.job_id FROM memwarden_data.job AS o
                         WHERE o.state IN ('ready', 'running') AND o.afterwards AND o.deadline <= p_now FOR UPDATE SKIP LOCKED);
    RETURN 1000 - (SELECT count(*) FROM memwarden_data.job AS j WHERE j.state IN ('ready', 'running') AND j.afterwards);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.room_for_questions IS
    'How many questions about stored memories may be asked now: 1,000 are open at most. Those that nobody answered within a day go.';

CREATE OR REPLACE FUNCTION memwarden_internal.verdicts_batch(
    p_org_id bigint, p_item_id uuid, p_count integer,
    OUT org_id bigint, OUT item_id uuid, OUT looked bigint, OUT faults bigint, OUT findings jsonb, OUT is_over boolean)
RETURNS record
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET plan_cache_mode = force_custom_plan
AS $function$
DECLARE
    v_now  timestamptz := clock_timestamp();
    v_next record;
    v_room bigint;
BEGIN
    org_id := p_org_id;
    item_id := p_item_id;
    findings := '[]';
    looked := 0;
    faults := 0;
    v_room := memwarden_internal.room_for_questions(v_now);
    is_over := v_room > 0;
    IF v_room > 0 THEN
        FOR v_next IN
            SELECT i.org_id, i.item_id FROM memwarden_data.item AS i
             WHERE (i.org_id, i.item_id) > (p_org_id, p_item_id) ORDER BY i.org_id, i.item_id LIMIT p_count
        LOOP
            org_id := v_next.org_id;
            item_id := v_next.item_id;
            looked := looked + 1;
            faults := faults + memwarden_internal.ask_afterwards(org_id, item_id, v_now);
            is_over := looked < p_count AND faults < v_room;
            EXIT WHEN faults >= v_room;
        END LOOP;
    END IF;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.verdicts_batch IS
    'Asks verifiers about the next memories, as long as fewer than 1,000 such questions are open; item_id: the last of these memories, '
    'faults: how many questions it made.';

CREATE OR REPLACE FUNCTION memwarden_internal.by_rules_alone(p_grounds jsonb)
RETURNS jsonb
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
AS $function$
SELECT jsonb_agg(CASE WHEN g.e ? 'by_rules' THEN (g.e - 'by_rules') || jsonb_build_object('support', g.e -> 'by_rules') ELSE g.e END
                 ORDER BY g.place)
  FROM jsonb_array_elements(p_grounds) WITH ORDINALITY AS g (e, place)
$function$;
COMMENT ON FUNCTION memwarden_internal.by_rules_alone IS
    'Evidence with the support that rules find in it, without what verifiers scored.';

CREATE OR REPLACE FUNCTION memwarden_internal.settle_verdicts(p_org_id bigint, p_version_id uuid, p_plugin text, p_now timestamptz)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
-- What numbers become as JSON, the caller's session must not say.
SET extra_float_digits = 1
AS $function$
DECLARE
    v_item  record;
    v_last  jsonb;
    v_given jsonb;
    v_kept  jsonb;
    v_found record;
BEGIN
    IF EXISTS (SELECT FROM memwarden_data.job AS j
                WHERE j.org_id = p_org_id AND j.request_id = p_version_id AND j.purpose = 'verify' AND j.plugin = p_plugin
                  AND j.state IN ('ready', 'running')) THEN
        RETURN;
    END IF;
    UPDATE memwarden_data.verdict AS d SET detail = '{}' WHERE d.org_id = p_org_id AND d.request_id = p_version_id AND d.detail <> '{}';
    SELECT i.item_id, i.scope_id INTO v_item
      FROM memwarden_data.version AS v JOIN memwarden_data.item AS i ON i.org_id = v.org_id AND i.item_id = v.item_id
     WHERE v.org_id = p_org_id AND v.version_id = p_version_id AND i.version_id = p_version_id AND i.status = 'ACTIVE'
       FOR NO KEY UPDATE OF i;
    v_last := (SELECT p.record FROM memwarden_data.whole_provenance AS p
                WHERE p.org_id = p_org_id AND p.version_id = p_version_id ORDER BY p.provenance_id DESC LIMIT 1);
    -- What others said counts beside it; its own new answers replace the old ones.
    v_kept := (SELECT coalesce(jsonb_agg(v.e ORDER BY v.place), '[]')
                 FROM jsonb_array_elements(v_last -> 'verified_by') WITH ORDINALITY AS v (e, place) WHERE v.e ->> 'verifier' <> p_plugin);
    v_given := (SELECT jsonb_agg(jsonb_build_object('plugin', g.plugin, 'version', g.version, 'decision', g.decision, 'score', g.score))
                  FROM (SELECT d.plugin, d.plugin_version AS version, d.decision, d.score FROM memwarden_data.verdict AS d
                         WHERE d.org_id = p_org_id AND d.request_id = p_version_id AND d.purpose = 'verify'
                           AND d.plugin = p_plugin) AS g);
    IF v_item.item_id IS NULL OR v_last IS NULL OR v_given IS NULL THEN
        RETURN;
    END IF;
    v_found := memwarden_internal.weigh_verdicts('complete', v_given || coalesce((
        SELECT jsonb_agg(jsonb_build_object('plugin', v.e -> 'verifier', 'version', v.e -> 'version', 'decision', 'accept',
                                            'score', v.e -> 'score'))
          FROM jsonb_array_elements(v_kept) AS v (e)), '[]'),
        -- Who answers anew takes back what its old answer made of the evidence.
        CASE WHEN jsonb_array_length(v_kept) = jsonb_array_length(coalesce(v_last -> 'verified_by', '[]')) THEN v_last -> 'evidence'
             ELSE memwarden_internal.by_rules_alone(v_last -> 'evidence') END);
    v_last := v_last || jsonb_build_object('verified_by', v_found.verified_by, 'evidence', v_found.grounds,
        'fact_score', coalesce(v_found.fact_score, memwarden_internal.score_of(v_found.grounds)));
    PERFORM memwarden_internal.append_standing(
        p_org_id, v_item.scope_id, v_item.item_id, p_version_id, (v_last ->> 'supersedes')::uuid, v_last, p_now);
    IF v_last ?| '{lowered,doubted_by}' THEN
        PERFORM memwarden_internal.settle_standing(p_org_id, v_item.item_id);
    END IF;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.settle_verdicts IS
    'Appends what a verifier said afterwards of a version to its records, once all its verdicts are there and where the version is still '
    'the present one. The standing follows.';
