-- One call of Python for all that is told.
CREATE OR REPLACE FUNCTION memwarden_internal.tell(
    p_documents text[], p_rules_hashes text[], p_strip_hash text, p_names text[], p_without_uris boolean)
RETURNS TABLE (n integer, document text, suspicious text[])
LANGUAGE plpython3u STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
if "memwarden:@python_hash@" not in GD: plpy.execute("SELECT memwarden_internal.load_python()")
core = GD["memwarden:@python_hash@"]
for rules_hash in {*p_rules_hashes, p_strip_hash} - {None}:
    if not core.has_rules(rules_hash):
        plan = plpy.prepare("SELECT t.rules FROM memwarden_data.sensitivity_rules_text AS t WHERE t.rules_hash = $1", ["text"])
        core.keep_rules(rules_hash, plan.execute([rules_hash])[0]["rules"])
return core.tell(p_documents, p_rules_hashes, p_strip_hash, p_names, p_without_uris)
$function$;
COMMENT ON FUNCTION memwarden_internal.tell IS
    'Documents (JSON objects) as they may be told, by their place from 1: screened by the rules of a hash where one is '
    'given, and the kinds that these find; without what the rules of p_strip_hash find, without names, without uris.';

CREATE OR REPLACE FUNCTION memwarden_internal.names_to_strip(p_org_id bigint, p_strip text[], p_level smallint)
RETURNS text[]
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN ARRAY(
        SELECT a.name
          FROM memwarden_data.entity AS e
          JOIN memwarden_data.entity_alias AS a ON a.org_id = e.org_id AND a.entity_id = e.entity_id
         WHERE 'entity' = ANY (p_strip) AND e.org_id IN (0, p_org_id)
           AND (greatest(e.classification, a.classification) > p_level
                OR EXISTS (SELECT FROM memwarden_data.entity_attribute AS t
                            WHERE t.org_id = e.org_id AND t.entity_id = e.entity_id AND (t.sensitive OR t.classification > p_level)))
         UNION
        SELECT t.value #>> '{}' FROM memwarden_data.entity_attribute AS t
         WHERE 'entity' = ANY (p_strip) AND t.org_id IN (0, p_org_id) AND (t.sensitive OR t.classification > p_level)
             AND length(t.value #>> '{}') >= 4
         UNION
        SELECT p.name FROM memwarden_data.principal AS p
         WHERE 'agent' = ANY (p_strip) AND p.org_id = p_org_id AND length(p.name) >= 3);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.names_to_strip IS
    'What is masked by its name on a surface that crosses up to a classification: names and values of entities above it '
    'or with something sensitive, names of agents.';
