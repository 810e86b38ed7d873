CREATE OR REPLACE FUNCTION memwarden.reasons()
RETURNS TABLE (reason text, outcome text, gate text, meaning text, remedy text)
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $function$
VALUES
    ('PRINCIPAL_DISABLED', 'REJECTED', 'identity', 'the agent was disabled while its request waited', 'an administrator decides'),
    ('INVALID_REQUEST_ID', 'REJECTED', 'identity', 'the request id is no UUIDv7 of the last 24 hours, or is taken', 'mint a new one, or leave it out; the refusal is recorded under an id of its own'),
    ('UNKNOWN_LAYER', 'REJECTED', 'identity', 'no layer of that name', 'see memwarden_data.layer'),
    ('UNKNOWN_SCOPE', 'REJECTED', 'identity', 'no scope of that path that this agent can see', 'create_scope(), grant_scope()'),
    ('SCOPE_READ_ONLY', 'REJECTED', 'identity', 'the agent reads this scope but does not write it', 'grant_scope(..., writes => true)'),
    ('SCOPE_CLOSED', 'REJECTED', 'identity', 'the scope was closed', 'write to another'),
    ('ANCHOR_MISMATCH', 'REJECTED', 'identity', 'the scope''s path lacks a kind that the agent is anchored on, or has another', 'write to a scope of the agent''s anchor'),
    ('UNKNOWN_CLASSIFICATION', 'REJECTED', 'access', 'no classification of that name', 'public, internal, confidential or restricted'),
    ('CLEARANCE_TOO_LOW', 'REJECTED', 'access', 'classified above what the agent is cleared for', 'a lower classification, or an agent cleared for more'),
    ('DOMAIN_NOT_HELD', 'REJECTED', 'access', 'a domain that the agent does not hold', 'domains of the agent; see whoami()'),
    ('ATTRIBUTES_INVALID', 'REJECTED', 'access', 'an attribute that is not declared, or a value it may not have', 'define_attribute()'),
    ('TOO_MANY_LABELS', 'REJECTED', 'access', 'the agent has used 256 combinations of kind, classification, domains and attributes', 'use fewer'),
    ('ROLE_FORBIDS', 'REJECTED', 'access', 'the agent''s role does not permit this in this layer', 'see whoami(); an administrator gives another role'),
    ('POLICY_FORBIDS', 'REJECTED', 'access', 'a policy of the organisation forbids it', 'explain_access() tells an administrator which'),
    ('ALREADY_PENDING', 'REJECTED', 'idempotency', 'the same request is deferred; the detail names it', 'await that one'),
    ('IDEMPOTENCY_KEY_REUSED', 'REJECTED', 'idempotency', 'the key was used for another content', 'one key, one write'),
    ('DEADLINE_PASSED', 'DEADLINE_EXCEEDED', 'deadline', 'the deadline is in the past', 'ask earlier, or without a deadline'),
    ('DIRECT_WRITE_OFF', 'REJECTED', 'admission', 'the layer is fed by promotion only', 'write a lower layer and promote'),
    ('AGENT_NOT_VALIDATED', 'REJECTED', 'admission', 'the layer takes writes of validated agents only', 'an administrator validates the agent'),
    ('NOT_OWNER', 'REJECTED', 'admission', 'another agent owns this key of the session', 'use a key of your own'),
    ('INVALID_JSON', 'REJECTED', 'schema', 'the content is not JSON', 'send one JSON value in UTF-8'),
    ('NOT_CANONICAL', 'REJECTED', 'schema', 'JSON that RFC 8785 cannot carry', 'no integer beyond 2^53 - 1, NaN, infinity, lone surrogate or repeated name'),
    ('CONTENT_TOO_DEEP', 'REJECTED', 'schema', 'the content is nested too deeply', 'flatten it'),
    ('CONTENT_TOO_LARGE', 'REJECTED', 'schema', 'the content exceeds the layer''s limit (1 MiB by default)', 'store the large part elsewhere and cite it'),
    ('CONTENT_EMPTY', 'REJECTED', 'schema', 'there is nothing in the content', 'say something'),
    ('SCHEMA_VIOLATION', 'REJECTED', 'schema', 'the content breaks the schema of its kind', 'the detail lists every violation'),
    ('CONSTRAINT_VIOLATION', 'REJECTED', 'schema', 'the content breaks a constraint of its kind', 'the detail names the constraint'),
    ('MULTIPLE_VIOLATIONS', 'REJECTED', 'schema', 'several different violations', 'the detail lists every violation'),
    ('UNKNOWN_KIND', 'REJECTED', 'schema', 'no schema of this kind for the layer', 'define_schema(), or leave kind out'),
    ('UNKNOWN_ARGUMENT', 'REJECTED', 'schema', 'a batch request names something write() does not take', 'spell it as in write()'),
    ('INVALID_ARGUMENT', 'REJECTED', 'schema', 'an argument of a batch request is no value of its type', 'the detail carries the SQLSTATE'),
    ('SUBJECT_INVALID', 'REJECTED', 'schema', 'subject is blank or too long', '1 to 1,000 characters'),
    ('PREDICATE_INVALID', 'REJECTED', 'schema', 'predicate is blank or too long', '1 to 1,000 characters'),
    ('IDEMPOTENCY_KEY_INVALID', 'REJECTED', 'schema', 'the key is empty or too long', '1 to 1,000 characters'),
    ('TRACE_ID_INVALID', 'REJECTED', 'schema', 'the trace id is too long', 'at most 200 characters'),
    ('CONFIDENCE_OUT_OF_RANGE', 'REJECTED', 'schema', 'confidence is no number from 0 to 1', 'a number from 0 to 1'),
    ('IMPORTANCE_OUT_OF_RANGE', 'REJECTED', 'schema', 'importance is no number from 0 to 1', 'a number from 0 to 1'),
    ('EVIDENCE_INVALID', 'REJECTED', 'schema', 'evidence is no array of {"type", "uri"} objects, or too large', 'at most 100 references in 64 KiB'),
    ('TTL_OUT_OF_RANGE', 'REJECTED', 'schema', 'ttl is not positive, or longer than the layer allows', 'the detail gives the limit'),
    ('VALID_TIME_INVALID', 'REJECTED', 'schema', 'valid_to does not lie after valid_from', 'order them'),
    ('UNKNOWN_EMBEDDING_MODEL', 'REJECTED', 'schema', 'no embedding model of that name', 'register_embedding_model()'),
    ('EMBEDDING_DIMENSION', 'REJECTED', 'schema', 'the embedding has not as many numbers as its model or schema', 'use the model that is named'),
    ('EMBEDDING_OUT_OF_RANGE', 'REJECTED', 'schema', 'the embedding holds NaN, infinity or numbers beyond half precision, or is zero', 'check the embedder'),
    ('EMBEDDING_REQUIRED', 'REJECTED', 'schema', 'the layer wants an embedding', 'pass one'),
    ('GATE_FAULT', 'REJECTED', 'any', 'a gate failed on this request', 'the detail carries the SQLSTATE; tell an administrator'),
    ('SCOPE_BUSY', 'DEFERRED', 'scope_lock', 'another writer held the scope for too long', 'it is retried by itself'),
    ('EXACT_DUPLICATE', 'REJECTED', 'known', 'the scope holds this very content; item_id names it', 'nothing to do'),
    ('STRUCTURAL_DUPLICATE', 'REJECTED', 'known', 'the scope holds it in another spelling; item_id names it', 'nothing to do'),
    ('RETRIES_EXHAUSTED', 'REJECTED', 'any', 'deferred as often as the layer allows', 'the detail has the last reason'),
    ('UNSPECIFIED', 'REJECTED', 'added gates', 'a gate added by an administrator refused without a reason', 'ask the administrator')
$function$;
COMMENT ON FUNCTION memwarden.reasons() IS
    'Every reason code a write can be answered with: its outcome, the gate that gives it, what it means and what to do. Codes are stable. Gates added by an administrator bring their own.';
REVOKE ALL ON FUNCTION memwarden.reasons() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION memwarden.reasons()
    TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor, memwarden_admin;
