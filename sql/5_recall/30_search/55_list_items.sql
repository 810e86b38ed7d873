-- Items are read through functions, as 1_identity/85_overviews.sql says why. The caller may have become somebody else since
-- visible_items() told of these: so this one asks again who may see them.
CREATE TYPE memwarden_internal.listed_item AS (
    item_id uuid, version_id uuid, version integer, layer text, scope text, kind text, subject text, predicate text,
    content jsonb, "text" text, confidence double precision, importance double precision, status text,
    contradicted boolean, stale boolean, created_at timestamptz, updated_at timestamptz, expires_at timestamptz,
    valid_from timestamptz, valid_to timestamptz, classification text, domains text[], attributes jsonb,
    evidence jsonb, request_id uuid, last_seen_at timestamptz, times_seen bigint, witnesses integer,
    corroborated_confidence double precision, class text
);
COMMENT ON TYPE memwarden_internal.listed_item IS 'One row of memwarden.items.';

CREATE OR REPLACE FUNCTION memwarden_internal.list_items(p_orgs bigint[] DEFAULT NULL, p_items uuid[] DEFAULT NULL)
RETURNS SETOF memwarden_internal.listed_item
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER COST 1000 ROWS 1000
SET jit = off
-- Asked batch by batch: planning takes as long as the answer.
SET plan_cache_mode = force_generic_plan
AS $function$
DECLARE
    v_principal_id bigint := memwarden_internal.current_principal();
    v_all          boolean := memwarden_internal.is_superuser();
    v_orgs         bigint[] := memwarden_internal.visible_orgs();
    v_scopes       bigint[] := memwarden_internal.readable_scopes(v_principal_id);
    v_labels       integer[] := memwarden_internal.readable_labels(v_principal_id);
    v_of           bigint[] := ARRAY(SELECT DISTINCT k.org_id FROM unnest(p_orgs) AS k (org_id));
    -- Whose consents were taken back: rows of others are not asked.
    v_withdrawn    text[] := ARRAY(SELECT s.subject_form FROM memwarden_data.consent_state AS s
                                    WHERE s.org_id = ANY (v_of) AND s.state = 'withdrawn');
    -- In an organisation without any, no row is asked.
    v_derived      boolean := EXISTS (SELECT FROM memwarden_data.derivation AS d WHERE d.org_id = ANY (v_of));
    v_repeated     boolean := EXISTS (SELECT FROM memwarden_data.sighting AS t WHERE t.org_id = ANY (v_of));
BEGIN
    RETURN QUERY
    SELECT i.item_id, i.version_id, i.version::integer, i.layer, s.path, i.kind, i.subject, i.predicate, v.content, v.search_text,
           i.confidence::double precision, i.importance::double precision, i.status::text,
           i.contradicted AND i.status = 'ACTIVE' AND memwarden_internal.is_marked(
               i.org_id, i.item_id, i.content_hash, v_principal_id, CASE WHEN NOT v_all THEN v_labels END, false),
           v_derived AND EXISTS (SELECT FROM memwarden_data.derivation AS d WHERE d.org_id = i.org_id AND d.version_id = i.version_id)
               AND memwarden_internal.is_stale(i.org_id, i.version_id)
               OR i.contradicted AND i.status = 'ACTIVE' AND (memwarden_internal.marks_of(
                      i.org_id, i.item_id, i.content_hash, v_principal_id, CASE WHEN NOT v_all THEN v_labels END)).outdated_by <> '{}',
           i.created_at, i.updated_at, i.expires_at,
           lower(i.valid_during), upper(i.valid_during), c.name, l.domains, l.attributes, v.evidence, v.request_id,
           coalesce((n.said).last_seen_at, i.updated_at), coalesce((n.said).times_seen, 0), coalesce((n.said).witnesses, 0),
           coalesce((n.said).confidence, i.adjusted_confidence), i.class
      FROM unnest(p_orgs, p_items) AS k (org_id, item_id)
      JOIN memwarden_data.item AS i
        ON i.org_id = k.org_id AND i.item_id = k.item_id AND (i.expires_at IS NULL OR i.expires_at > clock_timestamp())
       AND (v_all OR i.org_id = ANY (v_orgs) AND i.scope_id = ANY (v_scopes)
               AND (CASE WHEN i.principal_id = v_principal_id THEN -i.label_id ELSE i.label_id END) = ANY (v_labels)
               AND (i.class IS NULL OR i.status <> 'ACTIVE'
                    OR memwarden_internal.form_of_subject(i.subject_form, i.subject) NOT IN (SELECT unnest(v_withdrawn))
                    OR NOT memwarden_internal.has_withdrawn_consent(i.org_id, i.item_id, i.class, i.subject_form, i.subject)))
      -- What is current is always hot: most look-ups end there.
     CROSS JOIN LATERAL (
           SELECT v.content, v.search_text, v.evidence, v.request_id
             FROM memwarden_data.said_version AS v WHERE v.org_id = i.org_id AND v.version_id = i.version_id AND v.tier = 'hot'
           UNION ALL
           SELECT v.content, v.search_text, v.evidence, v.request_id
             FROM memwarden_data.said_version AS v WHERE v.org_id = i.org_id AND v.version_id = i.version_id AND v.tier <> 'hot'
            LIMIT 1) AS v
      JOIN memwarden_data.scope AS s ON s.scope_id = i.scope_id
      JOIN memwarden_data.label AS l ON l.label_id = i.label_id
      JOIN memwarden_data.classification AS c ON c.level = l.classification
      -- Most were never said again: for those the function is not called. In FROM it would be, with the question asked after it; OFFSET 0
      -- keeps the fields of its answer from being one call each.
      LEFT JOIN LATERAL (
           SELECT CASE WHEN v_repeated AND EXISTS (
                           SELECT FROM memwarden_data.sighting AS t WHERE t.org_id = i.org_id AND t.item_id = i.item_id)
                       THEN memwarden_internal.corroboration(i.org_id, i.item_id, i.version_id, i.adjusted_confidence,
                           i.authority, i.updated_at)
                       END AS said
           OFFSET 0) AS n ON true;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.list_items IS
    'Those of some memories that the caller sees, as rows of memwarden.items. Without arguments, as the view of an earlier release calls '
    'it until setup() has run: none.';
GRANT EXECUTE ON FUNCTION memwarden_internal.list_items
    TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor;
