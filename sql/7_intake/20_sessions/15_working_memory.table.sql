-- What an agent has before it. Written at every step and worth nothing after a crash: what is needed to go on comes back
-- from the memories of the session.
CREATE UNLOGGED TABLE memwarden_data.working_memory (
    org_id        bigint NOT NULL,
    session_id    uuid NOT NULL,
    goal          text,
    -- {"steps": [text], "done": count}
    plan          jsonb NOT NULL DEFAULT '{"steps": [], "done": 0}',
    -- [{"tool", "result", "importance", "ordinal"}], as they are shown
    observations  jsonb NOT NULL DEFAULT '[]',
    -- [{"text", "importance"}], as they were given
    constraints   jsonb NOT NULL DEFAULT '[]',
    scratchpad    text NOT NULL DEFAULT '',
    -- Where something of the session is encrypted: all of this under that key, and nothing in clear.
    subject_key_id uuid,
    sealed        bytea,
    PRIMARY KEY (org_id, session_id),
    CHECK ((subject_key_id IS NULL) = (sealed IS NULL)),
    CHECK (sealed IS NULL OR goal IS NULL AND observations = '[]' AND constraints = '[]' AND scratchpad = ''
           AND plan = '{"steps": [], "done": 0}')
);
COMMENT ON TABLE memwarden_data.working_memory IS
    'Working memory, one row an open session: goal, plan, observations, constraints, scratchpad. Unlogged: empty after '
    'a crash, and on a standby not there.';
