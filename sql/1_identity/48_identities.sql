-- Whom an issuer outside names: identities, like logins, belong to the cluster and its administrators.
CREATE OR REPLACE FUNCTION memwarden.bind_identity(agent text, issuer text, subject text, org text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_agent record := memwarden_internal.require_agent(bind_identity.agent, bind_identity.org);
BEGIN
    PERFORM memwarden_internal.require_administration(0, 'full');
    IF bind_identity.issuer IS NULL OR bind_identity.issuer !~ '^https?://[!-~]+$' OR length(bind_identity.issuer) > 500 THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'issuer: the URL that tokens have as iss');
    ELSIF bind_identity.subject IS NULL OR bind_identity.subject !~ '^[ -~]{1,255}$' THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'subject: 1 to 255 ASCII characters');
    END IF;
    INSERT INTO memwarden_data.principal_identity (issuer, subject, principal_id)
    VALUES (bind_identity.issuer, bind_identity.subject, v_agent.principal_id)
    ON CONFLICT DO NOTHING;
    IF NOT FOUND THEN
        PERFORM memwarden_internal.raise_error('already_exists', 'this identity is bound to a principal');
    END IF;
    PERFORM memwarden_internal.record_access_change(v_agent.org_id, 'bind_identity', jsonb_build_object(
        'agent_id', v_agent.principal_id, 'issuer', bind_identity.issuer, 'subject', bind_identity.subject));
END
$function$;
COMMENT ON FUNCTION memwarden.bind_identity IS
    'Binds an identity of an issuer outside, such as a company''s login service, to an agent. A broker then gets tokens of that agent '
    'with issue_token_for(). Other identities of the agent stay bound. agent: the name of the agent. issuer, subject: iss and sub of the '
    'issuer''s tokens, compared to the letter. org: the agent''s organisation, where the name is not unique. '
    'Raises 42704 for an unknown agent, 42710 for an identity that is bound, 22023 for a malformed one and when the name alone does '
    'not tell which agent, 42501 without the right, 25001 at an isolation level other than READ COMMITTED.';
GRANT EXECUTE ON FUNCTION memwarden.bind_identity TO memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden.unbind_identity(issuer text, subject text)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_bound record;
BEGIN
    PERFORM memwarden_internal.require_administration(0, 'full');
    SELECT p.principal_id, p.org_id INTO v_bound
      FROM memwarden_data.principal_identity AS i JOIN memwarden_data.principal AS p ON p.principal_id = i.principal_id
     WHERE i.issuer = unbind_identity.issuer AND i.subject = unbind_identity.subject;
    DELETE FROM memwarden_data.principal_identity AS i
     WHERE i.issuer = unbind_identity.issuer AND i.subject = unbind_identity.subject;
    IF NOT FOUND THEN
        PERFORM memwarden_internal.raise_error('unknown_object', 'binding of this identity');
    END IF;
    PERFORM memwarden_internal.record_access_change(v_bound.org_id, 'unbind_identity', jsonb_build_object(
        'agent_id', v_bound.principal_id, 'issuer', unbind_identity.issuer, 'subject', unbind_identity.subject));
END
$function$;
COMMENT ON FUNCTION memwarden.unbind_identity IS
    'Takes an agent from an identity of an issuer outside. Tokens that brokers already got for it live five minutes at most; '
    'revoke_tokens() ends them at once. issuer, subject: as bind_identity() was told. Raises 42704 for an identity that is not bound, '
    '42501 without the right, 25001 at an isolation level other than READ COMMITTED.';
GRANT EXECUTE ON FUNCTION memwarden.unbind_identity TO memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden.issue_token_for(
    issuer text, subject text, audience text, ttl interval DEFAULT '5 minutes',
    OUT token text, OUT token_id uuid, OUT expires_at timestamptz)
RETURNS record
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_broker_id bigint := memwarden_internal.require_principal();
    v_agent     record;
    v_issued    record;
BEGIN
    SELECT p.name, o.name AS org INTO v_agent
      FROM memwarden_data.principal_identity AS i
      JOIN memwarden_data.principal AS p ON p.principal_id = i.principal_id
      JOIN memwarden_data.organisation AS o ON o.org_id = p.org_id
     WHERE i.issuer = issue_token_for.issuer AND i.subject = issue_token_for.subject
       AND memwarden_internal.speaks_for(v_broker_id, p.principal_id);
    IF NOT FOUND THEN
        -- One answer: whom an identity of others names is not for this broker.
        PERFORM memwarden_internal.raise_error('unknown_object', 'agent of this identity that this broker speaks for');
    END IF;
    v_issued := memwarden.issue_token(v_agent.name, issue_token_for.audience, issue_token_for.ttl, v_agent.org);
    token := v_issued.token;
    token_id := v_issued.token_id;
    expires_at := v_issued.expires_at;
END
$function$;
COMMENT ON FUNCTION memwarden.issue_token_for IS
    'Issues a token as issue_token() does, for the agent that bind_identity() bound to an identity of an issuer outside. The caller has '
    'checked the issuer''s token: signature, issuer, audience and expiry. issuer, subject: its iss and sub. audience: the login role '
    'that will use the token. ttl: how long the token is valid; at most 5 minutes, which is the default. Raises 42704 for an identity '
    'that is not bound, or is bound to an agent that this broker does not speak for; otherwise errors as issue_token() does: 28000, '
    '22023, 25001, 55000.';
GRANT EXECUTE ON FUNCTION memwarden.issue_token_for TO memwarden_broker;
