CREATE OR REPLACE TRIGGER notify_of_review AFTER INSERT ON memwarden_data.review_event
    FOR EACH ROW EXECUTE FUNCTION memwarden_internal.notify_of_review();

CREATE OR REPLACE TRIGGER learn_noise AFTER UPDATE ON memwarden_data.write_request
    FOR EACH ROW WHEN (OLD.outcome = 'DEFERRED' AND NEW.outcome = 'REJECTED' AND NEW.reason = 'REVIEW_REJECTED')
    EXECUTE FUNCTION memwarden_internal.learn_noise();

CREATE OR REPLACE VIEW memwarden.review_channels WITH (security_invoker = true) AS
SELECT c.org, c.channel, c.kind, c.target, c.events, c.tiers, c.layer, c.scope, c.settings, c.waiting, c.sent, c.set_aside,
    c.oldest_at, c.last_error
  FROM memwarden_internal.list_review_channels() AS c;
COMMENT ON VIEW memwarden.review_channels IS
    'Lists the channels on which reviewers are told, with the state of their notices, see set_review_channel(). waiting counts '
    'notices that wait, the oldest of them since oldest_at. sent counts those of the last month, and set_aside those that were set '
    'aside. last_error is what went wrong last.';
GRANT SELECT ON memwarden.review_channels TO memwarden_auditor, memwarden_admin;

CREATE OR REPLACE VIEW memwarden.escalations WITH (security_invoker = true) AS
SELECT e.org, e.layer, e.level, e.after, e.channel FROM memwarden_internal.list_escalations() AS e;
COMMENT ON VIEW memwarden.escalations IS
    'Lists the levels that reviews reach when nobody decides them, see set_escalation(). Rows of organisation global hold for all '
    'organisations that have no chain.';
GRANT SELECT ON memwarden.escalations TO memwarden_curator, memwarden_auditor, memwarden_admin;

CREATE OR REPLACE VIEW memwarden.noise WITH (security_invoker = true) AS
SELECT n.proposal_id, n.scope, n.layer, n.reason, n.refused, n.created_at, n.expires_at FROM memwarden_internal.list_noise() AS n;
COMMENT ON VIEW memwarden.noise IS
    'Lists the remembered rejections (noise) of proposals that the caller may decide about. It shows why and until when they are '
    'remembered, and how often similar writes have been refused since. forget_noise() removes one.';
GRANT SELECT ON memwarden.noise TO memwarden_reviewer, memwarden_curator;

CREATE OR REPLACE VIEW memwarden.review_load WITH (security_invoker = true) AS
SELECT l.org, l.layer, l.class, l.tier, l.pending, l.overdue, l.escalated, l.oldest_at, l.oldest_age, l.median_age, l.next_due_at
  FROM memwarden_internal.list_review_load() AS l;
COMMENT ON VIEW memwarden.review_load IS
    'Counts the writes that wait for a human, by layer, class of write and tier. It shows how many there are, how many are past '
    'their due time, and the oldest and the median age. Auditors, curators and administrators see all that they oversee; reviewers '
    'see what they may decide about.';
GRANT SELECT ON memwarden.review_load TO memwarden_reviewer, memwarden_curator, memwarden_auditor, memwarden_admin;

CREATE OR REPLACE VIEW memwarden.reviewer_throughput WITH (security_invoker = true) AS
SELECT t.org, t.reviewer, t.day, t.approved, t.edited, t.rejected, t.decided, t.late, t.median_age
  FROM memwarden_internal.list_reviewer_throughput() AS t;
COMMENT ON VIEW memwarden.reviewer_throughput IS
    'Counts what reviewers decided on each of the last 90 days (UTC), and how much of it late. median_age is the median age of the '
    'proposals when they were decided. Reviewers see their own rows.';
GRANT SELECT ON memwarden.reviewer_throughput TO memwarden_reviewer, memwarden_curator, memwarden_auditor, memwarden_admin;
