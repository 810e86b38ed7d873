CREATE OR REPLACE FUNCTION memwarden.lexical_embedding("text" text)
RETURNS real[]
LANGUAGE plpython3u IMMUTABLE STRICT PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
if "memwarden:@python_hash@" not in GD: plpy.execute("SELECT memwarden_internal.load_python()")
return GD["memwarden:@python_hash@"].lexical_embedding(text)
$function$;
COMMENT ON FUNCTION memwarden.lexical_embedding IS
    'Returns the built-in embedding of a text, a vector of 384 numbers and length 1. It hashes the features of a '
    'text, its words and their parts. It is the same on every machine and in the Python client. A text without words '
    'gives NULL. Source: design of retrieval.';
GRANT EXECUTE ON FUNCTION memwarden.lexical_embedding
    TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor, memwarden_admin;
