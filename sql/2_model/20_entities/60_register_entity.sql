CREATE OR REPLACE FUNCTION memwarden.register_entity(
    entity text, type text, aliases text[] DEFAULT '{}', scope text DEFAULT NULL, classification text DEFAULT 'internal')
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_place    record := memwarden_internal.require_scope(coalesce(register_entity.scope, (
        SELECT s.path FROM memwarden_data.principal AS p JOIN memwarden_data.scope AS s ON s.scope_id = p.home_scope_id
         WHERE p.principal_id = (SELECT memwarden_internal.current_principal()))));
    v_ontology record;
    v_level    smallint := memwarden_internal.entity_level(coalesce(register_entity.classification, 'internal'), 0::smallint);
    v_id       bigint;
    v_name     text;
BEGIN
    PERFORM memwarden_internal.require_registrar(v_place.org_id, v_place.scope_id);
    v_ontology := memwarden_internal.ontology_in_force(v_place.org_id);
    IF register_entity.entity IS NULL OR register_entity.entity !~ E'^[^[:space:]](.{0,198}[^[:space:]])?$' THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'entity: 1 to 200 characters, as in customer:cus_77');
    ELSIF (v_ontology.document -> 'entity_types' ? register_entity.type) IS NOT TRUE THEN
        PERFORM memwarden_internal.raise_error('unknown_object', format('entity type %L', register_entity.type));
    END IF;
    INSERT INTO memwarden_data.entity AS e (org_id, scope_id, ceid, type, classification, ontology_version, created_at)
    VALUES (v_place.org_id, v_place.scope_id, register_entity.entity, register_entity.type, v_level, v_ontology.version, clock_timestamp())
    ON CONFLICT DO NOTHING
    RETURNING e.entity_id INTO v_id;
    IF v_id IS NULL THEN
        PERFORM memwarden_internal.raise_error('already_exists', format('entity %L', register_entity.entity));
    END IF;
    PERFORM memwarden_internal.record_entity_event(v_place.org_id, 'registered', v_id, NULL, NULL);
    FOREACH v_name IN ARRAY register_entity.entity || coalesce(register_entity.aliases, '{}') LOOP
        PERFORM memwarden_internal.put_alias(v_place.org_id, v_id, v_name, v_level);
    END LOOP;
END
$function$;
COMMENT ON FUNCTION memwarden.register_entity IS
    'Registers an entity under the id by which applications know it, and its other names. From now on, memories belong to the entity '
    'when their subject is one of its names. With a predicate, the whole content counts as well. A caller is a curator that writes '
    'the scope, or administers the organisation. entity: the id, for example customer:cus_77. type: a type of the ontology in force. '
    'aliases: its other names; none by default. scope: where it belongs, by default the caller''s home; its readers see the entity '
    'if their clearance suffices. classification: the least clearance to see the entity; internal by default. Raises 42704 for an '
    'unknown type, scope or classification, 42710 for an id that is taken there, 22023 for malformed arguments, 42501 without the '
    'right, 25001 at an isolation level other than READ COMMITTED. '
    'Raises 55P03 when others hold it up for longer than 30 seconds, or lock_timeout. '
    'Source: memory fabric; identity layer.';
GRANT EXECUTE ON FUNCTION memwarden.register_entity TO memwarden_curator, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden_internal.put_alias(p_org_id bigint, p_entity_id bigint, p_name text, p_level smallint)
RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_said text := memwarden_internal.normalised_subject(left(p_name, 1001), '{}');
    v_id   bigint;
BEGIN
    IF coalesce(v_said, '') = '' OR length(p_name) > 1000 THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'alias: 1 to 1,000 characters, not blank');
    END IF;
    INSERT INTO memwarden_data.entity_alias AS a (org_id, entity_id, name, said, classification)
    VALUES (p_org_id, p_entity_id, p_name, v_said, p_level)
    ON CONFLICT DO NOTHING
    RETURNING a.alias_id INTO v_id;
    RETURN v_id;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.put_alias IS
    'Gives an entity a name, and returns its number; NULL for one that it has. Raises 22023 for a blank one.';

CREATE OR REPLACE FUNCTION memwarden.add_alias(entity text, alias text, scope text DEFAULT NULL, classification text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_entity record := memwarden_internal.require_entity(add_alias.entity, add_alias.scope);
    v_id     bigint;
BEGIN
    PERFORM memwarden_internal.require_registrar(v_entity.org_id, v_entity.scope_id);
    v_id := memwarden_internal.put_alias(v_entity.org_id, v_entity.entity_id, add_alias.alias,
                                         memwarden_internal.entity_level(add_alias.classification, v_entity.classification));
    IF v_id IS NOT NULL THEN
        PERFORM memwarden_internal.record_entity_event(v_entity.org_id, 'alias_added', v_entity.entity_id, NULL, ARRAY[v_id]);
    END IF;
END
$function$;
COMMENT ON FUNCTION memwarden.add_alias IS
    'Adds a name to an entity; a name that it already has changes nothing. A name of several entities stands for none of them, and '
    'the answer to a write that uses it says so. entity: the id of the entity. alias: the name to add. scope: the entity''s scope, '
    'where the id alone does not tell which entity. classification: the least clearance to know the name; by default that of the '
    'entity. Raises 42704 for an unknown entity or classification, 22023 for a blank name, 42501 without the right, 25001 at an '
    'isolation level other than READ COMMITTED. '
    'Raises 55P03 when others hold it up for longer than 30 seconds, or lock_timeout. '
    'Source: memory fabric; identity layer.';
GRANT EXECUTE ON FUNCTION memwarden.add_alias TO memwarden_curator, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden.remove_alias(entity text, alias text, scope text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_entity record := memwarden_internal.require_entity(remove_alias.entity, remove_alias.scope);
    v_ids    bigint[];
BEGIN
    PERFORM memwarden_internal.require_registrar(v_entity.org_id, v_entity.scope_id);
    WITH gone AS (
        DELETE FROM memwarden_data.entity_alias AS a
         WHERE a.org_id = v_entity.org_id AND a.entity_id = v_entity.entity_id
           AND a.said = memwarden_internal.normalised_subject(remove_alias.alias, '{}')
           AND a.said <> memwarden_internal.normalised_subject(remove_alias.entity, '{}')
           AND a.classification <= (memwarden_internal.entity_reader()).clearance
        RETURNING a.alias_id
    )
    SELECT array_agg(g.alias_id) INTO v_ids FROM gone AS g;
    IF v_ids IS NULL THEN
        PERFORM memwarden_internal.raise_error('unknown_object', 'alias of that entity');
    END IF;
    PERFORM memwarden_internal.record_entity_event(v_entity.org_id, 'alias_removed', v_entity.entity_id, NULL, v_ids);
END
$function$;
COMMENT ON FUNCTION memwarden.remove_alias IS
    'Takes a name from an entity, for writes from now on. Memories that used the name stay with the entity. The id itself cannot be '
    'removed. scope: the entity''s scope, where the id alone does not tell which entity. Raises 42704 for an unknown entity or name, '
    '22023 where the id alone does not tell which entity, 42501 without the right, 25001 at an isolation level other than READ '
    'COMMITTED. '
    'Raises 55P03 when others hold it up for longer than 30 seconds, or lock_timeout. '
    'Source: memory fabric; identity layer.';
GRANT EXECUTE ON FUNCTION memwarden.remove_alias TO memwarden_curator, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden.set_entity_attribute(
    entity text, name text, value jsonb, scope text DEFAULT NULL, classification text DEFAULT NULL, sensitive boolean DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_entity record := memwarden_internal.require_entity(set_entity_attribute.entity, set_entity_attribute.scope);
    v_said   jsonb;
    v_level  smallint;
BEGIN
    PERFORM memwarden_internal.require_registrar(v_entity.org_id, v_entity.scope_id);
    IF set_entity_attribute.name IS NULL OR set_entity_attribute.name !~ '^[a-z][a-z0-9_]{0,62}$' THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'name: a small letter, then small letters, digits and '
            'underscores, at most 63');
    ELSIF set_entity_attribute.value IS NOT NULL
          AND (jsonb_typeof(set_entity_attribute.value) NOT IN ('string', 'number', 'boolean')
              OR length(set_entity_attribute.value::text) > 1000) THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'value: a string, a number or a boolean of at most 1,000 characters');
    END IF;
    v_said := (memwarden_internal.ontology_in_force(v_entity.org_id)).document
        -> 'entity_types' -> v_entity.type -> 'attributes' -> set_entity_attribute.name;
    v_level := greatest(
        memwarden_internal.entity_level(set_entity_attribute.classification, v_entity.classification),
        (SELECT c.level FROM memwarden_data.classification AS c WHERE c.name = v_said ->> 'classification'));
    IF v_level > (memwarden_internal.entity_reader()).clearance THEN
        PERFORM memwarden_internal.raise_error('not_permitted', 'a classification above one''s own clearance');
    ELSIF set_entity_attribute.value IS NULL THEN
        DELETE FROM memwarden_data.entity_attribute AS a
         WHERE a.org_id = v_entity.org_id AND a.entity_id = v_entity.entity_id AND a.name = set_entity_attribute.name
             AND a.classification <= v_level;
    ELSE
        INSERT INTO memwarden_data.entity_attribute AS a (org_id, entity_id, name, value, classification, sensitive, set_at)
        VALUES (v_entity.org_id, v_entity.entity_id, set_entity_attribute.name, set_entity_attribute.value, v_level,
                coalesce(set_entity_attribute.sensitive, false) OR coalesce((v_said -> 'sensitive')::boolean, false), clock_timestamp())
        ON CONFLICT ON CONSTRAINT entity_attribute_pkey DO UPDATE
           SET value = excluded.value, classification = greatest(a.classification, excluded.classification),
               sensitive = excluded.sensitive, set_at = excluded.set_at;
    END IF;
    PERFORM memwarden_internal.record_entity_event(v_entity.org_id, 'attribute_set', v_entity.entity_id, NULL, NULL);
END
$function$;
COMMENT ON FUNCTION memwarden.set_entity_attribute IS
    'Sets or removes an attribute of an entity. entity: the id of the entity. name: the name of the attribute. value: a string, a '
    'number or a boolean; null removes the attribute. scope: the entity''s scope, where the id alone does not tell which entity. '
    'classification: the least clearance to see the attribute; at least that of the entity and of the ontology, and never lower than '
    'before. sensitive: true masks the value, if it has four characters or more, in writes of lower classification in the entity''s '
    'scope or below; so does a sensitive attribute of the ontology. Raises 42704 for an unknown entity or classification, 22023 for '
    'malformed arguments, 42501 without the right or the clearance, 25001 at an isolation level other than READ COMMITTED. '
    'Raises 55P03 when others hold it up for longer than 30 seconds, or lock_timeout. '
    'Source: '
    'memory fabric, redaction.';
GRANT EXECUTE ON FUNCTION memwarden.set_entity_attribute TO memwarden_curator, memwarden_admin;
