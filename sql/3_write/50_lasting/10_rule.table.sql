-- What a layer does not keep. A rule of an organisation goes before that of all (organisation 0).
CREATE TABLE memwarden_data.durability_rule (
    org_id    bigint NOT NULL REFERENCES memwarden_data.organisation,
    layer     text NOT NULL REFERENCES memwarden_data.layer,
    rule      text NOT NULL CHECK (rule IN ('intermediate_reasoning', 'transient_output', 'confidence_floor', 'overlap')),
    action    text NOT NULL CHECK (action IN ('reject', 'defer')),
    settings  jsonb NOT NULL CHECK (jsonb_typeof(settings) = 'object'),
    active    boolean NOT NULL,
    PRIMARY KEY (org_id, layer, rule)
);
CREATE INDEX durability_rule_layer ON memwarden_data.durability_rule (layer);
COMMENT ON TABLE memwarden_data.durability_rule IS
    'What never becomes a lasting memory, by layer. One that is not active switches off that of all organisations.';

-- Steps and answers of tools that call themselves so. What a task came to (task_outcome) is another thing.
INSERT INTO memwarden_data.origin_kind (kind, confidence, evidence_type, description) VALUES
    ('reasoning_step', 0.3, 'agent_reasoning', 'a step on the way to a conclusion'),
    ('tool_answer', 0.5, 'tool_output', 'what a tool answered at that moment');

INSERT INTO memwarden_data.durability_rule (org_id, layer, rule, action, settings, active)
SELECT 0, l.layer, r.rule, 'reject', r.settings::jsonb, true
  FROM memwarden_data.layer AS l
 CROSS JOIN (VALUES
      ('intermediate_reasoning', '{"origins": ["reasoning_step"], "kinds": ["reasoning", "scratchpad", "thought"], "marks": true}'),
      ('transient_output', '{"origins": ["tool_answer"], "kinds": ["tool_answer", "tool_output"], "marks": true}'),
      ('confidence_floor', '{"origins": ["agent_inferred", "pattern"], "floor": 0.5}'),
      ('overlap', '{"share": 0.5, "words": 8, "names": true, "keys": true, "unknown": "link"}')) AS r (rule, settings)
 WHERE l.layer IN ('semantic', 'procedural', 'durable');
-- A way of doing something is told in steps, quotes what tools print, and resembles other ways.
UPDATE memwarden_data.durability_rule SET settings = settings || '{"marks": false}' WHERE layer = 'procedural' AND settings ? 'marks';
DELETE FROM memwarden_data.durability_rule WHERE layer = 'procedural' AND rule = 'overlap';

-- What a write reads: one row.
CREATE TABLE memwarden_data.durability_ruleset (
    org_id  bigint NOT NULL,
    layer   text NOT NULL,
    rules   jsonb NOT NULL,
    PRIMARY KEY (org_id, layer)
);
COMMENT ON TABLE memwarden_data.durability_ruleset IS
    'The rules that hold for an organisation in a layer, each with its action; an organisation without rules of its own '
    'there has those of all. Made anew when rules change.';
INSERT INTO memwarden_data.durability_ruleset (org_id, layer, rules)
SELECT 0, d.layer, jsonb_object_agg(d.rule, d.settings || jsonb_build_object('action', d.action))
  FROM memwarden_data.durability_rule AS d GROUP BY d.layer;
