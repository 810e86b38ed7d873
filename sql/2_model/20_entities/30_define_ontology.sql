-- The ontology, changed by one definition at a time: each makes the next version.
CREATE OR REPLACE FUNCTION memwarden_internal.next_ontology(p_org_id bigint, p_part text, p_name text, p_definition jsonb)
RETURNS integer
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_last     record;
    v_document jsonb;
    v_version  integer;
BEGIN
    -- Two definitions at once take turns here.
    PERFORM memwarden_internal.hold_organisation(p_org_id);
    SELECT t.version, t.document INTO v_last FROM memwarden_data.ontology AS t WHERE t.org_id = p_org_id ORDER BY t.version DESC LIMIT 1;
    -- An organisation that begins its own goes on from that of all.
    v_document := jsonb_set(coalesce(v_last.document, (memwarden_internal.ontology_in_force(p_org_id)).document,
        '{"entity_types": {}, "relation_types": {}}'), ARRAY[p_part, p_name], p_definition);
    IF v_document = v_last.document THEN
        RETURN v_last.version;
    END IF;
    v_version := coalesce(v_last.version, 0) + 1;
    INSERT INTO memwarden_data.ontology (org_id, version, document, defined_at, defined_by)
    VALUES (p_org_id, v_version, v_document, clock_timestamp(), session_user);
    RETURN v_version;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.next_ontology IS
    'The version of an ontology that says this of a type: a new one where the last said something else.';

CREATE OR REPLACE FUNCTION memwarden_internal.ontology_in_force(p_org_id bigint, OUT version integer, OUT document jsonb)
RETURNS record
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    SELECT t.version, t.document INTO version, document
      FROM memwarden_data.ontology AS t
      LEFT JOIN memwarden_data.ontology_pin AS n ON n.org_id = t.org_id
     WHERE t.org_id IN (0, p_org_id) AND (n.version IS NULL OR t.version = n.version)
     ORDER BY t.org_id DESC, t.version DESC
     LIMIT 1;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.ontology_in_force IS
    'The ontology that counts in an organisation: its own, or that of all where it has none; the pinned version, or the newest.';

CREATE OR REPLACE FUNCTION memwarden.define_entity_type(type text, attributes jsonb DEFAULT '{}', org text DEFAULT NULL)
RETURNS integer
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_org_id bigint := memwarden_internal.administered_org(define_entity_type.org, 'layer');
BEGIN
    IF define_entity_type.type IS NULL OR define_entity_type.type !~ '^[a-z][a-z0-9_]{0,62}$' THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'type: a small letter, then small letters, digits and '
            'underscores, at most 63');
    ELSIF jsonb_typeof(define_entity_type.attributes) IS DISTINCT FROM 'object' OR EXISTS (
              SELECT FROM jsonb_each(define_entity_type.attributes) AS a
               WHERE jsonb_typeof(a.value) <> 'object' OR a.value - '{classification,sensitive}'::text[] <> '{}'
                  OR a.value ? 'sensitive' AND jsonb_typeof(a.value -> 'sensitive') <> 'boolean'
                  OR a.value ? 'classification' AND NOT EXISTS (
                         SELECT FROM memwarden_data.classification AS c WHERE to_jsonb(c.name) = a.value -> 'classification')) THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'attributes: {"name": {"classification": "...", "sensitive": '
            'true or false}}');
    END IF;
    RETURN memwarden_internal.next_ontology(
        v_org_id, 'entity_types', define_entity_type.type, jsonb_build_object('attributes', define_entity_type.attributes));
END
$function$;
COMMENT ON FUNCTION memwarden.define_entity_type IS
    'Defines a type of entities and how its attributes are classified, and returns the new version of the ontology. Earlier versions '
    'of the ontology stay as they are. type: the name of the type. attributes: {"name": {"classification", "sensitive"}}; a '
    'sensitive attribute is masked in contents of lower classification. org: the organisation; by default the caller''s, and for '
    'members of memwarden_admin all organisations. Raises 22023 for malformed arguments, 42704 for an unknown organisation, 42501 '
    'without the right. '
    'Raises 55P03 when others hold it up for longer than 30 seconds, or lock_timeout. '
    'Source: memory fabric; knowledge graph and identity layer.';
GRANT EXECUTE ON FUNCTION memwarden.define_entity_type TO memwarden_curator, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden.define_relation_type(
    relation text, domain text[] DEFAULT '{}', range text[] DEFAULT '{}', inverse text DEFAULT NULL,
    functional boolean DEFAULT false, acyclic boolean DEFAULT false, org text DEFAULT NULL)
RETURNS integer
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_org_id   bigint := memwarden_internal.administered_org(define_relation_type.org, 'layer');
    v_name     text := memwarden_internal.predicate_name(define_relation_type.relation);
    v_inverse  text := memwarden_internal.predicate_name(define_relation_type.inverse);
    v_types    jsonb := (memwarden_internal.ontology_in_force(v_org_id)).document -> 'entity_types';
    v_version  integer;
    v_pinned   integer;
BEGIN
    IF v_name IS NULL OR v_name = '' OR length(v_name) > 1000 OR num_nulls(define_relation_type.functional,
        define_relation_type.acyclic, define_relation_type.domain, define_relation_type.range) > 0 THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'relation: 1 to 1,000 characters, not blank; domain, range: '
            'lists; functional, acyclic: true or false');
    ELSIF define_relation_type.acyclic AND v_inverse = v_name THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'acyclic: a relation that is its own inverse is a circle');
    ELSIF EXISTS (SELECT FROM unnest(define_relation_type.domain || define_relation_type.range) AS t (type)
        WHERE (v_types ? t.type) IS NOT TRUE) THEN
        PERFORM memwarden_internal.raise_error('unknown_object', 'domain, range: types that define_entity_type() has defined');
    END IF;
    v_version := memwarden_internal.next_ontology(v_org_id, 'relation_types', v_name, jsonb_build_object(
        'domain', define_relation_type.domain, 'range', define_relation_type.range, 'inverse', v_inverse,
        'functional', define_relation_type.functional, 'acyclic', define_relation_type.acyclic));
    v_pinned := (SELECT n.version FROM memwarden_data.ontology_pin AS n WHERE n.org_id = v_org_id);
    IF v_pinned IS NULL THEN
        PERFORM memwarden_internal.apply_relation(v_org_id, v_name, (memwarden_internal.ontology_in_force(v_org_id)).document);
    END IF;
    RETURN v_version;
END
$function$;
COMMENT ON FUNCTION memwarden.define_relation_type IS
    'Defines what a predicate means between entities, and returns the new version of the ontology. Inverse and functional take '
    'effect as settings of define_predicate(), so that the constraint graph finds contradictions. Gate 28 checks the rest for facts '
    'whose subject or content is a known entity. While a version is pinned, the definition waits for pin_ontology(). relation: the '
    'predicate. domain: the types that the subject may have; any where empty. range: the types that the content may have; any where '
    'empty. inverse: the predicate that says the same from the other side; the predicate itself for a symmetric relation. '
    'functional: true where a subject has one value at a time; false by default. acyclic: true where an entity is never above '
    'itself; false by default. org: the organisation; by default the caller''s, and for members of memwarden_admin all '
    'organisations. Raises 22023 for malformed arguments, 42704 for an unknown type or organisation, 42501 without the right. '
    'Raises 55P03 when others hold it up for longer than 30 seconds, or lock_timeout. '
    'Source: memory fabric; knowledge graph.';
GRANT EXECUTE ON FUNCTION memwarden.define_relation_type TO memwarden_curator, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden_internal.apply_relation(p_org_id bigint, p_name text, p_document jsonb)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_is  jsonb := p_document -> 'relation_types' -> p_name;
    v_was record;
BEGIN
    v_was := memwarden_internal.predicate_of(p_org_id, p_name);
    PERFORM memwarden.define_predicate(
        p_name, CASE WHEN (v_is -> 'functional')::boolean THEN 'new_version' WHEN v_is IS NOT NULL THEN 'accumulate' END,
        NULLIF((SELECT o.name FROM memwarden_data.organisation AS o WHERE o.org_id = p_org_id AND p_org_id <> 0), ''),
        v_is ->> 'inverse', coalesce(v_was.disjoint, '{}'), v_was.subject_schema, v_was.object_schema,
        coalesce((SELECT p.ends FROM memwarden_data.predicate AS p
                   WHERE p.org_id IN (0, p_org_id) AND p.predicate = p_name ORDER BY p.org_id DESC LIMIT 1), '{}'));
END
$function$;
COMMENT ON FUNCTION memwarden_internal.apply_relation IS
    'Has the predicate of a relation type mean what an ontology says of it: one value or several, and its inverse. What '
    'else is declared of it stays.';

CREATE OR REPLACE FUNCTION memwarden.pin_ontology(version integer DEFAULT NULL, org text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_org_id bigint := memwarden_internal.administered_org(pin_ontology.org, 'layer');
    v_before jsonb;
    v_after  jsonb;
    v_name   text;
BEGIN
    PERFORM memwarden_internal.hold_organisation(v_org_id);
    v_before := (memwarden_internal.ontology_in_force(v_org_id)).document;
    DELETE FROM memwarden_data.ontology_pin AS n WHERE n.org_id = v_org_id;
    IF pin_ontology.version IS NOT NULL THEN
        IF NOT EXISTS (SELECT FROM memwarden_data.ontology AS t WHERE t.org_id = v_org_id AND t.version = pin_ontology.version) THEN
            PERFORM memwarden_internal.raise_error('unknown_object', format('version %s of the ontology', pin_ontology.version));
        END IF;
        INSERT INTO memwarden_data.ontology_pin (org_id, version) VALUES (v_org_id, pin_ontology.version);
    END IF;
    v_after := (memwarden_internal.ontology_in_force(v_org_id)).document;
    FOR v_name IN SELECT k FROM jsonb_object_keys((coalesce(v_before -> 'relation_types', '{}'))
        || coalesce(v_after -> 'relation_types', '{}')) AS k
                   WHERE v_before -> 'relation_types' -> k IS DISTINCT FROM v_after -> 'relation_types' -> k LOOP
        PERFORM memwarden_internal.apply_relation(v_org_id, v_name, v_after);
    END LOOP;
END
$function$;
COMMENT ON FUNCTION memwarden.pin_ontology IS
    'Puts one version of the ontology in force, whatever is defined later. Predicates then mean what that version says of them. '
    'version: the version to pin; null, the default, puts the newest in force again. org: the organisation; by default the '
    'caller''s, and for members of memwarden_admin all organisations. Raises 42704 for an unknown version or organisation, 22023 for '
    'a relation that define_predicate() refuses, 42501 without the right. '
    'Raises 55P03 when others hold it up for longer than 30 seconds, or lock_timeout. '
    'Source: memory fabric, operational concerns.';
GRANT EXECUTE ON FUNCTION memwarden.pin_ontology TO memwarden_curator, memwarden_admin;
