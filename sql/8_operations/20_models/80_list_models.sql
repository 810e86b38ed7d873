CREATE OR REPLACE FUNCTION memwarden_internal.list_embedding_models()
RETURNS TABLE (org text, model text, dimension integer, vector_weight double precision, state text, embedder text,
               items bigint, missing bigint, waiting bigint, dead bigint, last_error text, oldest_at timestamptz, changed_at timestamptz)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
DECLARE
    v_orgs  bigint[] := memwarden_internal.overseen_orgs();
    v_admin boolean := memwarden_internal.is_database_admin();
BEGIN
    RETURN QUERY
    SELECT o.name, m.name, m.dimension, m.vector_weight,
           CASE WHEN m.name IS NULL THEN 'dropped' WHEN u.is_active THEN 'active' WHEN u.retired_at IS NOT NULL AND NOT u.is_tended
               THEN 'retired'
                WHEN c.missing = 0 THEN 'ready' WHEN u.is_tended THEN 'filling' ELSE 'registered' END,
           e.plugin, c.items, c.missing, w.waiting, w.dead, w.last_error, w.oldest_at, coalesce(u.changed_at, m.created_at)
      FROM memwarden_data.embedding_model AS m
      LEFT JOIN memwarden_data.embedding_use AS u ON u.model_id = m.model_id
      JOIN memwarden_data.organisation AS o ON o.org_id = coalesce(u.org_id, 0)
      LEFT JOIN memwarden_data.embedder AS e ON e.model_id = m.model_id
     CROSS JOIN LATERAL memwarden_internal.vector_coverage(o.org_id, m.model_id) AS c
     CROSS JOIN LATERAL (
           SELECT count(*) FILTER (WHERE j.state IN ('ready', 'running')) AS waiting, count(*) FILTER (WHERE j.state = 'dead') AS dead,
                  max(j.last_error) AS last_error, min(j.created_at) FILTER (WHERE j.state IN ('ready', 'running')) AS oldest_at
             FROM memwarden_data.embedding_job AS j
            WHERE j.model_id = m.model_id AND j.org_id = ANY (memwarden_internal.served_orgs(o.org_id))) AS w
     -- Numbers of memories are told to who oversees all of them.
     WHERE v_admin OR o.org_id <> 0 AND o.org_id = ANY (v_orgs);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.list_embedding_models IS 'The rows of memwarden.embedding_models.';
GRANT EXECUTE ON FUNCTION memwarden_internal.list_embedding_models TO memwarden_auditor, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden_internal.languages_of_model(p_model text)
RETURNS text[]
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
BEGIN
    RETURN (SELECT m.languages FROM memwarden_data.embedding_model AS m WHERE m.name = p_model);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.languages_of_model IS 'Which languages a model knows; NULL for all of them.';
GRANT EXECUTE ON FUNCTION memwarden_internal.languages_of_model TO memwarden_auditor, memwarden_admin;
