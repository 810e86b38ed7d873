-- Does it contradict what is there? A newer value of the same thing is no conflict: it becomes the next version.
CREATE OR REPLACE FUNCTION memwarden_internal.gate_contradiction()
RETURNS trigger
LANGUAGE plpgsql VOLATILE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_started    timestamptz := clock_timestamp();
    v_terms      memwarden_data.write_terms := NEW.terms;
    v_confidence double precision;
    v_conflicts  jsonb := '[]'::jsonb;
    v_updates    jsonb;
    v_marks      jsonb := '[]'::jsonb;
    v_own        uuid[];
    v_decided    record;
    v_asked      record;
    v_denied     jsonb;
BEGIN
    IF v_terms.conflict <> 'accumulate' AND NEW.embedding IS NOT NULL THEN
        IF NEW.neighbours IS NULL THEN
            SELECT a.neighbours, a.likeness INTO NEW.neighbours, NEW.likeness
              FROM memwarden_internal.look_around(
                    NEW.org_id, NEW.scope_id, NEW.layer, NEW.principal_id, NEW.label_id, NEW.model_id, NEW.embedding, NEW.key_hash,
                    v_terms.topic_similarity, v_started,
                    NEW.subject, NEW.predicate, NEW.canonical, NEW.search_text, NEW.valid_from, NEW.valid_to,
                    NEW.attribute_key) AS a;
        END IF;
        IF v_terms.has_judges AND NEW.neighbours <> '[]' THEN
            v_asked := memwarden_internal.ask_judges(
                NEW.org_id, NEW.scope_id, NEW.layer, NEW.principal_id, NEW.label_id, NEW.model_id, NEW.embedding, NEW.key_hash,
                v_terms.topic_similarity, v_started, NEW.request_id, jsonb_build_object(
                    'layer', NEW.layer, 'subject', NEW.subject, 'predicate', NEW.predicate, 'content', NEW.canonical::jsonb,
                    'text', NEW.search_text, 'subject_key', NEW.subject_key_id));
            NEW.outcome := v_asked.outcome;
            NEW.reason := v_asked.reason;
            NEW.detail := coalesce(v_asked.detail, NEW.detail);
            NEW.retry_at := v_asked.retry_at;
            NEW.neighbours := memwarden_internal.judged_by(NEW.neighbours, v_asked.verdicts);
        END IF;
        -- Between texts without a key another value can be another thing (room 12 is free, room 13 is not): there only what
        -- is decisive counts, or what an outside judge finds. The rest is marked. Of its own fact an agent may say otherwise.
        IF NEW.neighbours <> '[]' THEN
            NEW.neighbours := memwarden_internal.beside_values(NEW.org_id, NEW.key_hash, NEW.predicate, NEW.neighbours);
            SELECT m.conflicts, m.updates, m.marks INTO v_conflicts, v_updates, v_marks
              FROM memwarden_internal.sort_verdicts(
                       NEW.neighbours, v_terms.contradiction_score, NEW.key_hash IS NOT NULL,
                       -- What a merge policy has made one with it is settled.
                       CASE WHEN v_terms.merge_policy IS NOT NULL THEN NEW.becomes END) AS m;
        END IF;
    END IF;
    -- A sentence without a subject of its own is not read where nothing is near it.
    IF NEW.outcome IS NULL AND (NEW.subject IS NOT NULL OR NEW.neighbours IS DISTINCT FROM '[]') THEN
        v_denied := memwarden_internal.denied_facts(
            NEW.org_id, NEW.scope_id, NEW.layer, NEW.subject, NEW.predicate, NEW.canonical, NEW.search_text, v_started);
    END IF;
    IF v_denied IS NOT NULL THEN
        NEW.conflicts := coalesce(NEW.conflicts, '[]') || coalesce(memwarden_internal.readable_found(
            NEW.org_id, NEW.principal_id, NEW.label_id, v_denied, NULL), '[]');
    END IF;
    IF NEW.outcome IS NULL AND (v_conflicts <> '[]' OR NEW.conflicts <> '[]') THEN
        -- A newer value of one's own, told from the other side: it takes the place of the older, as a version would.
        v_own := ARRAY(SELECT (c.e ->> 'item_id')::uuid FROM jsonb_path_query(
            NEW.conflicts, '$[*] ? (@.relation == "updates")') AS c (e));
        -- What was declared is said once, not by a judge again.
        v_conflicts := jsonb_path_query_array(coalesce(NEW.conflicts, '[]'), '$[*] ? (@.relation == "contradicts")')
            || coalesce((SELECT jsonb_agg(c.e) FROM jsonb_array_elements(v_conflicts) AS c (e)
                           JOIN memwarden_data.version AS v ON v.org_id = NEW.org_id AND v.version_id = (c.e ->> 'version_id')::uuid
                          WHERE NOT coalesce(NEW.conflicts, '[]') @> jsonb_build_array(jsonb_build_object('item_id', c.e -> 'item_id'))
                            -- Of other times it may be otherwise.
                            AND v.valid_during && tstzrange(coalesce(NEW.valid_from,
                                least(v_started, NEW.valid_to - interval '1 microsecond')), NEW.valid_to)),
                        '[]');
        IF NEW.class IS NOT NULL THEN
            v_conflicts := memwarden_internal.not_outranked(NEW.org_id, v_terms.class, v_conflicts);
        END IF;
        IF v_terms.conflict = 'ask_firmer' THEN
            v_conflicts := memwarden_internal.told_firmer(NEW.org_id, v_terms.class, v_conflicts, memwarden_internal.firmness(
                memwarden_internal.standing_of(jsonb_build_object(
                    'evidence', coalesce(NEW.grounds, '[]'), 'verified_by', coalesce(NEW.provenance -> 'verified_by', '[]')))));
        END IF;
        v_confidence := memwarden_internal.said_confidence(NEW.confidence, NEW.origin, v_terms.default_confidence);
        v_decided := memwarden_internal.resolve_conflict(v_terms.conflict, v_terms.conflict_gap, v_confidence, v_conflicts);
        IF v_decided.reason = 'INTEGRITY_REVIEW' THEN
            -- A human may make an exception from the rule. What else the policy would have refused it for then stands beside it.
            NEW.review_asked := memwarden_internal.ask_review(NEW.review_asked, v_decided.reason, v_decided.detail);
            v_decided := memwarden_internal.resolve_conflict(
                CASE WHEN v_terms.conflict IN ('review', 'auto_resolve', 'ask_firmer') THEN 'coexist' ELSE v_terms.conflict END,
                CASE WHEN v_terms.conflict IN ('review', 'ask_firmer') THEN 2 ELSE v_terms.conflict_gap END, v_confidence,
                jsonb_path_query_array(v_conflicts, '$[*] ? (!exists (@.action))'));
        END IF;
        IF v_decided.outcome IS NULL THEN
            v_decided.replaces := NULLIF(coalesce(v_decided.replaces, '{}') || v_own, '{}');
        END IF;
        IF v_decided.replaces IS NOT NULL AND EXISTS (
                SELECT FROM memwarden_data.item AS i
                 WHERE i.org_id = NEW.org_id AND i.item_id = ANY (v_decided.replaces)
                   AND memwarden_internal.refusal(NEW.principal_id, 'WRITE', i.label_id, i.principal_id) IS NOT NULL) THEN
            -- Not this writer's to end, whatever its confidence.
            v_decided := memwarden_internal.resolve_conflict('review', v_terms.conflict_gap, v_confidence,
                coalesce(NULLIF(v_conflicts, '[]'), NEW.conflicts));
        END IF;
        IF v_decided.outcome = 'DEFERRED' THEN
            -- A human's yes carries out what is proposed.
            NEW.review_asked := memwarden_internal.ask_review(NEW.review_asked, v_decided.reason, v_decided.detail);
            NEW.replaces := NULLIF(coalesce(v_own, '{}') || ARRAY(
                SELECT (p.e #>> '{}')::uuid FROM jsonb_path_query(v_decided.detail, '$.proposal.items[*]') AS p (e)), '{}');
        ELSE
            NEW.outcome := v_decided.outcome;
            NEW.reason := v_decided.reason;
            NEW.detail := coalesce(v_decided.detail, NEW.detail);
            NEW.disputes := v_decided.disputes;
            NEW.replaces := v_decided.replaces;
        END IF;
        NEW.contradiction := (SELECT max((c.e ->> 'score')::double precision) FROM jsonb_array_elements(v_conflicts) AS c (e));
    END IF;
    IF NEW.outcome IS NULL AND v_updates IS NOT NULL AND NEW.becomes IS NULL THEN
        NEW.becomes := (v_updates ->> 'item_id')::uuid;
        NEW.detail := coalesce(NEW.detail, '{}') || jsonb_build_object('updates', v_updates);
        v_marks := jsonb_path_query_array(v_marks, '$[*] ? (@.item_id != $next)', jsonb_build_object('next', v_updates -> 'item_id'));
    END IF;
    IF NEW.outcome IS NULL AND v_marks <> '[]' THEN
        -- What tells a newer value of the same thing disputes nothing: the older one is out of date.
        SELECT NULLIF(coalesce(NEW.disputes, '{}') || coalesce(array_agg(m.id) FILTER (WHERE NOT m.newer), '{}'), '{}'),
               array_agg(m.id) FILTER (WHERE m.newer)
          INTO NEW.disputes, NEW.outdates
          FROM (SELECT (e.e ->> 'item_id')::uuid AS id, e.e ->> 'relation' = 'updates' AS newer
                  FROM jsonb_array_elements(v_marks) AS e (e)) AS m
         WHERE m.id <> ALL (coalesce(NEW.disputes, '{}') || coalesce(NEW.replaces, '{}'));
        NEW.detail := coalesce(NEW.detail, '{}') || jsonb_build_object('marked', v_marks);
    END IF;
    NEW.trail := NEW.trail || memwarden_internal.gate_entry(TG_NAME, NEW.outcome, NEW.reason, v_started);
    RETURN NEW;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.gate_contradiction IS
    'Trigger gate_60_contradiction: the layer''s conflict policy decides about a write that certainly contradicts '
    'memories. A newer value of the same thing becomes the next version of the writer''s own memory. Where the judge is '
    'not certain that both are about one thing, both stand and are marked: as disputed, or the older one as outdated. '
    'Source: chapter 12.2.4, V5, V10.';

CREATE OR REPLACE FUNCTION memwarden_internal.told_firmer(p_org_id bigint, p_class jsonb, p_conflicts jsonb, p_firmness integer)
RETURNS jsonb
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN (
        SELECT coalesce(jsonb_agg(CASE WHEN memwarden_internal.firmness(i.standing) > p_firmness
                                         -- A correction stands firmer than what is none, whatever either rests on.
                                         OR i.class IS NOT NULL AND memwarden_internal.precedence(p_org_id, i.class)
                                            > coalesce((p_class ->> 'precedence')::integer, 0)
                                       THEN c.e || '{"firmer": true}' ELSE c.e END ORDER BY c.place), '[]')
          FROM jsonb_array_elements(p_conflicts) WITH ORDINALITY AS c (e, place)
          LEFT JOIN memwarden_data.item AS i ON i.org_id = p_org_id AND i.item_id = (c.e ->> 'item_id')::uuid);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.told_firmer IS
    'What a write of a class contradicts, with "firmer": true where it stands firmer than that, or is of a higher class.';

CREATE OR REPLACE FUNCTION memwarden_internal.beside_values(
    p_org_id bigint, p_key_hash bytea, p_predicate text, p_neighbours jsonb)
RETURNS jsonb
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    -- Lax: of an array each element is asked.
    v_path jsonpath := jsonpath '$ ? ((@.relation == "contradicts" || @.relation == "updates" || @.relation == "precedes")'
        ' && @.method != "exact_negation" && @.method != "judged")';
BEGIN
    IF p_key_hash IS NULL OR NOT p_neighbours @? v_path OR 'accumulate' IS DISTINCT FROM (memwarden_internal.predicate_of(
            p_org_id, memwarden_internal.predicate_name(p_predicate))).same_key THEN
        RETURN p_neighbours;
    END IF;
    RETURN (
        SELECT jsonb_agg(CASE WHEN i.item_id IS NULL OR NOT n.e @? v_path THEN n.e
                              ELSE n.e || '{"relation": "unrelated", "method": "several"}' END ORDER BY n.place)
          FROM jsonb_array_elements(p_neighbours) WITH ORDINALITY AS n (e, place)
          LEFT JOIN memwarden_data.item AS i
            ON i.org_id = p_org_id AND i.item_id = (n.e ->> 'item_id')::uuid AND i.key_hash = p_key_hash);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.beside_values IS
    'Verdicts about neighbours, where another value of a predicate that is declared to have several contradicts none.';

CREATE OR REPLACE FUNCTION memwarden_internal.sort_verdicts(
    p_neighbours jsonb, p_sure double precision, p_has_key boolean, p_settled uuid,
    OUT conflicts jsonb, OUT updates jsonb, OUT marks jsonb)
RETURNS record
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
AS $function$
DECLARE
    v_against jsonb := jsonb_path_query_array(
        p_neighbours, '$[*] ? ((@.relation == "contradicts" || @.relation == "updates" || @.relation == "precedes") && @.score > $sure && '
            '@.item_id != $settled)',
        jsonb_build_object('sure', p_sure, 'settled', p_settled));
BEGIN
    conflicts := '[]';
    marks := '[]';
    IF v_against = '[]' THEN
        RETURN;
    END IF;
    IF NOT p_has_key THEN
        -- The writer's own, and certainly the same thing: what it says now is the next version.
        updates := jsonb_path_query_first(
            v_against, '$[*] ? (@.mine == true && @.exclusive == false && (@.decisive == true || @.method == "judged" && '
                '@.relation == "updates"))');
    END IF;
    v_against := jsonb_path_query_array(v_against, '$[*] ? (@.item_id != $next)', jsonb_build_object('next', updates -> 'item_id'));
    conflicts := jsonb_path_query_array(
        v_against, '$[*] ? (@.relation == "contradicts" && (@.same_key == true && @.mine == false'
        ' || @.same_key != true && (@.method == "judged" || @.decisive == true && (@.mine == false || $keyed == true))))',
        jsonb_build_object('keyed', p_has_key));
    marks := jsonb_path_query_array(
        v_against, '$[*] ? (@.same_key != true && !(@.relation == "contradicts" && (@.method == "judged" || @.decisive == '
            'true && (@.mine == false || $keyed == true))))',
        jsonb_build_object('keyed', p_has_key));
    -- The nearest few: a sentence that contradicts twenty others contradicts none for certain.
    marks := jsonb_path_query_array(marks, '$[0 to 9]');
END
$function$;
COMMENT ON FUNCTION memwarden_internal.sort_verdicts IS
    'Sorts the verdicts of a write that speak against a memory and are surer than p_sure: conflicts, which the layer''s '
    'policy decides about; updates, the writer''s own memory that the write is the next version of (NULL for none); '
    'marks, where both stand and are marked. p_has_key: whether the write has a subject and a predicate. p_settled: a '
    'memory that is not asked about.';
