-- What must stay, whatever the rules of age say: what a curator pinned, what the law wants, what an action rests on.
CREATE TABLE memwarden_data.pin (
    org_id        bigint NOT NULL,
    item_id       uuid NOT NULL,
    scope_id      bigint NOT NULL,
    reason        text NOT NULL,
    principal_id  bigint NOT NULL,
    login         text NOT NULL,
    pinned_at     timestamptz NOT NULL,
    PRIMARY KEY (org_id, item_id)
);
COMMENT ON TABLE memwarden_data.pin IS 'Memories that no collection takes, with who pinned them and why.';

-- A hold names no memories but says which: what is written later and fits is held as well. It is kept when it is lifted.
CREATE TABLE memwarden_data.legal_hold (
    org_id          bigint NOT NULL,
    hold_id         uuid NOT NULL,
    reason          text NOT NULL,
    -- What a version must be to be held. NULL asks for nothing.
    item_id         uuid,
    subject         text,
    -- The scope, and those that were moved away from beneath it.
    scope_ids       bigint[],
    texts           text[],
    layers          text[],
    written_during  tstzrange,
    four_eyes       boolean NOT NULL,
    set_at          timestamptz NOT NULL,
    set_by          bigint,
    set_login       text NOT NULL,
    lifted_at       timestamptz,
    lifted_by       bigint,
    lifted_login    text,
    lift_reason     text,
    PRIMARY KEY (org_id, hold_id),
    CHECK (num_nonnulls(item_id, subject, scope_ids, texts, layers, written_during) > 0),
    CHECK ((lifted_at IS NULL) = (lifted_login IS NULL) AND (lifted_at IS NULL) = (lift_reason IS NULL))
);
CREATE INDEX legal_hold_in_force ON memwarden_data.legal_hold (org_id) WHERE lifted_at IS NULL;
COMMENT ON TABLE memwarden_data.legal_hold IS
    'Legal holds, also those that were lifted: who wants which memories kept, since when, why, and until when.';

CREATE TABLE memwarden_data.hold_policy (
    org_id     bigint PRIMARY KEY REFERENCES memwarden_data.organisation,
    four_eyes  boolean NOT NULL
);
COMMENT ON TABLE memwarden_data.hold_policy IS
    'Whether two persons lift the holds that an organisation sets. Organisation 0 speaks for those that say nothing.';

-- An erasure that must wait for a hold. It names the person, since somebody must know whom to erase; the row goes with the erasure.
CREATE TABLE memwarden_data.blocked_erasure (
    org_id        bigint NOT NULL,
    erasure_id    uuid NOT NULL,
    subject       text NOT NULL,
    identifiers   text[] NOT NULL,
    reason        text NOT NULL,
    subject_hash  bytea CHECK (octet_length(subject_hash) = 32),
    items         integer NOT NULL,
    hold_ids      uuid[] NOT NULL,
    principal_id  bigint,
    login         text NOT NULL,
    asked_at      timestamptz NOT NULL,
    looked_at     timestamptz NOT NULL,
    -- What could not be read, so that nobody can say whether it concerns the person; and under which keys, as far as keys are missing.
    unread        integer NOT NULL DEFAULT 0,
    key_ids       uuid[] NOT NULL DEFAULT '{}',
    PRIMARY KEY (org_id, erasure_id)
);
COMMENT ON TABLE memwarden_data.blocked_erasure IS
    'Erasures that wait until the holds on what they would erase are lifted, or until the server can read what is encrypted.';

-- org_id is that of who acted; the memory may be one of all organisations. Never changed but by an erasure.
CREATE TABLE memwarden_data.action_link (
    org_id        bigint NOT NULL,
    action_id     text NOT NULL CHECK (length(action_id) BETWEEN 1 AND 200),
    principal_id  bigint NOT NULL,
    version_id    uuid NOT NULL,
    item_org_id   bigint NOT NULL,
    item_id       uuid NOT NULL,
    -- 0: the action names the version. Otherwise the version is a source of one that it names, so many steps away.
    distance      integer NOT NULL CHECK (distance >= 0),
    recall_id     uuid,
    linked_at     timestamptz NOT NULL,
    PRIMARY KEY (org_id, action_id, principal_id, version_id)
);
CREATE INDEX action_link_item ON memwarden_data.action_link (item_org_id, item_id);
COMMENT ON TABLE memwarden_data.action_link IS 'On which versions the actions of agents rest, the sources of these versions included.';
