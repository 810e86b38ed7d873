-- The texts that are signed of an erasure. Nothing in them names anybody. Where the server has no master key nothing is
-- signed: then only the sealed log tells a forged record, by the entry that it lacks.
CREATE OR REPLACE FUNCTION memwarden_internal.erasure_statement(
    p_org_id bigint, p_erasure_id uuid, p_erased_at timestamptz, p_login_role text, p_principal_id bigint, p_subject_hash bytea,
    p_reason_hash bytea, p_items integer, p_versions integer, p_requests integer, p_evidence integer, p_log_entries integer,
        p_layers text[], p_key_id text, p_cause text DEFAULT 'ERASURE', p_detail jsonb DEFAULT NULL)
RETURNS jsonb
LANGUAGE sql STABLE PARALLEL SAFE SECURITY INVOKER
RETURN jsonb_build_object(
    'erasure', p_erasure_id, 'org_id', p_org_id, 'erased_at', memwarden_internal.utc_text(p_erased_at), 'login', p_login_role,
    'principal_id', p_principal_id, 'subject_hash', encode(p_subject_hash, 'hex'), 'reason_hash', encode(p_reason_hash, 'hex'),
    'items', p_items, 'versions', p_versions, 'requests', p_requests, 'evidence', p_evidence, 'log_entries', p_log_entries,
    'layers', to_jsonb(p_layers),
    'key_id', p_key_id)
    -- An erasure says none: certificates that are older hold on.
    || CASE WHEN p_cause = 'ERASURE' THEN '{}'::jsonb ELSE jsonb_build_object('cause', p_cause) END
    || CASE WHEN p_detail IS NULL THEN '{}'::jsonb ELSE jsonb_build_object('detail', p_detail) END;
COMMENT ON FUNCTION memwarden_internal.erasure_statement IS 'What is signed of an erasure.';

CREATE OR REPLACE FUNCTION memwarden_internal.erased_item_statement(
    p_org_id bigint, p_item_id uuid, p_erasure_id uuid, p_version_ids uuid[], p_key_id text)
RETURNS jsonb
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
RETURN jsonb_build_object(
    'erasure', p_erasure_id, 'org_id', p_org_id, 'item_id', p_item_id, 'versions', to_jsonb(p_version_ids), 'key_id', p_key_id);
COMMENT ON FUNCTION memwarden_internal.erased_item_statement IS
    'What is signed of an erased item. The entry ERASE of the log takes its hash.';

CREATE OR REPLACE FUNCTION memwarden_internal.erased_reason_statement(
    p_org_id bigint, p_log_seq bigint, p_recorded_at timestamptz, p_erasure_id uuid, p_key_id text)
RETURNS jsonb
LANGUAGE sql STABLE PARALLEL SAFE SECURITY INVOKER
RETURN jsonb_build_object(
    'erasure', p_erasure_id, 'org_id', p_org_id, 'log_seq', p_log_seq, 'recorded_at', extract(epoch FROM p_recorded_at),
    'key_id', p_key_id);
COMMENT ON FUNCTION memwarden_internal.erased_reason_statement IS 'What is signed of a reason that was erased.';

CREATE OR REPLACE FUNCTION memwarden_internal.statement_hash(p_statement jsonb)
RETURNS bytea
LANGUAGE sql STABLE STRICT PARALLEL SAFE SECURITY INVOKER
RETURN sha256(convert_to(p_statement::text, 'UTF8'));
COMMENT ON FUNCTION memwarden_internal.statement_hash IS 'SHA-256 of the text of a statement.';

CREATE OR REPLACE FUNCTION memwarden_internal.final_statement(
    p_org_id bigint, p_erasure_id uuid, p_final_at timestamptz, p_final_by text, p_key_id text)
RETURNS jsonb
LANGUAGE sql STABLE PARALLEL SAFE SECURITY INVOKER
RETURN jsonb_build_object('erasure', p_erasure_id, 'org_id', p_org_id, 'final_at', memwarden_internal.utc_text(p_final_at),
                          'final_by', p_final_by, 'key_id', p_key_id);
COMMENT ON FUNCTION memwarden_internal.final_statement IS 'What is signed of an erasure that has become final.';
