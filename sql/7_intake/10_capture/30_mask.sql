-- What is sensitive never reaches the log: what a write would be refused for is masked here, since a log that refuses
-- loses what happened.
CREATE OR REPLACE FUNCTION memwarden_internal.mask_capture(
    p_content text, p_arguments text, p_rules text, OUT content text, OUT arguments jsonb, OUT masked jsonb, OUT fault text)
RETURNS record
LANGUAGE plpython3u STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
if "memwarden:@python_hash@" not in GD: plpy.execute("SELECT memwarden_internal.load_python()")
return GD["memwarden:@python_hash@"].mask_capture(p_content, p_arguments, p_rules)
$function$;
COMMENT ON FUNCTION memwarden_internal.mask_capture IS
    'A content and other arguments (a JSON object) in canonical form, with [KIND] in the place of all that the rules '
    'block, encrypt or redact; masked: where, as findings, NULL for nowhere. fault: why it cannot be kept, and then '
    'nothing else.';

CREATE OR REPLACE FUNCTION memwarden_internal.extract_by_rules(p_capture text, OUT candidates jsonb, OUT unread integer)
RETURNS record
LANGUAGE plpython3u STABLE STRICT PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
if "memwarden:@python_hash@" not in GD: plpy.execute("SELECT memwarden_internal.load_python()")
return GD["memwarden:@python_hash@"].extract_by_rules(p_capture)
$function$;
COMMENT ON FUNCTION memwarden_internal.extract_by_rules IS
    'The candidates (an array) that the built-in rules about language find in a captured content (JSON text); unread: how many of its '
    'parts have a shape that they do not know. Source: F2.';

CREATE OR REPLACE FUNCTION memwarden_internal.speakers_in(p_content text)
RETURNS text[]
LANGUAGE plpython3u STABLE STRICT PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
if "memwarden:@python_hash@" not in GD: plpy.execute("SELECT memwarden_internal.load_python()")
return GD["memwarden:@python_hash@"].speakers_in(p_content)
$function$;
COMMENT ON FUNCTION memwarden_internal.speakers_in IS
    'The people who speak in a captured content (JSON text), each as a subject and by the id alone. Extraction reads them in the same way.';
