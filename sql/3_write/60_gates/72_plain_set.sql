-- Most writes are plain: a content, perhaps evidence and a vector, into a layer that nobody has set anything special up
-- for, and nothing speaks against them. A set of those is decided and stored by a few statements, whatever its size.
-- Whatever is not plain, or would be refused, deferred, merged or marked, is left to the gates, which say why.
CREATE TYPE memwarden_internal.plain_terms AS (
    scope              text,
    layer              text,
    org_id             bigint,
    scope_id           bigint,
    label_id           integer,
    agent              text,
    clearance          smallint,
    held_domains       text[],
    has_limit          boolean,
    max_content_bytes  integer,
    max_text_length    integer,
    max_ttl            interval,
    default_ttl        interval,
    embedding          text,
    text_search_config text,
    default_confidence double precision,
    validation_weights double precision[],
    confidence_weights double precision[],
    fact_threshold     double precision,
    min_authority      double precision,
    min_external       integer,
    external_types     text[],
    half_life          double precision,
    -- how near a memory must be to be compared with; whether a contradiction counts
    near_from          double precision,
    in_conflict        boolean,
    seeks_marks        boolean,
    has_durability     boolean,
    overlap            jsonb,
    model_id           smallint,
    dimension          integer,
    words_model_id     smallint,
    words_dimension    integer,
    rules_hash         text,
    schema_id          bigint,
    schema             text,
    constraints        text,
    text_template      text,
    synonyms           text,
    asks_approval      boolean,
    -- asked, and by a policy that goes by the risk
    by_risk            boolean,
    auto_below         double precision,
    weights            double precision[],
    layer_risk         double precision,
    readers            bigint,
    recalls            bigint,
    consumers          bigint,
    unclear            text,
    no_evidence        text
);
COMMENT ON TYPE memwarden_internal.plain_terms IS
    'On what terms a writer may write plainly into a scope and layer: what the gates would ask of each write there.';

-- Worked out once for each plan, as it never changes.
CREATE OR REPLACE FUNCTION memwarden_internal.shipped_gates()
RETURNS name[]
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
AS $function$
BEGIN
    RETURN ARRAY(SELECT format('gate_%s_%s', lpad(g.ordinal::text, 2, '0'), g.name)::name
                   FROM memwarden_internal.built_in_gates() AS g);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.shipped_gates IS 'The triggers of built_in_gates().';

-- The gates as they are shipped, and none besides: only then is known what they say without asking them.
CREATE OR REPLACE FUNCTION memwarden_internal.gates_as_shipped()
RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL SAFE SECURITY INVOKER
AS $function$
BEGIN
    RETURN (SELECT count(*) = cardinality(memwarden_internal.shipped_gates())
                   AND bool_and(t.tgname = ANY (memwarden_internal.shipped_gates()) AND t.tgenabled = 'O')
              FROM pg_trigger AS t
             WHERE t.tgrelid = 'memwarden_data.write_request'::regclass AND starts_with(t.tgname, 'gate_'));
END
$function$;
COMMENT ON FUNCTION memwarden_internal.gates_as_shipped IS
    'Whether every gate stands where it was shipped, is on, and no other was added.';

-- Of the session's memory, which no statement of a caller reaches: a column or a setting could be forged.
CREATE OR REPLACE FUNCTION memwarden_internal.assess(p_request_ids uuid[])
RETURNS integer
LANGUAGE plpython3u VOLATILE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
GD["memwarden assessed"] = set(p_request_ids)
return len(p_request_ids)
$function$;
COMMENT ON FUNCTION memwarden_internal.assess IS
    'Notes which requests are decided before their rows are inserted; those of an earlier call are forgotten.';

CREATE OR REPLACE FUNCTION memwarden_internal.was_assessed(p_request_id uuid)
RETURNS boolean
LANGUAGE plpython3u VOLATILE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
assessed = GD.get("memwarden assessed", ())
if p_request_id not in assessed:
    return False
assessed.discard(p_request_id)
return True
$function$;
COMMENT ON FUNCTION memwarden_internal.was_assessed IS 'Whether assess() has noted a request of this session. It says so once.';

CREATE OR REPLACE FUNCTION memwarden_internal.plain_terms(
    p_principal_id bigint, p_scopes text[], p_layers text[], p_held text[])
RETURNS memwarden_internal.plain_terms[]
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
BEGIN
    PERFORM memwarden_internal.keep_terms(p_principal_id, a.layer)
       FROM (SELECT DISTINCT l.layer FROM unnest(p_layers) AS l (layer)) AS a
      WHERE NOT EXISTS (SELECT FROM memwarden_data.terms_at AS t
                         WHERE t.principal_id = p_principal_id AND t.layer = a.layer AND t.scope_id = t.home_scope_id);
    RETURN ARRAY(
        SELECT ROW (
                   w.scope, w.layer, (t.plain).org_id, t.scope_id, t.plain_label_id, (t.plain).agent, (t.plain).clearance,
                   (t.plain).held_domains, (t.plain).rate_limit IS NOT NULL, (t.plain).max_content_bytes, (t.plain).max_text_length,
                   (t.plain).max_ttl, (t.plain).default_ttl, (t.plain).embedding,
                   coalesce(t.text_search_config, (t.plain).text_search_config), (t.plain).default_confidence,
                   (t.plain).validation_weights, (t.plain).confidence_weights, (t.plain).fact_threshold, (t.plain).min_authority,
                   (t.plain).min_external, (t.plain).external_types, (t.plain).half_life, (t.plain).near_from, (t.plain).in_conflict,
                   (t.plain).seeks_marks, (t.plain).has_durability, (t.plain).overlap, (t.plain).model_id, (t.plain).dimension,
                   (t.plain).words_model_id, (t.plain).words_dimension, (t.plain).rules_hash, (t.plain).schema_id, (t.plain).schema,
                   (t.plain).constraints, (t.plain).text_template, (t.plain).synonyms, (t.plain).asks_approval, (t.plain).by_risk,
                   (t.plain).auto_below, (t.plain).weights,
                   coalesce((t.plain).layer_risk, memwarden_internal.risk_of_layer(
                       'full', coalesce((t.plain).default_ttl, (t.plain).max_ttl))), b.readers, b.recalls, b.consumers,
                   (t.plain).unclear, (t.plain).no_evidence
               )::memwarden_internal.plain_terms
          FROM (SELECT DISTINCT a.scope, a.layer, s.scope_id
                  FROM unnest(p_scopes, p_layers) AS a (scope, layer)
                  JOIN memwarden_data.principal AS p ON p.principal_id = p_principal_id
                 CROSS JOIN LATERAL (
                       SELECT CASE WHEN a.scope IS NULL THEN p.home_scope_id
                                   ELSE (SELECT n.scope_id FROM memwarden_data.scope AS n WHERE n.path = a.scope) END AS scope_id) AS s
               ) AS w
         CROSS JOIN LATERAL (
               SELECT p.* FROM memwarden_data.terms_at AS p
                WHERE p.principal_id = p_principal_id AND p.layer = w.layer AND p.scope_id = w.scope_id
                LIMIT 1) AS t
          LEFT JOIN LATERAL memwarden_internal.blast_radius(t.scope_id, p_principal_id) AS b ON (t.plain).by_risk
         WHERE t.is_plain AND ((t.plain).rate_limit IS NULL OR w.layer = ANY (p_held)));
END
$function$;
COMMENT ON FUNCTION memwarden_internal.plain_terms IS
    'The terms of the scopes and layers that a principal may write plainly into; of others none. p_scopes: paths, NULL '
    'for the home. p_held: the layers of which permits are held.';

CREATE OR REPLACE FUNCTION memwarden_internal.is_plain_write(
    p_evidence jsonb, p_confidence double precision, p_importance double precision, p_trace_id text)
RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
RETURN coalesce(length(p_trace_id) <= 200, true)
   AND coalesce(p_confidence BETWEEN 0 AND 1, true) AND coalesce(p_importance BETWEEN 0 AND 1, true)
   AND (p_evidence IS NULL OR memwarden_internal.is_plain_evidence(p_evidence) AND strpos(p_evidence::text, 'memwarden:') = 0);
COMMENT ON FUNCTION memwarden_internal.is_plain_write IS
    'Whether evidence, confidence, importance and trace id of a request are in the usual form.';

-- Only what says nothing special, and bears an id of its own.
CREATE OR REPLACE FUNCTION memwarden_internal.is_plain_request(p_request memwarden_internal.batch_request)
RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
RETURN num_nonnulls((p_request).subject, (p_request).predicate, (p_request).deadline, (p_request).idempotency_key, (p_request).kind,
                    (p_request).valid_from, (p_request).valid_to, (p_request).embedding_model, (p_request).classification,
                    (p_request).domains, (p_request).attributes, (p_request).origin, (p_request).class, (p_request).justification,
                    (p_request).corrects, (p_request).fault) = 0
   AND num_nonnulls((p_request).content, (p_request).content_text) = 1 AND (p_request).layer IS NOT NULL
   AND memwarden_internal.is_plain_write((p_request).evidence, (p_request).confidence, (p_request).importance, (p_request).trace_id);
COMMENT ON FUNCTION memwarden_internal.is_plain_request IS
    'Whether a request has content, evidence, vector, confidence, importance, time to live and trace id alone, in the usual form.';

-- One statement looks at all of them, weighs, signs and stores. Rows that are like an earlier one of the set wait for the
-- next: by then that one is there to be compared with.
CREATE OR REPLACE FUNCTION memwarden_internal.write_plain(
    p_rows memwarden_internal.batch_request[], p_ids uuid[], p_places integer[], p_principal_id bigint,
    p_terms memwarden_internal.plain_terms[], p_asked_at timestamptz, p_submitted_at timestamptz)
RETURNS TABLE (place integer, state text, item_id uuid, version_id uuid)
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_now  timestamptz := clock_timestamp();
    v_each integer := date_part('epoch', clock_timestamp() - p_asked_at) * 1000000 / cardinality(p_places);
    v_system bigint := memwarden_internal.system_identifier();
    v_key  record;
    v_labels integer[] := ARRAY(
        SELECT l.label_id FROM memwarden_data.label AS l
         WHERE l.org_id IN (0, p_terms[1].org_id) AND l.classification <= p_terms[1].clearance
           AND l.domains <@ p_terms[1].held_domains);
BEGIN
    SELECT k.key_id, k.wrapped INTO v_key
      FROM memwarden_data.signing_key AS k WHERE k.purpose = 'provenance' AND k.retired_at IS NULL;
    RETURN QUERY
    WITH read AS MATERIALIZED (
        -- What it is: hashes, words, a vector, and what is wrong with it.
        SELECT a.ordinality::integer AS place, p_ids[a.ordinality] AS id, a.scope AS path, a.evidence, a.confidence, a.importance,
               a.ttl, a.trace_id, a.embedding IS NULL AS is_lexical, t.org_id, t.scope_id, t.layer, t.label_id, t.agent, t.has_limit,
               t.default_ttl, t.text_search_config, t.default_confidence, t.validation_weights, t.confidence_weights,
               t.fact_threshold, t.min_authority, t.min_external, t.external_types, t.half_life, t.near_from, t.in_conflict,
               t.seeks_marks, t.has_durability, t.overlap, t.schema_id, t.text_template, t.asks_approval, t.by_risk, t.auto_below,
               t.weights, t.layer_risk, t.readers, t.recalls, t.consumers, t.unclear, t.no_evidence, c.at AS began,
               f.canonical, f.content_hash, f.fingerprint,
               f.attribute_key, f.sought_key, f.search_text, v.vector, clock_timestamp() AS ended,
               CASE WHEN a.embedding IS NULL THEN t.words_model_id ELSE t.model_id END AS own_model_id,
               v_now + a.ordinality * interval '1 microsecond' AS now,
               v.vector IS NOT NULL AND f.findings IS NULL AND f.sensitive IS NULL AND f.sensitivity = 'none'
               AND coalesce(length(f.search_text) <= t.max_text_length, true)
               AND (a.embedding IS NOT NULL OR t.embedding = 'optional')
               AND (a.ttl IS NULL OR memwarden_internal.time_violations(a.ttl, t.max_ttl, NULL, NULL, v_now) = '[]') AS is_well_formed
          FROM unnest(p_rows) WITH ORDINALITY AS a
          JOIN unnest(p_places) AS p (place) ON p.place = a.ordinality
          JOIN unnest(p_terms) AS t ON t.layer = a.layer AND coalesce(t.scope, '') = coalesce(a.scope, '')
         CROSS JOIN LATERAL (SELECT clock_timestamp() AS at OFFSET 0) AS c
         CROSS JOIN LATERAL (SELECT e.* FROM memwarden_internal.examine(
                        coalesce(a.content::text, a.content_text), NULL, NULL, t.schema, t.constraints, t.text_template, t.synonyms,
                        t.max_content_bytes, a.embedding IS NULL, t.rules_hash,
                        memwarden_internal.screened_arguments(a.evidence, NULL, NULL, NULL, a.trace_id, NULL)::text) AS e OFFSET 0) AS f
         CROSS JOIN LATERAL (
              SELECT CASE WHEN memwarden_internal.embedding_violations(
                                   n.numbers, CASE WHEN a.embedding IS NULL THEN 'lexical' END,
                                   CASE WHEN a.embedding IS NULL THEN t.words_dimension ELSE t.dimension END, NULL, t.embedding) = '[]'
                          THEN n.numbers::@extschema:vector@.halfvec END AS vector
                FROM (SELECT coalesce(a.embedding, f.embedding) AS numbers) AS n OFFSET 0) AS v
    ), formed AS MATERIALIZED (
        SELECT r.* FROM read AS r WHERE r.is_well_formed
    ), alike AS MATERIALIZED (
        -- Scope by scope: joined as a whole, each would be compared with each of all, since a planner expects one. What the gates
        -- will refuse counts too: what came behind it must not be there before.
        SELECT DISTINCT b.place
          FROM (SELECT array_agg(f.place) AS places, array_agg(f.fingerprint) AS fingerprints, array_agg(f.own_model_id) AS models,
                       array_agg(f.vector) AS vectors, array_agg(f.attribute_key) AS attributes, array_agg(f.sought_key) AS sought,
                       min(f.near_from) AS near_from
                  FROM read AS f GROUP BY f.scope_id, f.layer HAVING count(*) > 1 OFFSET 0) AS g
         CROSS JOIN LATERAL unnest(g.places, g.fingerprints, g.models, g.vectors, g.sought)
               AS b (place, fingerprint, model_id, vector, sought_key)
         CROSS JOIN LATERAL unnest(g.places, g.fingerprints, g.models, g.vectors, g.attributes)
               AS e (place, fingerprint, model_id, vector, attribute_key)
         WHERE e.place < b.place
           AND (e.fingerprint = b.fingerprint OR e.attribute_key = b.sought_key
                OR e.model_id = b.model_id AND 1 - (e.vector OPERATOR(@extschema:vector@.<=>) b.vector) > g.near_from)
    ), compared AS MATERIALIZED (
        -- What is there already: nothing of the same form, and nothing near that is the same, says more, or contradicts.
        SELECT r.*, c.at AS looked, n.near, n.likeness,
               CASE WHEN n.near IS NOT NULL THEN memwarden_internal.judge(NULL, NULL, r.canonical, r.search_text, NULL, NULL, n.near)
                    ELSE '[]' END AS neighbours,
               clock_timestamp() AS judged
          FROM formed AS r
         CROSS JOIN LATERAL (SELECT clock_timestamp() AS at OFFSET 0) AS c
         CROSS JOIN LATERAL (SELECT n.near, n.likeness
                               FROM memwarden_internal.neighbours(
                                        r.org_id, r.scope_id, r.layer, p_principal_id, r.label_id, r.own_model_id, r.vector, NULL,
                                        r.near_from, v_now, r.sought_key) AS n OFFSET 0) AS n
         WHERE r.place <> ALL (ARRAY(SELECT a.place FROM alike AS a))
    ), weighed AS MATERIALIZED (
        -- What it rests on, and what it could do.
        SELECT r.*, coalesce(r.confidence, r.default_confidence) AS said, g.grounds,
               coalesce(g.fact_score, CASE WHEN r.fact_threshold > 0 THEN 0 END) AS fact_score, coalesce(g.authority, 0) AS trust,
               g.trust_ceiling, j.adjusted, k.risk, k.measures, clock_timestamp() AS borne_out,
               NOT EXISTS (SELECT FROM memwarden_data.item AS i
                            WHERE i.org_id = r.org_id AND i.scope_id = r.scope_id AND i.status = 'ACTIVE' AND i.layer = r.layer
                              AND substr(i.fingerprint, 1, 4) = substr(r.fingerprint, 1, 4) AND i.fingerprint = r.fingerprint
                              AND (i.principal_id = p_principal_id OR i.label_id = ANY (v_labels)))
               AND NOT EXISTS (SELECT FROM (SELECT i.expires_at FROM memwarden_data.idempotency AS i
                                             WHERE i.org_id = r.org_id AND i.principal_id = p_principal_id AND i.scope_id = r.scope_id
                                               AND i.layer = r.layer
                                               AND i.token = memwarden_internal.token_of(
                                                       r.content_hash, r.org_id, p_principal_id, r.scope_id, r.layer, NULL, NULL, NULL)
                                            OFFSET 0) AS i
                                WHERE i.expires_at > v_now)
               AND NOT (r.near IS NOT NULL AND (
                        r.neighbours @? '$[*] ? (@.relation == "contradicts" || @.relation == "updates")' AND r.in_conflict
                        OR r.neighbours @? '$[0 to 9].relation ? (@ == "same" || @ == "alike" || @ == "wider" || @ == "narrower")'
                        OR EXISTS (SELECT FROM memwarden_internal.denied_sayings(r.org_id, NULL, NULL, r.canonical, r.search_text))
                        OR r.overlap IS NOT NULL AND memwarden_internal.overlap(
                               r.org_id, r.search_text, r.text_search_config, r.neighbours, r.overlap) IS NOT NULL))
               AND NOT (r.seeks_marks AND NOT memwarden_internal.is_plain(r.canonical, memwarden_internal.lines_of(r.canonical)))
               AND CASE WHEN g.grounds IS NULL THEN r.fact_threshold <= 0 AND r.min_external <= 0 OR r.no_evidence = 'store'
                        ELSE g.item_ids = '{}' AND g.self_made = '[]' AND g.least_authority >= r.min_authority
                             AND g.external >= r.min_external
                             AND (g.fact_score >= r.fact_threshold
                                  OR r.unclear = 'store' AND NOT g.grounds @> '[{"contradicts": true}]'
                                     AND g.grounds @? '$[*] ? (exists(@.excerpt_hash))') END
               AND NOT (r.by_risk AND k.risk >= r.auto_below) AS passes
          FROM compared AS r
          LEFT JOIN LATERAL (
               SELECT w.* FROM memwarden_internal.weigh(
                          NULL, NULL, CASE WHEN r.text_template IS NULL THEN r.canonical
                                           ELSE memwarden_internal.claim_of_kind(r.canonical, r.text_template, NULL, NULL) END, r.evidence,
                          memwarden_internal.evidence_sources(p_principal_id, r.org_id, r.evidence, v_now), p_principal_id, NULL,
                          r.external_types, r.half_life, memwarden_internal.utc_text(v_now), false) AS w
                WHERE coalesce(r.evidence, '[]') <> '[]' OFFSET 0) AS g ON true
         CROSS JOIN LATERAL (
               SELECT memwarden_internal.adjusted_confidence(
                          r.confidence_weights, coalesce(r.confidence, r.default_confidence),
                          coalesce(g.fact_score, CASE WHEN r.fact_threshold > 0 THEN 0 END), coalesce(g.authority, 0),
                          g.trust_ceiling) AS adjusted OFFSET 0) AS j
          LEFT JOIN LATERAL (
               SELECT x.* FROM memwarden_internal.risk_of(
                          r.weights, r.layer_risk, false,
                          (SELECT avg((e.e ->> 'authority')::double precision) FROM jsonb_array_elements(g.grounds) AS e (e)), j.adjusted,
                          r.likeness, r.readers, r.recalls, r.consumers) AS x
                WHERE r.by_risk OFFSET 0) AS k ON true
    ), ordered AS MATERIALIZED (
        -- What is near to a memory that an earlier row may change is compared with what became of it.
        SELECT r.*, r.passes AND NOT (r.near IS NOT NULL AND coalesce(bool_or(NOT r.passes) OVER (
                   PARTITION BY r.scope_id, r.layer ORDER BY r.place ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), false)) AS is_first
          FROM weighed AS r
    ), born AS MATERIALIZED (
        SELECT r.place, r.id, r.path, r.evidence, r.said, r.ttl, r.trace_id, r.is_lexical, r.org_id, r.scope_id, r.layer, r.label_id,
               r.agent, r.has_limit, r.text_search_config, r.validation_weights, r.has_durability, r.schema_id, r.asks_approval,
               r.by_risk, r.weights, r.began, r.canonical, r.content_hash, r.fingerprint, r.search_text, r.vector, r.own_model_id,
               r.now, r.attribute_key, r.fact_threshold, r.min_external,
               r.neighbours, r.grounds, r.fact_score, r.trust, r.trust_ceiling, r.adjusted, r.risk, r.measures,
               r.ended - r.began AS reading, r.judged - r.looked AS comparing, r.borne_out - r.judged AS weighing,
               memwarden_internal.uuid7() AS item_id, memwarden_internal.uuid7() AS version_id,
               memwarden_internal.uuid7() AS record_id, r.now + coalesce(r.ttl, r.default_ttl) AS expires,
               tstzrange(r.now, NULL) AS valid, coalesce(r.importance, 0.5) AS weight
          FROM ordered AS r WHERE r.passes AND r.is_first
    ), vouched AS MATERIALIZED (
        SELECT r.*, (memwarden_internal.record_of_write(
                         r.id, r.agent, NULL, r.grounds, r.said, r.fact_score,
                         r.validation_weights[1] + r.validation_weights[2] * coalesce(r.fact_score, 0) + r.validation_weights[3],
                         r.adjusted, r.trust, 'none', r.neighbours, r.content_hash)
                     || CASE WHEN r.by_risk
                             THEN jsonb_build_object('approval', jsonb_build_object('tier', 'auto', 'risk', r.risk)) ELSE '{}' END
                    ) AS record
          FROM born AS r
    ), signed AS MATERIALIZED (
        SELECT r.*, k.kept, memwarden_internal.sign_text(v_key.wrapped, 'provenance', memwarden_internal.whole_record(
                   k.kept, r.item_id, r.version_id, r.record_id, 'WRITE', r.now, r.id, NULL, r.content_hash,
                   (r.record ->> 'agent_confidence')::numeric, (r.record ->> 'fact_score')::numeric,
                   (r.record ->> 'validation_score')::numeric, (r.record ->> 'adjusted_confidence')::numeric,
                   (r.record ->> 'authority')::numeric)::text) AS signature
          FROM vouched AS r
         CROSS JOIN LATERAL (SELECT memwarden_internal.kept_record(r.record) || jsonb_build_object(
                                 'place', memwarden_internal.place_mark(r.item_id, r.version_id, r.record_id, 'WRITE', r.now)) AS kept
                             OFFSET 0) AS k
    ), sure AS MATERIALIZED (
        -- Under another master key nothing is signed: the gates make a new key.
        SELECT s.*
          FROM (SELECT memwarden_internal.assess(coalesce(array_agg(n.id), '{}')) AS noted
                  FROM signed AS n WHERE n.signature IS DISTINCT FROM '' OFFSET 0) AS a
          JOIN signed AS s ON s.signature IS DISTINCT FROM '' AND a.noted > 0
    ), request AS (
        INSERT INTO memwarden_data.write_request (
            request_id, layer, scope_path, confidence, embedding_model, ttl, trace_id, permit_held, org_id, principal_id, scope_id,
            submitted_at, admission, label_id, scope_locked, content_hash, schema_id, model_id, admitted, sensitivity,
            trust_ceiling, review, outcome, item_id, version_id, verdict, decided_at, gates, asked_hash)
        SELECT r.id, r.layer, r.path, r.said, CASE WHEN r.is_lexical THEN 'lexical' END, r.ttl, r.trace_id,
               r.has_limit, r.org_id, p_principal_id, r.scope_id, p_submitted_at, 'full', r.label_id, true,
               r.content_hash, r.schema_id, r.own_model_id, CASE WHEN r.has_limit THEN true END, 'none',
               r.trust_ceiling,
               CASE WHEN r.by_risk
                    THEN jsonb_build_object('auto', concat_ws(' ', r.risk, r.measures, r.weights)) END,
               'COMMITTED', r.item_id, r.version_id, memwarden_internal.verdict(false, false), clock_timestamp(),
               memwarden_internal.plain_trail('+', v_each, r.reading, r.comparing, r.weighing,
                   r.has_durability, r.asks_approval, r.fact_score < r.fact_threshold OR r.min_external > 0 AND r.grounds IS NULL),
               memwarden_internal.asked_hash(r.content_hash, r.layer, r.path, NULL, NULL, NULL)
          FROM sure AS r ORDER BY r.place
    ), version AS (
        INSERT INTO memwarden_data.version (
            org_id, version_id, item_id, version, status, scope_id, layer, schema_id, exclusive, instance, content, search_text,
            content_hash, confidence, importance, evidence, principal_id, label_id, request_id, recorded_during, valid_during, expires_at)
        SELECT r.org_id, r.version_id, r.item_id, 1, 'ACTIVE', r.scope_id, r.layer, r.schema_id, false, 0, r.canonical::jsonb,
               r.search_text, r.content_hash, r.said, r.weight, coalesce(r.evidence, '[]'), p_principal_id, r.label_id, r.id,
               tstzrange(r.now, NULL), r.valid, r.expires
          FROM sure AS r ORDER BY r.place
    ), log AS (
        INSERT INTO memwarden_data.log (
            recorded_at, transaction_id, system_identifier, org_id, operation, item_id, version_id, scope_id, layer, principal_id,
            request_id, reason, snapshot_hash)
        SELECT r.now, pg_current_xact_id(), v_system, r.org_id, 'INSERT', r.item_id, r.version_id,
               r.scope_id, r.layer, p_principal_id, r.id, 'new item', memwarden_internal.snapshot_hash(
                   r.version_id, r.item_id, 1, NULL, NULL, NULL, r.scope_id, r.layer, NULL, NULL, NULL, r.content_hash, r.said, r.weight,
                   coalesce(r.evidence, '[]'), p_principal_id, r.label_id, r.id, r.now, r.valid, r.expires, NULL, NULL,
                   NULL)
          FROM sure AS r ORDER BY r.place
    ), item AS (
        INSERT INTO memwarden_data.item (
            org_id, item_id, scope_id, layer, status, version_id, version, exclusive, instance, confidence, importance,
            adjusted_confidence, authority, sensitivity, principal_id, label_id, created_at, updated_at, expires_at, valid_during,
            content_hash, fingerprint, attribute_key, standing, search_vector)
        SELECT r.org_id, r.item_id, r.scope_id, r.layer, 'ACTIVE', r.version_id, 1, false, 0, r.said, r.weight, r.adjusted, r.trust,
               'none', p_principal_id, r.label_id, r.now, r.now, r.expires, r.valid, r.content_hash, r.fingerprint, r.attribute_key,
               memwarden_internal.standing_of(r.record),
               memwarden_internal.words_of(r.text_search_config, r.search_text)
          FROM sure AS r ORDER BY r.place
    ), provenance AS (
        INSERT INTO memwarden_data.provenance (
            org_id, scope_id, item_id, version_id, provenance_id, event, recorded_at, record, key_id, signature, request_id,
            content_hash, agent_confidence, fact_score, validation_score, adjusted_confidence, authority)
        SELECT r.org_id, r.scope_id, r.item_id, r.version_id, r.record_id, 'WRITE', r.now, r.kept,
               CASE WHEN r.signature IS NOT NULL THEN v_key.key_id END, r.signature, r.id, r.content_hash,
               (r.record ->> 'agent_confidence')::numeric, (r.record ->> 'fact_score')::numeric,
               (r.record ->> 'validation_score')::numeric, (r.record ->> 'adjusted_confidence')::numeric,
               (r.record ->> 'authority')::numeric
          FROM sure AS r ORDER BY r.place
    ), vector AS (
        INSERT INTO memwarden_data.embedding_shared (org_id, scope_id, model_id, item_id, embedding)
        SELECT r.org_id, r.scope_id, r.own_model_id, r.item_id, r.vector FROM sure AS r ORDER BY r.place
    )
    -- A full join is never made by comparing each row with each, however few the planner expects.
    SELECT r.place, CASE WHEN s.place IS NOT NULL THEN 'stored'
                         WHEN r.place = ANY (ARRAY(SELECT a.place FROM alike AS a)) OR o.passes AND NOT o.is_first THEN 'later'
                         ELSE 'gates' END, s.item_id, s.version_id
      FROM (SELECT x.place FROM read AS x) AS r
      FULL JOIN (SELECT x.place, x.item_id, x.version_id FROM sure AS x) AS s ON s.place = r.place
      FULL JOIN (SELECT x.place, x.passes, x.is_first FROM ordered AS x) AS o ON o.place = r.place
     ORDER BY r.place;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.write_plain IS
    'Decides a set of plain requests, whose scopes are locked, and stores those that every gate would accept as memories of '
    'their own. state: stored; gates, where a gate has more to say; later, where the request is like an earlier one of the '
    'set. p_asked_at: when the terms were asked for; p_submitted_at: when the batch was.';

-- What the gates would have left behind, in a line: see every_gate(). The first number holds what asking for the terms took, or
-- the share of it. The others are timed singly: what it is, what it rests on, what is near.
CREATE OR REPLACE FUNCTION memwarden_internal.plain_trail(
    p_path text, p_each integer, p_read interval, p_compared interval, p_weighed interval, p_lasts boolean, p_asks boolean,
    p_unclear boolean)
RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE SECURITY INVOKER
RETURN p_path || p_each || ' ' || (date_part('epoch', p_read) * 1000000)::integer
    || ' ' || (date_part('epoch', p_weighed) * 1000000)::integer || ' ' || (date_part('epoch', p_compared) * 1000000)::integer
    || CASE WHEN p_lasts THEN ' l' ELSE '' END || CASE WHEN p_asks THEN ' a' ELSE '' END
    || CASE WHEN p_unclear THEN ' u' ELSE '' END;
COMMENT ON FUNCTION memwarden_internal.plain_trail IS
    'write_request.gates of a plain write that every gate would have accepted. p_path: = alone, + in a batch. p_lasts: gate 37 '
    'was among them; p_asks: gate 80; p_unclear: gate 40 would have told EVIDENCE_UNCLEAR.';
