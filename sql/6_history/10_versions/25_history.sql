CREATE TYPE memwarden_internal.version_state AS (
    version           integer,
    version_id        uuid,
    operation         text,
    status            text,
    content           jsonb,
    confidence        double precision,
    recorded_at       timestamptz,
    superseded_at     timestamptz,
    valid_from        timestamptz,
    valid_to          timestamptz,
    actor             text,
    reason            text,
    request_id        uuid,
    log_seq           bigint,
    restores_version  integer,
    absorbed_item     uuid,
    changes           jsonb
);
COMMENT ON TYPE memwarden_internal.version_state IS
    'One entry of an item''s history: what it said, when, who wrote it and why, and what changed.';

CREATE OR REPLACE FUNCTION memwarden.history(item_id uuid)
RETURNS SETOF memwarden_internal.version_state
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
DECLARE
    v_principal_id bigint := memwarden_internal.require_principal();
BEGIN
    RETURN QUERY
    SELECT v.version::integer, v.version_id, g.operation::text, v.status::text, v.content, v.confidence::double precision,
           g.recorded_at, CASE WHEN NOT g.ends THEN upper(v.recorded_during) END,
           lower(v.valid_during), upper(v.valid_during), p.name, g.reason, g.request_id, g.log_seq,
           r.version::integer, CASE WHEN NOT g.ends THEN a.item_id END,
           CASE WHEN NOT g.ends AND o.version_id IS NOT NULL THEN (
               SELECT coalesce(jsonb_agg(jsonb_strip_nulls(jsonb_build_object('path', d.path, 'change', d.change, 'before',
                   d.before, 'after', d.after))), '[]')
                 FROM memwarden_internal.json_diff(
                          memwarden_internal.version_document(o.content, o.kind, o.subject, o.predicate, o.confidence, o.importance,
                                                              o.evidence, o.valid_during, o.expires_at),
                          memwarden_internal.version_document(v.content, v.kind, v.subject, v.predicate, v.confidence, v.importance,
                                                              v.evidence, v.valid_during, v.expires_at)) AS d) END
      FROM memwarden_data.item AS i
      JOIN memwarden_data.said_version AS v ON v.org_id = i.org_id AND v.item_id = i.item_id
      JOIN LATERAL (SELECT l.log_seq, l.operation, l.operation IN ('RETRACT', 'EXPIRE', 'SUPERSEDE') AS ends, l.recorded_at,
                           l.principal_id, l.reason, l.request_id
                      FROM memwarden_data.log AS l
                     WHERE l.org_id = v.org_id AND l.item_id = v.item_id AND l.version_id = v.version_id) AS g ON true
      JOIN memwarden_data.principal AS p ON p.principal_id = g.principal_id
      LEFT JOIN memwarden_data.said_version AS o ON o.org_id = v.org_id AND o.version_id = v.previous_version_id
      LEFT JOIN memwarden_data.version AS r ON r.org_id = v.org_id AND r.version_id = v.restores_version_id AND NOT g.ends
      LEFT JOIN LATERAL (SELECT b.item_id
                           FROM memwarden_data.version AS m
                           JOIN memwarden_data.item AS b ON b.org_id = m.org_id AND b.item_id = m.item_id
                          WHERE m.org_id = v.org_id AND m.version_id = v.absorbed_version_id
                            AND memwarden_internal.may_read(v_principal_id, b.scope_id)
                            AND memwarden_internal.refusal(v_principal_id, 'READ', b.label_id, b.principal_id) IS NULL) AS a ON true
     WHERE i.org_id = ANY (memwarden_internal.visible_orgs()) AND i.item_id = history.item_id
       AND memwarden_internal.may_read(v_principal_id, i.scope_id)
       AND memwarden_internal.refusal(v_principal_id, 'READ', i.label_id, i.principal_id) IS NULL
       AND (i.kept_until IS NULL OR i.kept_until > clock_timestamp())
     ORDER BY v.version DESC, g.log_seq DESC;
END
$function$;
COMMENT ON FUNCTION memwarden.history IS
    'Lists every version of an item, newest first. An item that was retracted, expired or superseded by another item '
    'has one more row for that. This row has the operation RETRACT, EXPIRE or SUPERSEDE and comes before the row of '
    'the version. No row is returned for an item that does not exist, that the caller may not see, or that retention lets '
    'nobody read any more. recorded_at, '
    'superseded_at: from when to when the store held the version. valid_from, valid_to: from when to when it was '
    'true. actor, reason: who wrote it and why. changes: against the version before, [{"path", "change", "before", '
    '"after"}]; paths as in RFC 6901 below /content, /confidence and so on. restores_version: the version whose words '
    'it says again, after a rollback or recovery. absorbed_item: the item that was merged into it, where the caller '
    'sees that item. Raises 28000 without an identity. Source: chapter 12.5.';
GRANT EXECUTE ON FUNCTION memwarden.history TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor;
