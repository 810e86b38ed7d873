-- The head follows the record of what a verifier answered.
CREATE OR REPLACE TRIGGER judge_answered AFTER UPDATE OF standing ON memwarden_data.item
    FOR EACH ROW WHEN (NEW.version_id = OLD.version_id) EXECUTE FUNCTION memwarden_internal.judge_answered();

CREATE OR REPLACE VIEW memwarden.revalidations WITH (security_invoker = true) AS
SELECT r.org, r.layer, r.begun_at, r.finished_at, r.population, r.sampled, r.verified, r.found_false, r.uncertain, r.rate, r.low, r.high,
       r.threshold_raised_by, r.asked, r.answered
  FROM memwarden_internal.list_revalidations() AS r;
COMMENT ON VIEW memwarden.revalidations IS
    'Lists the sweeps of revalidate(). Grain: organisation, layer and sweep. population: current memories when it began; sampled: '
    'of them judged. rate: found_false / sampled, the leakage rate of that layer; low, high: between what it lies with 95 % '
    'confidence. Healthy: at most 0.05. threshold_raised_by: by how much fact_threshold is higher because of this sweep, null where it '
    'is not. asked: about how many of the sample verifiers were asked again; answered: about how many they have answered, which counts in '
    'the figures as it comes. Monitors and administrators see all organisations; auditors, curators and reviewers their own. Source: '
    'chapter 12.12.5.';
GRANT SELECT ON memwarden.revalidations TO memwarden_monitor, memwarden_reviewer, memwarden_curator, memwarden_auditor, memwarden_admin;

CREATE OR REPLACE VIEW memwarden.leaked_memories WITH (security_invoker = true) AS
SELECT l.org, l.layer, l.item_id, l.version_id, l.reason, l.checked_at, l.status FROM memwarden_internal.list_leaked_memories() AS l;
COMMENT ON VIEW memwarden.leaked_memories IS
    'Lists the memories that revalidate() found false. Grain: memory and sweep. reason: PROVENANCE_BROKEN (verify_provenance() says how), '
    'REFUTED (somebody annotated it so), AT_FAULT (a task failed because of it), SOURCE_WITHDRAWN (what it was derived from was taken '
    'back), RULE_BROKEN (an integrity rule refuses it), EVIDENCE_FAILS (its sources are worth less than when it was written, and no '
    'longer reach what the layer asks) or VERIFICATION_FAILED (a verifier says no, and nothing firmer bears it out). What to '
    'do: correct, retract or renew() it. status: of the memory now. An erasure deletes the '
    'row. Auditors and curators see their organisation, reviewers what they may read of it, administrators of the database all. Source: '
    'chapter 12.12.5.';
GRANT SELECT ON memwarden.leaked_memories TO memwarden_reviewer, memwarden_curator, memwarden_auditor, memwarden_admin;
