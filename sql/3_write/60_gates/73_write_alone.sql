-- Most writes are plain, and come one by one. Such a one is decided as one of a set is (write_plain()), by statements for one
-- row: for a single one those cost half of what gates do, and half of what a set of one does.
CREATE OR REPLACE FUNCTION memwarden_internal.write_alone(
    p_principal_id bigint, p_request_id uuid, p_layer text, p_scope text, p_content jsonb, p_confidence double precision,
    p_importance double precision, p_evidence jsonb, p_embedding real[], p_ttl interval, p_trace_id text, p_submitted_at timestamptz)
RETURNS memwarden_internal.write_result
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_began      timestamptz := clock_timestamp();
    v_known      timestamptz;
    v_read       timestamptz;
    v_looked     timestamptz;
    v_judged     timestamptz;
    v_borne_out  timestamptz;
    v_now        timestamptz;
    v_at         record;
    v_terms      record;
    v_form       record;
    v_near       jsonb;
    v_likeness   double precision;
    v_grounds    record;
    v_reach      record;
    v_risk       record;
    v_model_id   smallint;
    v_vector     @extschema:vector@.halfvec;
    v_neighbours jsonb := '[]'::jsonb;
    v_evidence   jsonb := coalesce(p_evidence, '[]');
    v_said       double precision;
    v_weight     double precision := coalesce(p_importance, 0.5);
    v_adjusted   double precision;
    v_record     jsonb;
    v_kept       jsonb;
    v_numbers    numeric[];
    v_signature  bytea;
    v_item_id    uuid;
    v_version_id uuid;
    v_record_id  uuid;
    v_valid      tstzrange;
    v_expires    timestamptz;
BEGIN
    -- So that no gate comes or goes while the scope is waited for.
    LOCK TABLE ONLY memwarden_data.write_request IN ROW EXCLUSIVE MODE;
    SELECT t.is_plain AND memwarden_internal.gates_as_shipped() AS is_plain, t.scope_id, t.plain_label_id AS label_id, t.plain,
           coalesce(t.text_search_config, (t.plain).text_search_config) AS text_search_config, t.generation,
           k.key_id, k.wrapped
      INTO v_at
      FROM memwarden_data.terms_at AS t
      LEFT JOIN memwarden_data.signing_key AS k ON k.purpose = 'provenance' AND k.retired_at IS NULL
     WHERE t.principal_id = p_principal_id AND t.layer = p_layer
       AND t.scope_id = coalesce((SELECT n.scope_id FROM memwarden_data.scope AS n WHERE n.path = p_scope),
                                 (SELECT p.home_scope_id FROM memwarden_data.principal AS p
                                   WHERE p.principal_id = p_principal_id AND p_scope IS NULL))
     LIMIT 1;
    IF v_at.is_plain IS NOT TRUE THEN
        RETURN NULL;
    END IF;
    v_terms := v_at.plain;
    v_known := clock_timestamp();
    -- Before anything is locked, so that others wait no longer than they must: the first of a session loads Python.
    v_form := memwarden_internal.examine(
        p_content::text, NULL, NULL, v_terms.schema, v_terms.constraints, v_terms.text_template, v_terms.synonyms,
        v_terms.max_content_bytes, p_embedding IS NULL, v_terms.rules_hash,
        memwarden_internal.screened_arguments(p_evidence, NULL, NULL, NULL, p_trace_id, NULL)::text);
    v_read := clock_timestamp();
    IF NOT (v_form.findings IS NULL AND v_form.sensitive IS NULL AND v_form.sensitivity = 'none'
            AND coalesce(length(v_form.search_text) <= v_terms.max_text_length, true)
            AND (p_embedding IS NOT NULL OR v_terms.embedding = 'optional')
            AND coalesce(p_embedding, v_form.embedding) IS NOT NULL
            AND (p_ttl IS NULL OR memwarden_internal.time_violations(p_ttl, v_terms.max_ttl, NULL, NULL, v_known) = '[]')
            AND memwarden_internal.embedding_violations(
                    coalesce(p_embedding, v_form.embedding), CASE WHEN p_embedding IS NULL THEN 'lexical' END,
                    CASE WHEN p_embedding IS NULL THEN v_terms.words_dimension ELSE v_terms.dimension END, NULL, v_terms.embedding) = '[]'
            AND NOT (v_terms.seeks_marks
                     AND NOT memwarden_internal.is_plain(v_form.canonical, memwarden_internal.lines_of(v_form.canonical)))) THEN
        RETURN NULL;
    END IF;

    -- What does it rest on? That nobody else's write changes.
    v_said := coalesce(p_confidence, v_terms.default_confidence);
    IF v_evidence <> '[]' THEN
        v_grounds := memwarden_internal.weigh(
            NULL, NULL,
            CASE WHEN v_terms.text_template IS NULL THEN v_form.canonical
                 ELSE memwarden_internal.claim_of_kind(v_form.canonical, v_terms.text_template, NULL, NULL) END, p_evidence,
            memwarden_internal.evidence_sources(p_principal_id, v_terms.org_id, p_evidence, v_read), p_principal_id, NULL,
            v_terms.external_types, v_terms.half_life, memwarden_internal.utc_text(v_read), false);
        IF NOT (v_grounds.item_ids = '{}' AND v_grounds.self_made = '[]' AND v_grounds.least_authority >= v_terms.min_authority
                AND v_grounds.external >= v_terms.min_external
                AND (v_grounds.fact_score >= v_terms.fact_threshold
                     OR v_terms.unclear = 'store' AND NOT v_grounds.grounds @> '[{"contradicts": true}]'
                        AND v_grounds.grounds @? '$[*] ? (exists(@.excerpt_hash))')) THEN
            RETURN NULL;
        END IF;
    ELSIF (v_terms.fact_threshold > 0 OR v_terms.min_external > 0) AND v_terms.no_evidence <> 'store' THEN
        RETURN NULL;
    ELSE
        SELECT NULL::jsonb AS grounds, CASE WHEN v_terms.fact_threshold > 0 THEN 0::double precision END AS fact_score,
               NULL::double precision AS authority,
               NULL::double precision AS trust_ceiling INTO v_grounds;
    END IF;
    IF v_terms.by_risk THEN
        v_reach := memwarden_internal.blast_radius(v_at.scope_id, p_principal_id);
    END IF;
    v_borne_out := clock_timestamp();
    IF NOT memwarden_internal.lock_scope(v_terms.org_id, v_at.scope_id, p_layer) THEN
        RETURN (NULL, 'DEFERRED', NULL, NULL, NULL, NULL, NULL, NULL)::memwarden_internal.write_result;
    END IF;

    -- From here on nobody else writes there. What is like it, as far as the writer reads?
    v_vector := coalesce(p_embedding, v_form.embedding)::@extschema:vector@.halfvec;
    v_model_id := CASE WHEN p_embedding IS NULL THEN v_terms.words_model_id ELSE v_terms.model_id END;
    v_looked := clock_timestamp();
    -- Who changed settings while it was waited for, as set_synonyms() does, is obeyed, and so is who gave the scope an index.
    IF EXISTS (SELECT FROM memwarden_data.shelf AS h
                WHERE h.org_id = v_terms.org_id AND h.scope_id = v_at.scope_id AND h.layer = p_layer AND h.vacated_at IS NULL)
        OR v_at.generation <> (SELECT coalesce(sum(c.weight), 0) FROM memwarden_data.settings_change AS c
                            WHERE c.org_id IN (0, v_terms.org_id))
        OR EXISTS (SELECT FROM memwarden_data.item AS i
                    WHERE i.org_id = v_terms.org_id AND i.scope_id = v_at.scope_id AND i.status = 'ACTIVE' AND i.layer = p_layer
                      AND substr(i.fingerprint, 1, 4) = substr(v_form.fingerprint, 1, 4) AND i.fingerprint = v_form.fingerprint
                      AND (i.principal_id = p_principal_id
                           OR EXISTS (SELECT FROM memwarden_data.label AS l
                                       WHERE l.label_id = i.label_id AND l.org_id IN (0, v_terms.org_id)
                                         AND l.classification <= v_terms.clearance AND l.domains <@ v_terms.held_domains)))
        OR EXISTS (SELECT FROM memwarden_data.idempotency AS i
                    WHERE i.org_id = v_terms.org_id AND i.principal_id = p_principal_id AND i.scope_id = v_at.scope_id
                         AND i.layer = p_layer
                         AND i.token = memwarden_internal.token_of(v_form.content_hash, v_terms.org_id, p_principal_id,
                                                                   v_at.scope_id, p_layer, NULL, NULL, NULL)
                         AND i.expires_at > v_looked) THEN
        RETURN NULL;
    END IF;
    SELECT n.near, n.likeness INTO v_near, v_likeness
      FROM memwarden_internal.neighbours(
               v_terms.org_id, v_at.scope_id, p_layer, p_principal_id, v_at.label_id, v_model_id, v_vector, NULL, v_terms.near_from,
               v_looked, v_form.sought_key) AS n;
    IF v_near IS NOT NULL THEN
        v_neighbours := memwarden_internal.judge(NULL, NULL, v_form.canonical, v_form.search_text, NULL, NULL, v_near);
        IF v_neighbours @? '$[*] ? (@.relation == "contradicts" || @.relation == "updates")' AND v_terms.in_conflict
            OR v_neighbours @? '$[0 to 9].relation ? (@ == "same" || @ == "alike" || @ == "wider" || @ == "narrower")'
            OR EXISTS (SELECT FROM memwarden_internal.denied_sayings(v_terms.org_id, NULL, NULL, v_form.canonical, v_form.search_text))
            OR v_terms.overlap IS NOT NULL AND memwarden_internal.overlap(
                   v_terms.org_id, v_form.search_text, v_at.text_search_config, v_neighbours, v_terms.overlap) IS NOT NULL THEN
            RETURN NULL;
        END IF;
    END IF;
    v_judged := clock_timestamp();

    -- What could it do?
    v_adjusted := memwarden_internal.adjusted_confidence(
        v_terms.confidence_weights, v_said, v_grounds.fact_score, coalesce(v_grounds.authority, 0), v_grounds.trust_ceiling);
    IF v_terms.by_risk THEN
        v_risk := memwarden_internal.risk_of(
            v_terms.weights,
            coalesce(v_terms.layer_risk, memwarden_internal.risk_of_layer('full', coalesce(v_terms.default_ttl, v_terms.max_ttl))), false,
            CASE jsonb_array_length(v_grounds.grounds)
                WHEN 1 THEN (v_grounds.grounds #>> '{0,authority}')::double precision
                ELSE (SELECT avg((e.e ->> 'authority')::double precision) FROM jsonb_array_elements(v_grounds.grounds) AS e (e)) END,
            v_adjusted, v_likeness, v_reach.readers, v_reach.recalls, v_reach.consumers);
        IF v_risk.risk >= v_terms.auto_below THEN
            RETURN NULL;
        END IF;
    ELSE
        SELECT NULL::double precision AS risk, NULL::double precision[] AS measures INTO v_risk;
    END IF;
    v_now := clock_timestamp();

    v_item_id := memwarden_internal.uuid7();
    v_version_id := memwarden_internal.uuid7();
    v_record_id := memwarden_internal.uuid7();
    v_record := memwarden_internal.record_of_write(
                    p_request_id, v_terms.agent, NULL, v_grounds.grounds, v_said, v_grounds.fact_score,
                    v_terms.validation_weights[1] + v_terms.validation_weights[2] * coalesce(v_grounds.fact_score, 0)
                    + v_terms.validation_weights[3],
                    v_adjusted, coalesce(v_grounds.authority, 0), 'none', v_neighbours, v_form.content_hash)
                || CASE WHEN v_terms.by_risk
                        THEN jsonb_build_object('approval', jsonb_build_object('tier', 'auto', 'risk', v_risk.risk)) ELSE '{}' END;
    v_kept := memwarden_internal.kept_record(v_record)
        || jsonb_build_object('place', memwarden_internal.place_mark(v_item_id, v_version_id, v_record_id, 'WRITE', v_now));
    v_numbers := ARRAY[v_record ->> 'agent_confidence', v_record ->> 'fact_score', v_record ->> 'validation_score',
                       v_record ->> 'adjusted_confidence', v_record ->> 'authority']::numeric[];
    v_signature := memwarden_internal.sign_text(v_at.wrapped, 'provenance', memwarden_internal.whole_record(
        v_kept, v_item_id, v_version_id, v_record_id, 'WRITE', v_now, p_request_id, NULL, v_form.content_hash,
        v_numbers[1], v_numbers[2], v_numbers[3], v_numbers[4], v_numbers[5])::text);
    -- Under another master key nothing is signed: the gates make a new key.
    IF v_signature = ''
        OR v_terms.rate_limit IS NOT NULL AND NOT memwarden_internal.take_permit(
               v_terms.org_id, p_principal_id, 0, p_layer, v_terms.rate_limit, v_terms.rate_window, v_now) THEN
        RETURN NULL;
    END IF;
    v_valid := tstzrange(v_now, NULL);
    v_expires := v_now + coalesce(p_ttl, v_terms.default_ttl);

    PERFORM memwarden_internal.assess(ARRAY[p_request_id]);
    INSERT INTO memwarden_data.write_request (
        request_id, layer, scope_path, confidence, embedding_model, ttl, trace_id, org_id, principal_id, scope_id,
        submitted_at, admission, label_id, scope_locked, content_hash, schema_id, model_id, admitted, sensitivity,
        trust_ceiling, review, outcome, item_id, version_id, verdict, decided_at, gates, asked_hash)
    VALUES (
        p_request_id, p_layer, p_scope, v_said, CASE WHEN p_embedding IS NULL THEN 'lexical' END, p_ttl, p_trace_id,
        v_terms.org_id, p_principal_id, v_at.scope_id, p_submitted_at, 'full', v_at.label_id, true, v_form.content_hash,
        v_terms.schema_id, v_model_id, CASE WHEN v_terms.rate_limit IS NOT NULL THEN true END, 'none', v_grounds.trust_ceiling,
        CASE WHEN v_terms.by_risk
             THEN jsonb_build_object('auto', concat_ws(' ', v_risk.risk, v_risk.measures, v_terms.weights)) END,
        'COMMITTED', v_item_id, v_version_id, memwarden_internal.verdict(false, false), clock_timestamp(),
        memwarden_internal.plain_trail(
            '=', (date_part('epoch', v_known - v_began) * 1000000)::integer, v_read - v_known, v_judged - v_looked, v_borne_out - v_read,
            v_terms.has_durability, v_terms.asks_approval,
            v_grounds.fact_score < v_terms.fact_threshold OR v_terms.min_external > 0 AND v_grounds.grounds IS NULL),
        memwarden_internal.asked_hash(v_form.content_hash, p_layer, p_scope, NULL, NULL, NULL));
    INSERT INTO memwarden_data.version (
        org_id, version_id, item_id, version, status, scope_id, layer, schema_id, exclusive, instance, content, search_text,
        content_hash, confidence, importance, evidence, principal_id, label_id, request_id, recorded_during, valid_during, expires_at)
    VALUES (
        v_terms.org_id, v_version_id, v_item_id, 1, 'ACTIVE', v_at.scope_id, p_layer, v_terms.schema_id, false, 0,
        v_form.canonical::jsonb, v_form.search_text, v_form.content_hash, v_said, v_weight, v_evidence, p_principal_id,
        v_at.label_id, p_request_id, v_valid, v_valid, v_expires);
    INSERT INTO memwarden_data.log (
        recorded_at, transaction_id, system_identifier, org_id, operation, item_id, version_id, scope_id, layer, principal_id,
        request_id, reason, snapshot_hash)
    VALUES (
        v_now, pg_current_xact_id(), memwarden_internal.system_identifier(), v_terms.org_id, 'INSERT', v_item_id, v_version_id,
        v_at.scope_id, p_layer, p_principal_id, p_request_id, 'new item', memwarden_internal.snapshot_hash(
            v_version_id, v_item_id, 1, NULL, NULL, NULL, v_at.scope_id, p_layer, NULL, NULL, NULL, v_form.content_hash,
            v_said, v_weight, v_evidence, p_principal_id, v_at.label_id, p_request_id, v_now, v_valid, v_expires, NULL, NULL, NULL));
    INSERT INTO memwarden_data.item (
        org_id, item_id, scope_id, layer, status, version_id, version, exclusive, instance, confidence, importance,
        adjusted_confidence, authority, sensitivity, principal_id, label_id, created_at, updated_at, expires_at, valid_during,
        content_hash, fingerprint, attribute_key, standing, search_vector)
    VALUES (
        v_terms.org_id, v_item_id, v_at.scope_id, p_layer, 'ACTIVE', v_version_id, 1, false, 0, v_said, v_weight,
        v_adjusted, coalesce(v_grounds.authority, 0), 'none', p_principal_id, v_at.label_id, v_now, v_now, v_expires, v_valid,
        v_form.content_hash, v_form.fingerprint, v_form.attribute_key, memwarden_internal.standing_of(v_record),
        memwarden_internal.words_of(v_at.text_search_config, v_form.search_text));
    INSERT INTO memwarden_data.provenance (
        org_id, scope_id, item_id, version_id, provenance_id, event, recorded_at, record, key_id, signature, request_id,
        content_hash, agent_confidence, fact_score, validation_score, adjusted_confidence, authority)
    VALUES (
        v_terms.org_id, v_at.scope_id, v_item_id, v_version_id, v_record_id, 'WRITE', v_now, v_kept,
        CASE WHEN v_signature IS NOT NULL THEN v_at.key_id END, v_signature, p_request_id, v_form.content_hash,
        v_numbers[1], v_numbers[2], v_numbers[3], v_numbers[4], v_numbers[5]);
    INSERT INTO memwarden_data.embedding_shared (org_id, scope_id, model_id, item_id, embedding)
    VALUES (v_terms.org_id, v_at.scope_id, v_model_id, v_item_id, v_vector);
    RETURN (p_request_id, 'COMMITTED', v_item_id, v_version_id, NULL, NULL, NULL, NULL)::memwarden_internal.write_result;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.write_alone IS
    'Decides and stores a plain request that every gate would accept as a memory of its own. NULL, and nothing stored, where '
    'a gate has more to say, or where not all is as it is shipped; of a scope that stays busy, the outcome DEFERRED alone.';
