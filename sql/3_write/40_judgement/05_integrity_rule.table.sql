CREATE TABLE memwarden_data.integrity_rule (
    org_id     bigint NOT NULL REFERENCES memwarden_data.organisation,
    name       text NOT NULL,
    layer      text NOT NULL,
    predicate  text,
    against    text CHECK (against IS NULL OR predicate IS NOT NULL),
    condition  text NOT NULL,
    broken     jsonpath NOT NULL,
    method     text NOT NULL CHECK (method IN ('integrity', 'temporal')),
    action     text NOT NULL CHECK (action IN ('reject', 'review')),
    PRIMARY KEY (org_id, name)
);
COMMENT ON TABLE memwarden_data.integrity_rule IS 'Conditions that memories must meet: each by itself, or with another of its subject.';
COMMENT ON COLUMN memwarden_data.integrity_rule.layer IS 'A layer, or * for all.';
COMMENT ON COLUMN memwarden_data.integrity_rule.against IS 'The predicate of the other memory, where the rule is about two of one subject.';
COMMENT ON COLUMN memwarden_data.integrity_rule.broken IS
    'The condition, compiled to jsonpath: where it does not hold.';
COMMENT ON COLUMN memwarden_data.integrity_rule.method IS
    'How a report calls it: temporal, for the order of two events; otherwise integrity.';
