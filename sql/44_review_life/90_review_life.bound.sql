CREATE OR REPLACE TRIGGER notify_of_review AFTER INSERT ON memwarden_data.review_event
    FOR EACH ROW EXECUTE FUNCTION memwarden_internal.notify_of_review();

CREATE OR REPLACE TRIGGER learn_noise AFTER UPDATE ON memwarden_data.write_request
    FOR EACH ROW WHEN (OLD.outcome = 'DEFERRED' AND NEW.outcome = 'REJECTED' AND NEW.reason = 'REVIEW_REJECTED')
    EXECUTE FUNCTION memwarden_internal.learn_noise();

CREATE OR REPLACE VIEW memwarden.review_channels WITH (security_invoker = true) AS
SELECT c.org, c.channel, c.kind, c.target, c.events, c.tiers, c.layer, c.scope, c.settings, c.waiting, c.sent, c.set_aside, c.oldest_at, c.last_error
  FROM memwarden_internal.list_review_channels() AS c;
COMMENT ON VIEW memwarden.review_channels IS
    'Where reviewers are told, see set_review_channel(): how many notices wait, were sent within a month or were set aside, since when the oldest waits, and what went wrong last.';
GRANT SELECT ON memwarden.review_channels TO memwarden_auditor, memwarden_admin;

CREATE OR REPLACE VIEW memwarden.escalations WITH (security_invoker = true) AS
SELECT e.org, e.layer, e.level, e.after, e.channel FROM memwarden_internal.list_escalations() AS e;
COMMENT ON VIEW memwarden.escalations IS 'What happens to reviews that nobody decides, see set_escalation(). Organisation global speaks for all that have no chain.';
GRANT SELECT ON memwarden.escalations TO memwarden_curator, memwarden_auditor, memwarden_admin;
