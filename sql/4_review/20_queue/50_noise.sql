-- A rejection is remembered by what was refused, and by where that lies.
CREATE OR REPLACE FUNCTION memwarden_internal.learn_noise()
RETURNS trigger
LANGUAGE plpgsql VOLATILE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_now    timestamptz := clock_timestamp();
    v_reason text := NEW.detail ->> 'reason';
BEGIN
    INSERT INTO memwarden_data.noise (
        org_id, noise_id, scope_id, layer, label_id, principal_id, request_id, reason, fingerprint, embedding, model_id,
            created_at, expires_at)
    SELECT NEW.org_id, memwarden_internal.uuid7(), NEW.scope_id, NEW.layer, NEW.label_id, NEW.principal_id, NEW.request_id, v_reason,
           memwarden_internal.keyed_hash('noise', OLD.fingerprint),
           -- What must not be kept is not kept in this form either.
           CASE WHEN v_reason <> 'SENSITIVE' AND OLD.model_id IS NOT NULL THEN OLD.embedding::@extschema:vector@.halfvec END,
           CASE WHEN v_reason <> 'SENSITIVE' AND OLD.embedding IS NOT NULL THEN OLD.model_id END,
           v_now, v_now + p.keep
      FROM (SELECT o.keep, o.reasons FROM memwarden_data.noise_policy AS o
             WHERE o.org_id IN (0, NEW.org_id) ORDER BY o.org_id DESC LIMIT 1) AS p
     WHERE v_reason = ANY (p.reasons) AND p.keep > interval '0' AND NEW.act IS NULL
    ON CONFLICT (org_id, request_id) DO NOTHING;
    RETURN NULL;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.learn_noise IS
    'Trigger learn_noise: remembers what a human refused for one of the reasons that the organisation wants remembered.';

CREATE OR REPLACE FUNCTION memwarden_internal.known_noise(
    p_org_id bigint, p_scope_id bigint, p_layer text, p_principal_id bigint, p_label_id integer, p_fingerprint bytea, p_model_id smallint,
    p_embedding real[], p_least double precision, p_subject text, p_predicate text, p_content text, p_text text,
    p_valid_from timestamptz, p_valid_to timestamptz, p_now timestamptz,
    OUT request_id uuid, OUT reason text, OUT created_at timestamptz, OUT expires_at timestamptz, OUT found_by text)
RETURNS record
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_hash  bytea := memwarden_internal.keyed_hash('noise', p_fingerprint);
    -- Asked whatever is there: how long it takes must not tell.
    v_labels integer[] := memwarden_internal.readable_among(p_principal_id, p_label_id || ARRAY(
        SELECT DISTINCT n.label_id FROM memwarden_data.noise AS n
         WHERE n.org_id = p_org_id AND n.scope_id = p_scope_id AND n.layer = p_layer AND n.expires_at > p_now));
    v_near  jsonb;
    v_same  uuid;
    v_found record;
BEGIN
    SELECT n.noise_id INTO v_same
      FROM memwarden_data.noise AS n
     WHERE n.org_id = p_org_id AND n.scope_id = p_scope_id AND n.layer = p_layer AND n.expires_at > p_now AND n.fingerprint = v_hash
       AND (CASE WHEN n.principal_id = p_principal_id THEN -n.label_id ELSE n.label_id END) = ANY (v_labels)
     ORDER BY n.expires_at DESC LIMIT 1;
    found_by := 'fingerprint';
    -- Where the layer looks for the same in other words, the judge does here: what says otherwise is a correction.
    IF v_same IS NULL AND p_least IS NOT NULL AND p_embedding IS NOT NULL THEN
        SELECT jsonb_agg(jsonb_build_object(
                   'item_id', w.noise_id, 'version_id', w.noise_id, 'similarity', w.similarity, 'mine', false, 'same_key', false,
                   'exclusive', false, 'confidence', r.confidence, 'subject', r.subject, 'predicate', r.predicate,
                   'text', left(f.search_text, 4001), 'content', CASE WHEN length(r.content) <= 8192 THEN r.content::jsonb END,
                   'valid_from', extract(epoch FROM r.valid_from), 'valid_to', extract(epoch FROM r.valid_to)) ORDER BY w.similarity DESC)
          INTO v_near
          FROM (SELECT n.noise_id, n.request_id,
              1 - (n.embedding OPERATOR(@extschema:vector@.<=>) p_embedding::@extschema:vector@.halfvec) AS similarity
                  FROM memwarden_data.noise AS n
                 WHERE n.org_id = p_org_id AND n.scope_id = p_scope_id AND n.layer = p_layer AND n.expires_at > p_now
                     AND n.model_id = p_model_id
                   AND (CASE WHEN n.principal_id = p_principal_id THEN -n.label_id ELSE n.label_id END) = ANY (v_labels)
                 ORDER BY similarity DESC LIMIT 5) AS w
          JOIN memwarden_data.write_request AS r ON r.request_id = w.request_id AND r.org_id = p_org_id AND r.content IS NOT NULL
          LEFT JOIN memwarden_data.content_schema AS s ON s.schema_id = r.schema_id
         CROSS JOIN LATERAL memwarden_internal.examine(
               r.content, r.subject, r.predicate, NULL, NULL, s.text_template, NULL, 1000000, false, NULL, NULL) AS f
         WHERE w.similarity > p_least;
        IF v_near IS NOT NULL THEN
            v_same := (jsonb_path_query_first(
                memwarden_internal.judge(p_subject, p_predicate, p_content, p_text, extract(epoch FROM p_valid_from)::double precision,
                                         extract(epoch FROM p_valid_to)::double precision, v_near),
                '$[*] ? (@.relation == "same" || @.relation == "narrower")') ->> 'item_id')::uuid;
        END IF;
        found_by := 'judge';
    END IF;
    SELECT n.request_id, n.reason, n.created_at, n.expires_at INTO v_found
      FROM memwarden_data.noise AS n WHERE n.org_id = p_org_id AND n.noise_id = v_same;
    request_id := v_found.request_id;
    reason := v_found.reason;
    created_at := v_found.created_at;
    expires_at := v_found.expires_at;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.known_noise IS
    'The rejection that a write repeats, of those that are remembered in its scope and layer and that its writer may '
    'see: by its fingerprint, or, where p_least is given, because it lies near and the judge finds that it says the '
    'same or all of it and more. NULL for none.';

CREATE OR REPLACE FUNCTION memwarden.set_noise_policy(keep interval DEFAULT '90 days',
    reasons text[] DEFAULT '{FACTUAL_ERROR,POLICY_VIOLATION,NOISE,SENSITIVE,OUT_OF_SCOPE}', org text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_org_id bigint := memwarden_internal.administered_org(set_noise_policy.org, 'full');
BEGIN
    BEGIN
        INSERT INTO memwarden_data.noise_policy AS p (org_id, keep, reasons)
        VALUES (v_org_id, set_noise_policy.keep, set_noise_policy.reasons)
        ON CONFLICT ON CONSTRAINT noise_policy_pkey DO UPDATE SET keep = excluded.keep, reasons = excluded.reasons;
    EXCEPTION WHEN check_violation OR not_null_violation THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'keep: 0 to 730 days; reasons: a list of reasons that reject() takes');
    END;
    PERFORM memwarden_internal.record_access_change(v_org_id, 'set_noise_policy', jsonb_build_object(
        'keep', set_noise_policy.keep, 'reasons', set_noise_policy.reasons));
END
$function$;
COMMENT ON FUNCTION memwarden.set_noise_policy IS
    'Sets how long, and for which reasons, rejections are remembered from now on. A remembered rejection is called noise: a write '
    'that repeats it is refused. Rejections that are remembered already stay, see forget_noise(). keep: 0 (they are not remembered) '
    'to 730 days; 90 days by default. reasons: the reasons of rejections that are remembered; by default FACTUAL_ERROR, '
    'POLICY_VIOLATION, NOISE, SENSITIVE and OUT_OF_SCOPE. org: the organisation; by default the caller''s, and for members of '
    'memwarden_admin all organisations without a policy of their own. Raises 22023 for a value out of range, 42704 for an unknown '
    'organisation, 42501 without the right, 25001 at an isolation level other than READ COMMITTED. Source: memory fabric (review '
    'queue), H5.';
GRANT EXECUTE ON FUNCTION memwarden.set_noise_policy TO memwarden_curator, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden.forget_noise(proposal_id uuid, note text DEFAULT NULL)
RETURNS boolean
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_principal_id bigint := memwarden_internal.require_principal();
    v_noise        record;
BEGIN
    IF length(forget_noise.note) > 4000 THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'note: at most 4,000 characters');
    END IF;
    PERFORM memwarden_internal.require_harmless(v_principal_id, jsonb_strip_nulls(jsonb_build_object('note', forget_noise.note)));
    DELETE FROM memwarden_data.noise AS n
     WHERE n.request_id = forget_noise.proposal_id AND n.org_id = ANY (memwarden_internal.visible_orgs())
       AND memwarden_internal.may_read(v_principal_id, n.scope_id)
       AND n.label_id = ANY (memwarden_internal.labels_to_approve(v_principal_id))
    RETURNING n.org_id, n.request_id, n.reason INTO v_noise;
    IF v_noise.request_id IS NULL THEN
        RETURN false;
    END IF;
    PERFORM memwarden_internal.record_review_event(
        v_noise.org_id, v_noise.request_id, 'noise', v_principal_id, v_noise.reason, forget_noise.note, '{"forgotten": true}');
    RETURN true;
END
$function$;
COMMENT ON FUNCTION memwarden.forget_noise IS
    'Forgets a rejection, so that similar proposals reach reviewers again. Returns false where no rejection of that '
    'number is remembered that the caller may decide about. The audit keeps the call with its note. proposal_id: of '
    'the rejection, as the detail of KNOWN_NOISE names it. note: at most 4,000 characters. Raises 28000 without an '
    'identity; 22023 where the note is longer or holds something that may not be kept; 55000 before setup(). Source: '
    'memory fabric (review queue), H5.';
GRANT EXECUTE ON FUNCTION memwarden.forget_noise TO memwarden_reviewer, memwarden_curator;

CREATE OR REPLACE FUNCTION memwarden_internal.list_noise()
RETURNS TABLE (proposal_id uuid, scope text, layer text, reason text, refused bigint, created_at timestamptz, expires_at timestamptz)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
DECLARE
    v_scopes bigint[] := memwarden_internal.visible_scopes();
    v_labels integer[] := memwarden_internal.approvable_labels();
    v_orgs   bigint[] := memwarden_internal.visible_orgs();
BEGIN
    RETURN QUERY
    SELECT n.request_id, s.path, n.layer, n.reason,
           (SELECT count(*) FROM memwarden_data.review_event AS e
             WHERE e.org_id = n.org_id AND e.event = 'noise' AND e.at >= n.created_at
               AND e.detail @> jsonb_build_object('proposal_id', n.request_id)),
           n.created_at, n.expires_at
      FROM memwarden_data.noise AS n JOIN memwarden_data.scope AS s ON s.scope_id = n.scope_id
     WHERE n.org_id = ANY (v_orgs) AND n.scope_id = ANY (v_scopes) AND n.label_id = ANY (v_labels) AND n.expires_at > clock_timestamp();
END
$function$;
COMMENT ON VIEW memwarden.noise IS
    'Lists the remembered rejections (noise) of proposals that the caller may decide about. It shows why and until when they are '
    'remembered, and how often similar writes have been refused since. forget_noise() removes one.';
GRANT EXECUTE ON FUNCTION memwarden_internal.list_noise TO memwarden_reviewer, memwarden_curator;
