-- What each session has before it now, and since which turn. Written when it is chosen anew and worth nothing after a
-- crash: then it is chosen anew. It goes with the working memory of its session.
CREATE UNLOGGED TABLE memwarden_data.pushed_memory (
    org_id       bigint NOT NULL,
    session_id   uuid NOT NULL,
    turn         integer NOT NULL,
    item_ids     uuid[] NOT NULL,
    version_ids  uuid[] NOT NULL,
    -- What crossed one boundary is not what crosses another.
    surface      text,
    PRIMARY KEY (org_id, session_id)
);
COMMENT ON TABLE memwarden_data.pushed_memory IS 'Which memories, as they then stood, were last pushed to a session. Unlogged.';
