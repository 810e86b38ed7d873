-- Memories by whom they are about, and by the decision or workflow they came of.
CREATE TYPE memwarden_internal.keyed_item AS (
    item_id         uuid,
    version_id      uuid,
    layer           text,
    scope           text,
    kind            text,
    subject         text,
    predicate       text,
    content         jsonb,
    entity          text,
    distance        integer,
    confidence      double precision,
    low_confidence  boolean,
    contradicted    boolean,
    stale           boolean,
    classification  text,
    provenance      jsonb,
    origin          jsonb,
    standing        text,
    hedge           text,
    suspicious      text[]
);
COMMENT ON TYPE memwarden_internal.keyed_item IS
    'A memory found by its keys; entity: the nearest that it belongs to, distance: how many relations away that is.';

CREATE OR REPLACE FUNCTION memwarden_internal.related_entities(
    p_orgs bigint[], p_entity_ids bigint[], p_scopes bigint[], p_clearance smallint, p_labels integer[], p_principal_id bigint,
        p_valid_at timestamptz, p_now timestamptz)
RETURNS bigint[]
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN ARRAY(
        SELECT DISTINCT u.id
          FROM memwarden_data.memory_key AS s
          JOIN memwarden_data.item AS i ON i.org_id = s.org_id AND i.item_id = s.item_id AND i.content_hash = s.content_hash
          JOIN memwarden_data.memory_key AS o ON o.org_id = s.org_id AND o.item_id = s.item_id AND o.content_hash = s.content_hash
              AND o.role <> s.role
          JOIN memwarden_data.entity AS e ON e.org_id = ANY (p_orgs) AND e.entity_id = o.entity_id
         CROSS JOIN LATERAL unnest(memwarden_internal.same_entities(e.org_id, e.entity_id, p_scopes, p_clearance)) AS u (id)
         WHERE s.org_id = ANY (p_orgs) AND s.entity_id = ANY (p_entity_ids)
           AND i.scope_id = ANY (p_scopes) AND i.status = 'ACTIVE' AND (i.expires_at IS NULL OR i.expires_at > p_now)
           AND (p_valid_at IS NULL OR i.valid_during @> p_valid_at)
           AND (CASE WHEN i.principal_id = p_principal_id THEN -i.label_id ELSE i.label_id END) = ANY (p_labels)
           AND e.scope_id = ANY (p_scopes) AND e.classification <= p_clearance);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.related_entities IS
    'The entities that a memory relates to some, of memories and entities that the reader sees.';

-- What is found by keys is presented as what is found by words is.
CREATE OR REPLACE FUNCTION memwarden_internal.keyed_items(
    p_principal_id bigint, p_item_ids uuid[], p_entities text[], p_distances integer[], p_now timestamptz, p_surface text)
RETURNS SETOF memwarden_internal.keyed_item
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER ROWS 20
AS $function$
DECLARE
    v_org_id bigint := (SELECT p.org_id FROM memwarden_data.principal AS p WHERE p.principal_id = p_principal_id);
    -- A surface that strips entities tells none, not even which it was that a memory was found by.
    v_hidden boolean := EXISTS (SELECT FROM memwarden_data.surface AS s WHERE s.org_id = v_org_id AND s.name = p_surface
        AND 'entity' = ANY (s.strip));
    v_names  jsonb := CASE WHEN NOT v_hidden THEN memwarden_internal.stripped(v_org_id,
        jsonb_build_object('entities', to_jsonb(p_entities)), p_surface) -> 'entities' END;
BEGIN
    RETURN QUERY
    SELECT r.item_id, r.version_id, r.layer, r.scope, r.kind, r.subject, r.predicate, r.content,
        v_names ->> (q.place - 1)::integer, q.distance,
           r.confidence, r.low_confidence, r.contradicted, r.stale, r.classification, r.provenance, r.origin, r.standing,
               r.hedge, r.suspicious
      FROM unnest(p_item_ids, p_distances) WITH ORDINALITY AS q (item_id, distance, place)
      JOIN unnest(memwarden_internal.presented_records(
               p_principal_id, ARRAY(SELECT c FROM memwarden_internal.context_records(p_principal_id, p_item_ids, NULL, p_now,
                   p_surface) AS c), p_surface)) AS r
        ON r.item_id = q.item_id
     ORDER BY q.place;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.keyed_items IS
    'Memories that a principal reads, in the order given, with the entity that each was found by and how far away that '
    'is, as they are told across a surface (NULL: none).';

CREATE OR REPLACE FUNCTION memwarden.recall_entity(
    entity text, depth integer DEFAULT 1, scope text DEFAULT NULL, layers text[] DEFAULT NULL, predicate text DEFAULT NULL,
    valid_at timestamptz DEFAULT NULL, max_rows integer DEFAULT 100, surface text DEFAULT NULL)
RETURNS SETOF memwarden_internal.keyed_item
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER ROWS 20
AS $function$
DECLARE
    v_principal_id bigint := memwarden_internal.require_principal();
    v_now       timestamptz := clock_timestamp();
    v_entity    record := memwarden_internal.require_entity(recall_entity.entity, recall_entity.scope, recall_entity.surface);
    v_reader    record := memwarden_internal.entity_reader(recall_entity.surface);
    v_labels    integer[] := memwarden_internal.labels_across(v_principal_id, recall_entity.surface);
    v_ids       bigint[] := memwarden_internal.same_entities(v_entity.org_id, v_entity.entity_id, v_reader.scopes, v_reader.clearance);
    v_distances integer[] := array_fill(0, ARRAY[cardinality(v_ids)]);
    v_next      bigint[] := v_ids;
    v_names     record := memwarden_internal.asked_names(v_reader.orgs, NULL, recall_entity.predicate);
BEGIN
    IF (recall_entity.depth BETWEEN 0 AND 3 AND recall_entity.max_rows BETWEEN 1 AND 1000) IS NOT TRUE THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'depth: 0 to 3; max_rows: 1 to 1,000');
    END IF;
    FOR v_step IN 1 .. recall_entity.depth LOOP
        v_next := ARRAY(SELECT n.id FROM unnest(memwarden_internal.related_entities(
                               v_reader.orgs, v_next, v_reader.scopes, v_reader.clearance, v_labels, v_principal_id,
                                   recall_entity.valid_at, v_now)) AS n (id)
                         WHERE n.id <> ALL (v_ids) ORDER BY n.id LIMIT 1000);
        EXIT WHEN v_next = '{}';
        v_ids := v_ids || v_next;
        v_distances := v_distances || array_fill(v_step, ARRAY[cardinality(v_next)]);
    END LOOP;
    RETURN QUERY
    WITH keyed AS (
        SELECT DISTINCT ON (i.item_id) i.item_id, e.ceid, d.distance, i.confidence, i.updated_at
          FROM unnest(v_ids, v_distances) AS d (entity_id, distance)
          JOIN memwarden_data.entity AS e ON e.org_id = ANY (v_reader.orgs) AND e.entity_id = d.entity_id
          JOIN memwarden_data.memory_key AS k ON k.org_id = ANY (v_reader.orgs) AND k.entity_id = d.entity_id
          JOIN memwarden_data.item AS i ON i.org_id = k.org_id AND i.item_id = k.item_id AND i.content_hash = k.content_hash
         WHERE i.scope_id = ANY (v_reader.scopes) AND i.status = 'ACTIVE' AND (i.expires_at IS NULL OR i.expires_at > v_now)
           AND (CASE WHEN i.principal_id = v_principal_id THEN -i.label_id ELSE i.label_id END) = ANY (v_labels)
           AND (recall_entity.layers IS NULL OR i.layer = ANY (recall_entity.layers))
           AND (recall_entity.predicate IS NULL
                OR memwarden_internal.form_of_predicate(i.predicate_form, i.predicate) = ANY (v_names.predicates))
           AND (recall_entity.valid_at IS NULL OR i.valid_during @> recall_entity.valid_at)
         ORDER BY i.item_id, d.distance, k.role DESC, e.entity_id
    ), best AS (
        SELECT k.* FROM keyed AS k ORDER BY k.distance, k.confidence DESC, k.updated_at DESC, k.item_id LIMIT recall_entity.max_rows
    )
    SELECT r.*
      FROM (SELECT array_agg(b.item_id ORDER BY b.distance, b.confidence DESC, b.updated_at DESC, b.item_id) AS ids,
                   array_agg(b.ceid ORDER BY b.distance, b.confidence DESC, b.updated_at DESC, b.item_id) AS entities,
                   array_agg(b.distance ORDER BY b.distance, b.confidence DESC, b.updated_at DESC, b.item_id) AS distances
                       FROM best AS b) AS f
     CROSS JOIN LATERAL memwarden_internal.keyed_items(v_principal_id, f.ids, f.entities, f.distances, v_now, recall_entity.surface) AS r;
END
$function$;
COMMENT ON FUNCTION memwarden.recall_entity IS
    'Returns the memories about an entity, by all its names and after every merge, highest confidence first. These '
    'are the facts whose subject or content is the entity. Memories and entities that the caller does not see lead to '
    'no others. The answer is screened as in recall(). entity: its id. depth: 0 to 3, default 1; how many relations '
    'away entities may be whose memories are returned too. scope: where to look the entity up, where its id alone is '
    'ambiguous. layers, predicate, valid_at: as recall() takes them. max_rows: 1 to 1,000; default 100. surface: the '
    'boundary that the answer crosses, as recall() takes it. A memory that is classified above the surface leads to '
    'no others. The column entity is NULL where the surface strips entities. The relevance floor of the surface is '
    'not applied, because this call computes no relevance. distance: how many relations away the entity is. standing, '
    'hedge, suspicious: as in recall(). Raises 28000 without an identity; 42704 for an unknown entity or surface; '
    '22023 for arguments out of range. Source: memory fabric, storage tiers; agent memory primitives, 14.';
GRANT EXECUTE ON FUNCTION memwarden.recall_entity TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor;

CREATE OR REPLACE FUNCTION memwarden.recall_keyed(
    decision text DEFAULT NULL, workflow text DEFAULT NULL, layers text[] DEFAULT NULL, max_rows integer DEFAULT 100,
        surface text DEFAULT NULL)
RETURNS SETOF memwarden_internal.keyed_item
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER ROWS 20
AS $function$
DECLARE
    v_principal_id bigint := memwarden_internal.require_principal();
    v_now    timestamptz := clock_timestamp();
    v_orgs   bigint[] := memwarden_internal.visible_orgs();
    v_scopes bigint[] := memwarden_internal.readable_scopes(v_principal_id, recall_keyed.surface);
    v_labels integer[] := memwarden_internal.labels_across(v_principal_id, recall_keyed.surface);
    v_ids    uuid[];
BEGIN
    IF recall_keyed.surface IS NOT NULL THEN
        PERFORM memwarden_internal.require_surface(v_principal_id, recall_keyed.surface);
    END IF;
    IF (recall_keyed.max_rows BETWEEN 1 AND 1000) IS NOT TRUE THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'max_rows: 1 to 1,000');
    END IF;
    v_ids := ARRAY(
        SELECT i.item_id
          FROM memwarden_data.item AS i
         WHERE i.org_id = ANY (v_orgs) AND i.scope_id = ANY (v_scopes) AND i.status = 'ACTIVE'
             AND (i.expires_at IS NULL OR i.expires_at > v_now)
           AND i.item_id IN (SELECT k.item_id FROM memwarden_data.memory_key AS k
                              WHERE k.org_id = ANY (v_orgs) AND k.role IN ('decision', 'workflow')
                                AND (num_nonnulls(recall_keyed.decision, recall_keyed.workflow) = 0
                                     OR (k.role, k.said) IN (('decision', recall_keyed.decision), ('workflow', recall_keyed.workflow))))
           AND (recall_keyed.layers IS NULL OR i.layer = ANY (recall_keyed.layers))
           AND (CASE WHEN i.principal_id = v_principal_id THEN -i.label_id ELSE i.label_id END) = ANY (v_labels)
           AND NOT EXISTS (
                   SELECT FROM (VALUES ('decision', recall_keyed.decision), ('workflow', recall_keyed.workflow)) AS w (role, said)
                    WHERE w.said IS NOT NULL AND NOT EXISTS (
                              SELECT FROM memwarden_data.memory_key AS k
                               WHERE k.org_id = i.org_id AND k.item_id = i.item_id AND k.content_hash = i.content_hash
                                   AND k.role = w.role AND k.said = w.said))
         ORDER BY i.created_at, i.item_id LIMIT recall_keyed.max_rows);
    RETURN QUERY
    SELECT r.* FROM memwarden_internal.keyed_items(
        v_principal_id, v_ids, array_fill(NULL::text, ARRAY[cardinality(v_ids)]), array_fill(0, ARRAY[cardinality(v_ids)]),
            v_now, recall_keyed.surface) AS r;
END
$function$;
COMMENT ON FUNCTION memwarden.recall_keyed IS
    'Returns the memories that were written in a decision or a workflow, oldest first. The writes named both in their '
    'origin: {"decision", "workflow"}. decision, workflow: what to look for; where both are given, a memory must have '
    'both; where neither is given, memories of any decision or workflow are returned. layers: as in recall(); default '
    'all. max_rows: 1 to 1,000; default 100. surface: as in recall_entity(). standing, hedge, suspicious: as in '
    'recall_entity(). Raises 28000 without an identity; 42704 for an unknown surface; 22023 for a number out of '
    'range. Source: memory fabric, storage tiers.';
GRANT EXECUTE ON FUNCTION memwarden.recall_keyed TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor;
