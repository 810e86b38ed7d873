-- An item is an identity; a version is what it said at some time; the head row below is a projection
-- of the log and can be rebuilt from it. org_id leads every key. The tables of the write path carry no
-- foreign keys: the gates have just read those rows, and every writer would share-lock the same few.
CREATE TABLE memwarden_data.item (
    org_id         bigint NOT NULL,
    item_id        uuid NOT NULL,
    scope_id       bigint NOT NULL,
    layer          text NOT NULL,
    kind           text,
    subject        text,
    predicate      text,
    status         memwarden_data.item_status NOT NULL,
    version_id     uuid NOT NULL,
    version        memwarden_data.counter NOT NULL,
    -- One row per (scope, layer, subject, predicate) where the layer makes new versions of a key; and one
    -- more for each circle of writers who may not see the holder: being refused would tell them of it.
    exclusive      boolean NOT NULL,
    instance       integer NOT NULL DEFAULT 0,
    contradicted   boolean NOT NULL DEFAULT false,
    confidence     memwarden_data.unit_interval NOT NULL,
    importance     memwarden_data.unit_interval NOT NULL,
    -- What its provenance makes of that: recall ranks by them.
    adjusted_confidence memwarden_data.unit_interval NOT NULL DEFAULT 0,
    authority      memwarden_data.unit_interval NOT NULL DEFAULT 0,
    -- What a reader is warned of.
    sensitivity    memwarden_data.sensitivity_level NOT NULL DEFAULT 'none',
    principal_id   bigint NOT NULL,
    -- Who may see it: its versions, log entries and vectors follow it.
    label_id       integer NOT NULL,
    created_at     timestamptz NOT NULL,
    updated_at     timestamptz NOT NULL,
    expires_at     timestamptz,
    valid_during   tstzrange NOT NULL,
    content_hash   memwarden_data.sha256 NOT NULL,
    fingerprint    memwarden_data.sha256 NOT NULL,
    key_hash       memwarden_data.sha256,
    inverse_key_hash memwarden_data.sha256,
    search_vector  tsvector NOT NULL,
    -- Which class of write made it what it is; NULL for most.
    class          text,
    -- When it begins to count half, where that is not as its layer or class says: it was renewed, or has gone stale.
    fresh_until    timestamptz,
    -- The key of the subject that it is encrypted under; NULL for most. Its words and hashes are HMACs under that key then.
    subject_key_id uuid,
    -- In which session or task it was written: conversation_of(). NULL where its writer named none. It is as old as the first version.
    conversation   bigint,
    -- Of which attribute of which thing it tells: attribute_key(). NULL where no rule reads that out of its words.
    attribute_key  memwarden_data.sha256,
    -- How firmly it may be said, by the records of its version.
    standing       memwarden_data.standing NOT NULL DEFAULT 'inferred',
    -- Until when a rule of retention lets it be read: expires_at is never later. NULL where none ends soon.
    kept_until     timestamptz,
    -- Subject and predicate as write() compares them, where that is not simply their small letters: keep_name_forms().
    subject_form   text,
    predicate_form text,
    PRIMARY KEY (org_id, item_id)
);
-- Also what every search of a scope walks, with or without what has ended. Four bytes lead to a fingerprint: who looks for one says
-- them too, and compares all of it then.
CREATE INDEX item_fingerprint ON memwarden_data.item (org_id, scope_id, status, layer, substr(fingerprint, 1, 4));
CREATE UNIQUE INDEX item_key ON memwarden_data.item (org_id, scope_id, layer, key_hash, instance) WHERE status = 'ACTIVE' AND exclusive;
-- Facts of predicates that hold several values, and facts by what they say from the other side: for declared constraints.
CREATE INDEX item_shared_key ON memwarden_data.item (org_id, scope_id, layer, key_hash) WHERE status = 'ACTIVE' AND NOT exclusive
    AND key_hash IS NOT NULL;
CREATE INDEX item_inverse_key ON memwarden_data.item (org_id, scope_id, layer, inverse_key_hash) WHERE status = 'ACTIVE'
    AND inverse_key_hash IS NOT NULL;
CREATE INDEX item_former_key ON memwarden_data.item (org_id, scope_id, layer, key_hash, updated_at) WHERE status <> 'ACTIVE' AND exclusive;
-- Whose time in the world is over while the item is not: another value may hold now.
CREATE INDEX item_outlived ON memwarden_data.item (upper(valid_during)) WHERE status = 'ACTIVE' AND exclusive
    AND NOT upper_inf(valid_during);
-- What a recall of a subject looks up, and a withdrawal of consent. A hash, since a subject may be longer than an index takes.
CREATE INDEX item_subject ON memwarden_data.item (org_id, hashtextextended(
    coalesce(subject_form, lower(subject COLLATE "C") COLLATE "default"), 0))
    WHERE status = 'ACTIVE' AND subject IS NOT NULL;
-- Of which subjects a scope has encrypted memories: what a recall asks for is looked for under the key of each.
CREATE INDEX item_subject_key ON memwarden_data.item (org_id, scope_id, subject_key_id) WHERE subject_key_id IS NOT NULL;
-- What was written before and after a memory of a conversation. Most stores have few of them, or none.
CREATE INDEX item_conversation ON memwarden_data.item (org_id, scope_id, conversation, created_at) WHERE conversation IS NOT NULL;
-- What counts fully yet, where most of a scope is over softly: by when that ends, or by when it was written. The last condition,
-- which is always true, keeps it from whoever does not ask for that: without statistics, look-ups of a fingerprint would walk it.
CREATE INDEX item_fresh ON memwarden_data.item (org_id, scope_id, layer, coalesce(fresh_until, updated_at)) WHERE status = 'ACTIVE'
    AND coalesce(fresh_until, updated_at) IS NOT NULL;
-- What else has been said of one attribute of one thing.
CREATE INDEX item_attribute ON memwarden_data.item (org_id, scope_id, layer, attribute_key) WHERE status = 'ACTIVE'
    AND attribute_key IS NOT NULL;
COMMENT ON TABLE memwarden_data.item IS 'The current state of every memory item.';
COMMENT ON COLUMN memwarden_data.item.fingerprint IS 'SHA-256 of normalised subject, predicate and content.';
COMMENT ON COLUMN memwarden_data.item.key_hash IS 'SHA-256 of normalised subject and predicate, where both are given.';
COMMENT ON COLUMN memwarden_data.item.inverse_key_hash IS
    'The key of the same fact said from the other side, where its predicate has an inverse.';
COMMENT ON COLUMN memwarden_data.item.standing IS
    'verified, supported, reported or inferred; disputed once a refutation or a fault counts: standing_of() its last record.';
COMMENT ON COLUMN memwarden_data.item.contradicted IS
    'Another memory has stood beside it that contradicts it or tells a newer value; whether one still does: marks_of().';
COMMENT ON COLUMN memwarden_data.item.kept_until IS
    'Until when the rules of retention let it be read. Set for what has personal data, and for what ends within two days.';
COMMENT ON COLUMN memwarden_data.item.attribute_key IS
    'A keyed hash of the thing and the attribute that its words tell of, for finding what was said of it earlier.';

CREATE TABLE memwarden_data.version (
    org_id               bigint NOT NULL,
    version_id           uuid NOT NULL,
    item_id              uuid NOT NULL,
    version              memwarden_data.counter NOT NULL,
    previous_version_id  uuid,
    -- The version whose words it says again, and the version of another item whose place it took.
    restores_version_id  uuid,
    absorbed_version_id  uuid,
    status               memwarden_data.item_status NOT NULL,
    scope_id             bigint NOT NULL,
    layer                text NOT NULL,
    kind                 text,
    schema_id            bigint,
    subject              text,
    predicate            text,
    exclusive            boolean NOT NULL,
    instance             integer NOT NULL,
    content              jsonb NOT NULL,
    search_text          text NOT NULL,
    content_hash         memwarden_data.sha256 NOT NULL,
    confidence           memwarden_data.unit_interval NOT NULL,
    importance           memwarden_data.unit_interval NOT NULL,
    evidence             jsonb NOT NULL,
    principal_id         bigint NOT NULL,
    label_id             integer NOT NULL,
    request_id           uuid NOT NULL,
    -- When the store held it to be current, and when it is true in the world.
    recorded_during      tstzrange NOT NULL,
    valid_during         tstzrange NOT NULL,
    expires_at           timestamptz,
    class                text,
    tier                 text NOT NULL DEFAULT 'hot',
    -- Content, text and evidence of an encrypted version, and the key that opens them; content, search_text and excerpts are blank then.
    subject_key_id       uuid,
    sealed               bytea,
    PRIMARY KEY (org_id, version_id, tier),
    CHECK (upper_inf(recorded_during) = (status IN ('DRAFT', 'ACTIVE'))),
    CHECK (tier = 'hot' OR NOT upper_inf(recorded_during))
) PARTITION BY LIST (tier);
-- What is over moves from one to the next, and a DBA gives each a tablespace. They move whole: erasing what
-- somebody said takes one DELETE wherever it lies, which no exported file could promise.
CREATE TABLE memwarden_data.version_hot PARTITION OF memwarden_data.version FOR VALUES IN ('hot');
CREATE TABLE memwarden_data.version_warm PARTITION OF memwarden_data.version FOR VALUES IN ('warm');
CREATE TABLE memwarden_data.version_cold PARTITION OF memwarden_data.version FOR VALUES IN ('cold');
-- Versions of an item begin one after another: finds the one of a moment, however many there were.
CREATE UNIQUE INDEX version_of_item ON memwarden_data.version (org_id, item_id, lower(recorded_during), tier);
-- Of those that are over: what is current is one, and found as that. An entry less for most writes.
CREATE UNIQUE INDEX version_number ON memwarden_data.version (org_id, item_id, version, tier) WHERE NOT upper_inf(recorded_during);
CREATE UNIQUE INDEX version_current ON memwarden_data.version (org_id, item_id, tier) WHERE upper_inf(recorded_during);
CREATE INDEX version_absorbed ON memwarden_data.version (org_id, absorbed_version_id) WHERE absorbed_version_id IS NOT NULL;
-- Returns to earlier versions: what lies between was undone.
CREATE INDEX version_return ON memwarden_data.version (org_id, item_id, version) WHERE restores_version_id IS NOT NULL;
-- What a scope held at a moment, as far as it is over; what it holds still is found from the items.
CREATE INDEX version_past ON memwarden_data.version USING gist (org_id, scope_id, recorded_during) WHERE NOT upper_inf(recorded_during);
-- What is old enough to move to another tier.
CREATE INDEX version_over ON memwarden_data.version (layer, upper(recorded_during)) WHERE NOT upper_inf(recorded_during);
COMMENT ON TABLE memwarden_data.version IS
    'Every version of every item. Only status and the end of recorded_during ever change, along legal transitions, and '
    'the tier once that is over.';

-- Vectors that cannot be computed anew from the words: a version that comes back has its vector back.
CREATE TABLE memwarden_data.past_embedding (
    org_id      bigint NOT NULL,
    scope_id    bigint NOT NULL,
    item_id     uuid NOT NULL,
    version_id  uuid NOT NULL,
    model_id    smallint NOT NULL,
    embedding   @extschema:vector@.halfvec NOT NULL,
    PRIMARY KEY (org_id, version_id, model_id)
);
COMMENT ON TABLE memwarden_data.past_embedding IS
    'The vectors of versions that are not current, where a model outside the database made them.';
