-- What a log entry vouches for. In one form whatever the session's settings: times as microseconds, numbers as bytes.
CREATE OR REPLACE FUNCTION memwarden_internal.snapshot_hash(
    p_version_id uuid, p_item_id uuid, p_version integer, p_previous_version_id uuid, p_restores_version_id uuid,
    p_absorbed_version_id uuid, p_scope_id bigint, p_layer text, p_kind text, p_subject text, p_predicate text, p_content_hash bytea,
    p_confidence double precision, p_importance double precision, p_evidence jsonb, p_principal_id bigint, p_label_id integer,
    p_request_id uuid, p_recorded_from timestamptz, p_valid_during tstzrange, p_expires_at timestamptz, p_class text,
    p_subject_key_id uuid, p_sealed bytea)
RETURNS bytea
LANGUAGE sql STABLE PARALLEL SAFE SECURITY INVOKER
RETURN sha256(convert_to((jsonb_build_array(
    p_version_id, p_item_id, p_version, p_previous_version_id, p_restores_version_id, p_absorbed_version_id, p_scope_id, p_layer, p_kind,
    p_subject, p_predicate, encode(p_content_hash, 'hex'), encode(float8send(p_confidence), 'hex'), encode(float8send(p_importance), 'hex'),
    p_evidence, p_principal_id, p_label_id, p_request_id, extract(epoch FROM p_recorded_from),
    extract(epoch FROM lower(p_valid_during)), extract(epoch FROM upper(p_valid_during)), extract(epoch FROM p_expires_at),
        p_class)
    -- A version that is not encrypted is hashed as it was before any could be.
    || CASE WHEN p_subject_key_id IS NULL AND p_sealed IS NULL THEN '[]'
            ELSE jsonb_build_array(p_subject_key_id, encode(sha256(p_sealed), 'hex')) END)::text, 'UTF8'));
COMMENT ON FUNCTION memwarden_internal.snapshot_hash IS
    'SHA-256 of all that a version says and of where it stands. Of the content it takes the hash: an erased content '
    'leaves the chain verifiable. Of an encrypted one it takes the key''s number and the hash of the '
    'ciphertext as well. Source: chapter 12.5.4.';
