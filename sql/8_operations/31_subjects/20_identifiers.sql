-- Kinds and normal forms: plpython/memwarden_core/identifiers.py.
CREATE OR REPLACE FUNCTION memwarden_internal.identifier_terms(p_identifiers text)
RETURNS text[]
LANGUAGE plpython3u IMMUTABLE STRICT PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
if "memwarden:@python_hash@" not in GD: plpy.execute("SELECT memwarden_internal.load_python()")
return GD["memwarden:@python_hash@"].identifier_terms(p_identifiers)
$function$;
COMMENT ON FUNCTION memwarden_internal.identifier_terms IS
    'The forms in which mentions() looks for registered identifiers, each once: names as search_terms() has them, others with their kind.';

CREATE OR REPLACE FUNCTION memwarden_internal.changed_identifiers(
    p_registered text, p_given text, p_remove boolean, OUT identifiers text, OUT fault text)
RETURNS record
LANGUAGE plpython3u IMMUTABLE STRICT PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
if "memwarden:@python_hash@" not in GD: plpy.execute("SELECT memwarden_internal.load_python()")
return GD["memwarden:@python_hash@"].changed_identifiers(p_registered, p_given, p_remove)
$function$;
COMMENT ON FUNCTION memwarden_internal.changed_identifiers IS
    'Registered identifiers with those that are given, in their normal forms, or without them; fault: what is wrong with the given ones.';
