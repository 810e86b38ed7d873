CREATE OR REPLACE FUNCTION memwarden_internal.speaks_for(p_broker_id bigint, p_principal_id bigint)
RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN EXISTS (
        SELECT FROM memwarden_data.principal AS p
          JOIN memwarden_data.scope AS home ON home.scope_id = p.home_scope_id
          JOIN memwarden_data.principal AS broker ON broker.home_scope_id = ANY (home.lineage)
         WHERE broker.principal_id = p_broker_id AND broker.kind = 'service'
           AND p.principal_id = p_principal_id AND p.disabled_at IS NULL AND p.principal_id NOT IN (0, p_broker_id));
END
$function$;
COMMENT ON FUNCTION memwarden_internal.speaks_for IS
    'Whether a broker gets tokens of an agent: of whoever lives where it does, or below.';

CREATE OR REPLACE FUNCTION memwarden.issue_token(
    agent text, audience text, ttl interval DEFAULT '5 minutes', org text DEFAULT NULL,
    OUT token text, OUT token_id uuid, OUT expires_at timestamptz)
RETURNS record
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_broker_id bigint := memwarden_internal.require_principal();
    v_agent     record;
    v_key       record;
    v_payload   text;
    v_now       timestamptz := clock_timestamp();
    -- As a number: 100 years less 36,000 days compare as nothing and last for 524 days.
    v_seconds   numeric := extract(epoch FROM issue_token.ttl);
BEGIN
    IF current_setting('transaction_isolation') <> 'read committed' THEN
        -- A snapshot does not show that the broker was disabled since.
        PERFORM memwarden_internal.raise_error('wrong_isolation', 'isolation is ' || current_setting('transaction_isolation'));
    ELSIF v_seconds IS NULL OR v_seconds NOT BETWEEN 1 AND 300 THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'ttl: 1 second to 5 minutes');
    END IF;
    SELECT p.principal_id, p.org_id, p.name INTO v_agent
      FROM memwarden_data.principal AS p
      JOIN memwarden_data.organisation AS o ON o.org_id = p.org_id
      JOIN memwarden_data.principal AS broker ON broker.principal_id = v_broker_id
     WHERE p.name = issue_token.agent AND memwarden_internal.speaks_for(v_broker_id, p.principal_id)
       AND CASE WHEN issue_token.org IS NULL THEN p.org_id = broker.org_id ELSE o.name = issue_token.org END;
    IF NOT FOUND THEN
        PERFORM memwarden_internal.raise_error('unknown_object', format('agent %L that this broker speaks for', issue_token.agent));
    ELSIF NOT EXISTS (SELECT FROM pg_roles AS r WHERE r.rolname = issue_token.audience AND r.rolcanlogin) THEN
        PERFORM memwarden_internal.raise_error('unknown_object', format('login role %L', issue_token.audience));
    END IF;
    v_key := memwarden_internal.signing_key();

    issue_token.token_id := gen_random_uuid();
    issue_token.expires_at := v_now + make_interval(secs => v_seconds::double precision);
    INSERT INTO memwarden_data.token AS t (token_id, key_id, principal_id, audience, issued_by, issued_at, expires_at)
    VALUES (issue_token.token_id, v_key.key_id, v_agent.principal_id, issue_token.audience, session_user, v_now, issue_token.expires_at);
    v_payload := concat_ws('.', 'mw1', issue_token.token_id, v_agent.principal_id,
        floor(extract(epoch FROM issue_token.expires_at) * 1000), encode(convert_to(issue_token.audience, 'UTF8'), 'hex'));
    issue_token.token := v_payload || '.' || memwarden_internal.token_signature(v_key.key_id, v_key.salt, v_payload);
END
$function$;
COMMENT ON FUNCTION memwarden.issue_token IS
    'Issues a short-lived token with which one login role acts for an agent, by authenticate(). The caller is a broker: a member of '
    'memwarden_broker whose login is bound to a principal of kind service. agent: the agent to act for; its home is the broker''s '
    'home scope or a scope below it. audience: the login role that will use the token. ttl: how long the token is valid; at most 5 '
    'minutes, which is the default. org: the agent''s organisation, where the broker serves several. Raises 28000 without identity, '
    '42704 for an unknown agent or login role, 22023 for a ttl out of range, 25001 at an isolation level other than READ COMMITTED, '
    '55000 where the server has no master key. Source: design of identity.';
GRANT EXECUTE ON FUNCTION memwarden.issue_token TO memwarden_broker;

CREATE OR REPLACE FUNCTION memwarden_internal.signing_key(OUT key_id integer, OUT salt bytea)
RETURNS record
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
BEGIN
    SELECT k.key_id, k.salt INTO signing_key.key_id, signing_key.salt
      FROM memwarden_data.token_key AS k WHERE k.retires_at IS NULL ORDER BY k.key_id DESC LIMIT 1;
    IF NOT FOUND THEN
        INSERT INTO memwarden_data.token_key AS k (salt)
        VALUES (uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()))
        RETURNING k.key_id, k.salt INTO signing_key.key_id, signing_key.salt;
    END IF;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.signing_key IS 'The key that signs tokens now; made where there is none.';

CREATE OR REPLACE FUNCTION memwarden.rotate_token_key(at_once boolean DEFAULT false)
RETURNS integer
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_key_id integer;
BEGIN
    -- Tokens of the old key live five minutes at most; so does the key, unless it is known to others.
    UPDATE memwarden_data.token_key AS k
       SET retires_at = clock_timestamp() + CASE WHEN rotate_token_key.at_once THEN interval '0' ELSE interval '5 minutes' END
     WHERE k.retires_at IS NULL OR k.retires_at > clock_timestamp() AND rotate_token_key.at_once;
    v_key_id := (memwarden_internal.signing_key()).key_id;
    PERFORM memwarden_internal.record_access_change(0, 'rotate_token_key',
        jsonb_build_object('key_id', v_key_id, 'at_once', rotate_token_key.at_once));
    RETURN v_key_id;
END
$function$;
COMMENT ON FUNCTION memwarden.rotate_token_key IS
    'Makes a new key for tokens and returns its number. The old key still verifies for five minutes, the longest life of a token. '
    'at_once: true ends the old key immediately, and the tokens signed with it; false by default. Raises 25001 at an isolation level '
    'other than READ COMMITTED.';
GRANT EXECUTE ON FUNCTION memwarden.rotate_token_key TO memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden.revoke_tokens(agent text DEFAULT NULL, token_id uuid DEFAULT NULL, org text DEFAULT NULL)
RETURNS integer
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_agent record;
    v_count integer;
BEGIN
    IF (revoke_tokens.agent IS NULL) = (revoke_tokens.token_id IS NULL) THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'either agent or token_id');
    ELSIF revoke_tokens.agent IS NOT NULL THEN
        v_agent := memwarden_internal.require_agent(revoke_tokens.agent, revoke_tokens.org);
    ELSE
        SELECT p.principal_id, p.org_id INTO v_agent
          FROM memwarden_data.token AS t JOIN memwarden_data.principal AS p ON p.principal_id = t.principal_id
         WHERE t.token_id = revoke_tokens.token_id;
    END IF;
    IF v_agent.org_id IS NULL OR NOT memwarden_internal.may_administer(v_agent.org_id, 'full') THEN
        PERFORM memwarden_internal.raise_error('unknown_object', 'token or agent');
    END IF;
    UPDATE memwarden_data.token AS t SET revoked_at = clock_timestamp()
     WHERE t.principal_id = v_agent.principal_id AND t.revoked_at IS NULL AND t.expires_at > clock_timestamp() - interval '1 day'
       AND (revoke_tokens.token_id IS NULL OR t.token_id = revoke_tokens.token_id);
    GET DIAGNOSTICS v_count = ROW_COUNT;
    PERFORM memwarden_internal.record_access_change(v_agent.org_id, 'revoke_tokens',
        jsonb_build_object('agent_id', v_agent.principal_id, 'token_id', revoke_tokens.token_id, 'tokens', v_count));
    RETURN v_count;
END
$function$;
COMMENT ON FUNCTION memwarden.revoke_tokens IS
    'Revokes one token, or all tokens of an agent, and returns how many it revoked. Transactions that authenticated with such a '
    'token lose their identity at once. agent: the agent whose tokens end. token_id: the one token that ends. org: the agent''s '
    'organisation, where the name is not unique. Raises 42704 for an unknown agent or token, 22023 without either, 25001 at an '
    'isolation level other than READ COMMITTED.';
GRANT EXECUTE ON FUNCTION memwarden.revoke_tokens TO memwarden_curator, memwarden_admin;
