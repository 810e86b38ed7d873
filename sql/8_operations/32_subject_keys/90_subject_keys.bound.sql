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

CREATE OR REPLACE VIEW memwarden_data.said_record WITH (security_invoker = true) AS
SELECT e.org_id, e.evidence_id, e.scope_id, e.uri, e.type, e.version, e.accessed_at,
       CASE WHEN e.sealed IS NULL THEN e.excerpt ELSE memwarden_internal.unsealed(e.subject_key_id, e.sealed) ->> 'said' END AS excerpt,
       e.excerpt_hash, e.issuer_id, e.recorded_at, e.subject_key_id,
       CASE WHEN e.sealed IS NULL THEN false ELSE memwarden_internal.is_unread(e.org_id, e.subject_key_id, e.sealed) END AS is_unread
  FROM memwarden_data.evidence AS e;
COMMENT ON VIEW memwarden_data.said_record IS
    'Recorded evidence with its words, for the engine; null where they are encrypted and this server does not open them.';

CREATE OR REPLACE VIEW memwarden_data.said_capture WITH (security_invoker = true) AS
SELECT c.org_id, c.capture_id, c.source, c.external_id, c.session_id, c.trace_id, c.captured_at,
       CASE WHEN c.sealed IS NULL THEN c.content ELSE memwarden_internal.unsealed(c.subject_key_id, c.sealed) -> 'said' END AS content,
       c.subject_key_id,
       CASE WHEN c.sealed IS NULL THEN false ELSE memwarden_internal.is_unread(c.org_id, c.subject_key_id, c.sealed) END AS is_unread,
       c.domains, c.masked
  FROM memwarden_data.capture AS c;
COMMENT ON VIEW memwarden_data.said_capture IS
    'Captures with what they say, for the engine; null where it is gone, or encrypted and this server does not open it.';

CREATE OR REPLACE VIEW memwarden_data.said_working_memory WITH (security_invoker = true) AS
SELECT w.org_id, w.session_id,
       CASE WHEN w.sealed IS NULL THEN w.goal ELSE memwarden_internal.unsealed(w.subject_key_id, w.sealed) ->> 'goal' END AS goal,
       CASE WHEN w.sealed IS NULL THEN w.plan ELSE memwarden_internal.unsealed(w.subject_key_id, w.sealed) -> 'plan' END AS plan,
       CASE WHEN w.sealed IS NULL THEN w.observations
            ELSE memwarden_internal.unsealed(w.subject_key_id, w.sealed) -> 'observations' END AS observations,
       CASE WHEN w.sealed IS NULL THEN w.constraints
            ELSE memwarden_internal.unsealed(w.subject_key_id, w.sealed) -> 'constraints' END AS constraints,
       CASE WHEN w.sealed IS NULL THEN w.scratchpad
            ELSE memwarden_internal.unsealed(w.subject_key_id, w.sealed) ->> 'scratchpad' END AS scratchpad,
       w.subject_key_id,
       CASE WHEN w.sealed IS NULL THEN false ELSE memwarden_internal.is_unread(w.org_id, w.subject_key_id, w.sealed) END AS is_unread
  FROM memwarden_data.working_memory AS w;
COMMENT ON VIEW memwarden_data.said_working_memory IS
    'Working memory, for the engine; its slots are null where they are encrypted and this server does not open them.';

CREATE OR REPLACE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON memwarden_data.destroyed_key
    FOR EACH STATEMENT EXECUTE FUNCTION memwarden_internal.refuse_change();
