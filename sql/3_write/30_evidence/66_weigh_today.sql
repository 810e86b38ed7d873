-- What the evidence of a version is worth today, for the jobs that look at it again.
CREATE OR REPLACE FUNCTION memwarden_internal.weigh_today(p_org_id bigint, p_version_id uuid, p_now timestamptz, p_is_asked boolean)
RETURNS TABLE (
    record jsonb, supersedes uuid, layer text, subject text, predicate text, content jsonb, search_text text, subject_key_id uuid,
    evidence jsonb, known jsonb, grounds jsonb, authority double precision, least_authority double precision, external integer,
    self_made jsonb, asked jsonb)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER ROWS 1
SET plan_cache_mode = force_custom_plan
AS $function$
DECLARE
    v_said  record;
    v_found record;
BEGIN
    SELECT p.record, (p.record ->> 'supersedes')::uuid AS supersedes, s.layer, s.subject, s.predicate, s.content, s.search_text,
           s.subject_key_id, s.evidence, s.principal_id, l.external_types, k.evidence_type,
           extract(epoch FROM l.evidence_half_life)::double precision AS half_life,
           CASE WHEN c.text_template IS NULL THEN s.content::text
                ELSE memwarden_internal.claim_of_kind(s.content::text, c.text_template, s.subject, s.predicate) END AS claim,
           memwarden_internal.evidence_sources(s.principal_id, p_org_id, s.evidence, p_now) AS known
      INTO v_said
      FROM memwarden_data.said_version AS s
     CROSS JOIN LATERAL (SELECT k.* FROM memwarden_data.kept_layer AS k
                          WHERE k.org_id = p_org_id AND k.layer = s.layer AND k.principal_id IN (0, s.principal_id)
                          ORDER BY k.principal_id DESC LIMIT 1) AS l
      LEFT JOIN memwarden_data.content_schema AS c ON c.schema_id = s.schema_id
      LEFT JOIN LATERAL (SELECT w.record FROM memwarden_data.whole_provenance AS w
                          WHERE w.org_id = p_org_id AND w.version_id = p_version_id ORDER BY w.provenance_id DESC LIMIT 1) AS p ON true
      LEFT JOIN memwarden_data.origin_kind AS k ON k.kind = p.record #>> '{origin,kind}'
     WHERE s.org_id = p_org_id AND s.version_id = p_version_id AND NOT s.is_unread;
    IF v_said.evidence IS NULL OR v_said.evidence = '[]' THEN
        RETURN;
    END IF;
    v_found := memwarden_internal.weigh(v_said.subject, v_said.predicate, v_said.claim, v_said.evidence, v_said.known,
        v_said.principal_id, v_said.evidence_type, v_said.external_types, v_said.half_life, memwarden_internal.utc_text(p_now), p_is_asked);
    RETURN QUERY SELECT v_said.record, v_said.supersedes, v_said.layer, v_said.subject, v_said.predicate, v_said.content,
        v_said.search_text, v_said.subject_key_id, v_said.evidence, v_said.known, v_found.grounds, v_found.authority,
        v_found.least_authority, v_found.external, v_found.self_made, v_found.asked;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.weigh_today IS
    'The last record of a version, what it says, and its evidence as weigh() finds it today, with what its writer reads today. No row '
    'for a version without evidence, and for one that this server cannot read. p_is_asked: whether verifiers are to be '
    'told of the references.';

CREATE OR REPLACE FUNCTION memwarden_internal.is_hidden_source(p_org_id bigint, p_evidence jsonb, p_known jsonb)
RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN EXISTS (
        SELECT FROM jsonb_array_elements(p_known) WITH ORDINALITY AS k (e, place)
         CROSS JOIN LATERAL (SELECT p_evidence -> (k.place - 1)::integer ->> 'uri' AS uri) AS s
         WHERE k.e -> 'cited' = jsonb_build_object('kind', k.e #> '{cited,kind}')
           AND (EXISTS (SELECT FROM memwarden_data.item AS i
                         WHERE i.org_id IN (0, p_org_id) AND i.item_id = memwarden_internal.cited_item(s.uri))
                OR EXISTS (SELECT FROM memwarden_data.evidence AS v
                            WHERE v.org_id IN (0, p_org_id) AND v.evidence_id = memwarden_internal.cited_evidence(s.uri))
                OR EXISTS (SELECT FROM memwarden_data.capture AS c
                            WHERE c.org_id IN (0, p_org_id) AND c.capture_id = memwarden_internal.cited_capture_id(s.uri))));
END
$function$;
COMMENT ON FUNCTION memwarden_internal.is_hidden_source IS
    'Whether something that evidence names is there, and only its writer does not read it any more.';
