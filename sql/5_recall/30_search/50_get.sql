CREATE TYPE memwarden_internal.item_state AS (
    item_id     uuid,
    version_id  uuid,
    version     integer,
    layer       text,
    scope       text,
    kind        text,
    subject     text,
    predicate   text,
    content     jsonb,
    "text"      text,
    confidence  double precision,
    importance  double precision,
    status      text,
    stale       boolean,
    created_at  timestamptz,
    updated_at  timestamptz,
    expires_at  timestamptz,
    valid_from  timestamptz,
    valid_to    timestamptz,
    classification text,
    domains     text[],
    attributes  jsonb,
    provenance  jsonb,
    last_seen_at timestamptz,
    times_seen  bigint,
    witnesses   integer,
    corroborated_confidence double precision,
    class       text,
    contradicts uuid[]
);
COMMENT ON TYPE memwarden_internal.item_state IS 'An item as it stands, with its provenance.';

CREATE OR REPLACE FUNCTION memwarden.get(item_id uuid)
RETURNS SETOF memwarden_internal.item_state
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
DECLARE
    v_principal_id bigint := memwarden_internal.enter_to_read();
BEGIN
    RETURN QUERY
    SELECT i.item_id, i.version_id, i.version::integer, i.layer, s.path, i.kind, i.subject, i.predicate, v.content, v.search_text,
           i.confidence::double precision, i.importance::double precision, i.status::text,
               memwarden_internal.is_stale(i.org_id, i.version_id) OR o.outdated_by <> '{}', i.created_at, i.updated_at, i.expires_at,
           lower(i.valid_during), upper(i.valid_during), c.name, b.domains, b.attributes,
           memwarden_internal.provenance(p.name, v.request_id, v.version, lower(v.recorded_during), i.created_at, v.evidence,
                                         i.adjusted_confidence, i.authority, i.sensitivity),
           coalesce((n.said).last_seen_at, i.updated_at), coalesce((n.said).times_seen, 0), coalesce((n.said).witnesses, 0),
           coalesce((n.said).confidence, i.adjusted_confidence), i.class,
           o.contradicts
      FROM memwarden_data.item AS i
      JOIN memwarden_data.said_version AS v ON v.org_id = i.org_id AND v.version_id = i.version_id
      JOIN memwarden_data.scope AS s ON s.scope_id = i.scope_id
      JOIN memwarden_data.principal AS p ON p.principal_id = i.principal_id
      JOIN memwarden_data.label AS b ON b.label_id = i.label_id
      JOIN memwarden_data.classification AS c ON c.level = b.classification
      -- Most were never said again: for those the function is not called. In FROM it would be, with the question asked after it; OFFSET 0
      -- keeps the fields of its answer from being one call each.
      LEFT JOIN LATERAL (
           SELECT CASE WHEN EXISTS (SELECT FROM memwarden_data.sighting AS t WHERE t.org_id = i.org_id AND t.item_id = i.item_id)
                       THEN memwarden_internal.corroboration(i.org_id, i.item_id, i.version_id, i.adjusted_confidence,
                           i.authority, i.updated_at)
                       END AS said
           OFFSET 0) AS n ON true
     CROSS JOIN LATERAL (
           SELECT (m.marks).contradicts, (m.marks).outdated_by
             FROM (SELECT CASE WHEN i.contradicted AND i.status = 'ACTIVE'
                               THEN memwarden_internal.marks_of(i.org_id, i.item_id, i.content_hash, v_principal_id,
                                                                memwarden_internal.readable_labels(v_principal_id))
                               ELSE ROW ('{}', '{}')::memwarden_internal.marks END AS marks OFFSET 0) AS m) AS o
     WHERE i.org_id = ANY (memwarden_internal.visible_orgs()) AND i.item_id = get.item_id
       AND memwarden_internal.may_read(v_principal_id, i.scope_id)
       AND memwarden_internal.refusal(v_principal_id, 'READ', i.label_id, i.principal_id) IS NULL
       AND (i.expires_at IS NULL OR i.expires_at > clock_timestamp())
       AND (i.class IS NULL OR NOT memwarden_internal.has_withdrawn_consent(i.org_id, i.item_id, i.class, i.subject_form, i.subject));
END
$function$;
COMMENT ON FUNCTION memwarden.get IS
    'Returns one item as it stands now. No row means that there is no such item, that it has expired, or that the '
    'caller may not see it. stale: a memory that it was derived from has been taken back. last_seen_at, times_seen, '
    'witnesses: when and how often it was said again, and by how many principals that count. corroborated_confidence: '
    'its confidence with these witnesses. contradicts: the current memories that the caller reads and that contradict '
    'it. Raises 28000 without an identity, 55000 where storage and functions are of different versions.';
GRANT EXECUTE ON FUNCTION memwarden.get TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor;
