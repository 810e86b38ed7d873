-- What a kind leaves out of its text is bookkeeping only where it looks like it. All else is claimed as well.
CREATE OR REPLACE FUNCTION memwarden_internal.claim_of_kind(p_content text, p_template text, p_subject text, p_predicate text)
RETURNS text
LANGUAGE plpython3u STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
if "memwarden:@python_hash@" not in GD: plpy.execute("SELECT memwarden_internal.load_python()")
return GD["memwarden:@python_hash@"].claim_of_kind(p_content, p_template, p_subject, p_predicate)
$function$;
COMMENT ON FUNCTION memwarden_internal.claim_of_kind IS
    'What evidence must bear out of a content whose kind has a text of its own, as JSON for weigh(): the text, and with it each value '
    'that the template leaves out and that is no id, number or time.';
