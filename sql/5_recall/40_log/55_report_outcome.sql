-- What came of a recall: the only thing that tells memories that help from memories that are merely found.
CREATE OR REPLACE FUNCTION memwarden.report_outcome(
    recall_id uuid, used uuid[] DEFAULT '{}', outcome text DEFAULT 'unknown', detail jsonb DEFAULT NULL, action_id text DEFAULT NULL,
    at_fault uuid[] DEFAULT NULL)
RETURNS integer
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_principal_id bigint := memwarden_internal.require_principal();
    v_org_id bigint := (SELECT p.org_id FROM memwarden_data.principal AS p WHERE p.principal_id = v_principal_id);
    v_used   uuid[] := ARRAY(SELECT DISTINCT u.id FROM unnest(report_outcome.used) AS u (id) ORDER BY u.id);
    v_at_fault uuid[] := ARRAY(SELECT DISTINCT u.id FROM unnest(report_outcome.at_fault) AS u (id) ORDER BY u.id);
    v_given  uuid[];
    v_versions uuid[];
    v_last   record;
BEGIN
    IF report_outcome.outcome IS NULL OR report_outcome.outcome NOT IN ('success', 'partial', 'failure', 'unknown') THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'outcome: success, partial, failure or unknown');
    ELSIF report_outcome.detail IS NOT NULL AND (jsonb_typeof(report_outcome.detail) <> 'object'
        OR octet_length(report_outcome.detail::text) > 8192) THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'detail: a JSON object of at most 8,192 bytes');
    END IF;
    -- Two reports of one recall come one after the other.
    SELECT l.item_ids, ARRAY(SELECT g.version_id FROM unnest(l.item_ids, l.version_ids) AS g (item_id, version_id)
                              WHERE g.item_id = ANY (v_used))
      INTO v_given, v_versions FROM memwarden_data.recall_log AS l
     WHERE l.org_id = v_org_id AND l.recall_id = report_outcome.recall_id AND l.principal_id = v_principal_id
       FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        PERFORM memwarden_internal.raise_error('unknown_object', 'recall_id');
    ELSIF NOT v_used <@ v_given OR array_position(v_used, NULL) IS NOT NULL THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'used: memories that this recall gave');
    ELSIF v_at_fault <> '{}' AND report_outcome.outcome <> 'failure' OR NOT v_at_fault <@ v_given
          OR array_position(v_at_fault, NULL) IS NOT NULL THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'at_fault: memories that this recall gave, of a failure');
    END IF;
    IF report_outcome.detail IS NOT NULL THEN
        PERFORM memwarden_internal.require_harmless(v_principal_id, jsonb_build_object('detail', report_outcome.detail::text));
    END IF;
    IF report_outcome.action_id IS NOT NULL THEN
        PERFORM memwarden.link_action(report_outcome.action_id, v_versions, report_outcome.recall_id);
    END IF;
    SELECT o.revision, o.used, o.outcome, o.detail, coalesce(o.at_fault, '{}') AS at_fault INTO v_last
      FROM memwarden_data.recall_outcome AS o
     WHERE o.org_id = v_org_id AND o.recall_id = report_outcome.recall_id ORDER BY o.revision DESC LIMIT 1;
    -- The same again, as after a lost connection, is no revision.
    IF (v_last.used, v_last.outcome, v_last.detail, v_last.at_fault)
       IS NOT DISTINCT FROM (v_used, report_outcome.outcome, report_outcome.detail, v_at_fault) THEN
        RETURN v_last.revision;
    ELSIF v_last.revision = 100 THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'recall_id: revised a hundred times');
    END IF;
    INSERT INTO memwarden_data.recall_outcome (
        org_id, recall_id, revision, reported_at, login, transaction_id, system_identifier, used, outcome, detail, at_fault)
    VALUES (v_org_id, report_outcome.recall_id, coalesce(v_last.revision, 0) + 1, clock_timestamp(), session_user, pg_current_xact_id(),
            memwarden_internal.system_identifier(), v_used, report_outcome.outcome, report_outcome.detail, nullif(v_at_fault, '{}'));
    RETURN coalesce(v_last.revision, 0) + 1;
END
$function$;
COMMENT ON FUNCTION memwarden.report_outcome IS
    'Reports what came of a recall of the caller''s own, and returns the number of the revision. Revisions count from '
    '1 to 100. Another report revises the outcome, and the earlier one stays in the record. The same report again '
    'changes nothing. The next count_recalls() counts the report. used: those of the given memories that were of use; '
    'default none. outcome: of what the memories were used for; success, partial, failure or unknown (default). '
    'detail: a JSON object of at most 8,192 bytes. action_id: the action that rests on the used memories, as link_action() '
    'records it, with at least one memory in used; default none. at_fault: of a failure, those of the given memories that it came '
    'from; default none. See memwarden.memory_errors. Raises 28000 without an identity; 42704 for a recall that is not '
    'the caller''s or is no longer kept; 22023 for memories that the recall did not give, arguments out of range, or '
    'a detail that may not be kept; 55000 before setup(). Source: chapter 12.12.4, 12.12.5, Z4.';
GRANT EXECUTE ON FUNCTION memwarden.report_outcome TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor;
