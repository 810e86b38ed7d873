CREATE OR REPLACE FUNCTION memwarden_internal.active_model(p_org_id bigint)
RETURNS text
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN (SELECT m.name
              FROM memwarden_data.embedding_use AS u JOIN memwarden_data.embedding_model AS m ON m.model_id = u.model_id
             WHERE u.org_id IN (0, p_org_id) AND u.is_active
             ORDER BY u.org_id DESC LIMIT 1);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.active_model IS 'The model that an organisation''s vectors are of where they name none.';

CREATE OR REPLACE FUNCTION memwarden.active_embedding_model(OUT name text, OUT dimension integer)
RETURNS record
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
DECLARE
    v_principal_id bigint := memwarden_internal.require_principal();
BEGIN
    SELECT m.name, m.dimension INTO name, dimension
      FROM memwarden_data.embedding_model AS m
     WHERE m.name = memwarden_internal.active_model((SELECT p.org_id FROM memwarden_data.principal AS p
         WHERE p.principal_id = v_principal_id));
END
$function$;
COMMENT ON FUNCTION memwarden.active_embedding_model IS
    'Returns the default embedding model of write() and recall(), and its dimension. A vector has that model where '
    'the call names none. The model may change (switch_embedding_model()). A caller that names the model with each '
    'vector need not ask. name: the name of the model. dimension: how many numbers a vector has. Raises 28000 without '
    'an identity.';
GRANT EXECUTE ON FUNCTION memwarden.active_embedding_model
    TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor;

CREATE OR REPLACE FUNCTION memwarden_internal.require_model(p_name text)
RETURNS smallint
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_model_id smallint := (SELECT m.model_id FROM memwarden_data.embedding_model AS m WHERE m.name = p_name);
BEGIN
    IF v_model_id IS NULL THEN
        PERFORM memwarden_internal.raise_error('unknown_object', format('embedding model %L', p_name));
    END IF;
    RETURN v_model_id;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.require_model IS 'The number of a model. Raises 42704 for an unknown one.';

-- Who embeds still with the model that was active before cannot know of the change. Where the number of numbers tells, its
-- writes go on; and a request that waited means what it meant.
CREATE OR REPLACE FUNCTION memwarden_internal.model_of_vector(
    p_org_id bigint, p_numbers integer, p_meant smallint, p_active smallint, p_active_dimension integer,
    OUT model_id smallint, OUT model_dimension integer)
RETURNS record
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    SELECT m.model_id, m.dimension INTO model_id, model_dimension
      FROM memwarden_data.embedding_model AS m
      LEFT JOIN memwarden_data.embedding_use AS u ON u.model_id = m.model_id AND u.org_id IN (0, p_org_id)
     WHERE m.name IS NOT NULL
       AND (m.model_id = p_meant OR p_numbers <> p_active_dimension AND m.dimension = p_numbers AND u.retired_at IS NOT NULL)
     ORDER BY m.model_id = p_meant DESC NULLS LAST, u.org_id DESC NULLS LAST, u.retired_at DESC LIMIT 1;
    IF model_id IS NULL THEN
        model_id := p_active;
        model_dimension := p_active_dimension;
    END IF;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.model_of_vector IS
    'The model of a vector that names none and is not simply of the active one: p_meant, which it was taken for before; '
    'else the last active one of that dimension, where the active one has another; else the active one.';
