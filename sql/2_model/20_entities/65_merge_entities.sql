-- Two ids turn out to be one thing, or one to be two. No memory is rewritten: a merge is a pointer, and taking it back leaves
-- each memory with the name it was said by; a split takes names along, and the memories that used them.
CREATE OR REPLACE FUNCTION memwarden.merge_entities(entity text, into_entity text, scope text DEFAULT NULL, into_scope text DEFAULT NULL)
RETURNS memwarden_internal.write_result
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_entity record := memwarden_internal.require_entity(merge_entities.entity, merge_entities.scope);
    v_other  record := memwarden_internal.require_entity(merge_entities.into_entity, merge_entities.into_scope);
    v_reader record := memwarden_internal.entity_reader();
    v_root   bigint;
    v_result memwarden_internal.write_result := (NULL, 'COMMITTED', NULL, NULL, NULL, NULL, NULL, NULL);
BEGIN
    IF v_entity.org_id <> v_other.org_id THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'into_entity: one of the same organisation');
    END IF;
    PERFORM memwarden_internal.require_registrar(v_entity.org_id, v_entity.scope_id);
    PERFORM memwarden_internal.require_registrar(v_other.org_id, v_other.scope_id);
    -- As they are now that nobody else changes them.
    v_root := memwarden_internal.root_of(v_entity.org_id, v_entity.entity_id, v_reader.scopes, v_reader.clearance);
    v_other.entity_id := memwarden_internal.root_of(v_entity.org_id, v_other.entity_id, v_reader.scopes, v_reader.clearance);
    IF v_root = v_other.entity_id THEN
        RETURN v_result;
    ELSIF (SELECT count(DISTINCT e.type) FROM memwarden_data.entity AS e WHERE e.org_id = v_entity.org_id
        AND e.entity_id IN (v_root, v_other.entity_id)) > 1 THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'into_entity: one of the same type');
    ELSIF v_root = ANY (memwarden_internal.all_ancestors(v_entity.org_id, v_other.entity_id)) OR EXISTS (
              SELECT FROM memwarden_data.entity AS e WHERE e.org_id = v_entity.org_id AND e.entity_id = v_root
                  AND e.merged_into IS NOT NULL) THEN
        -- By a merge that the caller does not see; which one is not told.
        PERFORM memwarden_internal.raise_error('not_permitted', 'merging these entities');
    END IF;
    v_result := memwarden_internal.request_for_entities('merge_entities', v_entity.org_id, ARRAY[v_root, v_other.entity_id],
        jsonb_build_object(
        'entity', merge_entities.entity, 'into_entity', merge_entities.into_entity, 'scope', merge_entities.scope, 'into_scope',
        merge_entities.into_scope));
    IF v_result.outcome = 'COMMITTED' THEN
        UPDATE memwarden_data.entity AS e SET merged_into = v_other.entity_id WHERE e.org_id = v_entity.org_id AND e.entity_id = v_root;
        PERFORM memwarden_internal.record_entity_event(v_entity.org_id, 'merged', v_root, v_other.entity_id, NULL);
    END IF;
    RETURN v_result;
END
$function$;
COMMENT ON FUNCTION memwarden.merge_entities IS
    'Declares that two entities are one, and returns the outcome. From now on, a search by either entity finds the memories of both, '
    'whenever they were written. Nothing is rewritten, and unmerge_entity() undoes the merge. Merging two entities that are one '
    'already changes nothing. The outcome is COMMITTED. Where people decided about memories of either entity, it is DEFERRED and the '
    'request waits in review_queue(). The caller writes the scopes of both entities. entity: the id of the entity that is merged. '
    'into_entity: the id of the entity that it becomes part of. scope, into_scope: their scopes, where an id alone does not tell '
    'which entity. Raises 42704 for an unknown entity, 22023 for entities of different types or organisations or where an id alone '
    'does not tell which, 42501 without the right, 25001 at an isolation level other than READ COMMITTED. '
    'Raises 55P03 when others hold it up for longer than 30 seconds, or lock_timeout. '
    'Source: memory fabric; '
    'identity layer.';
GRANT EXECUTE ON FUNCTION memwarden.merge_entities TO memwarden_curator, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden_internal.request_for_entities(p_act text, p_org_id bigint, p_entity_ids bigint[], p_arguments jsonb)
RETURNS memwarden_internal.write_result
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_org_id bigint;
    v_result memwarden_internal.write_result;
BEGIN
    FOR v_org_id IN
        SELECT DISTINCT k.org_id FROM memwarden_data.memory_key AS k
         WHERE k.org_id IN (p_org_id, CASE WHEN p_org_id = 0 THEN k.org_id END) AND k.entity_id = ANY (p_entity_ids)
         ORDER BY k.org_id
    LOOP
        v_result := memwarden_internal.request_act(p_act, memwarden_internal.agreed_among(v_org_id, ARRAY(
            SELECT DISTINCT i.item_id FROM memwarden_data.memory_key AS k
              JOIN memwarden_data.item AS i ON i.org_id = k.org_id AND i.item_id = k.item_id AND i.status = 'ACTIVE'
             WHERE k.org_id = v_org_id AND k.entity_id = ANY (p_entity_ids))), p_arguments);
        IF v_result.request_id IS NOT NULL THEN
            RETURN v_result;
        END IF;
    END LOOP;
    RETURN (memwarden_internal.change_number(), 'COMMITTED', NULL, NULL, NULL, NULL, NULL, NULL)::memwarden_internal.write_result;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.request_for_entities IS
    'request_act() for a change of entities, where people decided about memories of theirs; COMMITTED where the caller '
    'may change them at once.';

CREATE OR REPLACE FUNCTION memwarden_internal.all_ancestors(p_org_id bigint, p_entity_id bigint)
RETURNS bigint[]
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN ARRAY(
        WITH RECURSIVE above (entity_id) AS (
            SELECT p_entity_id
             UNION
            SELECT e.merged_into FROM above AS a JOIN memwarden_data.entity AS e ON e.org_id = p_org_id AND e.entity_id = a.entity_id
             WHERE e.merged_into IS NOT NULL
        )
        SELECT a.entity_id FROM above AS a);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.all_ancestors IS
    'An entity and all that it was merged into, seen or not: no merge may close a circle.';

CREATE OR REPLACE FUNCTION memwarden.unmerge_entity(entity text, scope text DEFAULT NULL)
RETURNS memwarden_internal.write_result
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_entity record := memwarden_internal.require_entity(unmerge_entity.entity, unmerge_entity.scope);
    v_reader record := memwarden_internal.entity_reader();
    v_from   bigint;
    v_result memwarden_internal.write_result;
BEGIN
    PERFORM memwarden_internal.require_registrar(v_entity.org_id, v_entity.scope_id);
    SELECT t.entity_id INTO v_from
      FROM memwarden_data.entity AS e JOIN memwarden_data.entity AS t ON t.org_id = e.org_id AND t.entity_id = e.merged_into
     WHERE e.org_id = v_entity.org_id AND e.entity_id = v_entity.entity_id AND t.scope_id = ANY (v_reader.scopes)
         AND t.classification <= v_reader.clearance;
    IF NOT FOUND THEN
        PERFORM memwarden_internal.raise_error('unknown_object', format('merge of entity %L', unmerge_entity.entity));
    END IF;
    v_result := memwarden_internal.request_for_entities('unmerge_entity', v_entity.org_id, ARRAY[v_entity.entity_id, v_from],
        jsonb_build_object(
        'entity', unmerge_entity.entity, 'scope', unmerge_entity.scope));
    IF v_result.outcome = 'COMMITTED' THEN
        UPDATE memwarden_data.entity AS e SET merged_into = NULL WHERE e.org_id = v_entity.org_id AND e.entity_id = v_entity.entity_id;
        PERFORM memwarden_internal.record_entity_event(v_entity.org_id, 'unmerged', v_entity.entity_id, v_from, NULL);
    END IF;
    RETURN v_result;
END
$function$;
COMMENT ON FUNCTION memwarden.unmerge_entity IS
    'Undoes the merge of an entity, and returns the outcome as merge_entities() does. Each memory returns to the entity whose name '
    'it uses, including memories written after the merge. entity: the id of the entity. scope: the entity''s scope, where the id '
    'alone does not tell which entity. Raises 42704 for an unknown entity or one that was not merged, 22023 where the id alone does '
    'not tell which, 42501 without the right, 25001 at an isolation level other than READ COMMITTED. '
    'Raises 55P03 when others hold it up for longer than 30 seconds, or lock_timeout. '
    'Source: memory fabric; identity '
    'layer.';
GRANT EXECUTE ON FUNCTION memwarden.unmerge_entity TO memwarden_curator, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden.split_entity(entity text, new_entity text, aliases text[], scope text DEFAULT NULL)
RETURNS memwarden_internal.write_result
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_entity record := memwarden_internal.require_entity(split_entity.entity, split_entity.scope);
    v_said   text[] := ARRAY(SELECT DISTINCT memwarden_internal.normalised_subject(u.name, '{}')
        FROM unnest(split_entity.aliases) AS u (name));
    v_id     bigint;
    v_ids    bigint[];
    v_moved  integer;
    v_result memwarden_internal.write_result;
BEGIN
    -- Writers wait, so that none puts a memory where its name no longer is: also the first of a scope. In the order that
    -- set_synonyms() keeps.
    PERFORM memwarden_internal.hold_writers(memwarden_internal.orgs_of(v_entity.org_id));
    PERFORM memwarden_internal.require_registrar(v_entity.org_id, v_entity.scope_id);
    IF split_entity.new_entity IS NULL OR split_entity.new_entity !~ E'^[^[:space:]](.{0,198}[^[:space:]])?$' THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'new_entity: 1 to 200 characters, as in customer:cus_77');
    END IF;
    v_result := memwarden_internal.request_for_entities('split_entity', v_entity.org_id, ARRAY[v_entity.entity_id], jsonb_build_object(
        'entity', split_entity.entity, 'new_entity', split_entity.new_entity, 'aliases', to_jsonb(split_entity.aliases),
        'scope', split_entity.scope));
    IF v_result.outcome <> 'COMMITTED' THEN
        RETURN v_result;
    END IF;
    INSERT INTO memwarden_data.entity AS e (org_id, scope_id, ceid, type, classification, ontology_version, created_at)
    SELECT o.org_id, o.scope_id, split_entity.new_entity, o.type, o.classification, o.ontology_version, clock_timestamp()
      FROM memwarden_data.entity AS o WHERE o.org_id = v_entity.org_id AND o.entity_id = v_entity.entity_id
    ON CONFLICT DO NOTHING
    RETURNING e.entity_id INTO v_id;
    IF v_id IS NULL THEN
        PERFORM memwarden_internal.raise_error('already_exists', format('entity %L', split_entity.new_entity));
    END IF;
    WITH moved AS (
        UPDATE memwarden_data.entity_alias AS a SET entity_id = v_id
         WHERE a.org_id = v_entity.org_id AND a.entity_id = v_entity.entity_id AND a.said = ANY (v_said)
           AND a.said <> memwarden_internal.normalised_subject(split_entity.entity, '{}')
           AND a.classification <= (memwarden_internal.entity_reader()).clearance
        RETURNING a.alias_id, a.said
    )
    SELECT array_agg(m.alias_id), array_agg(m.said) INTO v_ids, v_said FROM moved AS m;
    IF v_ids IS NULL THEN
        PERFORM memwarden_internal.raise_error('unknown_object', 'aliases of that entity');
    END IF;
    PERFORM memwarden_internal.put_alias(v_entity.org_id, v_id, split_entity.new_entity, v_entity.classification);
    UPDATE memwarden_data.memory_key AS k SET entity_id = v_id
     WHERE k.entity_id = v_entity.entity_id AND k.org_id IN (v_entity.org_id, CASE WHEN v_entity.org_id = 0 THEN k.org_id END)
         AND k.said = ANY (v_said);
    GET DIAGNOSTICS v_moved = ROW_COUNT;
    PERFORM memwarden_internal.record_entity_event(v_entity.org_id, 'split', v_entity.entity_id, v_id, v_ids);
    v_result.detail := jsonb_build_object('moved', v_moved);
    RETURN v_result;
END
$function$;
COMMENT ON FUNCTION memwarden.split_entity IS
    'Moves some names of an entity to a new entity, and returns the outcome as merge_entities() does. The new entity also takes the '
    'memories that use those names. The attributes stay with the old entity. Merging the new entity into the old one undoes the '
    'split. Writers of the organisation wait during the call. The detail of the outcome says how many memories moved. entity: the id '
    'of the entity that is split. new_entity: the id of the new entity. aliases: the names that move. scope: the entity''s scope, '
    'where the id alone does not tell which entity. Raises 42704 for an unknown entity or names that it has not, 42710 for an id '
    'that is taken, 22023 for malformed arguments, 42501 without the right, 25001 at an isolation level other than READ COMMITTED. '
    'Raises 55P03 when others hold it up for longer than 30 seconds, or lock_timeout. '
    'Source: memory fabric; identity layer.';
GRANT EXECUTE ON FUNCTION memwarden.split_entity TO memwarden_curator, memwarden_admin;
