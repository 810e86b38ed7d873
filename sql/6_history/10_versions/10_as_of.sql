CREATE TYPE memwarden_internal.dated_item AS (
    item_id         uuid,
    version_id      uuid,
    version         integer,
    layer           text,
    scope           text,
    kind            text,
    subject         text,
    predicate       text,
    content         jsonb,
    "text"          text,
    confidence      double precision,
    importance      double precision,
    recorded_at     timestamptz,
    superseded_at   timestamptz,
    valid_from      timestamptz,
    valid_to        timestamptz,
    expires_at      timestamptz,
    classification  text,
    domains         text[],
    attributes      jsonb,
    provenance      jsonb
);
COMMENT ON TYPE memwarden_internal.dated_item IS
    'What the store held of an item at a moment: recorded_at to superseded_at is how long it did, valid_from to '
    'valid_to when it is true in the world.';

CREATE TYPE memwarden_internal.held_version AS (
    org_id        bigint,
    item_id       uuid,
    version_id    uuid,
    valid_during  tstzrange
);
COMMENT ON TYPE memwarden_internal.held_version IS 'A version that the store held at a moment, and for which time in the world.';

-- A version says itself from when to when it was current: nothing is replayed. What is current still is found
-- from the items; what is over, through an index of periods: neither grows with the history behind it.
CREATE OR REPLACE FUNCTION memwarden_internal.versions_at(p_scopes bigint[], p_item_id uuid, p_system_time timestamptz,
    p_valid_time timestamptz)
RETURNS SETOF memwarden_internal.held_version
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
-- Items have few versions, the planner knows, and sorts them; some have a hundred thousand. The one that counts
-- comes first in an index, whatever the values and however many there are.
SET plan_cache_mode = force_generic_plan
SET enable_sort = off
SET jit = off
AS $function$
DECLARE
    v_orgs bigint[] := memwarden_internal.visible_orgs();
BEGIN
    RETURN QUERY
    WITH held AS (
        SELECT f.org_id, f.item_id, f.version_id, f.exclusive, f.valid_during, f.expires_at
          FROM memwarden_data.item AS i
          JOIN LATERAL (
              SELECT v.org_id, v.item_id, v.version_id, v.exclusive, v.valid_during, v.expires_at, v.recorded_during
                FROM memwarden_data.version AS v
               WHERE v.org_id = i.org_id AND v.item_id = i.item_id AND lower(v.recorded_during) <= p_system_time
               ORDER BY lower(v.recorded_during) DESC
               LIMIT 1) AS f ON f.recorded_during @> p_system_time
         WHERE i.item_id = p_item_id AND i.org_id = ANY (v_orgs) AND i.scope_id = ANY (p_scopes)
         UNION ALL
        SELECT i.org_id, i.item_id, i.version_id, i.exclusive, i.valid_during, i.expires_at
          FROM memwarden_data.item AS i
         WHERE p_item_id IS NULL AND i.org_id = ANY (v_orgs) AND i.scope_id = ANY (p_scopes)
           AND i.status = 'ACTIVE' AND i.updated_at <= p_system_time
         UNION ALL
        SELECT v.org_id, v.item_id, v.version_id, v.exclusive, v.valid_during, v.expires_at
          FROM memwarden_data.scope AS s
          JOIN memwarden_data.version AS v ON v.org_id = s.org_id AND v.scope_id = s.scope_id
         WHERE p_item_id IS NULL AND s.scope_id = ANY (p_scopes) AND v.recorded_during @> p_system_time AND NOT upper_inf(v.recorded_during)
    )
    SELECT h.org_id, h.item_id, coalesce(t.version_id, h.version_id), coalesce(t.valid_during, h.valid_during)
      FROM held AS h
      LEFT JOIN LATERAL (
          SELECT l.version_id, l.valid_during
            FROM (-- What is held still of then was mostly held at that moment already.
                  (SELECT o.version_id, o.valid_during, o.recorded_during
                     FROM memwarden_data.timeline AS o
                    WHERE o.org_id = h.org_id AND o.item_id = h.item_id AND upper_inf(o.recorded_during)
                        AND lower(o.valid_during) <= p_valid_time
                    ORDER BY lower(o.valid_during) DESC
                    LIMIT 1)
                   UNION ALL
                  (SELECT o.version_id, o.valid_during, o.recorded_during
                     FROM memwarden_data.timeline AS o
                    WHERE o.org_id = h.org_id AND o.item_id = h.item_id AND o.recorded_during @> p_system_time
                        AND o.valid_during @> p_valid_time)) AS l
            -- A version that is current is held true for all of its period.
           WHERE h.exclusive AND NOT h.valid_during @> p_valid_time AND l.recorded_during @> p_system_time
               AND l.valid_during @> p_valid_time
           LIMIT 1) AS t ON true
     WHERE (h.expires_at IS NULL OR h.expires_at > p_system_time)
       AND (p_valid_time IS NULL OR t.version_id IS NOT NULL OR h.valid_during @> p_valid_time);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.versions_at IS
    'The versions that were current at a moment, of those scopes, or of one item in them; with p_valid_time those that '
    'were held true of then. Asks no rights but the organisation.';

-- Of what was held, each name is compared once, however many versions bear it.
CREATE OR REPLACE FUNCTION memwarden_internal.spellings_held(
    p_held memwarden_internal.held_version[], p_subject text, p_predicate text, OUT subjects text[], OUT predicates text[])
RETURNS record
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
SET plan_cache_mode = force_generic_plan
AS $function$
BEGIN
    IF num_nonnulls(p_subject, p_predicate) = 0 THEN
        RETURN;
    END IF;
    WITH said AS MATERIALIZED (
        SELECT DISTINCT v.org_id, v.subject, v.predicate
          FROM unnest(p_held) AS h
          JOIN memwarden_data.version AS v ON v.org_id = h.org_id AND v.item_id = h.item_id AND v.version_id = h.version_id
    ), asked AS MATERIALIZED (
        SELECT o.org_id, n.subjects, n.predicates, coalesce(y.synonyms::text, '{}') AS synonyms
          FROM (SELECT DISTINCT s.org_id FROM said AS s) AS o
          LEFT JOIN memwarden_data.vocabulary AS y ON y.org_id = o.org_id
         CROSS JOIN LATERAL memwarden_internal.asked_names(ARRAY[o.org_id], p_subject, p_predicate) AS n
    )
    SELECT array_agg(DISTINCT s.subject) FILTER (WHERE memwarden_internal.form_of_subject(k.subject_form, s.subject) = ANY (a.subjects)),
           array_agg(DISTINCT s.predicate)
               FILTER (WHERE memwarden_internal.form_of_predicate(k.predicate_form, s.predicate) = ANY (a.predicates))
      INTO subjects, predicates
      FROM said AS s
      JOIN asked AS a ON a.org_id = s.org_id
     CROSS JOIN LATERAL memwarden_internal.kept_name_forms(s.subject, s.predicate, a.synonyms) AS k;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.spellings_held IS
    'In which spellings versions that were held bear a subject and a predicate, as write() compares them.';

CREATE OR REPLACE FUNCTION memwarden.as_of(
    system_time timestamptz DEFAULT NULL,
    valid_time timestamptz DEFAULT NULL,
    item_id uuid DEFAULT NULL,
    scope text DEFAULT NULL,
    scopes text[] DEFAULT NULL,
    layers text[] DEFAULT NULL,
    subject text DEFAULT NULL,
    predicate text DEFAULT NULL,
    kind text DEFAULT NULL,
    filter jsonb DEFAULT NULL,
    min_confidence double precision DEFAULT NULL,
    query text DEFAULT NULL)
RETURNS SETOF memwarden_internal.dated_item
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
-- From the versions that were found to all else by key: a plan that looks at whole tables grows with the history.
SET plan_cache_mode = force_generic_plan
AS $function$
DECLARE
    v_principal_id bigint := memwarden_internal.require_principal();
    v_scopes       bigint[];
    v_labels       integer[] := memwarden_internal.readable_labels(v_principal_id);
    v_system_time  timestamptz := coalesce(as_of.system_time, clock_timestamp());
    v_held         memwarden_internal.held_version[];
    v_names        record;
BEGIN
    PERFORM memwarden_internal.check_recall(1, as_of.layers, as_of.min_confidence, NULL, 'weighted');
    IF as_of.item_id IS NULL OR as_of.scope IS NOT NULL OR as_of.scopes IS NOT NULL THEN
        v_scopes := memwarden_internal.searched_scopes(v_principal_id, as_of.scope, as_of.scopes);
    ELSE
        v_scopes := ARRAY(SELECT i.scope_id FROM memwarden_data.item AS i
                           WHERE i.org_id = ANY (memwarden_internal.visible_orgs()) AND i.item_id = as_of.item_id
                             AND memwarden_internal.may_read(v_principal_id, i.scope_id));
    END IF;
    v_held := ARRAY(SELECT h FROM memwarden_internal.versions_at(v_scopes, as_of.item_id, v_system_time, as_of.valid_time) AS h);
    v_names := memwarden_internal.spellings_held(v_held, as_of.subject, as_of.predicate);
    RETURN QUERY
    SELECT v.item_id, v.version_id, v.version::integer, v.layer, s.path, v.kind, v.subject, v.predicate, v.content, v.search_text,
           v.confidence::double precision, v.importance::double precision, lower(v.recorded_during), upper(v.recorded_during),
           lower(h.valid_during), upper(h.valid_during), v.expires_at, c.name, k.domains, k.attributes,
           memwarden_internal.provenance(p.name, v.request_id, v.version, lower(v.recorded_during), i.created_at, v.evidence,
                                         (o.record ->> 'adjusted_confidence')::double precision,
                                             (o.record ->> 'authority')::double precision, o.record ->> 'sensitivity')
      FROM unnest(v_held) AS h
      -- By the item as well: whichever index is taken without statistics, it finds one item's versions.
      JOIN memwarden_data.said_version AS v ON v.org_id = h.org_id AND v.item_id = h.item_id AND v.version_id = h.version_id
      -- Each by what was found, not one by the other: without statistics every item would be tried with every version.
      JOIN memwarden_data.item AS i ON i.org_id = h.org_id AND i.item_id = h.item_id
      JOIN memwarden_data.layer AS l ON l.layer = v.layer
      JOIN memwarden_data.scope AS s ON s.scope_id = v.scope_id
      JOIN memwarden_data.principal AS p ON p.principal_id = v.principal_id
      JOIN memwarden_data.label AS k ON k.label_id = i.label_id
      JOIN memwarden_data.classification AS c ON c.level = k.classification
      LEFT JOIN LATERAL (SELECT r.record FROM memwarden_data.whole_provenance AS r
                          WHERE r.org_id = v.org_id AND r.version_id = v.version_id AND r.recorded_at <= v_system_time
                          ORDER BY r.provenance_id DESC LIMIT 1) AS o ON true
     WHERE (CASE WHEN i.principal_id = v_principal_id THEN -i.label_id ELSE i.label_id END) = ANY (v_labels)
       -- What retention lets nobody read today is told of no moment.
       AND (i.kept_until IS NULL OR i.kept_until > clock_timestamp())
       -- Of the value of another time, too, the time to live may be over.
       AND (v.expires_at IS NULL OR v.expires_at > v_system_time)
       AND (as_of.layers IS NULL OR v.layer = ANY (as_of.layers))
       AND (as_of.subject IS NULL OR v.subject = ANY (v_names.subjects))
       AND (as_of.predicate IS NULL OR v.predicate = ANY (v_names.predicates))
       AND (as_of.kind IS NULL OR v.kind = as_of.kind)
       AND (as_of.filter IS NULL OR v.content @> as_of.filter)
       AND (as_of.min_confidence IS NULL OR v.confidence >= as_of.min_confidence)
       AND (as_of.query IS NULL
            OR EXISTS (SELECT FROM (SELECT coalesce(s.text_search_config, l.text_search_config) AS config OFFSET 0) AS f
                        WHERE to_tsvector(f.config::regconfig, memwarden_internal.small_letters(left(v.search_text, 200000)))
                              || memwarden_internal.words_of(f.config, v.search_text)
                              @@ memwarden_internal.web_query(f.config, left(as_of.query, 10000))))
     ORDER BY s.path, v.layer, v.item_id;
END
$function$;
COMMENT ON FUNCTION memwarden.as_of IS
    'Returns what the store held at a moment. A caller that may see an item today sees all that the item ever said, '
    'and nothing else. What had expired by then is not returned, nor what retention lets nobody read today. Times '
    'before the first write give no row. '
    'system_time: when the store held it, whatever became of it since; default now. valid_time: only what was held '
    'true at that time in the world; for a fact with one value at a time, the value of then. item_id: one item. '
    'scope: this scope and those it inherits from. scopes: exactly these; without scope and scopes, all that the '
    'caller sees. layers: default all. subject, predicate: equal, as write() compares them. kind: equal. filter: content @> '
    'filter. min_confidence: 0 to 1. query: words as in a web search (all of them, "a phrase", or, -not). With '
    'system_time and valid_time together, the call returns what was believed at system_time about valid_time. '
    'recorded_at, superseded_at: from when to when the store held it. valid_from, valid_to: from when to when it is '
    'true in the world. Raises 28000 without an identity; 42704 for an unknown scope or layer; 22023 for arguments '
    'out of range. Source: chapter 12.5.5.';
GRANT EXECUTE ON FUNCTION memwarden.as_of TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor;
