-- Asking the rules.
CREATE OR REPLACE FUNCTION memwarden_internal.rules_in_force(p_org_id bigint, p_layer text)
RETURNS text
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN (SELECT t.rules
              FROM memwarden_data.sensitivity_ruleset AS s
              JOIN memwarden_data.sensitivity_rules_text AS t ON t.rules_hash = s.rules_hash
             WHERE s.org_id IN (0, p_org_id) AND s.layer IN ('*', p_layer)
             ORDER BY s.org_id DESC, s.layer = '*' LIMIT 1);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.rules_in_force IS
    'The rules of an organisation in a layer, as prepared; NULL where there are none.';

CREATE OR REPLACE FUNCTION memwarden_internal.ruleset(p_org_id bigint, p_layer text)
RETURNS text
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_rules text := memwarden_internal.rules_in_force(p_org_id, p_layer);
BEGIN
    IF v_rules IS NULL THEN
        PERFORM memwarden_internal.raise_error('not_set_up', 'there are no sensitivity rules');
    END IF;
    RETURN v_rules;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.ruleset IS
    'The rules of an organisation in a layer, as prepared. Raises 55000 where there are none: nothing passes '
    'unscreened.';

CREATE OR REPLACE FUNCTION memwarden_internal.screen_request(p_request text, p_rules text, OUT sensitive jsonb, OUT sensitivity text)
RETURNS record
LANGUAGE plpython3u STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
if "memwarden:@python_hash@" not in GD: plpy.execute("SELECT memwarden_internal.load_python()")
return GD["memwarden:@python_hash@"].screen_request(p_request, p_rules)
$function$;
COMMENT ON FUNCTION memwarden_internal.screen_request IS
    'What the rules find in a JSON object of arguments ([{"rule", "kind", "level", "action", "path", "part", "start", '
    '"length", "score"}], NULL for nothing), and the level of what may stay.';

CREATE OR REPLACE FUNCTION memwarden_internal.clean_request(
    p_content text, p_arguments text, p_rules text, p_org_id bigint, p_wrapped bytea,
    OUT content text, OUT arguments jsonb, OUT refused jsonb, OUT sealed jsonb)
RETURNS record
LANGUAGE plpython3u VOLATILE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
import os
if "memwarden:@python_hash@" not in GD: plpy.execute("SELECT memwarden_internal.load_python()")
try:
    return GD["memwarden:@python_hash@"].clean_request(
        p_content, p_arguments, p_rules, p_org_id, os.environ.get("MEMWARDEN_MASTER_KEY_FILE"), p_wrapped)
except ValueError as error:
    plpy.error(str(error), sqlstate="F0000")
$function$;
COMMENT ON FUNCTION memwarden_internal.clean_request IS
    'Content and arguments (a JSON object) with what the rules redact or encrypt replaced; refused: what could not be '
    'taken out, as findings; sealed: {"name": {"kind", "sealed"}} of what was encrypted under the wrapped key. Raises '
    'F0000 when the master key is another one.';

CREATE OR REPLACE FUNCTION memwarden_internal.screen_text(p_text text, p_rules text)
RETURNS TABLE (rule text, kind text, level text, action text, start integer, length integer, score double precision)
LANGUAGE plpython3u STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
if "memwarden:@python_hash@" not in GD: plpy.execute("SELECT memwarden_internal.load_python()")
return GD["memwarden:@python_hash@"].screen_text(p_text, p_rules)
$function$;
COMMENT ON FUNCTION memwarden_internal.screen_text IS 'What the rules find in a text; start counts characters from 0.';

CREATE OR REPLACE FUNCTION memwarden.scan_text("text" text, layer text DEFAULT NULL)
RETURNS TABLE (rule text, kind text, level text, action text, start integer, length integer, score double precision)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
DECLARE
    v_org_id bigint;
BEGIN
    SELECT p.org_id INTO v_org_id FROM memwarden_data.principal AS p WHERE p.principal_id = (SELECT memwarden_internal.current_principal());
    IF v_org_id IS NULL AND NOT memwarden_internal.is_database_admin() THEN
        PERFORM memwarden_internal.require_principal();
    ELSIF scan_text.text IS NULL OR pg_catalog.length(scan_text.text) > 1000000 THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'text: needed, at most 1,000,000 characters');
    END IF;
    RETURN QUERY
    SELECT s.rule, s.kind, s.level, s.action, s.start, s.length, s.score
      FROM memwarden_internal.screen_text(scan_text.text, memwarden_internal.ruleset(coalesce(v_org_id, 0), scan_text.layer)) AS s;
END
$function$;
COMMENT ON FUNCTION memwarden.scan_text IS
    'Lists what the sensitivity rules find in a text. Use it for text that is about to be written, shown to a model '
    'or sent elsewhere. The call stores nothing. text: 1,000,000 characters at most. layer: the layer whose rules '
    'apply; default the rules of all layers. start, length: where it is, in characters, from 0. score: how sure the '
    'rule is, 0 to 1. action: what a write of the text would meet. Raises 28000 without an identity; 22023 for no '
    'text or more than 1,000,000 characters; 55000 before setup(). Source: four-layer design, 6.';
GRANT EXECUTE ON FUNCTION memwarden.scan_text
    TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor, memwarden_admin;

-- What is kept beside contents (reasons, recorded evidence) passes no gate.
CREATE OR REPLACE FUNCTION memwarden_internal.require_harmless(p_principal_id bigint, p_arguments jsonb)
RETURNS void
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_org_id  bigint := (SELECT p.org_id FROM memwarden_data.principal AS p WHERE p.principal_id = p_principal_id);
    v_finding record;
BEGIN
    SELECT f ->> 'path' AS path, f ->> 'kind' AS kind, f ->> 'start' AS start INTO v_finding
      FROM memwarden_internal.screen_request(p_arguments::text, memwarden_internal.ruleset(v_org_id, NULL)) AS s
     CROSS JOIN LATERAL jsonb_array_elements(s.sensitive) AS f
     WHERE f ->> 'action' IN ('encrypt', 'redact', 'block')
     LIMIT 1;
    IF FOUND THEN
        PERFORM memwarden_internal.raise_error('sensitive_argument',
            format('%s: %s at character %s', substr(v_finding.path, 2), v_finding.kind, v_finding.start));
    END IF;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.require_harmless IS
    'Raises 22023 where the rules for all layers would not keep a text among these arguments as it is (a JSON object of names and texts).';
