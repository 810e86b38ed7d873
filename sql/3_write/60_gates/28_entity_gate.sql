-- Whom is it about? Names become entities here, and what the ontology says of a relation between them is asked.
CREATE OR REPLACE FUNCTION memwarden_internal.gate_entity()
RETURNS trigger
LANGUAGE plpgsql VOLATILE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_started timestamptz := clock_timestamp();
    v_scopes  bigint[];
    v_subject jsonb;
    v_object  jsonb;
    v_faults  jsonb;
BEGIN
    NEW.keys := (
        SELECT jsonb_agg(jsonb_build_object('role', k.role, 'said', k.said))
          FROM (VALUES ('decision', NEW.origin ->> 'decision'), ('workflow', NEW.origin ->> 'workflow')) AS k (role, said)
              WHERE k.said IS NOT NULL);
    IF (NEW.terms).has_entities THEN
        v_scopes := (SELECT s.lineage FROM memwarden_data.scope AS s WHERE s.scope_id = NEW.scope_id);
        IF NEW.subject IS NOT NULL THEN
            v_subject := memwarden_internal.key_of_name(NEW.org_id, 'subject', NEW.subject, v_scopes, (NEW.terms).clearance);
        END IF;
        IF NEW.predicate IS NOT NULL AND left(NEW.canonical, 1) = '"' AND length(NEW.canonical) <= 1002 THEN
            v_object := memwarden_internal.key_of_name(NEW.org_id, 'object', NEW.canonical::jsonb #>> '{}', v_scopes,
                (NEW.terms).clearance);
        END IF;
        NEW.keys := NULLIF(coalesce(NEW.keys, '[]') || coalesce(v_subject, '[]') || coalesce(v_object, '[]'), '[]');
        IF NEW.admission = 'full' AND NEW.predicate IS NOT NULL AND num_nonnulls(v_subject, v_object) > 0 THEN
            v_faults := memwarden_internal.ontology_faults(
                NEW.org_id, NEW.scope_id, NEW.layer, NEW.principal_id, memwarden_internal.predicate_name(NEW.predicate),
                v_subject, v_object, v_scopes, (NEW.terms).clearance, v_started);
            IF v_faults <> '[]' THEN
                NEW.outcome := 'REJECTED';
                NEW.reason := 'ONTOLOGY_VIOLATION';
                NEW.detail := jsonb_build_object('errors', v_faults);
            END IF;
        END IF;
    END IF;
    NEW.trail := NEW.trail || memwarden_internal.gate_entry(TG_NAME, NEW.outcome, NEW.reason, v_started);
    RETURN NEW;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.gate_entity IS
    'Trigger gate_28_entity: finds out which entities, decision and workflow a memory belongs to, and rejects a '
    'relation between entities that the ontology does not allow. Source: memory fabric; knowledge graph.';

CREATE OR REPLACE FUNCTION memwarden_internal.ontology_faults(
    p_org_id bigint, p_scope_id bigint, p_layer text, p_principal_id bigint, p_predicate text,
    p_subject jsonb, p_object jsonb, p_scopes bigint[], p_clearance smallint, p_now timestamptz)
RETURNS jsonb
LANGUAGE plpgsql VOLATILE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_relation jsonb := (memwarden_internal.ontology_in_force(p_org_id)).document -> 'relation_types' -> p_predicate;
    v_faults   jsonb := '[]'::jsonb;
BEGIN
    -- Of a name that means nobody, or several, nothing is known that could be wrong.
    IF v_relation -> 'domain' <> '[]' AND p_subject ->> 'type' IS NOT NULL AND NOT v_relation -> 'domain' @> (p_subject -> 'type') THEN
        v_faults := v_faults || memwarden_internal.violation('ONTOLOGY_VIOLATION', 'subject',
            'an entity of another type than the relation has on this side');
    END IF;
    IF v_relation -> 'range' <> '[]' AND p_object ->> 'type' IS NOT NULL AND NOT v_relation -> 'range' @> (p_object -> 'type') THEN
        v_faults := v_faults || memwarden_internal.violation('ONTOLOGY_VIOLATION', 'content',
            'an entity of another type than the relation has on this side');
    END IF;
    IF (v_relation -> 'acyclic')::boolean AND num_nonnulls(p_subject ->> 'entity_id', p_object ->> 'entity_id') = 2
       AND memwarden_internal.leads_to(
               p_org_id, p_scope_id, p_layer, p_principal_id, p_predicate,
               (p_object ->> 'entity_id')::bigint, (p_subject ->> 'entity_id')::bigint, p_scopes, p_clearance, p_now) THEN
        v_faults := v_faults || memwarden_internal.violation('ONTOLOGY_VIOLATION', 'content', 'the relation would close a circle');
    END IF;
    RETURN v_faults;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.ontology_faults IS
    'What the ontology in force says against a fact about entities: an array of code, path and message, empty where nothing.';

CREATE OR REPLACE FUNCTION memwarden_internal.leads_to(
    p_org_id bigint, p_scope_id bigint, p_layer text, p_principal_id bigint, p_predicate text,
    p_from bigint, p_to bigint, p_scopes bigint[], p_clearance smallint, p_now timestamptz)
RETURNS boolean
LANGUAGE plpgsql VOLATILE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_ends    bigint[] := memwarden_internal.same_entities(p_org_id, p_to, p_scopes, p_clearance);
    v_reached bigint[] := ARRAY[]::bigint[];
    v_next    bigint[] := memwarden_internal.same_entities(p_org_id, p_from, p_scopes, p_clearance);
    -- What the writer does not read closes no circle.
    v_labels  integer[] := memwarden_internal.readable_labels(p_principal_id);
BEGIN
    -- A chain of ten thousand is looked at, and no longer one.
    WHILE v_next <> '{}' AND cardinality(v_reached) < 10000 LOOP
        IF v_next && v_ends THEN
            RETURN true;
        END IF;
        v_reached := v_reached || v_next;
        v_next := ARRAY(
            SELECT DISTINCT u.id
              FROM memwarden_data.memory_key AS s
              JOIN memwarden_data.item AS i ON i.org_id = s.org_id AND i.item_id = s.item_id AND i.content_hash = s.content_hash
              JOIN memwarden_data.memory_key AS o ON o.org_id = s.org_id AND o.item_id = s.item_id
                  AND o.content_hash = s.content_hash AND o.role = 'object'
             CROSS JOIN LATERAL unnest(memwarden_internal.same_entities(p_org_id, o.entity_id, p_scopes, p_clearance)) AS u (id)
             WHERE s.org_id = p_org_id AND s.entity_id = ANY (v_next) AND s.role = 'subject' AND o.entity_id IS NOT NULL
               AND i.scope_id = p_scope_id AND i.layer = p_layer AND i.status = 'ACTIVE' AND (i.expires_at IS NULL OR i.expires_at > p_now)
               AND memwarden_internal.predicate_name(i.predicate) = p_predicate
               AND (CASE WHEN i.principal_id = p_principal_id THEN -i.label_id ELSE i.label_id END) = ANY (v_labels)
               AND u.id <> ALL (v_reached));
    END LOOP;
    RETURN false;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.leads_to IS
    'Whether the facts of a predicate in a scope and layer, of those that the writer reads, lead from one entity to another.';
