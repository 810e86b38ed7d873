-- What versions say, for functions of the owner: a version that is not encrypted costs nothing, and a column that is not asked for is
-- not decrypted.
CREATE OR REPLACE VIEW memwarden_data.said_version WITH (security_invoker = true) AS
SELECT v.org_id, v.version_id, v.item_id, v.version, v.previous_version_id, v.restores_version_id, v.absorbed_version_id, v.status,
       v.scope_id, v.layer, v.kind, v.schema_id, v.subject, v.predicate, v.exclusive, v.instance,
       memwarden_internal.said_content(v.content, v.subject_key_id, v.sealed) AS content,
       memwarden_internal.said_text(v.search_text, v.subject_key_id, v.sealed, v.schema_id, v.subject, v.predicate) AS search_text,
       v.content_hash, v.confidence,
       v.importance, memwarden_internal.said_evidence(v.evidence, v.subject_key_id, v.sealed) AS evidence, v.principal_id, v.label_id,
       v.request_id, v.recorded_during, v.valid_during, v.expires_at, v.class, v.tier, v.subject_key_id,
       CASE WHEN v.sealed IS NULL THEN false ELSE memwarden_internal.is_unread(v.org_id, v.subject_key_id, v.sealed) END AS is_unread
  FROM memwarden_data.version AS v;
COMMENT ON VIEW memwarden_data.said_version IS 'The versions with what they say: of encrypted ones in clear, for the engine.';

CREATE OR REPLACE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON memwarden_data.destroyed_key
    FOR EACH STATEMENT EXECUTE FUNCTION memwarden_internal.refuse_change();
