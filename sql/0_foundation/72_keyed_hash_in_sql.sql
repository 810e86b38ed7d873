-- keyed_hash() without Python, whose interpreter costs a new session more than a recall does. It answers where all is as it should
-- be, and leaves everything else to keyed_hash(): another system than Linux, a key file that is missing or of another form.
--
-- The key stays as secret as it is there. Only the superuser who installs may read files of the server, so the function does not
-- belong to memwarden_owner, nor does keyed_hash(), which it calls with the superuser's rights. It touches no table, takes no path
-- from an argument or a setting, calls nothing outside pg_catalog but pgcrypto's hmac(), and returns nothing but the hash. Each
-- statement is a simple expression: PL/pgSQL evaluates these without a plan that holds values, so no setting that prints plans or
-- statements tells of the key.
CREATE OR REPLACE FUNCTION memwarden_internal.keyed_hash_in_sql(p_purpose text, p_data bytea)
RETURNS bytea
LANGUAGE plpgsql STABLE STRICT PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
DECLARE
    v_nul    bytea := decode('00', 'hex');
    v_name   bytea := v_nul || convert_to('MEMWARDEN_MASTER_KEY_FILE=', 'UTF8');
    v_env    bytea;
    v_path   text;
    v_master text;
BEGIN
    BEGIN
        -- The environment that the server was started with, which a backend's own may hide.
        v_env := v_nul || pg_read_binary_file('/proc/' || split_part(pg_read_file('postmaster.pid'), E'\n', 1) || '/environ') || v_nul;
        v_env := substring(v_env FROM nullif(position(v_name IN v_env), 0) + length(v_name));
        v_path := encode(substring(v_env FROM 1 FOR position(v_nul IN v_env) - 1), 'escape');
        IF v_path <> '' AND strpos(v_path, E'\\') = 0 THEN
            v_master := rtrim(encode(pg_read_binary_file(v_path), 'escape'), E' \n\r\t');
        END IF;
    EXCEPTION WHEN OTHERS THEN
        v_master := NULL;
    END;
    IF (length(v_master) >= 64 AND length(v_master) % 2 = 0 AND translate(v_master, '0123456789abcdefABCDEF', '') = '') IS NOT TRUE THEN
        RETURN memwarden_internal.keyed_hash(p_purpose, p_data);
    END IF;
    RETURN memwarden_internal.hmac_sha256(
        memwarden_internal.hmac_sha256(
            memwarden_internal.hmac_sha256(convert_to('memwarden', 'UTF8'), decode(v_master, 'hex')),
            convert_to(p_purpose, 'UTF8') || decode('01', 'hex')),
        p_data);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.keyed_hash_in_sql IS
    'What keyed_hash() answers, without loading Python where the server runs on Linux and has its key. Belongs to the superuser who '
    'installs, and not to memwarden_owner, who may read no file.';

-- A body of standard SQL names pgcrypto's function itself, and not whatever bears its name later.
CREATE OR REPLACE FUNCTION memwarden_internal.hmac_sha256(p_key bytea, p_data bytea)
RETURNS bytea
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE SECURITY INVOKER
RETURN @extschema:pgcrypto@.hmac(p_data, p_key, 'sha256'::text);
COMMENT ON FUNCTION memwarden_internal.hmac_sha256 IS 'HMAC-SHA256 (RFC 2104).';
