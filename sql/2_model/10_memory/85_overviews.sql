-- Definitions are read through functions, as in 10_identity/85_overviews.sql.
CREATE OR REPLACE FUNCTION memwarden_internal.list_schemas()
RETURNS TABLE (org text, layer text, kind text, version integer, current boolean, schema jsonb, constraints jsonb,
               text_template text, embedding_dimension integer, merge_policy jsonb, defined_at timestamptz)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
DECLARE
    v_orgs bigint[] := memwarden_internal.visible_orgs();
    v_all  boolean := memwarden_internal.is_database_admin();
BEGIN
    RETURN QUERY
    SELECT o.name, s.layer, s.kind, s.version, s.current, s.schema, s.constraints, s.text_template, s.embedding_dimension,
        s.merge_policy, s.defined_at
      FROM memwarden_data.content_schema AS s JOIN memwarden_data.organisation AS o ON o.org_id = s.org_id
     WHERE v_all OR s.org_id = ANY (v_orgs);
END
$function$;
COMMENT ON VIEW memwarden.schemas IS
    'Lists the registered content schemas, by layer and kind. Rows of organisation global hold for all organisations that define no '
    'schema of their own for that layer and kind.';
GRANT EXECUTE ON FUNCTION memwarden_internal.list_schemas
    TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden_internal.list_predicates()
RETURNS TABLE (org text, predicate text, same_key text, inverse text, disjoint text[], subject_schema jsonb, object_schema jsonb)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
DECLARE
    v_orgs bigint[] := memwarden_internal.visible_orgs();
    v_all  boolean := memwarden_internal.is_database_admin();
BEGIN
    RETURN QUERY
    SELECT o.name, p.predicate, p.same_key, p.inverse, p.disjoint, p.subject_schema, p.object_schema
      FROM memwarden_data.predicate AS p JOIN memwarden_data.organisation AS o ON o.org_id = p.org_id
     WHERE v_all OR p.org_id = ANY (v_orgs);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.list_predicates IS 'The rows of memwarden.predicates.';
GRANT EXECUTE ON FUNCTION memwarden_internal.list_predicates
    TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor, memwarden_admin;

-- Beside list_predicates(): what a view calls keeps its columns from one release to the next.
CREATE OR REPLACE FUNCTION memwarden_internal.list_ended_predicates()
RETURNS TABLE (org text, predicate text, ends text[])
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
DECLARE
    v_orgs bigint[] := memwarden_internal.visible_orgs();
    v_all  boolean := memwarden_internal.is_database_admin();
BEGIN
    RETURN QUERY
    SELECT o.name, p.predicate, p.ends
      FROM memwarden_data.predicate AS p JOIN memwarden_data.organisation AS o ON o.org_id = p.org_id
     WHERE p.ends <> '{}' AND (v_all OR p.org_id = ANY (v_orgs));
END
$function$;
COMMENT ON FUNCTION memwarden_internal.list_ended_predicates IS 'Which predicates deny which, for memwarden.predicates.';
GRANT EXECUTE ON FUNCTION memwarden_internal.list_ended_predicates
    TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden_internal.list_synonyms()
RETURNS TABLE (org text, synonyms jsonb)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
DECLARE
    v_orgs bigint[] := memwarden_internal.visible_orgs();
    v_all  boolean := memwarden_internal.is_database_admin();
BEGIN
    RETURN QUERY
    SELECT o.name, v.synonyms
      FROM memwarden_data.vocabulary AS v JOIN memwarden_data.organisation AS o ON o.org_id = v.org_id
     WHERE v_all OR v.org_id = ANY (v_orgs);
END
$function$;
COMMENT ON VIEW memwarden.synonyms IS
    'Lists the words that an organisation treats as equal.';
GRANT EXECUTE ON FUNCTION memwarden_internal.list_synonyms
    TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor, memwarden_admin;
