-- What reviewers said, for those who wrote it: the agent's lesson.
CREATE TYPE memwarden_internal.feedback_entry AS (
    event_id     uuid,
    at           timestamptz,
    event        text,
    reason       text,
    note         text,
    proposal_id  uuid,
    agent        text,
    layer        text,
    scope        text,
    class        text,
    kind         text,
    subject      text,
    predicate    text,
    content      jsonb,
    changes      jsonb,
    item_id      uuid
);
COMMENT ON TYPE memwarden_internal.feedback_entry IS 'What a reviewer said about one write.';

CREATE OR REPLACE FUNCTION memwarden.feedback(
    agent text DEFAULT NULL, since timestamptz DEFAULT NULL, layer text DEFAULT NULL, reasons text[] DEFAULT NULL,
    max_rows integer DEFAULT 100, after uuid DEFAULT NULL)
RETURNS SETOF memwarden_internal.feedback_entry
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
SET plan_cache_mode = force_custom_plan
AS $function$
DECLARE
    v_me     bigint := memwarden_internal.require_principal();
    v_orgs   bigint[] := memwarden_internal.visible_orgs();
    v_scopes bigint[] := memwarden_internal.visible_scopes();
    v_labels integer[] := memwarden_internal.approvable_labels();
BEGIN
    IF feedback.max_rows IS NULL OR feedback.max_rows NOT BETWEEN 1 AND 1000 THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'max_rows: 1 to 1000');
    END IF;
    RETURN QUERY
    SELECT e.event_id, e.at, e.event, e.reason, e.note, e.request_id, p.name, r.layer, s.path, v.class,
           -- Once it is remembered the words are those of the memory, as far as the caller still reads it.
           coalesce(r.kind, m.kind), coalesce(r.subject, m.subject), coalesce(r.predicate, m.predicate),
               coalesce(memwarden_internal.asked_content(r.content, r.subject_key_id, r.sealed_words)::jsonb, m.content),
           e.detail -> 'changes', r.item_id
      FROM memwarden_data.review_event AS e
      JOIN memwarden_data.write_request AS r ON r.request_id = e.request_id AND r.org_id = e.org_id
      JOIN memwarden_data.principal AS p ON p.principal_id = r.principal_id
      LEFT JOIN memwarden_data.review AS v ON v.org_id = e.org_id AND v.request_id = e.request_id
      LEFT JOIN memwarden_data.scope AS s ON s.scope_id = r.scope_id AND s.scope_id = ANY (v_scopes)
      LEFT JOIN memwarden_data.said_version AS m ON m.org_id = r.org_id AND m.version_id = r.version_id AND e.event = 'edited'
            AND s.scope_id IS NOT NULL AND memwarden_internal.refusal(v_me, 'READ', r.label_id, r.principal_id) IS NULL
            AND NOT EXISTS (SELECT FROM memwarden_data.item AS i
                             WHERE i.org_id = m.org_id AND i.item_id = m.item_id AND i.kept_until <= clock_timestamp())
     WHERE e.org_id = ANY (v_orgs)
       -- That a rejection is forgotten is no lesson.
       AND (e.event IN ('rejected', 'edited') OR e.event = 'noise' AND e.principal_id IS NULL)
       AND (r.principal_id = v_me OR r.scope_id = ANY (v_scopes) AND r.label_id = ANY (v_labels))
       AND (feedback.agent IS NULL OR p.name = feedback.agent)
       AND (feedback.since IS NULL OR e.at >= feedback.since)
       AND (feedback.layer IS NULL OR r.layer = feedback.layer)
       AND (feedback.reasons IS NULL OR e.reason = ANY (feedback.reasons))
       AND (feedback.after IS NULL OR e.event_id > feedback.after)
     ORDER BY e.event_id
     LIMIT feedback.max_rows;
END
$function$;
COMMENT ON FUNCTION memwarden.feedback IS
    'Lists what reviewers said about writes, oldest first. The caller sees feedback about its own writes, and about '
    'those that it may decide about. agent, since, layer, reasons: only feedback about writes of this agent, from '
    'this time on, in this layer, with one of these reasons. max_rows: 1 to 1000; default 100. after: the event_id of '
    'the last row that was seen, to continue from there. event: rejected, with reason and note; edited, with changes; '
    'noise, a write that a gate refused because a similar one was rejected for that reason before. changes: [{"path": '
    'RFC 6901, "change": added, removed or changed, "before", "after"}]. kind, subject, predicate, content: as it was '
    'proposed; where it was edited and the caller reads the memory, as it is remembered. Raises 28000 without an '
    'identity; 22023 for max_rows. Source: chapter 12.6.7.';
GRANT EXECUTE ON FUNCTION memwarden.feedback TO memwarden_agent, memwarden_reviewer, memwarden_curator;

CREATE OR REPLACE FUNCTION memwarden.approval_rates(since timestamptz DEFAULT NULL, until timestamptz DEFAULT NULL)
RETURNS TABLE (org text, agent text, layer text, topic text, proposals bigint, pending bigint, auto_approved bigint,
    approved bigint, edited bigint,
               rejected bigint, expired bigint, noise bigint, approval_rate double precision)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
SET plan_cache_mode = force_custom_plan
AS $function$
DECLARE
    v_me       bigint := memwarden_internal.current_principal();
    v_overseen bigint[] := CASE WHEN memwarden_internal.is_overseer() THEN memwarden_internal.overseen_orgs() ELSE '{}' END;
    v_orgs     bigint[] := memwarden_internal.visible_orgs();
    v_scopes   bigint[] := memwarden_internal.visible_scopes();
    v_labels   integer[] := memwarden_internal.approvable_labels();
BEGIN
    RETURN QUERY
    WITH asked AS (
        SELECT e.org_id, e.request_id, false AS is_auto, bool_or(e.event = 'edited') AS is_edited,
               bool_or(e.event = 'noise' AND e.principal_id IS NULL) AS is_noise
          FROM memwarden_data.review_event AS e
         WHERE (e.org_id = ANY (v_orgs) OR e.org_id = ANY (v_overseen))
           AND (approval_rates.since IS NULL OR e.at >= approval_rates.since)
               AND (approval_rates.until IS NULL OR e.at < approval_rates.until)
         GROUP BY e.org_id, e.request_id
         UNION ALL
        SELECT r.org_id, r.request_id, true, false, false
          FROM memwarden_data.write_request AS r
         WHERE (r.org_id = ANY (v_orgs) OR r.org_id = ANY (v_overseen)) AND r.review ? 'auto'
           AND (approval_rates.since IS NULL OR r.decided_at >= approval_rates.since)
               AND (approval_rates.until IS NULL OR r.decided_at < approval_rates.until)
    ), told AS (
        SELECT a.org_id, r.principal_id, r.layer, a.is_edited, a.is_noise,
               CASE WHEN a.is_noise THEN 'noise' WHEN v.state IS NOT NULL THEN v.state WHEN a.is_auto THEN 'auto' END AS state,
               -- A topic is the writer's words: for who reads those. Others get the numbers.
               CASE WHEN w.mine OR w.decides THEN coalesce(r.predicate, m.predicate, r.kind, m.kind, r.subject, m.subject) END AS topic
          FROM asked AS a
          JOIN memwarden_data.write_request AS r ON r.request_id = a.request_id AND r.org_id = a.org_id
         CROSS JOIN LATERAL (SELECT r.principal_id IS NOT DISTINCT FROM v_me AS mine,
                                    r.scope_id = ANY (v_scopes) AND r.label_id = ANY (v_labels) AS decides) AS w
          LEFT JOIN memwarden_data.review AS v ON v.org_id = a.org_id AND v.request_id = a.request_id
          LEFT JOIN memwarden_data.said_version AS m ON m.org_id = r.org_id AND m.version_id = r.version_id
         WHERE w.mine OR w.decides OR a.org_id = ANY (v_overseen)
    )
    SELECT o.name, p.name, t.layer, t.topic, count(*), count(*) FILTER (WHERE t.state = 'pending'),
        count(*) FILTER (WHERE t.state = 'auto'),
           count(*) FILTER (WHERE t.state = 'approved' AND NOT t.is_edited), count(*) FILTER (WHERE t.state = 'approved' AND t.is_edited),
           count(*) FILTER (WHERE t.state = 'rejected'), count(*) FILTER (WHERE t.state IN ('expired', 'not_applicable')),
           count(*) FILTER (WHERE t.state = 'noise'),
           count(*) FILTER (WHERE t.state = 'approved')::double precision / NULLIF(count(*) FILTER (WHERE t.state IN ('approved',
               'rejected')), 0)
      FROM told AS t
      JOIN memwarden_data.principal AS p ON p.principal_id = t.principal_id
      JOIN memwarden_data.organisation AS o ON o.org_id = t.org_id
     GROUP BY o.name, p.name, t.layer, t.topic
     ORDER BY o.name, p.name, t.layer, t.topic;
END
$function$;
COMMENT ON FUNCTION memwarden.approval_rates IS
    'Counts what became of proposals, by agent, layer and topic. It counts proposals that had an event between since '
    'and until. Agents see their own proposals. Reviewers see what they may decide about. Auditors, curators and '
    'administrators see all that they oversee, without the topics that they may not read. topic: the predicate, '
    'otherwise the kind, otherwise the subject. approved: approved as proposed. edited: approved after a change. '
    'noise: refused because a similar proposal was rejected before. approval_rate: 0 to 1, of the proposals that a '
    'human decided; NULL where a human decided none. Source: chapter 12.6.7, 12.12.';
GRANT EXECUTE ON FUNCTION memwarden.approval_rates
    TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor, memwarden_admin;
