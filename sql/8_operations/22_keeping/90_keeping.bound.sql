-- Who may see these tables sees them through functions: a hold names persons, and a link says what another organisation did.
CREATE OR REPLACE TRIGGER no_loss BEFORE DELETE OR TRUNCATE ON memwarden_data.legal_hold
    FOR EACH STATEMENT EXECUTE FUNCTION memwarden_internal.refuse_change();
CREATE OR REPLACE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON memwarden_data.action_link
    FOR EACH STATEMENT EXECUTE FUNCTION memwarden_internal.refuse_unless_erasing();

CREATE OR REPLACE VIEW memwarden.pins WITH (security_invoker = true) AS
SELECT v.org, v.item_id, v.scope, v.reason, v.agent, v.login, v.pinned_at FROM memwarden_internal.list_pins() AS v;
COMMENT ON VIEW memwarden.pins IS 'Lists the pinned memories that the caller may see, with who pinned each, when, and why.';
GRANT SELECT ON memwarden.pins TO memwarden_curator, memwarden_auditor, memwarden_admin;

CREATE OR REPLACE VIEW memwarden.holds WITH (security_invoker = true) AS
SELECT v.org, v.hold_id, v.reason, v.item_id, v.subject, v.scopes, v.texts, v.layers, v.written_during, v.four_eyes, v.set_at, v.set_by,
       v.set_login, v.lifted_at, v.lifted_by, v.lifted_login, v.lift_reason
  FROM memwarden_internal.list_holds() AS v;
COMMENT ON VIEW memwarden.holds IS
    'Lists the legal holds of the organisation: what each holds, who set it, when and why, and, in lifted_at to lift_reason, who lifted '
    'it. A hold whose lifted_at is NULL is in force. Shows rows to principals whose role permits HOLD, to auditors and administrators. An '
    'erasure empties subject, texts and reasons that named the person.';
GRANT SELECT ON memwarden.holds TO memwarden_reviewer, memwarden_curator, memwarden_auditor, memwarden_admin;

CREATE OR REPLACE VIEW memwarden.action_links WITH (security_invoker = true) AS
SELECT v.org, v.action_id, v.agent, v.item_id, v.version_id, v.distance, v.recall_id, v.linked_at
  FROM memwarden_internal.list_action_links() AS v;
COMMENT ON VIEW memwarden.action_links IS
    'Lists on which versions actions rest: to agents their own, to curators, auditors and administrators all of the organisation. distance '
    '0 marks what the action names; more marks the sources of that, by steps of derivation. An item that memwarden.tombstones lists '
    'is gone.';
GRANT SELECT ON memwarden.action_links TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor, memwarden_admin;

CREATE OR REPLACE VIEW memwarden.retention_states WITH (security_invoker = true) AS
SELECT v.org, v.item_id, v.layer, v.scope, v.state, v.kept_by, v.since FROM memwarden_internal.list_retention_states() AS v;
COMMENT ON VIEW memwarden.retention_states IS
    'Lists the retention state of each memory that the caller may see. ACTIVE: in use. REFERENCED: no longer in use, but an action '
    'rests on it or another memory was derived from it, so collection does not delete it. ORPHANED: no longer in use and nothing '
    'refers to it, so it is deleted when its layer says so. TOMBSTONED: deleted for good; memwarden.tombstones says when and why. '
    'kept_by: PINNED, HELD, LINKED, whatever the state. since: since when.';
GRANT SELECT ON memwarden.retention_states TO memwarden_curator, memwarden_auditor, memwarden_admin;

CREATE OR REPLACE VIEW memwarden.tombstones WITH (security_invoker = true) AS
SELECT v.org, v.item_id, v.layer, v.versions, v.deleted_at, v.cause, v.reason, v.login_role, v.agent, v.erasure_id, v.signature
  FROM memwarden_internal.list_tombstones() AS v;
COMMENT ON VIEW memwarden.tombstones IS
    'Lists the memories that were deleted for good, without what they said: which, of which layer, how many versions, when, by whom, '
    'why. cause: ERASURE, COLLECTION or RETENTION. signature tells whether this server signed it: GENUINE, FORGED, UNSIGNED or OTHER_KEY.';
GRANT SELECT ON memwarden.tombstones TO memwarden_curator, memwarden_auditor, memwarden_admin;
