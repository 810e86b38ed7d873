CREATE OR REPLACE FUNCTION memwarden_internal.lexicon_digest(p_folder text, OUT digest bytea, OUT notice text)
RETURNS record
LANGUAGE plpython3u VOLATILE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
if "memwarden:@python_hash@" not in GD: plpy.execute("SELECT memwarden_internal.load_python()")
found = GD["memwarden:@python_hash@"].lexicon_digest(p_folder)
return found or (None, None)
$function$;
COMMENT ON FUNCTION memwarden_internal.lexicon_digest IS
    'What tells the dictionary in a folder of the server from others, and its notice; NULL where the folder has none. Raises 38000 for '
    'files in another format.';

CREATE OR REPLACE FUNCTION memwarden_internal.lexicon_words(p_folder text)
RETURNS TABLE (word text, sense integer, rank smallint)
LANGUAGE plpython3u VOLATILE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
if "memwarden:@python_hash@" not in GD: plpy.execute("SELECT memwarden_internal.load_python()")
return GD["memwarden:@python_hash@"].lexicon_words(p_folder)
$function$;
COMMENT ON FUNCTION memwarden_internal.lexicon_words IS
    'The words of the dictionary in a folder of the server, with their senses. Raises 38000 for files in another format.';

CREATE OR REPLACE FUNCTION memwarden_internal.lexicon_senses(p_folder text)
RETURNS TABLE (sense integer, part text, file smallint, above integer[], steps smallint[], against integer[])
LANGUAGE plpython3u VOLATILE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
if "memwarden:@python_hash@" not in GD: plpy.execute("SELECT memwarden_internal.load_python()")
return GD["memwarden:@python_hash@"].lexicon_senses(p_folder)
$function$;
COMMENT ON FUNCTION memwarden_internal.lexicon_senses IS
    'The senses of the dictionary in a folder of the server. Raises 38000 for files in another format.';
