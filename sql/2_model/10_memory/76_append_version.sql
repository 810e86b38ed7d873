-- A version that says again what an earlier one said: of the same item, or, where two became one, with what the
-- other brings. It passes no gate: its words have, and undoing must not wait for a rule that came later.
CREATE OR REPLACE FUNCTION memwarden_internal.append_version(
    p_org_id bigint, p_item_id uuid, p_source_id uuid, p_operation text, p_reason text, p_principal_id bigint, p_request_id uuid,
    p_now timestamptz, p_valid_during tstzrange DEFAULT NULL, p_expires_at timestamptz DEFAULT NULL,
    p_absorbed_id uuid DEFAULT NULL, p_instance integer DEFAULT NULL, p_united jsonb DEFAULT NULL)
RETURNS uuid
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_id   uuid := memwarden_internal.uuid7();
    v_head record;
    v_new  record;
    v_said record;
BEGIN
    SELECT i.scope_id, i.layer, i.version_id, i.version, i.status, i.label_id, i.instance INTO v_head
      FROM memwarden_data.item AS i WHERE i.org_id = p_org_id AND i.item_id = p_item_id;
    IF v_head.status = 'ACTIVE' THEN
        UPDATE memwarden_data.version AS v
           SET status = 'SUPERSEDED', recorded_during = tstzrange(lower(v.recorded_during), p_now)
         WHERE v.org_id = p_org_id AND v.version_id = v_head.version_id AND v.tier = 'hot';
        PERFORM memwarden_internal.set_vectors_aside(p_org_id, v_head.scope_id, ARRAY[p_item_id]);
    END IF;

    -- Of an encrypted memory, and of one that becomes part of another, the words are encrypted again where they are others.
    SELECT s.subject_key_id AS own_key_id, coalesce(s.subject_key_id, a.subject_key_id) AS key_id, s.content, s.search_text,
           CASE WHEN a.version_id IS NULL THEN s.evidence ELSE memwarden_internal.evidence_union(s.evidence, a.evidence) END AS evidence
      INTO v_said
      FROM memwarden_data.said_version AS s
      LEFT JOIN memwarden_data.said_version AS a ON a.org_id = s.org_id AND a.version_id = p_absorbed_id
     WHERE s.org_id = p_org_id AND s.version_id = p_source_id;
    -- Who sees the item sees all it ever said: its label stays that of the head.
    INSERT INTO memwarden_data.version AS v (
        org_id, version_id, item_id, version, previous_version_id, restores_version_id, absorbed_version_id, status, scope_id, layer, kind,
        schema_id, subject, predicate, exclusive, instance, content, search_text, content_hash, confidence, importance, evidence,
        principal_id, label_id, request_id, recorded_during, valid_during, expires_at, class, subject_key_id, sealed)
    SELECT s.org_id, v_id, p_item_id, v_head.version + 1, v_head.version_id, s.version_id, p_absorbed_id,
           'ACTIVE', s.scope_id, s.layer, s.kind, coalesce((p_united ->> 'schema_id')::bigint, s.schema_id), s.subject,
           s.predicate, s.exclusive, coalesce(p_instance, v_head.instance),
           CASE WHEN v_said.key_id IS NULL THEN coalesce(p_united -> 'content', s.content) ELSE '{"encrypted": true}' END,
           CASE WHEN v_said.key_id IS NULL THEN coalesce(p_united ->> 'search_text', s.search_text) ELSE '' END,
           CASE WHEN p_united ? 'content_hash' OR v_said.own_key_id IS NULL
                THEN memwarden_internal.indexed_hash(coalesce(decode(p_united ->> 'content_hash', 'hex'), s.content_hash), v_said.key_id)
                ELSE s.content_hash END, greatest(s.confidence, a.confidence),
               greatest(s.importance, a.importance),
           CASE WHEN v_said.key_id IS NULL THEN v_said.evidence ELSE memwarden_internal.cited_only(v_said.evidence) END,
           s.principal_id, v_head.label_id, s.request_id, tstzrange(p_now, NULL), coalesce(p_valid_during, s.valid_during),
           CASE p_operation WHEN 'UPDATE' THEN coalesce(p_expires_at, s.expires_at) ELSE p_expires_at END, s.class, v_said.key_id,
           CASE WHEN v_said.key_id IS NULL OR a.version_id IS NULL THEN s.sealed
                ELSE memwarden_internal.seal(v_said.key_id, jsonb_build_object(
                         'content', coalesce(p_united -> 'content', v_said.content),
                         'text', coalesce(p_united ->> 'search_text', v_said.search_text), 'evidence', v_said.evidence)) END
      FROM memwarden_data.version AS s
      LEFT JOIN memwarden_data.version AS a ON a.org_id = s.org_id AND a.version_id = p_absorbed_id
     WHERE s.org_id = p_org_id AND s.version_id = p_source_id
    RETURNING v.version, v.scope_id, v.layer, v.kind, v.subject, v.predicate, v.exclusive, v.instance, v.restores_version_id,
        v.content, v.search_text,
              v.content_hash, v.confidence, v.importance, v.evidence, v.principal_id, v.label_id, v.request_id, v.valid_during,
                  v.expires_at, v.class, v.subject_key_id, v.sealed
      INTO v_new;
    INSERT INTO memwarden_data.log (
        recorded_at, transaction_id, system_identifier, org_id, operation, item_id, version_id,
        previous_version_id, scope_id, layer, principal_id, request_id, reason, snapshot_hash)
    VALUES (
        p_now, pg_current_xact_id(), memwarden_internal.system_identifier(), p_org_id, p_operation, p_item_id, v_id,
        v_head.version_id, v_new.scope_id, v_new.layer, p_principal_id, p_request_id, p_reason,
        memwarden_internal.snapshot_hash(
            v_id, p_item_id, v_new.version, v_head.version_id, v_new.restores_version_id, p_absorbed_id, v_new.scope_id,
                v_new.layer, v_new.kind,
            v_new.subject, v_new.predicate, v_new.content_hash, v_new.confidence, v_new.importance, v_new.evidence, v_new.principal_id,
            v_new.label_id, v_new.request_id, p_now, v_new.valid_during, v_new.expires_at, v_new.class,
            v_new.subject_key_id, v_new.sealed));
    IF v_new.class IS NOT NULL THEN
        PERFORM memwarden_internal.enforce_again(p_org_id, v_new.subject);
    END IF;
    INSERT INTO memwarden_data.derivation (org_id, scope_id, item_id, version_id, source_org_id, source_item_id, source_version_id)
    SELECT DISTINCT p_org_id, d.scope_id, p_item_id, v_id, d.source_org_id, d.source_item_id, d.source_version_id
      FROM memwarden_data.derivation AS d
     WHERE d.org_id = p_org_id AND d.version_id IN (p_source_id, p_absorbed_id) AND d.source_item_id <> p_item_id;

    PERFORM memwarden_internal.restate_provenance(p_org_id, p_item_id, v_id, v_head.version_id, p_source_id, p_absorbed_id,
        p_united, p_now);
    PERFORM memwarden_internal.show_version(p_org_id, p_item_id, v_id, p_source_id);
    IF v_new.kind = 'annotation' THEN
        PERFORM memwarden_internal.settle_standing(p_org_id, memwarden_internal.cited_item(v_new.subject));
    END IF;
    -- Words that come back, or gain evidence, leave the periods as they were.
    IF v_new.exclusive AND p_valid_during IS NULL THEN
        PERFORM memwarden_internal.restore_values(p_org_id, p_item_id, p_source_id,
            (SELECT lower(v.recorded_during) FROM memwarden_data.version AS v WHERE v.org_id = p_org_id
                AND v.version_id = p_source_id), v_id, p_now);
    ELSIF v_new.exclusive THEN
        PERFORM memwarden_internal.assert_value(p_org_id, v_new.scope_id, p_item_id, v_id, v_new.valid_during, p_now);
    END IF;
    RETURN v_id;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.append_version IS
    'Makes a version of an item that says what version p_source_id of it said, and makes it the head. p_operation: '
    'RESTORE, the item is again as it was then, with all it held true; or UPDATE, the words hold for p_valid_during '
    'from now on, or live until p_expires_at. p_absorbed_id: the version of another item that becomes part of it; '
    'p_united: the words that both make together, as united_words() tells them, where it does not keep its own. Words, '
    'author and request are the source''s; who did this, and why, is in the log. The caller holds the scope. Source: '
    'chapter 12.5.6.';

CREATE OR REPLACE FUNCTION memwarden_internal.show_version(p_org_id bigint, p_item_id uuid, p_version_id uuid, p_source_id uuid)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
BEGIN
    UPDATE memwarden_data.item AS i
       SET kind = v.kind, subject = v.subject, predicate = v.predicate, status = v.status, version_id = v.version_id, version = v.version,
           exclusive = v.exclusive, instance = v.instance, confidence = v.confidence, importance = v.importance,
           adjusted_confidence = coalesce(o.adjusted_confidence, 0), authority = coalesce(o.authority, 0),
           sensitivity = coalesce(o.sensitivity, 'none'), standing = coalesce(o.standing, 'inferred'),
           principal_id = v.principal_id, updated_at = lower(v.recorded_during),
           -- What says again what it said, alone, is as old as it was.
           created_at = CASE WHEN p_source_id = i.version_id AND v.absorbed_version_id IS NULL THEN i.created_at
                             ELSE memwarden_internal.created_of(p_org_id, p_version_id) END,
           expires_at = v.expires_at, valid_during = v.valid_during,
           content_hash = v.content_hash, fingerprint = memwarden_internal.indexed_hash(f.fingerprint, v.subject_key_id),
           key_hash = f.key_hash,
           inverse_key_hash = CASE WHEN f.key_hash IS NOT NULL AND v.subject_key_id IS NULL
                                   THEN memwarden_internal.inverse_key(v.org_id, v.predicate, v.content) END,
           search_vector = memwarden_internal.indexed_words(memwarden_internal.words_of(
               coalesce(c.text_search_config, l.text_search_config), v.search_text), v.subject_key_id), class = v.class,
           subject_key_id = v.subject_key_id,
           attribute_key = memwarden_internal.indexed_hash(memwarden_internal.attribute_key(
               v.search_text, v.content::text, v.subject, v.predicate), v.subject_key_id),
           -- What is pinned stays so.
           fresh_until = CASE WHEN o.standing = 'disputed' THEN lower(v.recorded_during)
                              WHEN i.fresh_until = 'infinity' AND i.class IS NOT DISTINCT FROM v.class THEN i.fresh_until
                              ELSE memwarden_internal.fresh_until(
                                  v.org_id, v.layer, v.class, v.principal_id, i.created_at, lower(v.recorded_during)) END
      FROM memwarden_data.said_version AS v
      JOIN memwarden_data.layer AS l ON l.layer = v.layer
      JOIN memwarden_data.scope AS c ON c.scope_id = v.scope_id
      LEFT JOIN LATERAL memwarden_internal.trust_of_version(v.org_id, v.version_id) AS o ON true
     CROSS JOIN LATERAL memwarden_internal.fingerprints(
               v.content::text, v.subject, v.predicate,
               coalesce((SELECT y.synonyms::text FROM memwarden_data.vocabulary AS y WHERE y.org_id = p_org_id), '{}')) AS f
     WHERE i.org_id = p_org_id AND i.item_id = p_item_id AND v.org_id = p_org_id AND v.version_id = p_version_id;
    INSERT INTO memwarden_data.embedding (org_id, scope_id, model_id, item_id, embedding, shelf, words)
    SELECT p.org_id, p.scope_id, p.model_id, p.item_id, p.embedding, coalesce(s.shelf, 0), CASE WHEN s.shelf > 0 THEN i.search_vector END
      FROM memwarden_data.past_embedding AS p
      JOIN memwarden_data.item AS i ON i.org_id = p.org_id AND i.item_id = p.item_id
      LEFT JOIN memwarden_data.shelf AS s
        ON s.org_id = i.org_id AND s.scope_id = i.scope_id AND s.layer = i.layer AND s.vacated_at IS NULL
     WHERE p.org_id = p_org_id AND p.version_id = p_source_id;
    IF NOT FOUND THEN
        INSERT INTO memwarden_data.embedding (org_id, scope_id, model_id, item_id, embedding, shelf, words)
        SELECT v.org_id, v.scope_id, m.model_id, v.item_id, e.embedding::@extschema:vector@.halfvec,
               coalesce(s.shelf, 0), CASE WHEN s.shelf > 0 THEN i.search_vector END
          FROM memwarden_data.version AS v
          JOIN memwarden_data.item AS i ON i.org_id = v.org_id AND i.item_id = v.item_id
          JOIN memwarden_data.embedding_model AS m ON m.name = 'lexical'
         CROSS JOIN LATERAL memwarden.lexical_embedding(v.search_text) AS e (embedding)
          LEFT JOIN memwarden_data.shelf AS s
            ON s.org_id = i.org_id AND s.scope_id = i.scope_id AND s.layer = i.layer AND s.vacated_at IS NULL
         -- By the item as well: whichever index is taken without statistics, it finds one item's versions.
         WHERE v.org_id = p_org_id AND v.item_id = p_item_id AND v.version_id = p_version_id AND v.subject_key_id IS NULL
           AND e.embedding IS NOT NULL;
    END IF;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.show_version IS
    'Makes a version the head of its item, with the vectors that version p_source_id had; the words are embedded anew '
    'where none were kept.';

CREATE OR REPLACE FUNCTION memwarden_internal.created_of(p_org_id bigint, p_version_id uuid)
RETURNS timestamptz
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN (
        WITH RECURSIVE basis (version_id, created_at, earlier, absorbed) AS (
            SELECT v.version_id, lower(v.recorded_during), coalesce(v.restores_version_id, v.previous_version_id), v.absorbed_version_id
              FROM memwarden_data.version AS v WHERE v.org_id = p_org_id AND v.version_id = p_version_id
             UNION
            SELECT v.version_id, lower(v.recorded_during), coalesce(v.restores_version_id, v.previous_version_id), v.absorbed_version_id
              FROM basis AS b JOIN memwarden_data.version AS v ON v.org_id = p_org_id AND v.version_id IN (b.earlier, b.absorbed))
        SELECT min(b.created_at) FROM basis AS b);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.created_of IS
    'Since when there is what a version says: the beginning of its item, or of one that became part of it, if that is '
    'earlier. Source: chapter 12.3.4.';

CREATE OR REPLACE FUNCTION memwarden_internal.evidence_union(p_one jsonb, p_other jsonb)
RETURNS jsonb
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
AS $function$
SELECT coalesce(jsonb_agg(u.evidence ORDER BY u.first), '[]')
  FROM (SELECT e.evidence, min(e.ordinal) AS first
          FROM jsonb_array_elements(p_one || p_other) WITH ORDINALITY AS e (evidence, ordinal)
         GROUP BY e.evidence) AS u
$function$;
COMMENT ON FUNCTION memwarden_internal.evidence_union IS 'The evidence of both, each once, in the order of its first mention.';

CREATE OR REPLACE FUNCTION memwarden_internal.hold_again(
    p_org_id bigint, p_item_id uuid, p_version_id uuid, p_periods tstzmultirange, p_principal_id bigint, p_request_id uuid,
    p_now timestamptz)
RETURNS timestamptz
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_now    timestamptz := p_now;
    v_period tstzrange;
BEGIN
    FOR v_period IN SELECT u.period FROM unnest(p_periods) AS u (period) ORDER BY u.period LOOP
        v_now := v_now + interval '1 microsecond';
        PERFORM memwarden_internal.append_version(
            p_org_id, p_item_id, p_version_id, 'UPDATE', 'holds again after another value', p_principal_id, p_request_id, v_now, v_period);
    END LOOP;
    RETURN v_now;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.hold_again IS
    'Makes a version for each period in which what version p_version_id says holds again. Returns the moment of the last. '
    'The caller holds the scope, and settles the head.';

CREATE OR REPLACE FUNCTION memwarden_internal.settle_head(
    p_org_id bigint, p_item_id uuid, p_principal_id bigint, p_request_id uuid, p_now timestamptz)
RETURNS uuid
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_head  record;
    v_value record;
BEGIN
    SELECT i.version_id, i.updated_at INTO v_head FROM memwarden_data.item AS i WHERE i.org_id = p_org_id AND i.item_id = p_item_id;
    SELECT t.version_id, t.valid_during INTO v_value
      FROM ((SELECT h.version_id, h.valid_during
               FROM memwarden_data.timeline AS h
              WHERE h.org_id = p_org_id AND h.item_id = p_item_id AND upper_inf(h.recorded_during) AND lower(h.valid_during) <= p_now
              ORDER BY lower(h.valid_during) DESC
              LIMIT 1)
             UNION ALL
            (SELECT h.version_id, h.valid_during
               FROM memwarden_data.timeline AS h
              WHERE h.org_id = p_org_id AND h.item_id = p_item_id AND upper_inf(h.recorded_during) AND lower(h.valid_during) > p_now
              ORDER BY lower(h.valid_during)
              LIMIT 1)) AS t
     -- Of several to come the nearest: its time comes without anybody doing anything.
     ORDER BY t.valid_during @> p_now DESC, lower(t.valid_during) > p_now DESC
     LIMIT 1;
    IF v_value.version_id IS NULL OR v_value.version_id = v_head.version_id THEN
        RETURN NULL;
    END IF;
    RETURN memwarden_internal.append_version(
        p_org_id, p_item_id, v_value.version_id, 'UPDATE', 'what holds at present', p_principal_id, p_request_id,
        greatest(p_now, v_head.updated_at + interval '1 microsecond'), v_value.valid_during);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.settle_head IS
    'Makes the value that holds at p_now the head of its item, by a version that says it again; where none does, the '
    'next to come, or else the latest. A value for another time than the present, or a present that has become another, '
    'moves the head so. Returns the new version, NULL where the head stands. The caller holds the scope.';
