-- What is encrypted under the key of a subject, and in clear for the functions of the owner. No key leaves these functions.
CREATE OR REPLACE FUNCTION memwarden_internal.subject_key_generations()
RETURNS integer[]
LANGUAGE plpython3u STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
import os
if "memwarden:@python_hash@" not in GD: plpy.execute("SELECT memwarden_internal.load_python()")
try:
    return GD["memwarden:@python_hash@"].subject_key_generations(os.environ.get("MEMWARDEN_MASTER_KEY_FILE"))
except ValueError as error:
    plpy.error(str(error), sqlstate="F0000")
$function$;
COMMENT ON FUNCTION memwarden_internal.subject_key_generations IS
    'The numbers of the generations that this server has, from the file beside the master key''s whose name ends in .subjects; '
    'empty where there is none. Raises F0000 when the file is malformed.';

CREATE OR REPLACE FUNCTION memwarden_internal.new_subject_key(OUT generation integer, OUT wrapped bytea)
RETURNS record
LANGUAGE plpython3u VOLATILE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
import os
if "memwarden:@python_hash@" not in GD: plpy.execute("SELECT memwarden_internal.load_python()")
try:
    return GD["memwarden:@python_hash@"].new_subject_key(os.environ.get("MEMWARDEN_MASTER_KEY_FILE"))
except ValueError as error:
    plpy.error(str(error), sqlstate="F0000")
$function$;
COMMENT ON FUNCTION memwarden_internal.new_subject_key IS
    'A new random key of 32 bytes as the newest generation wraps it, and the number of that; NULL where the server has none. '
    'Raises F0000 when a key file is malformed.';

CREATE OR REPLACE FUNCTION memwarden_internal.seal_for_subject(p_generation integer, p_wrapped bytea, p_text text)
RETURNS bytea
LANGUAGE plpython3u VOLATILE STRICT PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
import os
if "memwarden:@python_hash@" not in GD: plpy.execute("SELECT memwarden_internal.load_python()")
try:
    return GD["memwarden:@python_hash@"].seal_for_subject(
        os.environ.get("MEMWARDEN_MASTER_KEY_FILE"), p_generation, p_wrapped, p_text)
except ValueError as error:
    plpy.error(str(error), sqlstate="F0000")
$function$;
COMMENT ON FUNCTION memwarden_internal.seal_for_subject IS
    'A text encrypted (AES-256-GCM) under a subject''s key. Raises F0000 where this server does not open the key.';

CREATE OR REPLACE FUNCTION memwarden_internal.unseal_for_subject(p_generation integer, p_wrapped bytea, p_sealed bytea)
RETURNS text
LANGUAGE plpython3u STABLE STRICT PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
import os
if "memwarden:@python_hash@" not in GD: plpy.execute("SELECT memwarden_internal.load_python()")
return GD["memwarden:@python_hash@"].unseal_for_subject(
    os.environ.get("MEMWARDEN_MASTER_KEY_FILE"), p_generation, p_wrapped, p_sealed)
$function$;
COMMENT ON FUNCTION memwarden_internal.unseal_for_subject IS
    'What seal_for_subject() encrypted; NULL where this server does not open it. Never raises: one such memory must not break an answer.';

CREATE OR REPLACE FUNCTION memwarden_internal.blind_for_subject(p_generation integer, p_wrapped bytea, p_data bytea)
RETURNS bytea
LANGUAGE plpython3u STABLE STRICT PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
import os
if "memwarden:@python_hash@" not in GD: plpy.execute("SELECT memwarden_internal.load_python()")
try:
    return GD["memwarden:@python_hash@"].blind_for_subject(
        os.environ.get("MEMWARDEN_MASTER_KEY_FILE"), p_generation, p_wrapped, p_data)
except ValueError as error:
    plpy.error(str(error), sqlstate="F0000")
$function$;
COMMENT ON FUNCTION memwarden_internal.blind_for_subject IS
    'HMAC-SHA256 of a hash under a subject''s key: without the key nobody confirms a guess by it. Raises F0000 where this server '
    'does not open the key.';

CREATE OR REPLACE FUNCTION memwarden_internal.opened_subject_keys(p_generations integer[], p_wrapped bytea[])
RETURNS boolean[]
LANGUAGE plpython3u STABLE STRICT PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
import os
if "memwarden:@python_hash@" not in GD: plpy.execute("SELECT memwarden_internal.load_python()")
return GD["memwarden:@python_hash@"].opened_subject_keys(os.environ.get("MEMWARDEN_MASTER_KEY_FILE"), p_generations, p_wrapped)
$function$;
COMMENT ON FUNCTION memwarden_internal.opened_subject_keys IS
    'Which keys this server opens, in their order. Never raises: with malformed files it opens none.';

CREATE OR REPLACE FUNCTION memwarden_internal.blinded_words(p_generations integer[], p_wrapped bytea[], p_words text[])
RETURNS TABLE (key_number integer, word text, mark text)
LANGUAGE plpython3u STABLE STRICT PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
import os
if "memwarden:@python_hash@" not in GD: plpy.execute("SELECT memwarden_internal.load_python()")
try:
    return GD["memwarden:@python_hash@"].blinded_words(
        os.environ.get("MEMWARDEN_MASTER_KEY_FILE"), p_generations, p_wrapped, p_words)
except ValueError as error:
    plpy.error(str(error), sqlstate="F0000")
$function$;
COMMENT ON FUNCTION memwarden_internal.blinded_words IS
    'What stands for each word in the index under each key (HMAC-SHA256, 12 bytes in hex), keys counted from 1. A key that this '
    'server does not open is left out.';
