-- What evidence can be, and what each is worth where nothing else is said of its source.
CREATE TABLE memwarden_data.source_type (
    type         text PRIMARY KEY CHECK (type ~ '^[a-z][a-z0-9_]{0,62}$'),
    authority    double precision NOT NULL CHECK (authority BETWEEN 0 AND 1),
    description  text NOT NULL
);
COMMENT ON TABLE memwarden_data.source_type IS 'Types of evidence, each with the authority of a source that states none of its own.';
INSERT INTO memwarden_data.source_type (type, authority, description) VALUES
    ('document', 1.0, 'official documentation, a manual, a contract'),
    ('human_input', 1.0, 'what a person said, as the application that heard it recorded it'),
    ('api_response', 0.95, 'what a service answered'),
    ('code_execution', 0.9, 'what a program printed when it was run'),
    ('memory_item', 0.9, 'another memory; never more than that memory has itself'),
    ('tool_output', 0.8, 'what a tool of the agent returned'),
    ('agent_reasoning', 0.3, 'what a model concluded, and whatever comes from no registered source');
