CREATE POLICY application ON memwarden_data.write_class FOR SELECT
    TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor
    USING (org_id = ANY ((SELECT memwarden_internal.visible_orgs())::bigint[]));

CREATE OR REPLACE VIEW memwarden.write_classes WITH (security_invoker = true) AS
SELECT c.org, c.class, c.description, c.layers, c.default_ttl, c.max_ttl, c.classification, c.consent_purpose, c.consent_missing, c.roles,
       c.precedence, c.signals, t.soft_ttl, t.decay, t.encrypted
  FROM memwarden_internal.list_write_classes() AS c
  LEFT JOIN memwarden_internal.list_class_lifetimes() AS t ON t.org = c.org AND t.class = c.class;
COMMENT ON VIEW memwarden.write_classes IS
    'Lists the classes of writes and what each requires. A class of an organisation precedes the class of all organisations (global).';
GRANT SELECT ON memwarden.write_classes TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor, memwarden_admin;

-- Who oversees reads them through views; of packs in force each sees those of its own scopes and its own.
CREATE OR REPLACE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON memwarden_data.pack
    FOR EACH STATEMENT EXECUTE FUNCTION memwarden_internal.refuse_change();
CREATE OR REPLACE TRIGGER no_change BEFORE UPDATE OR TRUNCATE ON memwarden_data.consent
    FOR EACH STATEMENT EXECUTE FUNCTION memwarden_internal.refuse_change();
CREATE OR REPLACE TRIGGER only_erased BEFORE DELETE ON memwarden_data.consent
    FOR EACH STATEMENT EXECUTE FUNCTION memwarden_internal.refuse_unless_erasing();
CREATE OR REPLACE TRIGGER no_change BEFORE UPDATE OR TRUNCATE ON memwarden_data.signal
    FOR EACH STATEMENT EXECUTE FUNCTION memwarden_internal.refuse_change();
CREATE OR REPLACE TRIGGER only_erased BEFORE DELETE ON memwarden_data.signal
    FOR EACH STATEMENT EXECUTE FUNCTION memwarden_internal.refuse_unless_erasing();

-- Who sees the memory that was corrected.
CREATE POLICY application ON memwarden_data.signal FOR SELECT
    TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor
    USING (org_id = ANY ((SELECT memwarden_internal.visible_orgs())::bigint[])
           AND EXISTS (SELECT FROM memwarden_data.item AS i WHERE i.org_id = signal.org_id AND i.item_id = signal.item_id));
CREATE POLICY application ON memwarden_data.audit_sample FOR SELECT
    TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor
    USING (org_id = ANY ((SELECT memwarden_internal.visible_orgs())::bigint[])
           AND scope_id = ANY ((SELECT memwarden_internal.visible_scopes())::bigint[])
           AND label_id = ANY ((SELECT memwarden_internal.approvable_labels())::integer[]));

CREATE OR REPLACE VIEW memwarden.learning_signals WITH (security_invoker = true) AS
SELECT g.signal_id, g.class, g.layer, g.scope, g.item_id, g.version_id, g.corrected_by, g.corrected_item_id,
    g.corrected_version_id, g.corrected_agent,
       g.emitted_at, g.stands, g.adopted
  FROM memwarden_internal.list_signals() AS g;
COMMENT ON VIEW memwarden.learning_signals IS
    'Lists the memories that corrections replaced, as far as the caller sees them. stands is true where the correction is what the '
    'memory says now. adopted counts the later memories that rest on the correction.';
GRANT SELECT ON memwarden.learning_signals TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor;

CREATE OR REPLACE VIEW memwarden.correction_adoption WITH (security_invoker = true) AS
SELECT g.corrected_agent, count(*) AS corrections, count(*) FILTER (WHERE g.stands) AS standing,
       count(*) FILTER (WHERE g.adopted > 0) AS adopted, count(*) FILTER (WHERE g.adopted > 0)::double precision / count(*) AS adoption_rate
  FROM memwarden_internal.list_signals() AS g
 GROUP BY g.corrected_agent;
COMMENT ON VIEW memwarden.correction_adoption IS
    'Counts, by corrected agent, the corrections and how many of them stand. adoption_rate is the share of corrections on which '
    'later memories rest.';
GRANT SELECT ON memwarden.correction_adoption TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor;

CREATE OR REPLACE VIEW memwarden.audit_queue WITH (security_invoker = true) AS
SELECT a.request_id, a.item_id, a.version_id, a.scope, a.layer, a.agent, a.class, a.pack, a.pack_version, a.subject, a.predicate, a.content,
       a.confidence, a.evidence, a.sampled_at, a.verdict, a.note, a.decided_at
  FROM memwarden_internal.list_audits() AS a;
COMMENT ON VIEW memwarden.audit_queue IS
    'Lists the writes that passed by themselves and were drawn for audit, for those who may approve them. verdict is null until '
    'somebody has decided.';
GRANT SELECT ON memwarden.audit_queue TO memwarden_reviewer, memwarden_curator;
