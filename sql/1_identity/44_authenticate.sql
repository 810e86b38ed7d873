CREATE OR REPLACE FUNCTION memwarden.authenticate(token text)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_token  record;
    v_ticket text;
BEGIN
    IF authenticate.token IS NULL OR length(authenticate.token) NOT BETWEEN 20 AND 2000 THEN
        PERFORM memwarden_internal.raise_error('invalid_token', 'it is no token of issue_token()');
    ELSIF strpos(current_query(), authenticate.token) > 0 THEN
        -- Whoever may see the server's activity or its log could now use it.
        PERFORM memwarden_internal.raise_error('token_exposed', 'pass it as a bind parameter, and have this one revoked');
    ELSIF EXISTS (SELECT FROM memwarden_data.principal_login AS l
                   WHERE l.login_role = session_user AND l.role_oid = to_regrole(quote_ident(session_user))) THEN
        PERFORM memwarden_internal.raise_error('already_identified', format('login role %I is bound to a principal', session_user));
    END IF;

    v_token := memwarden_internal.verified_token(authenticate.token);
    IF v_token.fault IS NOT NULL THEN
        PERFORM memwarden_internal.raise_error('invalid_token', v_token.fault);
    ELSIF NOT memwarden_internal.claim_transaction(v_token.principal_id, extract(epoch FROM transaction_timestamp())::text) THEN
        PERFORM memwarden_internal.raise_error('already_identified', 'this transaction acts for another principal');
    END IF;
    v_ticket := v_token.token_id || ':' || encode(
        memwarden_internal.keyed_hash('ticket', memwarden_internal.ticket_claim(v_token.token_id)), 'hex');
    PERFORM set_config('memwarden.ticket', v_ticket, true);
END
$function$;
COMMENT ON FUNCTION memwarden.authenticate IS
    'Makes the rest of this transaction act for the principal that the token was issued for. In autocommit mode the '
    'transaction ends with the call: send BEGIN, authenticate, the call and COMMIT together. token: from '
    'issue_token(); pass it as a bind parameter only. Raises 28000 for a token that is forged, expired, revoked, '
    'issued for another login, or written into the query text; 28000 for a login that is bound to a principal, and '
    'for a second principal in one transaction; 55000 where the server has no master key. Source: design of identity.';
GRANT EXECUTE ON FUNCTION memwarden.authenticate TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor;

CREATE OR REPLACE FUNCTION memwarden_internal.verified_token(
    p_token text, OUT token_id uuid, OUT principal_id bigint, OUT fault text)
RETURNS record
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_row record;
BEGIN
    fault := 'it is no token of issue_token()';
    -- mw1.id.principal.expiry.audience.signature
    IF p_token !~ E'^mw1\\.[0-9a-f-]{36}\\.[0-9]{1,18}\\.[0-9]{1,18}\\.([0-9a-f]{2})+\\.[0-9a-f]{64}$'
       OR NOT pg_input_is_valid(split_part(p_token, '.', 2), 'uuid') THEN
        RETURN;
    END IF;
    -- What was signed is compared before anything of it is believed.
    SELECT t.token_id, t.principal_id, t.audience, t.expires_at, t.revoked_at, k.retires_at, p.disabled_at,
           memwarden_internal.token_signature(k.key_id, k.salt, left(p_token, -65)) = right(p_token, 64) AS is_ours
      INTO v_row
      FROM memwarden_data.token AS t
      JOIN memwarden_data.token_key AS k ON k.key_id = t.key_id
      JOIN memwarden_data.principal AS p ON p.principal_id = t.principal_id
     WHERE t.token_id = split_part(p_token, '.', 2)::uuid;
    fault := CASE
        WHEN v_row.is_ours IS NOT TRUE THEN 'it was not issued here'
        WHEN v_row.audience <> session_user THEN 'it was issued for another login role'
        WHEN v_row.expires_at <= clock_timestamp() THEN 'it has expired'
        WHEN v_row.revoked_at IS NOT NULL THEN 'it was revoked'
        WHEN v_row.retires_at <= clock_timestamp() THEN 'its key was retired'
        WHEN v_row.disabled_at IS NOT NULL THEN 'its principal is disabled'
    END;
    IF fault IS NULL THEN
        token_id := v_row.token_id;
        principal_id := v_row.principal_id;
    END IF;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.verified_token IS 'Whom a token speaks for; or what is wrong with it.';

CREATE OR REPLACE FUNCTION memwarden_internal.token_signature(p_key_id integer, p_salt bytea, p_payload text)
RETURNS text
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_signature bytea := memwarden_internal.keyed_hash(
        format('token %s %s', p_key_id, encode(p_salt, 'hex')), convert_to(p_payload, 'UTF8'));
BEGIN
    IF v_signature IS NULL THEN
        PERFORM memwarden_internal.raise_error('no_master_key', 'MEMWARDEN_MASTER_KEY_FILE is not set for this server');
    END IF;
    RETURN encode(v_signature, 'hex');
END
$function$;
COMMENT ON FUNCTION memwarden_internal.token_signature IS
    'HMAC-SHA256 of a token''s payload, as hex. Raises 55000 where the server has no master key.';
