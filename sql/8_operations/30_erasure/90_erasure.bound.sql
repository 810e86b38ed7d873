CREATE OR REPLACE TRIGGER append_only BEFORE DELETE OR TRUNCATE ON memwarden_data.erasure
    FOR EACH STATEMENT EXECUTE FUNCTION memwarden_internal.refuse_change();
CREATE OR REPLACE TRIGGER guard_erasure BEFORE UPDATE ON memwarden_data.erasure
    FOR EACH ROW EXECUTE FUNCTION memwarden_internal.guard_erasure();
-- The records of an erasure change with it alone.
CREATE OR REPLACE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON memwarden_data.erased_item
    FOR EACH STATEMENT EXECUTE FUNCTION memwarden_internal.refuse_unless_erasing();
CREATE OR REPLACE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON memwarden_data.erased_reason
    FOR EACH STATEMENT EXECUTE FUNCTION memwarden_internal.refuse_change();
CREATE OR REPLACE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON memwarden_data.erased_request
    FOR EACH STATEMENT EXECUTE FUNCTION memwarden_internal.refuse_change();
CREATE OR REPLACE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON memwarden_data.erased_evidence
    FOR EACH STATEMENT EXECUTE FUNCTION memwarden_internal.refuse_change();

-- Certificates are for those who answer for the organisation; which rows they took concerns the engine alone.
GRANT SELECT ON memwarden_data.erasure TO memwarden_admin;
CREATE POLICY administration ON memwarden_data.erasure FOR SELECT TO memwarden_admin
    USING ((SELECT memwarden_internal.administers()));
CREATE POLICY oversight ON memwarden_data.erasure FOR SELECT TO memwarden_curator, memwarden_auditor
    USING (org_id <> 0 AND org_id = ANY ((SELECT memwarden_internal.visible_orgs())::bigint[]));

CREATE OR REPLACE VIEW memwarden.erasures WITH (security_invoker = true) AS
SELECT v.org, v.erasure_id, v.erased_at, v.login_role, v.agent, v.subject_hash, v.reason, v.items, v.versions, v.requests,
    v.evidence, v.log_entries,
       v.layers, v.signature, d.places, d.subject_keys, d.in_clear, d.final_at, d.final_by,
       'COMPLETED' AS status, NULL::timestamptz AS asked_at, NULL::uuid[] AS blocked_by, NULL::text AS blocked_reason,
       NULL::integer AS unread, d.remains
  FROM memwarden_internal.list_erasures() AS v
  LEFT JOIN memwarden_internal.list_erased_places() AS d ON d.erasure_id = v.erasure_id
 UNION ALL
SELECT b.org, b.erasure_id, NULL, b.login_role, b.agent, b.subject_hash, b.reason, b.items, NULL, NULL, NULL, NULL, NULL, NULL,
       NULL, NULL, NULL, NULL, NULL, 'BLOCKED', b.asked_at, b.blocked_by, b.blocked_reason, b.unread, NULL
  FROM memwarden_internal.list_blocked_erasures() AS b;
COMMENT ON VIEW memwarden.erasures IS
    'Lists the certificates of all erasures, and the erasures that wait for a legal hold or for keys. A certificate '
    'tells who erased, when, why, '
    'how much and in which layers, and holds the HMAC of the subject. signature tells whether this server signed it: GENUINE, FORGED, '
    'UNSIGNED or OTHER_KEY. places: rows deleted or blanked, by table. subject_keys: keys destroyed. in_clear: how much of it stood in '
    'clear, as older backups and archived WAL have it. remains: rows that stay, by table: of log and write_request without a word, by '
    'number and hash; of all others what administrators named and set, where it names an identifier. '
    'final_at: from when on no copy of the store can bring it back; NULL until finalise_erasures() says so. '
    'status: COMPLETED or BLOCKED. Of what is BLOCKED, asked_at tells since when it waits, blocked_by which holds '
    'in force block it, and items how many memories it would erase. blocked_reason: HELD; or KEYS_UNAVAILABLE where the server could not '
    'read what unread counts. The job enforce_consent() carries it out once nothing blocks it.';
GRANT SELECT ON memwarden.erasures TO memwarden_curator, memwarden_auditor, memwarden_admin;
