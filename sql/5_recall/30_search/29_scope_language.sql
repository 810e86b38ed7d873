CREATE OR REPLACE FUNCTION memwarden.set_scope_language(path text, language text)
RETURNS integer
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_scope   record := memwarden_internal.require_scope(set_scope_language.path);
    v_config  text := memwarden_internal.text_search_config(set_scope_language.language);
    v_changed integer;
BEGIN
    PERFORM memwarden_internal.require_administration(v_scope.org_id, 'full');
    PERFORM memwarden_internal.bound_wait(interval '30 seconds');
    -- Who makes a scope beneath holds the one above: it is there then, or sees what this says.
    PERFORM FROM memwarden_data.scope AS s WHERE s.scope_id = v_scope.scope_id FOR UPDATE;
    UPDATE memwarden_data.scope AS s SET text_search_config = v_config, reindexed_to = '00000000-0000-0000-0000-000000000000'
     WHERE v_scope.scope_id = ANY (s.lineage) AND s.text_search_config IS DISTINCT FROM v_config;
    GET DIAGNOSTICS v_changed = ROW_COUNT;
    PERFORM memwarden_internal.record_access_change(v_scope.org_id, 'set_scope_language',
        jsonb_build_object('scope_id', v_scope.scope_id, 'scope', set_scope_language.path, 'language', v_config));
    RETURN v_changed;
END
$function$;
COMMENT ON FUNCTION memwarden.set_scope_language IS
    'Sets the language of a scope and all scopes beneath it, and returns how many changed. Scopes that are made later '
    'inherit it. New memories and queries follow it at once. The job memwarden.reindex_words() indexes existing '
    'memories anew. Until then, a recall reads their words anew, and takes longer. language: a '
    'text search configuration (english, german, simple ...), which takes precedence over the language of the layer; '
    'NULL returns to the language of the layer. Raises 42501 without the right to administer; 42704 for an unknown '
    'scope or configuration; 25001 at an isolation level other than READ COMMITTED. Source: four-layer design, 5.';
GRANT EXECUTE ON FUNCTION memwarden.set_scope_language TO memwarden_agent, memwarden_curator, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden_internal.text_search_config(p_name text)
RETURNS text
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_config regconfig;
BEGIN
    BEGIN
        v_config := p_name::regconfig;
    EXCEPTION WHEN undefined_object OR invalid_schema_name OR invalid_name OR syntax_error OR name_too_long
                OR feature_not_supported OR insufficient_privilege OR data_exception THEN
        PERFORM memwarden_internal.raise_error('unknown_object', format('text search configuration %L', left(p_name, 100)));
    END;
    -- A number is taken for the one of that number, whether there is one or not.
    IF v_config IS NOT NULL AND NOT EXISTS (SELECT FROM pg_ts_config AS c WHERE c.oid = v_config) THEN
        PERFORM memwarden_internal.raise_error('unknown_object', format('text search configuration %L', left(p_name, 100)));
    END IF;
    RETURN v_config::text;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.text_search_config IS
    'The text search configuration of that name, as PostgreSQL writes it; NULL for NULL. Raises 42704 for an unknown one.';

-- A batch of one scope, from where the last one ended: killed, it is taken up there again.
CREATE OR REPLACE FUNCTION memwarden_internal.reindex_next(p_batch integer)
RETURNS boolean
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_scope_id bigint;
BEGIN
    FOR v_scope_id IN SELECT s.scope_id FROM memwarden_data.scope AS s WHERE s.reindexed_to IS NOT NULL ORDER BY s.scope_id LOOP
        IF memwarden_internal.reindex_some(v_scope_id, p_batch) THEN
            RETURN true;
        END IF;
    END LOOP;
    RETURN false;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.reindex_next IS
    'Indexes up to p_batch memories of a scope whose words are to be made anew; false where '
    'there is none, or others do it already or hold what is next.';
GRANT EXECUTE ON FUNCTION memwarden_internal.reindex_next TO memwarden_jobs, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden_internal.reindex_some(p_scope_id bigint, p_batch integer)
RETURNS boolean
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
-- A thousand memories are held meanwhile: their writers do not wait for one that somebody does not let go.
SET lock_timeout = '200ms'
AS $function$
DECLARE
    v_scope record;
    v_items uuid[];
BEGIN
    -- Two at once take two scopes.
    SELECT s.org_id, s.scope_id, s.text_search_config, s.reindexed_to INTO v_scope FROM memwarden_data.scope AS s
     WHERE s.scope_id = p_scope_id AND s.reindexed_to IS NOT NULL FOR NO KEY UPDATE SKIP LOCKED;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    -- Not while words are copied to a shelf: no log tells that they change.
    PERFORM memwarden_internal.hold_shelves();
    v_items := ARRAY(SELECT i.item_id FROM memwarden_data.item AS i
                      WHERE i.org_id = v_scope.org_id AND i.scope_id = v_scope.scope_id AND i.item_id > v_scope.reindexed_to
                      ORDER BY i.item_id LIMIT p_batch FOR NO KEY UPDATE);
    UPDATE memwarden_data.item AS i
       SET search_vector = memwarden_internal.indexed_words(memwarden_internal.words_of(
               coalesce(v_scope.text_search_config, l.text_search_config),
               memwarden_internal.said_text(v.search_text, v.subject_key_id, v.sealed, v.schema_id, v.subject, v.predicate)),
           v.subject_key_id)
      FROM memwarden_data.version AS v, memwarden_data.layer AS l
     WHERE i.org_id = v_scope.org_id AND i.item_id = ANY (v_items) AND v.org_id = i.org_id AND v.version_id = i.version_id
         AND l.layer = i.layer;
    UPDATE memwarden_data.embedding AS e SET words = i.search_vector
      FROM memwarden_data.item AS i
     WHERE e.shelf <> 0 AND i.org_id = v_scope.org_id AND i.item_id = ANY (v_items) AND e.org_id = i.org_id AND e.item_id = i.item_id;
    UPDATE memwarden_data.scope AS s
       SET reindexed_to = CASE WHEN cardinality(v_items) = p_batch THEN v_items [p_batch] END
     WHERE s.scope_id = v_scope.scope_id;
    RETURN true;
EXCEPTION WHEN lock_not_available THEN
    RETURN false;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.reindex_some IS
    'Indexes up to p_batch memories of that scope anew; false where others do it already, or somebody holds one of '
    'them, or the shelves.';

CREATE OR REPLACE PROCEDURE memwarden.reindex_words()
LANGUAGE plpgsql SECURITY INVOKER
AS $procedure$
BEGIN
    CALL memwarden_internal.run_job('memwarden_words');
END
$procedure$;
COMMENT ON PROCEDURE memwarden.reindex_words IS
    'Indexes the words of memories anew, as a job: in scopes whose language set_scope_language() has changed, and after an update '
    'whose functions make other words. It is safe to run twice at once and to kill. A later run goes on where the last one stopped. It '
    'commits after each thousand memories, so it cannot run inside a transaction.';
GRANT EXECUTE ON PROCEDURE memwarden.reindex_words TO memwarden_jobs, memwarden_admin;
