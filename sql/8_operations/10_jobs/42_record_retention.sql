-- What is deleted by age: of which table the rows for which the condition holds, where $1 is the moment before which they are
-- too old. One table a line, in the order in which they go.
CREATE OR REPLACE FUNCTION memwarden_internal.old_records()
RETURNS TABLE (kind text, relation text, condition text)
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
AS $function$
VALUES
    ('verdicts', 'job', 't.finished_at < $1'),
    ('verdicts', 'verdict', 't.given_at < $1'),
    ('recall_counts', 'recall_use', 't.day < ($1 AT TIME ZONE ''UTC'')::date'),
    ('recall_counts', 'recall_day', 't.day < ($1 AT TIME ZONE ''UTC'')::date'),
    ('recall_counts', 'recall_consumer', 't.day < ($1 AT TIME ZONE ''UTC'')::date'),
    ('metrics', 'revalidated', 't.checked_at < $1'),
    ('metrics', 'revalidation', 't.finished_at < $1'),
    ('metrics', 'write_hour', 't.hour < $1'),
    ('metrics', 'write_day', 't.day < ($1 AT TIME ZONE ''UTC'')::date'),
    ('metrics', 'gate_hour', 't.hour < $1'),
    ('metrics', 'counted_hour', 't.hour < $1 AND t.is_closed'),
    ('metrics', 'metric_point', 't.hour < $1'),
    ('extractions', 'candidate', 'EXISTS (SELECT FROM memwarden_data.extraction AS x '
        'WHERE x.org_id = t.org_id AND x.capture_id = t.capture_id '
        'AND x.extractor_id = t.extractor_id AND x.extracted_at < $1) AND NOT EXISTS (SELECT FROM memwarden_data.capture AS c '
        'WHERE c.org_id = t.org_id AND c.capture_id = t.capture_id)'),
    ('extractions', 'extraction', 't.extracted_at < $1 AND NOT EXISTS (SELECT FROM memwarden_data.capture AS c '
        'WHERE c.org_id = t.org_id AND c.capture_id = t.capture_id)'),
    -- What the memory says now rests on those that said it as well.
    ('sightings', 'sighting', 't.last_at < $1 AND NOT EXISTS (SELECT FROM memwarden_data.item AS i '
        'WHERE i.org_id = t.org_id AND i.item_id = t.item_id AND i.version_id = t.version_id) '
        'AND NOT memwarden_internal.has_hold(t.org_id)'),
    ('threads', 'thread', 't.last_at < $1 AND NOT memwarden_internal.has_hold(t.org_id)'),
    -- Who approved a memory stays known.
    ('proposals', 'review', 't.decided_at < $1 AND t.state <> ''approved'' AND NOT memwarden_internal.has_hold(t.org_id)'),
    -- Only where the month cannot be dropped, since something in it must stay.
    ('requests', 'write_request', 't.request_id < memwarden_internal.uuid7_floor($1) AND t.decided_at < $1 '
        'AND t.outcome <> ''DEFERRED'' AND NOT memwarden_internal.has_hold(t.org_id)')
$function$;
COMMENT ON FUNCTION memwarden_internal.old_records IS 'Which records go by age: tables and conditions, by the kinds of record_retention.';

CREATE OR REPLACE FUNCTION memwarden_internal.has_hold(p_org_id bigint)
RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN EXISTS (SELECT FROM memwarden_data.legal_hold AS h WHERE h.org_id IN (0, p_org_id) AND h.lifted_at IS NULL);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.has_hold IS
    'Whether a legal hold is in force in an organisation. Then nobody can say which of its records will be asked for, and all stay.';

CREATE OR REPLACE FUNCTION memwarden_internal.delete_next_records(p_after text, p_count integer)
RETURNS text
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
SET lock_timeout = '200ms'
AS $function$
DECLARE
    v_now    timestamptz := clock_timestamp();
    v_record record;
    v_count  bigint;
BEGIN
    -- p_after: the table that the step before deleted from. Each is looked at until little is left of what is due.
    SELECT o.relation, o.condition, r.keep, o.place INTO v_record
      FROM memwarden_internal.old_records() WITH ORDINALITY AS o (kind, relation, condition, place)
      JOIN memwarden_data.record_retention AS r ON r.kind = o.kind
     WHERE o.place > coalesce(split_part(p_after, ' ', 1)::bigint, 0) ORDER BY o.place LIMIT 1;
    IF NOT FOUND THEN
        IF memwarden_internal.forget_refused_content(v_now, p_count) THEN
            RETURN p_after;
        END IF;
        PERFORM memwarden_internal.note_storage();
        RETURN NULL;
    END IF;
    EXECUTE format('DELETE FROM memwarden_data.%1$I AS d WHERE d.%3$s = ANY (ARRAY(SELECT t.%3$s FROM memwarden_data.%1$I AS t '
                   'WHERE %2$s LIMIT $2 FOR UPDATE SKIP LOCKED))', v_record.relation, v_record.condition,
                   -- A place in a table with partitions is none.
                   CASE v_record.relation WHEN 'write_request' THEN 'request_id' ELSE 'ctid' END)
      USING memwarden_internal.before(v_now, v_record.keep), p_count;
    GET DIAGNOSTICS v_count = ROW_COUNT;
    RETURN CASE WHEN v_count < p_count THEN v_record.place ELSE v_record.place - 1 END;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.delete_next_records IS
    'Deletes up to p_count records that are too old from the table behind p_after, and returns where the next step goes on; '
    'NULL at the end.';
GRANT EXECUTE ON FUNCTION memwarden_internal.delete_next_records TO memwarden_jobs, memwarden_admin;

-- A refused request keeps what a person may want to look at again. What is known as noise is compared with, and stays as long.
CREATE OR REPLACE FUNCTION memwarden_internal.forget_refused_content(p_now timestamptz, p_count integer)
RETURNS boolean
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_before timestamptz := memwarden_internal.before(
        p_now, (SELECT r.keep FROM memwarden_data.record_retention AS r WHERE r.kind = 'refused_content'));
BEGIN
    UPDATE memwarden_data.write_request AS r
       SET content = NULL, subject = NULL, predicate = NULL, evidence = NULL, attributes = NULL, origin = NULL, justification = NULL
     WHERE r.request_id IN (
           SELECT t.request_id FROM memwarden_data.write_request AS t
            WHERE t.request_id < memwarden_internal.uuid7_floor(v_before) AND t.decided_at < v_before
              AND t.outcome IN ('REJECTED', 'DEADLINE_EXCEEDED') AND t.content IS NOT NULL
              AND NOT memwarden_internal.has_hold(t.org_id)
              AND NOT EXISTS (SELECT FROM memwarden_data.noise AS n
                               WHERE n.org_id = t.org_id AND n.request_id = t.request_id AND n.expires_at > p_now)
            LIMIT p_count FOR UPDATE SKIP LOCKED);
    RETURN FOUND;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.forget_refused_content IS
    'Empties up to p_count refused requests that are older than refused_content is kept; false when none is left. Hashes, reason and '
    'gate records stay.';

CREATE OR REPLACE PROCEDURE memwarden.delete_old_records()
LANGUAGE plpgsql SECURITY INVOKER
AS $procedure$
BEGIN
    CALL memwarden_internal.run_job('memwarden_records');
END
$procedure$;
COMMENT ON PROCEDURE memwarden.delete_old_records IS
    'Deletes records that are older than set_record_retention() keeps them, as a job: verdicts, counts of recalls, metrics, extractions, '
    'sightings, proposals, threads of a checkpointer, and the content of refused requests. maintain() drops the months of requests and '
    'recalls. Nothing that waits goes, nor requests, proposals, sightings and threads of an organisation in which a legal hold is in '
    'force. It notes the size of every table. It is safe to run twice at once and to kill. It commits after each thousand rows, so it '
    'cannot run inside a transaction. Source: W1.';
GRANT EXECUTE ON PROCEDURE memwarden.delete_old_records TO memwarden_jobs, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden.set_record_retention(kind text, keep interval)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
BEGIN
    BEGIN
        UPDATE memwarden_data.record_retention AS r
           SET keep = set_record_retention.keep, changed_at = clock_timestamp(), changed_by = session_user
         WHERE r.kind = set_record_retention.kind;
    EXCEPTION WHEN check_violation OR not_null_violation THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'keep: 1 day to 100 years');
    END;
    IF NOT FOUND THEN
        PERFORM memwarden_internal.raise_error('unknown_object', format('kind of record %L: see memwarden.record_retention',
            set_record_retention.kind));
    END IF;
    PERFORM memwarden_internal.record_access_change(
        0, 'set_record_retention', jsonb_build_object('kind', set_record_retention.kind, 'keep', set_record_retention.keep::text));
END
$function$;
COMMENT ON FUNCTION memwarden.set_record_retention IS
    'Sets how long a kind of record is kept, in all organisations. kind: requests (outcome, reason and hashes of settled write requests), '
    'refused_content, proposals, recalls (the log of recalls), recall_counts, verdicts, metrics (counts by the hour, and values), '
    'extractions, sightings or threads. keep: 1 day to 100 years. Requests and recalls go by whole months, so at most a month later. '
    'define_capture_source() sets how long captures are kept. Raises 42704 for an unknown kind, 22023 for an interval out of range, 25001 '
    'at an isolation level other than READ COMMITTED. Source: W1.';
GRANT EXECUTE ON FUNCTION memwarden.set_record_retention TO memwarden_admin;

-- pg_partman drops a month that ended longer ago than its retention: that reaches back to the oldest row that must stay.
CREATE OR REPLACE FUNCTION memwarden_internal.set_monthly_retention()
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_schema   text := memwarden_internal.partman_schema();
    v_requests interval := (SELECT r.keep FROM memwarden_data.record_retention AS r WHERE r.kind = 'requests');
    v_recalls  interval := (SELECT r.keep FROM memwarden_data.record_retention AS r WHERE r.kind = 'recalls');
    v_waits    timestamptz;
    v_held     boolean := EXISTS (SELECT FROM memwarden_data.legal_hold AS h WHERE h.lifted_at IS NULL);
BEGIN
    SELECT memwarden_internal.uuid7_time((array_agg(r.request_id ORDER BY r.request_id))[1]) INTO v_waits
      FROM memwarden_data.write_request AS r WHERE r.outcome = 'DEFERRED';
    v_requests := greatest(v_requests, clock_timestamp() - v_waits + interval '1 day', CASE WHEN v_held THEN interval '200 years' END);
    v_recalls := greatest(v_recalls, CASE WHEN v_held THEN interval '200 years' END);
    EXECUTE format('UPDATE %s.part_config AS c SET retention = n.keep, retention_keep_table = false FROM unnest($1, $2) AS n (name, keep) '
                   'WHERE c.parent_table = n.name AND c.retention IS DISTINCT FROM n.keep', v_schema)
      USING ARRAY['memwarden_data.write_request', 'memwarden_data.recall_log', 'memwarden_data.recall_outcome'],
            ARRAY[v_requests::text, v_recalls::text, v_recalls::text];
END
$function$;
COMMENT ON FUNCTION memwarden_internal.set_monthly_retention IS
    'Tells pg_partman from when on months of requests and recalls are dropped: not while a request in them waits, or a legal '
    'hold is in force.';
