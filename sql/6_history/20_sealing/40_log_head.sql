CREATE OR REPLACE FUNCTION memwarden.log_head()
RETURNS jsonb
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
BEGIN
    PERFORM memwarden_internal.require_known();
    RETURN (SELECT memwarden_internal.signed_head(max(s.segment_no)) FROM memwarden_data.log_segment AS s);
END
$function$;
COMMENT ON FUNCTION memwarden.log_head IS
    'Returns a short statement that stands for the whole sealed log, or NULL before anything is sealed. The statement '
    'is {"segment", "head", "entries", "sealed_at", "system_identifier", "key_id", "signature"}. Keep it where the '
    'superusers of this server cannot write. It then shows whether anything that was sealed by then has been changed '
    'since: verify_log(head => ...) checks the whole log, and log_proof() with tools/check_inclusion a single entry. '
    'The value "head" is the RFC 6962 root (SHA-256, hexadecimal) over the records of all segments. The value '
    '"signature" is an HMAC that verify_head() checks. Raises 28000 without an identity.';
GRANT EXECUTE ON FUNCTION memwarden.log_head
    TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden_internal.require_known()
RETURNS void
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    IF NOT memwarden_internal.is_database_admin() THEN
        PERFORM memwarden_internal.require_principal();
    END IF;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.require_known IS
    'Raises 28000 unless the caller is a principal or an administrator of the database.';

CREATE OR REPLACE FUNCTION memwarden_internal.signed_head(p_segment_no bigint)
RETURNS jsonb
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN (
        SELECT memwarden_internal.segment_head(s.segment_no, s.head_hash, s.total_entries, s.sealed_by, s.sealed_at, s.key_id)
               || jsonb_build_object('signature', encode(s.signature, 'hex'))
          FROM memwarden_data.log_segment AS s WHERE s.segment_no = p_segment_no);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.signed_head IS 'The head after a segment, with its signature; NULL when there is none.';

CREATE OR REPLACE FUNCTION memwarden.verify_head(head jsonb)
RETURNS text
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
BEGIN
    PERFORM memwarden_internal.require_known();
    PERFORM memwarden_internal.head_segment(verify_head.head);
    RETURN memwarden_internal.signature_state(
        'log head', verify_head.head - 'signature', verify_head.head ->> 'key_id', verify_head.head ->> 'signature');
END
$function$;
COMMENT ON FUNCTION memwarden.verify_head IS
    'Tells whether this server signed a head that log_head() once gave. The answer is GENUINE, FORGED, UNSIGNED, or '
    'OTHER_KEY where the head was signed under a master key that this server does not have. It does not tell that the '
    'log still holds the head: verify_log() does. Raises 22023 for a value that is not a head; 28000 without an '
    'identity.';
GRANT EXECUTE ON FUNCTION memwarden.verify_head
    TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden_internal.head_segment(p_head jsonb)
RETURNS bigint
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    IF NOT coalesce(jsonb_typeof(p_head) = 'object' AND p_head ->> 'segment' ~ '^[1-9][0-9]{0,17}$'
                    AND p_head ->> 'head' ~ '^[0-9a-f]{64}$', false) THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'head: what log_head() returns');
    END IF;
    RETURN (p_head ->> 'segment')::bigint;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.head_segment IS 'The segment that an exported head names. Raises 22023 for what is no head.';

CREATE OR REPLACE FUNCTION memwarden_internal.signature_state(p_purpose text, p_statement jsonb, p_key_id text, p_signature text)
RETURNS text
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN CASE WHEN p_key_id IS NULL AND p_signature IS NULL THEN 'UNSIGNED'
                WHEN p_key_id IS DISTINCT FROM memwarden_internal.log_key_id() THEN 'OTHER_KEY'
                WHEN p_signature = encode(memwarden_internal.sign(p_purpose, p_statement), 'hex') THEN 'GENUINE'
                ELSE 'FORGED' END;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.signature_state IS
    'GENUINE, FORGED, UNSIGNED, or OTHER_KEY: signed under another key than this server''s.';
