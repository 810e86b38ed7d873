-- What an agent is to know before it writes again: the policies that reviewers have told it of.
CREATE OR REPLACE FUNCTION memwarden.brief(since interval DEFAULT '90 days', max_rows integer DEFAULT 10)
RETURNS TABLE (policy text, layer text, topic text, times bigint, last_at timestamptz)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
DECLARE
    v_me bigint := memwarden_internal.require_principal();
BEGIN
    IF brief.max_rows IS NULL OR brief.max_rows NOT BETWEEN 1 AND 1000 OR brief.since IS NULL THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'max_rows: 1 to 1000; since: an interval');
    END IF;
    RETURN QUERY
    SELECT e.note, r.layer, coalesce(r.predicate, r.kind), count(*), max(e.at)
      FROM memwarden_data.review_event AS e
      JOIN memwarden_data.write_request AS r ON r.request_id = e.request_id AND r.org_id = e.org_id
     WHERE e.org_id = ANY (memwarden_internal.visible_orgs()) AND r.principal_id = v_me
       AND e.event = 'rejected' AND e.reason = 'POLICY_VIOLATION' AND e.at >= memwarden_internal.before(clock_timestamp(), brief.since)
     GROUP BY 1, 2, 3
     -- What was said most, and last.
     ORDER BY 4 DESC, 5 DESC, 1, 2, 3
     LIMIT brief.max_rows;
END
$function$;
COMMENT ON FUNCTION memwarden.brief IS
    'Lists why reviewers rejected the caller''s writes as POLICY_VIOLATION, most frequent first. An agent is told '
    'this before it writes again. feedback() has everything else that reviewers said. since: how far back; default 90 '
    'days. max_rows: 1 to 1000; default 10. policy: the reviewer''s note, NULL where there was none. topic: the '
    'predicate, or the kind, of what was proposed. times: how often within since. last_at: when it was last. Raises '
    '28000 without an identity; 22023 for max_rows or since. Source: chapter 12.6.7.';
GRANT EXECUTE ON FUNCTION memwarden.brief TO memwarden_agent, memwarden_curator;
