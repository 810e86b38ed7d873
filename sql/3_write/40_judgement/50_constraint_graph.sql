-- What the declared predicates say against a write: facts that hold the place of its fact seen from the other side, and
-- facts that exclude it. All are found by an index on what they are about.
CREATE OR REPLACE FUNCTION memwarden_internal.inverse_facts(
    p_org_id bigint, p_scope_id bigint, p_layer text, p_predicate text, p_key_hash bytea, p_inverse text, p_inverse_key bytea,
    p_same_key text, p_period tstzrange, p_known tstzrange, p_now timestamptz)
RETURNS jsonb
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
SET plan_cache_mode = force_generic_plan
AS $function$
DECLARE
    v_one_object  boolean := 'new_version' = coalesce((memwarden_internal.predicate_of(p_org_id, p_predicate)).same_key, p_same_key);
    v_one_subject boolean := 'new_version' = coalesce((memwarden_internal.predicate_of(p_org_id, p_inverse)).same_key, p_same_key);
BEGIN
    RETURN (
        WITH found AS (
            SELECT i.item_id FROM memwarden_data.item AS i
             WHERE i.org_id = p_org_id AND i.scope_id = p_scope_id AND i.layer = p_layer AND i.status = 'ACTIVE' AND i.exclusive
               AND i.key_hash = p_inverse_key
             UNION
            SELECT i.item_id FROM memwarden_data.item AS i
             WHERE i.org_id = p_org_id AND i.scope_id = p_scope_id AND i.layer = p_layer AND i.status = 'ACTIVE'
               AND i.inverse_key_hash = p_inverse_key AND v_one_subject
             UNION
            SELECT i.item_id FROM memwarden_data.item AS i
             WHERE i.org_id = p_org_id AND i.scope_id = p_scope_id AND i.layer = p_layer AND i.status = 'ACTIVE'
               AND i.inverse_key_hash = p_key_hash
        ), held AS (
            -- A fact of one value says different things of different times.
            SELECT i.item_id, i.label_id, i.principal_id, i.key_hash, v.version_id, coalesce(t.valid_during, i.valid_during) AS period,
                   CASE WHEN v.version_id = i.version_id THEN i.inverse_key_hash
                        ELSE memwarden_internal.inverse_key(p_org_id, v.predicate, v.content) END AS inverse_key
              FROM found AS f
              JOIN memwarden_data.item AS i ON i.org_id = p_org_id AND i.item_id = f.item_id
              LEFT JOIN memwarden_data.timeline AS t
                ON i.exclusive AND t.org_id = p_org_id AND t.item_id = i.item_id AND upper_inf(t.recorded_during)
              JOIN memwarden_data.said_version AS v ON v.org_id = p_org_id AND v.version_id = coalesce(t.version_id, i.version_id)
             WHERE i.key_hash <> p_key_hash AND (i.expires_at IS NULL OR i.expires_at > p_now)
        ), said AS (
            SELECT h.item_id, h.version_id, h.label_id, h.principal_id,
                   h.key_hash = p_inverse_key AND h.inverse_key IS NOT DISTINCT FROM p_key_hash AS same, h.period,
                   CASE WHEN h.key_hash = p_inverse_key OR h.inverse_key = p_inverse_key THEN p_inverse ELSE p_predicate END AS predicate,
                   CASE WHEN h.key_hash = p_inverse_key OR h.inverse_key = p_inverse_key THEN v_one_subject
                        WHEN h.inverse_key = p_key_hash THEN v_one_object END AS excludes
              FROM held AS h
             WHERE h.period && p_period
        )
        SELECT jsonb_agg(jsonb_build_object(
                   'item_id', s.item_id, 'version_id', s.version_id, 'label_id', s.label_id, 'principal_id', s.principal_id,
                   'known', s.same, 'method', 'constraint_graph', 'renews', true, 'rule', s.predicate || ' holds one value'))
          FROM said AS s
         WHERE CASE WHEN s.same THEN s.period @> p_known ELSE s.excludes END);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.inverse_facts IS
    'Facts of a scope and layer that say the same as a new one from the other side (known), or leave no place for it, '
    'since predicate or inverse hold one value at a time: a JSON array for readable_found(), NULL for none. Facts of '
    'its own key are not among them. Source: chapter 12.2.4.';

CREATE OR REPLACE FUNCTION memwarden_internal.excluded_facts(
    p_org_id bigint, p_scope_id bigint, p_layer text, p_subject text, p_predicate text, p_content jsonb, p_inverse text,
        p_period tstzrange, p_now timestamptz)
RETURNS jsonb
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_synonyms text := coalesce((SELECT y.synonyms::text FROM memwarden_data.vocabulary AS y WHERE y.org_id = p_org_id), '{}');
    v_object   text := CASE WHEN jsonb_typeof(p_content) = 'string' THEN p_content #>> '{}' END;
BEGIN
    RETURN (
        WITH sides AS (
            SELECT p_subject AS subject, p_predicate AS predicate, p_content AS content
             UNION ALL
            SELECT v_object, p_inverse, to_jsonb(p_subject) WHERE v_object IS NOT NULL AND p_inverse IS NOT NULL
        ), excluded AS (
            SELECT s.subject, q.predicate, s.content, (memwarden_internal.predicate_of(p_org_id, q.predicate)).inverse
              FROM sides AS s, unnest((memwarden_internal.predicate_of(p_org_id, s.predicate)).disjoint) AS q (predicate)
        ), spelled AS (
            SELECT e.predicate, (memwarden_internal.fingerprints(e.content::text, e.subject, e.predicate, v_synonyms)).fingerprint
              FROM excluded AS e
             UNION
            SELECT e.predicate, (memwarden_internal.fingerprints(to_jsonb(e.subject)::text, e.content #>> '{}', e.inverse,
                v_synonyms)).fingerprint
              FROM excluded AS e WHERE e.inverse IS NOT NULL AND jsonb_typeof(e.content) = 'string'
        )
        SELECT jsonb_agg(jsonb_build_object(
                   'item_id', i.item_id, 'version_id', i.version_id, 'label_id', i.label_id, 'principal_id', i.principal_id,
                   'known', false, 'method', 'constraint_graph', 'rule', s.predicate || ' excludes it'))
          FROM spelled AS s
          JOIN memwarden_data.item AS i
            ON i.org_id = p_org_id AND i.scope_id = p_scope_id AND i.layer = p_layer AND i.status = 'ACTIVE'
                AND substr(i.fingerprint, 1, 4) = substr(s.fingerprint, 1, 4) AND i.fingerprint = s.fingerprint
         WHERE i.valid_during && p_period AND (i.expires_at IS NULL OR i.expires_at > p_now));
END
$function$;
COMMENT ON FUNCTION memwarden_internal.excluded_facts IS
    'Facts of a scope and layer whose predicate is disjoint with that of a new fact of the same subject and object, '
    'said from either side: as inverse_facts().';

-- What a predicate denies is declared: "no longer likes" ends "likes". The words before or behind the predicate ("no longer")
-- deny a value too, and so does a sentence that is a subject, such a predicate and a value. Nothing else is read.
CREATE OR REPLACE FUNCTION memwarden_internal.denied_sayings(
    p_org_id bigint, p_subject text, p_predicate text, p_content text, p_text text)
RETURNS TABLE (subject text, predicate text, content text)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER ROWS 1
AS $function$
DECLARE
    v_name  text := memwarden_internal.predicate_name(p_predicate);
    v_value text := CASE WHEN jsonb_typeof(p_content::jsonb) = 'string' THEN p_content::jsonb #>> '{}' END;
    v_text  text := lower(p_text);
BEGIN
    IF p_subject IS NULL OR p_predicate IS NULL THEN
        IF length(p_text) > 300 OR p_text ~ E'[?\\n]' THEN
            RETURN;
        ELSIF p_text ~ '[^ -~]' THEN
            -- As declared predicates are: other apostrophes, widths and letters count as one.
            v_text := (memwarden_internal.name_forms(p_text, NULL, '{}')).subject_form;
        END IF;
        RETURN QUERY
        SELECT left(v_text, f.place - 1), e.name, to_jsonb(rtrim(substr(v_text, f.place + length(f.predicate) + 2), '.! '))::text
          FROM (SELECT d.org_id, d.predicate, d.ends, strpos(v_text, ' ' || d.predicate || ' ') AS place
                  FROM memwarden_data.predicate AS d WHERE d.ends <> '{}' AND d.org_id IN (0, p_org_id)) AS f
         CROSS JOIN LATERAL unnest(f.ends) AS e (name)
         WHERE f.place > 1 AND NOT (f.org_id = 0 AND EXISTS (SELECT FROM memwarden_data.predicate AS o
                                                              WHERE o.org_id = p_org_id AND o.predicate = f.predicate));
        RETURN;
    END IF;
    RETURN QUERY
    WITH denial (name, ends) AS (
        SELECT d.predicate, d.ends FROM memwarden_data.predicate AS d
         WHERE d.org_id IN (0, p_org_id) AND d.ends <> '{}' AND (d.predicate = v_name OR d.ends @> ARRAY[v_name])
           AND NOT (d.org_id = 0 AND EXISTS (SELECT FROM memwarden_data.predicate AS o
                                              WHERE o.org_id = p_org_id AND o.predicate = d.predicate))
    ), marker (words) AS (
        SELECT DISTINCT CASE WHEN right(d.name, length(v_name) + 1) = ' ' || v_name THEN left(d.name, -length(v_name) - 1)
                             WHEN left(d.name, length(v_name) + 1) = v_name || ' ' THEN substr(d.name, length(v_name) + 2) END
          FROM denial AS d WHERE v_value IS NOT NULL AND d.name <> v_name
    )
    SELECT p_subject, n.name, p_content
      FROM (SELECT unnest(d.ends) AS name FROM denial AS d WHERE d.name = v_name
             UNION
            SELECT d.name FROM denial AS d WHERE d.name <> v_name) AS n
     UNION ALL
    SELECT p_subject, v_name, to_jsonb(CASE WHEN lower(left(v_value, length(m.words) + 1)) = m.words || ' '
                                            THEN substr(v_value, length(m.words) + 2) ELSE m.words || ' ' || v_value END)::text
      FROM marker AS m WHERE m.words IS NOT NULL;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.denied_sayings IS
    'The facts that a new one ends because it denies them, or they it, as subject, predicate and content: by the predicates that are '
    'declared to end others; of a value by the words that such a predicate adds (likes: "no longer rum"); of a text without a key '
    '(p_text, as the memory says it) where it is a subject, such a predicate and a value.';

CREATE OR REPLACE FUNCTION memwarden_internal.denied_facts(
    p_org_id bigint, p_scope_id bigint, p_layer text, p_subject text, p_predicate text, p_content text, p_text text, p_now timestamptz)
RETURNS jsonb
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN (
        SELECT coalesce(jsonb_agg(jsonb_build_object(
                   'item_id', i.item_id, 'version_id', i.version_id, 'label_id', i.label_id, 'principal_id', i.principal_id,
                   'known', false, 'method', 'constraint_graph', 'renews', true, 'rule', 'it denies ' || u.predicate))
                       FILTER (WHERE i.item_id IS NOT NULL), '[]')
          FROM memwarden_internal.denied_sayings(p_org_id, p_subject, p_predicate, p_content, p_text) AS u
         CROSS JOIN LATERAL memwarden_internal.fingerprints(u.content, u.subject, u.predicate, coalesce(
                   (SELECT y.synonyms::text FROM memwarden_data.vocabulary AS y WHERE y.org_id = p_org_id), '{}')) AS f
          LEFT JOIN memwarden_data.item AS i
            ON i.org_id = p_org_id AND i.scope_id = p_scope_id AND i.layer = p_layer AND i.status = 'ACTIVE'
           AND substr(i.fingerprint, 1, 4) = substr(f.fingerprint, 1, 4) AND i.fingerprint = f.fingerprint
           AND i.key_hash = f.key_hash AND (i.expires_at IS NULL OR i.expires_at > p_now)
        HAVING count(*) > 0);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.denied_facts IS
    'What a scope and layer hold of denied_sayings(): as inverse_facts(). NULL where there is nothing to look for.';

CREATE OR REPLACE FUNCTION memwarden_internal.relation_faults(
    p_subject text, p_content text, p_subject_schema jsonb, p_object_schema jsonb, p_inverse text)
RETURNS jsonb
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_faults jsonb := '[]'::jsonb;
BEGIN
    IF p_subject_schema IS NOT NULL THEN
        v_faults := v_faults || coalesce((
            SELECT jsonb_agg(f.e || '{"code": "RELATION_VIOLATION", "path": "subject"}')
              FROM jsonb_array_elements((memwarden_internal.examine(
                       to_jsonb(p_subject)::text, NULL, NULL, p_subject_schema::text, NULL, NULL, NULL, 65536, false, NULL,
                           NULL)).findings) AS f (e)), '[]');
    END IF;
    IF p_object_schema IS NOT NULL THEN
        v_faults := v_faults || coalesce((
            SELECT jsonb_agg(f.e || '{"code": "RELATION_VIOLATION"}')
              FROM jsonb_array_elements((memwarden_internal.examine(
                       p_content, NULL, NULL, p_object_schema::text, NULL, NULL, NULL, 67108864, false, NULL, NULL)).findings)
                           AS f (e)), '[]');
    END IF;
    IF p_inverse IS NOT NULL AND jsonb_typeof(p_content::jsonb) <> 'string' THEN
        v_faults := v_faults || memwarden_internal.violation(
            'RELATION_VIOLATION', 'content', 'the predicate has an inverse: the content is a name, as a JSON string');
    END IF;
    RETURN v_faults;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.relation_faults IS
    'What subject and content of a fact lack to be what its predicate asks for: an array of code, path and message, empty where nothing.';
