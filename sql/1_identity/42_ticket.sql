-- A ticket names a token and is good for one login, in one backend, in one transaction.
CREATE OR REPLACE FUNCTION memwarden_internal.ticket_claim(p_token_id uuid)
RETURNS bytea
LANGUAGE sql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
SELECT convert_to(jsonb_build_array(p_token_id, pg_backend_pid(), extract(epoch FROM transaction_timestamp()),
                                    session_user, current_database())::text, 'UTF8')
$function$;
COMMENT ON FUNCTION memwarden_internal.ticket_claim IS
    'What a ticket attests: the token, this backend, this transaction, this login, this database.';

CREATE OR REPLACE FUNCTION memwarden_internal.ticket_holder(p_ticket text)
RETURNS bigint
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_token_id uuid;
BEGIN
    IF p_ticket !~ '^[0-9a-f-]{36}:[0-9a-f]{64}$' OR NOT pg_input_is_valid(left(p_ticket, 36), 'uuid') THEN
        RETURN NULL;
    END IF;
    v_token_id := left(p_ticket, 36)::uuid;
    IF memwarden_internal.keyed_hash('ticket', memwarden_internal.ticket_claim(v_token_id))
       IS DISTINCT FROM decode(right(p_ticket, 64), 'hex') THEN
        RETURN NULL;
    END IF;
    -- Revoked tokens and disabled principals end at once, not with the transaction; and a transaction that is
    -- kept open ends, to its principal, a day after the token: revoke_tokens() looks no further back.
    RETURN (SELECT p.principal_id
              FROM memwarden_data.token AS t
              JOIN memwarden_data.principal AS p ON p.principal_id = t.principal_id
             WHERE t.token_id = v_token_id AND t.revoked_at IS NULL AND p.disabled_at IS NULL
               AND t.expires_at > clock_timestamp() - interval '1 day');
END
$function$;
COMMENT ON FUNCTION memwarden_internal.ticket_holder IS
    'The principal a ticket was made for; NULL for one that is forged, of another transaction, backend or login, or '
    'whose token was revoked or expired a day ago.';

-- A savepoint can take a ticket back, and with it the memory that there was one. What is kept here it cannot:
-- the time of the transaction and a number, no secret and no data.
CREATE OR REPLACE FUNCTION memwarden_internal.claim_transaction(p_principal_id bigint, p_transaction text)
RETURNS boolean
LANGUAGE plpython3u VOLATILE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
claimed = GD.get("memwarden:claim")
if claimed is not None and claimed[0] == p_transaction and claimed[1] != p_principal_id:
    return False
GD["memwarden:claim"] = (p_transaction, p_principal_id)
return True
$function$;
COMMENT ON FUNCTION memwarden_internal.claim_transaction IS
    'Notes that this transaction acts for the principal; false when it has acted for another, savepoints rolled back included.';
