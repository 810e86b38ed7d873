-- A key leaves this function in no form but wrapped.
CREATE OR REPLACE FUNCTION memwarden_internal.new_wrapped_key()
RETURNS bytea
LANGUAGE plpython3u VOLATILE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
import os
if "memwarden:@python_hash@" not in GD: plpy.execute("SELECT memwarden_internal.load_python()")
try:
    return GD["memwarden:@python_hash@"].new_wrapped_key(os.environ.get("MEMWARDEN_MASTER_KEY_FILE"))
except ValueError as error:
    plpy.error(str(error), sqlstate="F0000")
$function$;
COMMENT ON FUNCTION memwarden_internal.new_wrapped_key IS
    'A new random key of 32 bytes, wrapped by the master key. NULL where the server has none. Raises F0000 when its file holds none.';

CREATE OR REPLACE FUNCTION memwarden_internal.sign_text(p_wrapped bytea, p_purpose text, p_text text)
RETURNS bytea
LANGUAGE plpython3u STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
import os
if "memwarden:@python_hash@" not in GD: plpy.execute("SELECT memwarden_internal.load_python()")
try:
    return GD["memwarden:@python_hash@"].sign(os.environ.get("MEMWARDEN_MASTER_KEY_FILE"), p_wrapped, p_purpose, p_text)
except ValueError as error:
    plpy.error(str(error), sqlstate="F0000")
$function$;
COMMENT ON FUNCTION memwarden_internal.sign_text IS
    'HMAC-SHA256 of a text under a wrapped key; the purpose is part of what is signed. NULL without a key or a master '
    'key; empty where another master key wrapped it. Raises F0000 when the file of the master key holds none.';

CREATE OR REPLACE FUNCTION memwarden_internal.ensure_signing_key(p_purpose text)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
BEGIN
    INSERT INTO memwarden_data.signing_key (purpose, wrapped, created_at)
    SELECT p_purpose, w.wrapped, clock_timestamp()
      FROM memwarden_internal.new_wrapped_key() AS w (wrapped)
     WHERE w.wrapped IS NOT NULL
       AND NOT EXISTS (SELECT FROM memwarden_data.signing_key AS k WHERE k.purpose = p_purpose AND k.retired_at IS NULL)
    ON CONFLICT DO NOTHING;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.ensure_signing_key IS 'Makes the first key of a purpose, where the server has a master key.';

CREATE OR REPLACE FUNCTION memwarden.rotate_signing_key()
RETURNS integer
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_key_id integer := memwarden_internal.replace_signing_key('provenance', 'infinity');
BEGIN
    IF v_key_id IS NULL THEN
        PERFORM memwarden_internal.raise_error('no_master_key', 'nothing would wrap the key');
    END IF;
    PERFORM memwarden_internal.record_access_change(0, 'rotate_signing_key', jsonb_build_object('key_id', v_key_id));
    RETURN v_key_id;
END
$function$;
COMMENT ON FUNCTION memwarden.rotate_signing_key IS
    'Makes a new key that signs provenance from now on, and returns its number. What was signed under earlier keys stays verifiable. '
    'maintain() rotates the key every 90 days. Raises 55000 where the server has no master key, 25001 at an isolation level other '
    'than READ COMMITTED. '
    'Raises 55P03 when others hold it up for longer than 30 seconds, or lock_timeout. '
    'Source: chapter 12.4.5.';
GRANT EXECUTE ON FUNCTION memwarden.rotate_signing_key TO memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden_internal.replace_signing_key(p_purpose text, p_made_before timestamptz)
RETURNS integer
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_wrapped bytea;
    v_now     timestamptz;
    v_key_id  integer;
BEGIN
    -- Two that come at once come one after the other. Who signs with the old key meanwhile is not waited for: it verifies for ever.
    PERFORM memwarden_internal.hold_table('memwarden_data.signing_key');
    IF EXISTS (SELECT FROM memwarden_data.signing_key AS k
                WHERE k.purpose = p_purpose AND k.retired_at IS NULL AND k.created_at >= p_made_before) THEN
        RETURN NULL;
    END IF;
    v_wrapped := memwarden_internal.new_wrapped_key();
    IF v_wrapped IS NULL THEN
        RETURN NULL;
    END IF;
    v_now := clock_timestamp();
    UPDATE memwarden_data.signing_key AS k SET retired_at = greatest(v_now, k.created_at)
     WHERE k.purpose = p_purpose AND k.retired_at IS NULL;
    INSERT INTO memwarden_data.signing_key (purpose, wrapped, created_at)
    VALUES (p_purpose, v_wrapped, v_now)
    RETURNING key_id INTO v_key_id;
    RETURN v_key_id;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.replace_signing_key IS
    'A new key for a purpose, where the one that signs was made before that time. NULL where it was not, or without a master key.';

CREATE OR REPLACE FUNCTION memwarden_internal.is_signed(p_wrapped bytea, p_purpose text, p_text text, p_signature bytea)
RETURNS boolean
LANGUAGE plpython3u STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
import hmac
import os
if "memwarden:@python_hash@" not in GD: plpy.execute("SELECT memwarden_internal.load_python()")
try:
    signature = GD["memwarden:@python_hash@"].sign(os.environ.get("MEMWARDEN_MASTER_KEY_FILE"), p_wrapped, p_purpose, p_text)
except ValueError:
    return None
return hmac.compare_digest(signature, p_signature) if signature and p_signature else None
$function$;
COMMENT ON FUNCTION memwarden_internal.is_signed IS
    'Whether a text bears this signature under a wrapped key; NULL where the server cannot open the key, or one of them is missing.';
