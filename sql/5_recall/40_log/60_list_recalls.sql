-- Whose recalls the caller may look at: its own; curators and auditors those of agents of their organisation whose home they
-- read and who are cleared for no more. Of what was given, everybody is shown what they read now.
CREATE TYPE memwarden_internal.logged_recall AS (
    recall_id        uuid,
    recalled_at      timestamptz,
    agent            text,
    login            text,
    purpose          text,
    task             text,
    session_id       uuid,
    query_digest     bytea,
    scopes           text[],
    layers           text[],
    k                integer,
    threshold        double precision,
    embedding_model  text,
    surface          text,
    given            integer,
    item_ids         uuid[],
    version_ids      uuid[],
    scores           real[],
    reported         boolean,
    outcome          text,
    used             uuid[],
    detail           jsonb,
    outcome_at       timestamptz,
    revision         integer
);
COMMENT ON TYPE memwarden_internal.logged_recall IS 'One recall of the log, with what was reported of it last.';

CREATE OR REPLACE FUNCTION memwarden_internal.recall_reader(
    OUT principal_id bigint, OUT orgs bigint[], OUT scopes bigint[], OUT labels integer[], OUT principals bigint[])
RETURNS record
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_own record;
BEGIN
    principal_id := memwarden_internal.current_principal();
    orgs := memwarden_internal.visible_orgs();
    scopes := memwarden_internal.readable_scopes(principal_id);
    labels := memwarden_internal.readable_labels(principal_id);
    SELECT p.org_id, p.clearance, p.domains INTO v_own FROM memwarden_data.principal AS p WHERE p.principal_id = recall_reader.principal_id;
    principals := ARRAY(
        SELECT p.principal_id FROM memwarden_data.principal AS p
         WHERE p.org_id = v_own.org_id
           AND (p.principal_id = recall_reader.principal_id
                OR (pg_has_role(session_user, 'memwarden_auditor', 'USAGE') OR pg_has_role(session_user, 'memwarden_curator', 'USAGE'))
                   AND p.home_scope_id = ANY (recall_reader.scopes) AND p.clearance <= v_own.clearance AND p.domains <@ v_own.domains));
END
$function$;
COMMENT ON FUNCTION memwarden_internal.recall_reader IS
    'What the caller sees of memory, and the principals whose recalls it may look at.';

CREATE OR REPLACE FUNCTION memwarden_internal.read_recalls(
    p_since timestamptz, p_until timestamptz, p_agent text, p_task text, p_session_id uuid, p_purpose text, p_query text,
    p_item_id uuid, p_after uuid, p_most bigint)
RETURNS SETOF memwarden_internal.logged_recall
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
-- With the values at hand the planner drops what does not apply, and whole months.
SET plan_cache_mode = force_custom_plan
AS $function$
DECLARE
    v_me     record := memwarden_internal.recall_reader();
    v_digest bytea := memwarden_internal.query_digest((SELECT p.org_id FROM memwarden_data.principal AS p
        WHERE p.principal_id = v_me.principal_id), p_query);
    v_from   uuid := memwarden_internal.uuid7_floor(coalesce(p_since, '1970-01-01'));
    v_to     uuid := coalesce(memwarden_internal.uuid7_floor(p_until), 'ffffffff-ffff-ffff-ffff-ffffffffffff');
BEGIN
    RETURN QUERY
    WITH found AS MATERIALIZED (
        SELECT l.org_id, l.recall_id, l.recalled_at, p.name, l.login, l.principal_id, l.purpose, l.task, l.session_id,
            l.query_digest, l.scopes,
               l.layers, l.k, l.threshold, l.embedding_model, l.surface, l.item_ids, l.version_ids, l.scores, l.reported
          FROM memwarden_data.recall_log AS l
          JOIN memwarden_data.principal AS p ON p.principal_id = l.principal_id
         WHERE l.org_id = ANY (v_me.orgs) AND l.recall_id >= v_from AND l.recall_id < v_to AND (p_after IS NULL OR l.recall_id < p_after)
           AND l.principal_id = ANY (v_me.principals)
           AND (p_agent IS NULL OR p.name = p_agent) AND (p_task IS NULL OR l.task = p_task)
           AND (p_session_id IS NULL OR l.session_id = p_session_id) AND (p_purpose IS NULL OR l.purpose = p_purpose)
           AND (p_query IS NULL OR l.query_digest = v_digest) AND (p_item_id IS NULL OR l.item_ids @> ARRAY[p_item_id])
         ORDER BY l.recall_id DESC LIMIT p_most
    )
    SELECT f.recall_id, f.recalled_at, f.name, f.login, f.purpose, f.task, f.session_id, f.query_digest,
           CASE WHEN f.scopes IS NOT NULL THEN ARRAY(SELECT s.path FROM memwarden_data.scope AS s
                                                      WHERE s.path = ANY (f.scopes) AND s.scope_id = ANY (v_me.scopes) ORDER BY s.path) END,
           f.layers, f.k, f.threshold, f.embedding_model, f.surface,
           -- How much is hidden of what another was given is not told.
           CASE WHEN f.principal_id = v_me.principal_id THEN cardinality(f.item_ids) ELSE cardinality(g.item_ids) END,
           g.item_ids, g.version_ids, g.scores, coalesce(f.reported, false), o.outcome,
           ARRAY(SELECT u.id FROM unnest(o.used) AS u (id) WHERE u.id = ANY (g.item_ids)),
           -- Words of who recalled, as the task is.
           o.detail, o.reported_at, o.revision
      FROM found AS f
     CROSS JOIN LATERAL (
           SELECT coalesce(array_agg(u.item_id ORDER BY u.place), '{}') AS item_ids,
               coalesce(array_agg(u.version_id ORDER BY u.place), '{}') AS version_ids,
                  coalesce(array_agg(u.score ORDER BY u.place), '{}') AS scores
             FROM unnest(f.item_ids, f.version_ids, f.scores) WITH ORDINALITY AS u (item_id, version_id, score, place)
             JOIN memwarden_data.item AS i ON i.org_id = ANY (v_me.orgs) AND i.item_id = u.item_id
            WHERE i.scope_id = ANY (v_me.scopes)
              AND (CASE WHEN i.principal_id = v_me.principal_id THEN -i.label_id ELSE i.label_id END) = ANY (v_me.labels)) AS g
      LEFT JOIN LATERAL (SELECT t.outcome, t.used, t.detail, t.reported_at, t.revision FROM memwarden_data.recall_outcome AS t
                          WHERE t.org_id = f.org_id AND t.recall_id = f.recall_id ORDER BY t.revision DESC LIMIT 1) AS o ON true
     ORDER BY f.recall_id DESC;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.read_recalls IS
    'Recalls that the caller may look at, the latest first. NULL where something is not asked for; p_most: NULL for all.';

CREATE OR REPLACE FUNCTION memwarden_internal.list_recalls()
RETURNS SETOF memwarden_internal.logged_recall
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
BEGIN
    RETURN QUERY SELECT * FROM memwarden_internal.read_recalls(NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
END
$function$;
COMMENT ON VIEW memwarden.recalls IS
    'Lists the recalls of the caller. Curators and auditors also see recalls of agents whose home is a scope that they read and who '
    'are cleared for no more than they are. item_ids, version_ids and scores are what was given, best first, as far as the caller '
    'reads it. outcome, used and detail are what was reported last. Each query reads all rows, whatever it asks for: find_recalls() '
    'finds some faster.';
GRANT EXECUTE ON FUNCTION memwarden_internal.list_recalls
    TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor;

CREATE OR REPLACE FUNCTION memwarden.find_recalls(
    since timestamptz DEFAULT NULL, until timestamptz DEFAULT NULL, agent text DEFAULT NULL, task text DEFAULT NULL,
        session_id uuid DEFAULT NULL,
    purpose text DEFAULT NULL, query text DEFAULT NULL, max_rows integer DEFAULT 100, after uuid DEFAULT NULL)
RETURNS SETOF memwarden_internal.logged_recall
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
BEGIN
    PERFORM memwarden_internal.require_principal();
    IF (find_recalls.max_rows BETWEEN 1 AND 1000) IS NOT TRUE THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'max_rows: 1 to 1,000');
    END IF;
    RETURN QUERY
    SELECT * FROM memwarden_internal.read_recalls(
        find_recalls.since, find_recalls.until, find_recalls.agent, find_recalls.task, find_recalls.session_id, find_recalls.purpose,
        find_recalls.query, NULL, find_recalls.after, find_recalls.max_rows);
END
$function$;
COMMENT ON FUNCTION memwarden.find_recalls IS
    'Lists recalls from memwarden.recalls, latest first. A recall is listed where it meets all arguments given. '
    'since, until: made since and until then. agent, task, session_id: made by this agent, for this task, in this '
    'session. purpose: made for this purpose, such as recall, context or push. query: made with exactly this query; '
    'the log keeps only an HMAC of the query. max_rows: 1 to 1,000; default 100. after: the recall_id of the last row '
    'that was seen, to continue from there. Raises 28000 without an identity; 22023 for max_rows. Source: Z4.';
GRANT EXECUTE ON FUNCTION memwarden.find_recalls TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor;

CREATE OR REPLACE FUNCTION memwarden.recalls_of(
    item_id uuid, since timestamptz DEFAULT NULL, until timestamptz DEFAULT NULL, max_rows integer DEFAULT 100, after uuid DEFAULT NULL)
RETURNS TABLE (recall_id uuid, recalled_at timestamptz, agent text, purpose text, task text, session_id uuid, version_id uuid,
    place integer,
               score real, outcome text, used boolean, outcome_at timestamptz)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
DECLARE
    v_since timestamptz := memwarden_internal.first_given(recalls_of.item_id);
BEGIN
    PERFORM memwarden_internal.require_principal();
    IF recalls_of.item_id IS NULL OR (recalls_of.max_rows BETWEEN 1 AND 1000) IS NOT TRUE THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'item_id: an item; max_rows: 1 to 1,000');
    END IF;
    IF v_since IS NULL THEN
        RETURN;
    END IF;
    RETURN QUERY
    SELECT r.recall_id, r.recalled_at, r.agent, r.purpose, r.task, r.session_id, r.version_ids[p.place], p.place, r.scores[p.place],
           r.outcome, CASE WHEN r.outcome IS NOT NULL THEN recalls_of.item_id = ANY (r.used) END, r.outcome_at
      FROM memwarden_internal.read_recalls(
               greatest(recalls_of.since, v_since), recalls_of.until, NULL, NULL, NULL, NULL, NULL, recalls_of.item_id,
               recalls_of.after, recalls_of.max_rows) AS r
     CROSS JOIN LATERAL (SELECT array_position(r.item_ids, recalls_of.item_id) AS place) AS p
     WHERE p.place IS NOT NULL
     ORDER BY r.recall_id DESC;
END
$function$;
COMMENT ON FUNCTION memwarden.recalls_of IS
    'Lists who was given a memory, when, for which task, and with which outcome, latest first. It lists recalls that '
    'the caller may look at (memwarden.recalls) and that gave the memory. No row is returned where the caller does '
    'not read the memory. max_rows: 1 to 1,000; default 100. after: the recall_id of the last row that was seen. '
    'version_id, place: the version that was given, and its place in the answer. used: NULL where nothing was '
    'reported. Raises 28000 without an identity; 22023 for arguments out of range. Source: Z4.';
GRANT EXECUTE ON FUNCTION memwarden.recalls_of TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor;

CREATE OR REPLACE FUNCTION memwarden_internal.first_given(p_item_id uuid)
RETURNS timestamptz
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_principal_id bigint := memwarden_internal.current_principal();
BEGIN
    -- Nobody is given a memory before it is there.
    RETURN (SELECT min(i.created_at) - interval '1 minute' FROM memwarden_data.item AS i
             WHERE i.org_id = ANY (memwarden_internal.visible_orgs()) AND i.item_id = p_item_id
               AND memwarden_internal.may_read(v_principal_id, i.scope_id)
               AND CASE WHEN i.principal_id = v_principal_id THEN -i.label_id ELSE i.label_id END
                   = ANY (memwarden_internal.readable_among(v_principal_id, ARRAY[i.label_id])));
END
$function$;
COMMENT ON FUNCTION memwarden_internal.first_given IS
    'From when on the log may name a memory; NULL where there is none that the caller reads.';

CREATE OR REPLACE FUNCTION memwarden.writes_of_recall(recall_id uuid, max_rows integer DEFAULT 100)
RETURNS TABLE (request_id uuid, submitted_at timestamptz, outcome text, reason text, layer text, scope text, item_id uuid)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
SET plan_cache_mode = force_custom_plan
AS $function$
DECLARE
    v_me     record := memwarden_internal.recall_reader();
    v_recall record;
BEGIN
    PERFORM memwarden_internal.require_principal();
    IF (writes_of_recall.max_rows BETWEEN 1 AND 1000) IS NOT TRUE THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'max_rows: 1 to 1,000');
    END IF;
    SELECT l.org_id, l.principal_id, l.task, l.session_id INTO v_recall FROM memwarden_data.recall_log AS l
     WHERE l.org_id = ANY (v_me.orgs) AND l.recall_id = writes_of_recall.recall_id AND l.principal_id = ANY (v_me.principals);
    IF NOT FOUND THEN
        RETURN;
    END IF;
    RETURN QUERY
    SELECT q.request_id, q.submitted_at, q.outcome::text, q.reason, q.layer, s.path, i.item_id
      FROM memwarden_data.write_request AS q
      LEFT JOIN memwarden_data.scope AS s ON s.scope_id = q.scope_id AND s.scope_id = ANY (v_me.scopes)
      LEFT JOIN memwarden_data.item AS i ON i.org_id = q.org_id AND i.item_id = q.item_id AND i.scope_id = ANY (v_me.scopes)
            AND (CASE WHEN i.principal_id = v_me.principal_id THEN -i.label_id ELSE i.label_id END) = ANY (v_me.labels)
     WHERE q.org_id = v_recall.org_id AND q.principal_id = v_recall.principal_id AND q.request_id >= writes_of_recall.recall_id
       AND q.trace_id IN (v_recall.task, v_recall.session_id::text)
       AND (q.principal_id = v_me.principal_id OR s.scope_id IS NOT NULL AND q.label_id = ANY (v_me.labels))
     ORDER BY q.request_id LIMIT writes_of_recall.max_rows;
END
$function$;
COMMENT ON FUNCTION memwarden.writes_of_recall IS
    'Lists the write requests that followed a recall in the same task or session, oldest first. These are requests of '
    'the same agent, made after the recall, with its task or session as their trace_id. No row is returned for a '
    'recall that the caller may not look at. max_rows: 1 to 1,000; default 100. Raises 28000 without an identity; '
    '22023 for max_rows. Source: Z4.';
GRANT EXECUTE ON FUNCTION memwarden.writes_of_recall
    TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor;
