-- What an administrator defines of the model: schemas.
CREATE OR REPLACE FUNCTION memwarden_internal.check_definition(
    p_schema text, p_constraints text, p_template text, p_synonyms text)
RETURNS text
LANGUAGE plpython3u STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
if "memwarden:@python_hash@" not in GD: plpy.execute("SELECT memwarden_internal.load_python()")
return GD["memwarden:@python_hash@"].check_definition(p_schema, p_constraints, p_template, p_synonyms)
$function$;
COMMENT ON FUNCTION memwarden_internal.check_definition IS
    'What is wrong with a definition; NULL when it can serve. Patterns that could run for ever and references that '
    'leave the schema are refused here.';

CREATE OR REPLACE FUNCTION memwarden_internal.merge_policy_fault(p_policy text)
RETURNS text
LANGUAGE plpython3u STABLE STRICT PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
if "memwarden:@python_hash@" not in GD: plpy.execute("SELECT memwarden_internal.load_python()")
return GD["memwarden:@python_hash@"].merge_policy_fault(p_policy)
$function$;
COMMENT ON FUNCTION memwarden_internal.merge_policy_fault IS 'What is wrong with a merge policy; NULL when it can serve.';

CREATE OR REPLACE FUNCTION memwarden.define_schema(
    layer text, kind text, schema jsonb, text_template text DEFAULT NULL, embedding_dimension integer DEFAULT NULL,
    constraints jsonb DEFAULT '[]', org text DEFAULT NULL, merge_policy jsonb DEFAULT NULL)
RETURNS integer
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_org_id  bigint := memwarden_internal.administered_org(define_schema.org, 'layer', define_schema.layer);
    v_version integer;
    v_fault   text := coalesce(
        memwarden_internal.check_definition(
            define_schema.schema::text, define_schema.constraints::text, define_schema.text_template, NULL),
        memwarden_internal.merge_policy_fault(define_schema.merge_policy::text));
BEGIN
    IF NOT EXISTS (SELECT FROM memwarden_data.layer AS l WHERE l.layer = define_schema.layer) THEN
        PERFORM memwarden_internal.raise_error('unknown_object', format('layer %L', define_schema.layer));
    ELSIF define_schema.kind IS NULL OR define_schema.kind !~ '^[a-z][a-z0-9_.-]{0,62}$' THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'kind: lower-case letters, digits and _ . -, at most 63');
    ELSIF define_schema.schema IS NULL OR v_fault IS NOT NULL THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', coalesce(v_fault, 'schema: a JSON Schema'));
    ELSIF define_schema.embedding_dimension NOT BETWEEN 1 AND 4000 THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'embedding_dimension: 1 to 4,000');
    END IF;

    -- Two definitions of one kind at once take turns here.
    PERFORM memwarden_internal.hold_organisation(v_org_id);
    UPDATE memwarden_data.content_schema AS c SET current = false
     WHERE c.org_id = v_org_id AND c.layer = define_schema.layer AND c.kind = define_schema.kind AND c.current;
    INSERT INTO memwarden_data.content_schema AS c (
        org_id, layer, kind, version, schema, constraints, text_template, embedding_dimension, merge_policy, current)
    SELECT v_org_id, define_schema.layer, define_schema.kind, coalesce(max(c.version), 0) + 1, define_schema.schema,
           coalesce(define_schema.constraints, '[]'), define_schema.text_template, define_schema.embedding_dimension,
           define_schema.merge_policy, true
      FROM memwarden_data.content_schema AS c
     WHERE c.org_id = v_org_id AND c.layer = define_schema.layer AND c.kind = define_schema.kind
    RETURNING c.version INTO v_version;
    RETURN v_version;
END
$function$;
COMMENT ON FUNCTION memwarden.define_schema IS
    'Registers the schema of a kind of content in a layer and returns its version number. It replaces the earlier '
    'version, which memwarden keeps. The rules of a merge_policy are: (1) keep: the older value; (2) replace: the '
    'newer value; (3) union: of arrays; (4) max, min: of numbers or of texts; (5) concatenate: texts, up to 8,000 '
    'characters; (6) conflict (the default): the conflict policy of the layer resolves the field. A field without a '
    'rule has the default rule. schema: JSON Schema 2020-12. kind: the name of the kind; default is the kind of '
    'writes that name none. text_template: how memwarden makes the text for search, e.g. "{subject} likes '
    '{content.drink}"; by default from all string values. embedding_dimension: how many numbers a vector of the '
    'caller must have. constraints: an array of {"id", "description", "left", "op", "right"}; left is a JSON pointer; '
    'op is one of = <> < <= > >=; right is a pointer or {"value": ...}. merge_policy: how two contents become one, '
    'field by field, as {"field": rule} with * for all other fields; NULL: the newer content replaces the older as a '
    'whole. org: the organisation that the schema is for; by default the caller''s, and for members of '
    'memwarden_admin all. Raises 22023 for a broken definition; 42501 without the right; 42704 for an unknown layer '
    'or organisation. '
    'Raises 55P03 when others hold it up for longer than 30 seconds, or lock_timeout. '
    'Source: chapter 12.2.2.';
GRANT EXECUTE ON FUNCTION memwarden.define_schema TO memwarden_agent, memwarden_curator, memwarden_admin;
