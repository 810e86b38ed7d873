-- Who is told when nobody decides.
CREATE TABLE memwarden_data.escalation (
    org_id   bigint NOT NULL,
    -- * for every layer that has no chain of its own
    layer    text NOT NULL,
    level    smallint NOT NULL CHECK (level BETWEEN 1 AND 9),
    after    interval NOT NULL CHECK (after BETWEEN interval '0' AND interval '365 days'),
    -- NULL: all that take the event
    channel  text,
    PRIMARY KEY (org_id, layer, level)
);
COMMENT ON TABLE memwarden_data.escalation IS
    'The levels of an escalation: how long after its due time a review gets there, and which channel is told. The first '
    'chain of: the organisation''s for the layer, for all layers, everybody''s for the layer, for all layers.';
INSERT INTO memwarden_data.escalation (org_id, layer, level, after, channel) VALUES
    (0, '*', 1, '0', NULL),
    (0, '*', 2, '24 hours', NULL);
