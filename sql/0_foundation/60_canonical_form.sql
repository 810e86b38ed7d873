-- Canonical JSON (RFC 8785) and its SHA-256: the identity of a content. See plpython/memwarden_core/canonical.py.
CREATE OR REPLACE FUNCTION memwarden_internal.try_canonical_json(
    p_json text, OUT canonical text, OUT content_hash bytea, OUT fault text, OUT fault_detail text)
RETURNS record
LANGUAGE plpython3u IMMUTABLE STRICT PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
if "memwarden:@python_hash@" not in GD: plpy.execute("SELECT memwarden_internal.load_python()")
return GD["memwarden:@python_hash@"].try_canonical_json(p_json)
$function$;
COMMENT ON FUNCTION memwarden_internal.try_canonical_json IS
    'Canonical text and SHA-256 of a JSON text, or the code and description of why there is none.';

CREATE OR REPLACE FUNCTION memwarden.canonical_json(json_text text)
RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
DECLARE
    v_result record;
BEGIN
    v_result := memwarden_internal.try_canonical_json(json_text);
    IF v_result.fault IS NOT NULL THEN
        PERFORM memwarden_internal.raise_error(lower(v_result.fault), v_result.fault_detail);
    END IF;
    RETURN v_result.canonical;
END
$function$;
COMMENT ON FUNCTION memwarden.canonical_json IS
    'Returns the RFC 8785 canonical form of a JSON text. The canonical form has sorted names, shortest numbers and no '
    'white space. Raises 22P02 for text that is not JSON; 22023 for JSON that RFC 8785 cannot carry (integers beyond '
    '2^53 - 1, NaN, infinities, lone surrogates, repeated names). Source: chapter 12.1.7.';
GRANT EXECUTE ON FUNCTION memwarden.canonical_json
    TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden.content_hash(json_text text)
RETURNS bytea
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
BEGIN
    RETURN sha256(convert_to(memwarden.canonical_json(json_text), 'UTF8'));
END
$function$;
COMMENT ON FUNCTION memwarden.content_hash IS
    'Returns the SHA-256 hash (32 bytes) of the canonical form of a JSON text. Contents that differ only in white '
    'space, order of names or spelling of numbers have the same hash. Raises errors as canonical_json does. Source: '
    'chapter 12.3.2.';
GRANT EXECUTE ON FUNCTION memwarden.content_hash
    TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor, memwarden_admin;
