CREATE OR REPLACE FUNCTION memwarden.register_embedding_model(
    name text, dimension integer, vector_weight double precision DEFAULT 0.55, embedder text DEFAULT NULL, settings jsonb DEFAULT '{}',
    relevance_threshold double precision DEFAULT 0.36)
RETURNS smallint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_model_id smallint;
BEGIN
    IF register_embedding_model.name IS NULL OR register_embedding_model.name !~ E'^\\S{1,200}$'
       OR register_embedding_model.dimension IS NULL OR register_embedding_model.dimension NOT BETWEEN 1 AND 4000
       OR register_embedding_model.vector_weight IS NULL OR register_embedding_model.vector_weight NOT BETWEEN 0 AND 1
       OR (register_embedding_model.relevance_threshold BETWEEN 0 AND 1) IS NOT TRUE THEN
        PERFORM memwarden_internal.raise_error(
            'invalid_argument', 'name: no blanks; dimension: 1 to 4,000; vector_weight, relevance_threshold: 0 to 1');
    END IF;
    INSERT INTO memwarden_data.embedding_model AS m (name, dimension, vector_weight, relevance_threshold)
    VALUES (register_embedding_model.name, register_embedding_model.dimension, register_embedding_model.vector_weight,
            register_embedding_model.relevance_threshold)
    ON CONFLICT DO NOTHING RETURNING m.model_id INTO v_model_id;
    IF v_model_id IS NULL THEN
        PERFORM memwarden_internal.raise_error('already_exists', format('embedding model %L', register_embedding_model.name));
    END IF;
    PERFORM memwarden_internal.put_embedder(v_model_id, register_embedding_model.embedder, register_embedding_model.settings);
    RETURN v_model_id;
END
$function$;
COMMENT ON FUNCTION memwarden.register_embedding_model IS
    'Registers an embedding model and returns its number. Vectors of different models are never compared. name: the name of the '
    'model. dimension: how many numbers its vectors have, 1 to 4,000. vector_weight: the weight that recall gives vectors beside the '
    'words, 0 to 1; 0.55 by default. embedder: the plug-in of the worker that makes its vectors, see set_embedder(); by default only '
    'writers bring vectors. settings: what the plug-in takes. relevance_threshold: how relevant the best of 500 memories must be for '
    'a recall to know an answer, 0 to 1, see docs/recall.md; 0.36 by default, 0 for none. Raises 42710 for a name that is taken, 22023 '
    'for a value out of range.';
GRANT EXECUTE ON FUNCTION memwarden.register_embedding_model TO memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden.set_embedder(model text, embedder text, settings jsonb DEFAULT '{}')
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_model_id smallint := memwarden_internal.require_model(set_embedder.model);
BEGIN
    PERFORM memwarden_internal.put_embedder(v_model_id, set_embedder.embedder, set_embedder.settings);
    PERFORM memwarden_internal.record_access_change(0, 'set_embedder', jsonb_build_object('model', set_embedder.model,
        'embedder', set_embedder.embedder));
END
$function$;
COMMENT ON FUNCTION memwarden.set_embedder IS
    'Sets which plug-in of the worker makes the vectors of a model. The worker is shown the content of memories, see '
    'docs/embeddings.md. model: the name of the model. embedder: the name of the plug-in; null for none, so that missing vectors '
    'stay missing. settings: what the plug-in takes, at most 16 KiB; they name the environment variable of a secret and never hold '
    'one. Raises 42704 for an unknown model, 22023 for a name or settings that can be none, 25001 at an isolation level other than '
    'READ COMMITTED.';
GRANT EXECUTE ON FUNCTION memwarden.set_embedder TO memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden.set_model_languages(model text, languages text[])
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_model_id  smallint := memwarden_internal.require_model(set_model_languages.model);
    v_languages text[] := ARRAY(SELECT DISTINCT c.code FROM unnest(set_model_languages.languages) AS c (code) ORDER BY c.code);
BEGIN
    IF cardinality(set_model_languages.languages) NOT BETWEEN 1 AND 200
       OR EXISTS (SELECT FROM unnest(v_languages) AS c (code) WHERE c.code IS NULL OR c.code !~ '^[a-z]{2,3}$') THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'languages: 1 to 200 codes of two or three letters, such as en');
    END IF;
    UPDATE memwarden_data.embedding_model AS m
       SET languages = CASE WHEN set_model_languages.languages IS NOT NULL THEN v_languages END
     WHERE m.model_id = v_model_id;
    PERFORM memwarden_internal.record_access_change(0, 'set_model_languages', jsonb_build_object('model', set_model_languages.model,
        'languages', to_jsonb(v_languages)));
END
$function$;
COMMENT ON FUNCTION memwarden.set_model_languages IS
    'Sets which languages an embedding model knows. Recall then compares a question with a memory by words alone where either is in '
    'another language. model: the name of the model. languages: codes of ISO 639-1, such as en or zh; null, the default of every '
    'model, for all of them. A text''s language is told by its script, and by the language of its scope or layer where '
    'one is set other than english. A language that is no code of a known script counts as written in Latin letters. Raises 42704 '
    'for an unknown model, 22023 for anything but 1 to 200 codes, 25001 at an isolation level other than READ COMMITTED.';
GRANT EXECUTE ON FUNCTION memwarden.set_model_languages TO memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden_internal.put_embedder(p_model_id smallint, p_plugin text, p_settings jsonb)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
BEGIN
    DELETE FROM memwarden_data.embedder AS e WHERE e.model_id = p_model_id AND p_plugin IS NULL;
    BEGIN
        INSERT INTO memwarden_data.embedder AS e (model_id, plugin, settings)
        SELECT p_model_id, p_plugin, coalesce(p_settings, '{}') WHERE p_plugin IS NOT NULL
        ON CONFLICT ON CONSTRAINT embedder_pkey DO UPDATE SET plugin = excluded.plugin, settings = excluded.settings;
    EXCEPTION WHEN check_violation THEN
        PERFORM memwarden_internal.raise_error('invalid_argument',
            'embedder: lower-case letters, digits and _, at most 63; settings: an object, at most 16 KiB');
    END;
    PERFORM pg_notify('memwarden_embedding', '');
END
$function$;
COMMENT ON FUNCTION memwarden_internal.put_embedder IS
    'Stores the plug-in of a model, or that it has none. Raises 22023 for a name or settings that can be none.';
