CREATE OR REPLACE FUNCTION memwarden_internal.support_of(
    p_subject text, p_predicate text, p_content text, p_excerpts text[], p_types text[], p_uris text[])
RETURNS double precision[]
LANGUAGE plpython3u STABLE PARALLEL RESTRICTED SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $function$
if "memwarden:@python_hash@" not in GD: plpy.execute("SELECT memwarden_internal.load_python()")
return GD["memwarden:@python_hash@"].support(p_subject, p_predicate, p_content, p_excerpts, p_types, p_uris)
$function$;
COMMENT ON FUNCTION memwarden_internal.support_of(text, text, text, text[], text[], text[]) IS
    'How far each excerpt bears out what a content (JSON text) says of its subject: 0 to 1, in the order given; 0 for a null, -1 for one that contradicts it. Rules about words, numbers, names and negation, no model. Source: chapter 12.2.3.';
REVOKE ALL ON FUNCTION memwarden_internal.support_of(text, text, text, text[], text[], text[]) FROM PUBLIC;
