-- What is known of memories that may be read. Of those a recall found this asks their rights again: those that contradict
-- them no recall has looked at.
CREATE OR REPLACE FUNCTION memwarden_internal.context_records(
    p_principal_id bigint, p_item_ids uuid[], p_min_confidence double precision, p_now timestamptz, p_surface text DEFAULT NULL)
RETURNS SETOF memwarden_internal.context_record
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_orgs   bigint[] := memwarden_internal.visible_orgs();
    -- Each scope is asked about once, however many of the memories it has.
    v_scopes bigint[] := ARRAY(SELECT d.scope_id
                                 FROM (SELECT DISTINCT i.scope_id FROM memwarden_data.item AS i
                                        WHERE i.org_id = ANY (v_orgs) AND i.item_id = ANY (p_item_ids) OFFSET 0) AS d
                                WHERE memwarden_internal.may_read(p_principal_id, d.scope_id, p_surface));
    v_labels integer[] := memwarden_internal.labels_across(p_principal_id, p_surface);
BEGIN
    RETURN QUERY
    SELECT i.item_id, i.version_id, i.layer, s.path, i.kind, i.subject, i.predicate, v.content,
           i.confidence::double precision, i.confidence < coalesce(p_min_confidence,
               memwarden_internal.pack_floor(k.definition, i.class), l.confidence_floor),
           i.contradicted AND memwarden_internal.is_marked(i.org_id, i.item_id, i.content_hash, p_principal_id, v_labels, false),
           EXISTS (SELECT FROM memwarden_data.derivation AS d WHERE d.org_id = i.org_id AND d.version_id = i.version_id)
               AND memwarden_internal.is_stale(i.org_id, i.version_id)
               OR coalesce(i.updated_at < memwarden_internal.fresh_since(k.definition, i.class, p_now), false)
               OR i.contradicted AND (memwarden_internal.marks_of(
                      i.org_id, i.item_id, i.content_hash, p_principal_id, v_labels)).outdated_by <> '{}',
           i.sensitivity::text, c.name,
           memwarden_internal.said_at(lower(i.valid_during), i.created_at, lower(v.recorded_during)), p.name, v.evidence,
           memwarden_internal.provenance(p.name, v.request_id, v.version, lower(v.recorded_during), i.created_at, v.evidence,
                                         i.adjusted_confidence, i.authority, i.sensitivity),
           coalesce((SELECT r.record -> 'origin' FROM memwarden_data.provenance AS r
                      WHERE r.org_id = i.org_id AND r.version_id = i.version_id ORDER BY r.provenance_id LIMIT 1), '{}'),
           NULL::text, NULL::text, NULL::text[], nullif(lower(i.valid_during), '-infinity'), nullif(upper(i.valid_during), 'infinity'),
           v.search_text
      FROM memwarden_data.item AS i
      JOIN memwarden_data.said_version AS v ON v.org_id = i.org_id AND v.version_id = i.version_id AND v.tier = 'hot'
     CROSS JOIN LATERAL (SELECT k.* FROM memwarden_data.kept_layer AS k
                          WHERE k.org_id = (SELECT r.org_id FROM memwarden_data.principal AS r WHERE r.principal_id = p_principal_id)
                            AND k.layer = i.layer AND k.principal_id IN (0, p_principal_id)
                          ORDER BY k.principal_id DESC LIMIT 1) AS l
      JOIN memwarden_data.scope AS s ON s.scope_id = i.scope_id
      JOIN memwarden_data.principal AS p ON p.principal_id = i.principal_id
      JOIN memwarden_data.label AS b ON b.label_id = i.label_id
      JOIN memwarden_data.classification AS c ON c.level = b.classification
     -- As describe() has it: the nearest pack's.
      LEFT JOIN LATERAL (SELECT u.pack -> 'definition' AS definition FROM memwarden_data.pack_use AS u
                          WHERE u.org_id IN (0, i.org_id) AND u.principal_id IS NULL
                              AND (u.scope_id IS NULL OR u.scope_id = ANY (s.lineage))
                          ORDER BY u.org_id = 0, u.depth DESC LIMIT 1) AS k ON true
     WHERE i.org_id = ANY (v_orgs) AND i.item_id = ANY (p_item_ids) AND i.scope_id = ANY (v_scopes)
       AND (CASE WHEN i.principal_id = p_principal_id THEN -i.label_id ELSE i.label_id END) = ANY (v_labels)
       AND i.status = 'ACTIVE' AND (i.expires_at IS NULL OR i.expires_at > p_now);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.context_records IS
    'The active ones of some memories that a principal reads, through a surface where one is given. low_confidence: '
    'under p_min_confidence, or under the floor of their layer where that is NULL.';

-- Contexts are presented as recalls are, and what came along with what it contradicts as well.
CREATE OR REPLACE FUNCTION memwarden_internal.presented_records(p_principal_id bigint,
    p_records memwarden_internal.context_record[], p_surface text)
RETURNS memwarden_internal.context_record[]
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_rows memwarden_internal.recalled_item[] := ARRAY(
        -- What both have is told in the same words.
        SELECT jsonb_populate_record(NULL::memwarden_internal.recalled_item, to_jsonb(p_records[n]))
            FROM generate_subscripts(p_records, 1) AS n ORDER BY n);
BEGIN
    v_rows := memwarden_internal.present(p_principal_id, v_rows, p_surface);
    RETURN ARRAY(
        SELECT jsonb_populate_record(
                   p_records[n],
                   to_jsonb(v_rows[n]) - '{item_id,version_id}'::text[] || jsonb_build_object('evidence', t.provenance -> 'evidence')
                   || CASE WHEN p_surface IS NULL THEN '{}' ELSE jsonb_build_object('agent', t.provenance -> 'agent') END)
          FROM unnest(v_rows) WITH ORDINALITY AS t
         CROSS JOIN LATERAL (SELECT t.ordinality::integer AS n) AS p
         ORDER BY n);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.presented_records IS
    'Records as they are told across a surface (NULL: none), as present() does it for recalls.';

-- What others wrote is data to a model. What is written as an order to it is not shown to it unasked.
CREATE OR REPLACE FUNCTION memwarden_internal.without_instructions(p_records memwarden_internal.context_record[])
RETURNS memwarden_internal.context_record[]
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
AS $function$
BEGIN
    RETURN ARRAY(SELECT p_records[n] FROM generate_subscripts(p_records, 1) AS n
                  WHERE NOT memwarden_internal.holds_instruction(p_records[n].suspicious) ORDER BY n);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.without_instructions IS
    'Records, as presented_records() returns them, without those that look like instructions to their reader.';

CREATE OR REPLACE FUNCTION memwarden_internal.disputes_of(p_item_ids uuid[])
RETURNS TABLE (item_id uuid, other_item_id uuid)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN QUERY
    SELECT DISTINCT d.item_id, d.other_item_id
      FROM memwarden_data.item AS i
      JOIN memwarden_data.dispute AS d ON d.org_id = i.org_id AND d.item_id = i.item_id AND d.content_hash = i.content_hash
      JOIN memwarden_data.item AS o ON o.org_id = d.org_id AND o.item_id = d.other_item_id AND o.content_hash = d.other_content_hash
     WHERE i.org_id = ANY ((SELECT memwarden_internal.visible_orgs())::bigint[]) AND i.item_id = ANY (p_item_ids) AND i.contradicted
         AND o.status = 'ACTIVE' AND d.settled_at IS NULL AND NOT d.outdated;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.disputes_of IS
    'Which memories contradict some, as all of them stand. Asks no rights: the caller looks the others up as the reader may.';
