-- How what is remembered came about sets what its author's word counts for, where the author says nothing.
CREATE TABLE memwarden_data.origin_kind (
    kind           text PRIMARY KEY CHECK (kind ~ '^[a-z][a-z0-9_]{0,62}$'),
    confidence     double precision NOT NULL CHECK (confidence BETWEEN 0 AND 1),
    evidence_type  text NOT NULL,
    description    text NOT NULL
);
COMMENT ON TABLE memwarden_data.origin_kind IS 'Kinds of origin: the confidence and the type of evidence that go with each by default.';
INSERT INTO memwarden_data.origin_kind (kind, confidence, evidence_type, description) VALUES
    ('user_stated', 1.0, 'human_input', 'the user said so'),
    ('config_change', 1.0, 'human_input', 'a setting was changed'),
    ('task_outcome', 0.8, 'tool_output', 'a task ended so'),
    ('agent_inferred', 0.6, 'agent_reasoning', 'the agent concluded it'),
    ('pattern', 0.4, 'agent_reasoning', 'the agent saw it recur');
