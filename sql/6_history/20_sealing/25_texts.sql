-- What is hashed and signed. Nothing here may depend on a session: times are numbers or UTC, bytes hexadecimal, and
-- numbers that JSON readers round are text. jsonb has one order for the names of an object.
CREATE OR REPLACE FUNCTION memwarden_internal.log_entry(
    p_log_seq bigint, p_recorded_at timestamptz, p_transaction_id xid8, p_system_identifier bigint, p_org_id bigint, p_operation text,
    p_item_id uuid, p_version_id uuid, p_previous_version_id uuid, p_scope_id bigint, p_layer text, p_principal_id bigint,
    p_request_id uuid, p_reason text, p_reason_hash bytea, p_snapshot_hash bytea)
RETURNS jsonb
LANGUAGE sql STABLE PARALLEL SAFE SECURITY INVOKER
RETURN jsonb_build_object(
    'log_seq', p_log_seq, 'recorded_at', extract(epoch FROM p_recorded_at), 'transaction_id', p_transaction_id::text,
    'system_identifier', p_system_identifier::text, 'org_id', p_org_id, 'operation', p_operation, 'item_id', p_item_id,
    'version_id', p_version_id, 'previous_version_id', p_previous_version_id, 'scope_id', p_scope_id, 'layer', p_layer,
    'principal_id', p_principal_id, 'request_id', p_request_id, 'reason_hash',
    encode(coalesce(p_reason_hash, sha256(convert_to(p_reason, 'UTF8'))), 'hex'),
    'snapshot_hash', encode(p_snapshot_hash, 'hex'));
COMMENT ON FUNCTION memwarden_internal.log_entry IS
    'An entry of the log as it is sealed: its text is what is hashed. The reason enters as its SHA-256, p_reason_hash '
    'where it was erased, the version as the snapshot_hash; recorded_at in seconds since 1970.';

CREATE OR REPLACE FUNCTION memwarden_internal.leaf_hash(p_text text)
RETURNS bytea
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE SECURITY INVOKER
RETURN sha256(E'\\x00'::bytea || convert_to(p_text, 'UTF8'));
COMMENT ON FUNCTION memwarden_internal.leaf_hash IS 'The hash of a leaf: SHA-256 of a zero byte and the text.';

CREATE OR REPLACE FUNCTION memwarden_internal.log_entries(p_system_identifier bigint, p_from xid8, p_below xid8)
RETURNS TABLE (log_seq bigint, transaction_id xid8, item_id uuid, entry jsonb)
LANGUAGE plpgsql STABLE PARALLEL SAFE SECURITY INVOKER ROWS 1000
AS $function$
BEGIN
    RETURN QUERY
    SELECT l.log_seq, l.transaction_id, l.item_id, memwarden_internal.log_entry(
               l.log_seq, l.recorded_at, l.transaction_id, l.system_identifier, l.org_id, l.operation, l.item_id, l.version_id,
               l.previous_version_id, l.scope_id, l.layer, l.principal_id, l.request_id, l.reason, l.reason_hash, l.snapshot_hash)
      FROM memwarden_data.log AS l
     WHERE l.system_identifier = p_system_identifier AND l.transaction_id >= p_from AND l.transaction_id < p_below;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.log_entries IS
    'The entries that transactions of a cluster have left, from one to below another, as they are sealed.';

CREATE OR REPLACE FUNCTION memwarden_internal.segment_record(
    p_segment_no bigint, p_system_identifier bigint, p_from xid8, p_below xid8, p_entry_count bigint, p_total_entries bigint,
    p_log_seqs bigint[], p_merkle_root bytea, p_previous_head bytea, p_sealed_by bigint, p_sealed_at timestamptz)
RETURNS jsonb
LANGUAGE sql STABLE PARALLEL SAFE SECURITY INVOKER
RETURN jsonb_build_object(
    'segment', p_segment_no, 'system_identifier', p_system_identifier::text, 'from_transaction', p_from::text,
    'below_transaction', p_below::text, 'entries', p_entry_count, 'total_entries', p_total_entries,
    'first_log_seq', p_log_seqs[1], 'last_log_seq', p_log_seqs[cardinality(p_log_seqs)], 'root', encode(p_merkle_root, 'hex'),
    'log_seqs_hash', encode(sha256(convert_to(array_to_string(p_log_seqs, ','), 'UTF8')), 'hex'),
    'previous_head', encode(p_previous_head, 'hex'), 'sealed_by', p_sealed_by::text, 'sealed_at', memwarden_internal.utc_text(p_sealed_at));
COMMENT ON FUNCTION memwarden_internal.segment_record IS
    'What the chain says of a segment: its text is a leaf of the tree over segments.';

CREATE OR REPLACE FUNCTION memwarden_internal.segment_head(
    p_segment_no bigint, p_head_hash bytea, p_total_entries bigint, p_sealed_by bigint, p_sealed_at timestamptz, p_key_id text)
RETURNS jsonb
LANGUAGE sql STABLE PARALLEL SAFE SECURITY INVOKER
RETURN jsonb_build_object(
    'segment', p_segment_no, 'head', encode(p_head_hash, 'hex'), 'entries', p_total_entries, 'system_identifier', p_sealed_by::text,
    'sealed_at', memwarden_internal.utc_text(p_sealed_at), 'key_id', p_key_id);
COMMENT ON FUNCTION memwarden_internal.segment_head IS
    'The head after a segment, without its signature: its text is what is signed.';

CREATE OR REPLACE FUNCTION memwarden_internal.sign(p_purpose text, p_statement jsonb)
RETURNS bytea
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN memwarden_internal.keyed_hash(p_purpose, convert_to(p_statement::text, 'UTF8'));
END
$function$;
COMMENT ON FUNCTION memwarden_internal.sign IS
    'HMAC-SHA256 of the statement under the key of a purpose; NULL where the server has no master key.';

CREATE OR REPLACE FUNCTION memwarden_internal.log_key_id()
RETURNS text
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN encode(substring(memwarden_internal.keyed_hash('log key id', '') FROM 1 FOR 8), 'hex');
END
$function$;
COMMENT ON FUNCTION memwarden_internal.log_key_id IS
    'Tells one master key from another without telling of either: a head under another key is not a forged one. NULL '
    'where the server has none.';
