-- What is asked outside is no memory and is told all the same: by the same rules, across the same boundary.
CREATE OR REPLACE FUNCTION memwarden.screen_answers(answers jsonb, layer text DEFAULT NULL, surface text DEFAULT NULL)
RETURNS TABLE (place integer, answer jsonb, suspicious text[])
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER ROWS 10
AS $function$
DECLARE
    v_principal_id bigint := memwarden_internal.require_principal();
    v_org_id       bigint := (SELECT p.org_id FROM memwarden_data.principal AS p WHERE p.principal_id = v_principal_id);
    v_surface      record;
    v_rules        text;
BEGIN
    IF jsonb_typeof(screen_answers.answers) IS DISTINCT FROM 'array' OR octet_length(screen_answers.answers::text) > 10000000
       OR jsonb_array_length(screen_answers.answers) > 10000 OR screen_answers.answers @? 'strict $[*] ? (@.type() != "object")' THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'answers: an array of at most 10,000 objects and 10 MB');
    END IF;
    IF screen_answers.layer IS NOT NULL THEN
        PERFORM memwarden_internal.require_layers(ARRAY[screen_answers.layer]);
    END IF;
    IF screen_answers.surface IS NOT NULL THEN
        PERFORM memwarden_internal.require_surface(v_principal_id, screen_answers.surface);
    END IF;
    SELECT s.strip, s.max_classification, s.rules_hash INTO v_surface
      FROM memwarden_data.surface AS s WHERE s.org_id = v_org_id AND s.name = screen_answers.surface;
    v_rules := memwarden_internal.rules_hash_for(v_org_id, v_principal_id, NULL, coalesce(screen_answers.layer, '*'));
    IF v_rules IS NULL THEN
        PERFORM memwarden_internal.raise_error('not_set_up', 'there are no sensitivity rules');
    END IF;
    RETURN QUERY
    SELECT t.n, t.document::jsonb, t.suspicious
      FROM memwarden_internal.tell(
               ARRAY(SELECT a.one::text FROM jsonb_array_elements(screen_answers.answers) WITH ORDINALITY AS a (one, n) ORDER BY a.n),
               array_fill(v_rules, ARRAY[jsonb_array_length(screen_answers.answers)]), v_surface.rules_hash,
               memwarden_internal.names_to_strip(v_org_id, coalesce(v_surface.strip, '{}'), v_surface.max_classification),
               coalesce('uri' = ANY (v_surface.strip), false)) AS t
     ORDER BY t.n;
END
$function$;
COMMENT ON FUNCTION memwarden.screen_answers IS
    'Screens answers from outside memory before a model reads them. What today''s rules redact or encrypt is '
    'redacted. What they block is NULL in "text" and "content". The rules are those of the caller''s organisation and '
    'of the pack in force for the caller. The call stores nothing. answers: an array of at most 10,000 objects and 10 '
    'MB, such as {"text", "uri"}. layer: whose rules apply; by default the rules for all layers. surface: the '
    'boundary that the answers cross; what it strips is stripped too. place: the position of the answer in answers, '
    'from 1. suspicious: the kinds of what the rules find. Raises 28000 without an identity; 22023 for malformed '
    'answers; 42704 for an unknown layer or surface; 55000 before setup(). Source: four-layer design, L3; agent '
    'memory primitives, 14.';
GRANT EXECUTE ON FUNCTION memwarden.screen_answers TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor;
