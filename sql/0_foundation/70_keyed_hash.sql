-- The only function that reads the master key. It derives a key per purpose (HKDF, RFC 5869) and
-- never returns it. The key file is named by the server's environment, which no SQL can set.
CREATE OR REPLACE FUNCTION memwarden_internal.keyed_hash(p_purpose text, p_data bytea)
RETURNS bytea
LANGUAGE plpython3u STABLE STRICT PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
import hmac
import os

path = os.environ.get("MEMWARDEN_MASTER_KEY_FILE")
if not path:
    return None
try:
    with open(path, "rb") as file:
        master = bytes.fromhex(file.read().strip().decode("ascii"))
except (OSError, ValueError):
    master = b""
if len(master) < 32:
    plpy.error("the master key cannot be read, or is shorter than 32 bytes", sqlstate="F0000")
key = hmac.digest(hmac.digest(b"memwarden", master, "sha256"), p_purpose.encode() + b"\x01", "sha256")
return hmac.digest(key, p_data, "sha256")
$function$;
COMMENT ON FUNCTION memwarden_internal.keyed_hash IS
    'HMAC-SHA256 of the data under a key derived from the master key for one purpose. NULL where the '
    'server has no master key (MEMWARDEN_MASTER_KEY_FILE). Raises F0000 when the file holds none.';
