-- One pass over the memories of an organisation in a layer: first everything is looked at, then what was found goes, a few at a time.
CREATE TABLE memwarden_data.collection (
    org_id       bigint NOT NULL REFERENCES memwarden_data.organisation,
    layer        text NOT NULL REFERENCES memwarden_data.layer,
    begun_at     timestamptz,
    finished_at  timestamptz,
    -- Which memories are looked at; CAPS: whether a scope holds too many; COLLECT: what was found goes.
    stage        text NOT NULL DEFAULT 'ACTIVE' CHECK (stage IN ('ACTIVE', 'EXPIRED', 'SUPERSEDED', 'CAPS', 'COLLECT')),
    -- The cursor: the scope, and in it four bytes of the fingerprint, in the order of item_fingerprint.
    after_scope  bigint NOT NULL DEFAULT -1,
    after_place  bytea NOT NULL DEFAULT '',
    looked       bigint NOT NULL DEFAULT 0,
    active       bigint NOT NULL DEFAULT 0,
    -- How many may go at once, because a person said so.
    agreed       bigint,
    -- By reason: what went, and what waits for a person, since it would be most of the layer.
    done         jsonb NOT NULL DEFAULT '{}',
    held_back    jsonb NOT NULL DEFAULT '{}',
    -- Scopes that were nearly full or over when the last pass looked: how many memories each held.
    full_scopes  jsonb NOT NULL DEFAULT '{}',
    -- What clean_layers() has found when it looked last, and when: [{"finding", "action", "items", "done"}]
    hygiene      jsonb,
    cleaned_at   timestamptz,
    PRIMARY KEY (org_id, layer)
);
CREATE INDEX collection_layer ON memwarden_data.collection (layer);
COMMENT ON TABLE memwarden_data.collection IS
    'How far the collection of each organisation and layer has got, what the last pass did, and what it holds back. begun_at: of the '
    'pass that goes on; null between two.';

CREATE TABLE memwarden_data.collectable (
    org_id    bigint NOT NULL,
    layer     text NOT NULL,
    scope_id  bigint NOT NULL,
    item_id   uuid NOT NULL,
    action    text NOT NULL CHECK (action IN ('EXPIRE', 'DELETE')),
    reason    text NOT NULL,
    PRIMARY KEY (org_id, layer, scope_id, item_id)
);
COMMENT ON TABLE memwarden_data.collectable IS 'What a pass of collection has found and not yet taken.';
