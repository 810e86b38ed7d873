-- Whose a thread of a checkpointer is. Its states lie in tables of LangGraph, which refer to this one.
CREATE TABLE memwarden_data.thread (
    login_role     name NOT NULL,
    -- Chosen by the caller: it may name somebody.
    thread_id      text NOT NULL,
    org_id         bigint NOT NULL,
    thread_number  uuid NOT NULL,
    -- The home of whoever began it.
    scope_id       bigint NOT NULL,
    begun_at       timestamptz NOT NULL,
    -- To the hour.
    last_at        timestamptz NOT NULL,
    PRIMARY KEY (login_role, thread_id)
);
CREATE UNIQUE INDEX thread_number ON memwarden_data.thread (org_id, thread_number);
CREATE INDEX thread_last ON memwarden_data.thread (last_at);
COMMENT ON TABLE memwarden_data.thread IS
    'Threads of a checkpointer: which login began one, in which organisation, and when somebody went on with it last, by the clock of '
    'the server. Deleting a row deletes the thread.';
