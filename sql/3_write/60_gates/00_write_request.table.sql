-- Who writes where, and what a request is up against there: asked once, by the gate that finds out who writes where.
-- Each further question of a gate would be a statement more for every write.
CREATE TYPE memwarden_data.write_terms AS (
    principal_id        bigint,
    org_id              bigint,
    scope_id            bigint,
    closed_at           timestamptz,
    layer_name          text,
    admission           text,
    may_write           boolean,
    has_anchors         boolean,
    -- the writer
    agent               text,
    validated           boolean,
    role_id             bigint,
    clearance           smallint,
    held_domains        text[],
    write_budget        integer,
    scope_kind          text,
    -- the layer
    writers             text,
    direct_writes       boolean,
    rate_limit          integer,
    rate_window         interval,
    max_pending         integer,
    max_content_bytes   integer,
    max_text_length     integer,
    max_ttl             interval,
    default_ttl         interval,
    embedding           text,
    text_search_config  text,
    same_key            text,
    idempotency_window  interval,
    default_confidence  double precision,
    validation_weights  double precision[],
    confidence_weights  double precision[],
    fact_threshold      double precision,
    min_authority       double precision,
    min_external        integer,
    external_types      text[],
    self_reference      text,
    evidence_half_life  interval,
    extend_validity     boolean,
    duplicate_similarity double precision,
    topic_similarity    double precision,
    contradiction_score double precision,
    conflict            text,
    conflict_gap        double precision,
    -- how contents of the kind become one; NULL where the newer takes the place of the older
    merge_policy        jsonb,
    -- what never becomes durable there, by rule; NULL where the layer keeps whatever it is told
    durability          jsonb,
    -- the model of a vector that names none
    model_id            smallint,
    model_dimension     integer,
    -- what somebody has set up, so that it must be asked
    has_policies        boolean,
    has_sources         boolean,
    has_verifiers       boolean,
    has_plugins         boolean,
    has_judges          boolean,
    has_relations       boolean,
    has_rules           boolean,
    -- a human has refused something in that scope and layer
    has_noise           boolean,
    -- a human may have to be asked, by policy or by the writer's reputation
    asks_approval       boolean,
    -- what its class asks, where it names one
    class               jsonb,
    -- the pack in force for the writer there
    pack                jsonb,
    has_entities        boolean,
    -- what a request that names no kind, classification, domain or attribute bears, where that has been borne before
    plain_label_id      integer,
    -- and whether the writer's role lets it write such
    writes_plain        boolean,
    -- in which regions memories may lie, by class; NULL where nobody has set a rule
    residency           jsonb,
    -- what becomes of a write whose evidence does not tell, and of one without it: store, ask, refuse
    unclear             text,
    no_evidence         text,
    -- how long its memories count fully is the agent's own
    has_lifetimes       boolean,
    -- what may be asked of a person there: rows of approval_policy
    approval_policies   jsonb,
    -- the profile that is tried beside the one that decides; '' in a trial
    observed            text
);

-- The door. Each row passes the gates, which are the triggers of this table, and keeps what they said.
CREATE TABLE memwarden_data.write_request (
    request_id       uuid PRIMARY KEY,
    -- what the caller asked
    layer            text,
    scope_path       text,
    kind             text,
    subject          text,
    predicate        text,
    content          text,
    evidence         jsonb,
    confidence       double precision,
    importance       double precision,
    embedding        real[],
    embedding_model  text,
    ttl              interval,
    valid_from       timestamptz,
    valid_to         timestamptz,
    deadline         timestamptz,
    idempotency_key  text,
    trace_id         text,
    classification   text,
    domains          text[],
    attributes       jsonb,
    origin           jsonb,
    -- why it should be remembered: for the human who is asked
    justification    text,
    class            text,
    -- the memory of its own that the writer corrects with it
    corrects         uuid,
    intake_fault     text,
    -- the door says: a permit of the rate limit is held for it, and taken once all of its batch are decided
    permit_held      boolean,
    -- and on what terms it may write where; gone once the identity gate has read it
    standing         memwarden_data.write_terms,
    -- who asked, and when
    org_id           bigint NOT NULL,
    principal_id     bigint NOT NULL,
    scope_id         bigint,
    submitted_at     timestamptz NOT NULL,
    attempt          integer NOT NULL DEFAULT 1,
    -- what the gates work out for one another
    admission        text,
    terms            memwarden_data.write_terms,
    label_id         integer,
    scope_locked     boolean,
    canonical        text,
    search_text      text,
    content_hash     bytea,
    fingerprint      bytea,
    key_hash         bytea,
    inverse_key_hash bytea,
    token            bytea,
    schema_id        bigint,
    model_id         smallint,
    findings         jsonb,
    admitted         boolean,
    session_id       bigint,
    sensitivity      memwarden_data.sensitivity_level,
    sensitive        jsonb,
    sealed           jsonb,
    -- whom it is about, and which decision and workflow it came of
    keys             jsonb,
    grounds          jsonb,
    fact_score       double precision,
    authority        double precision,
    trust_ceiling    double precision,
    provenance       jsonb,
    -- memories like it, and what it is to them; what becomes of those
    neighbours       jsonb,
    -- what declared constraints say against it
    conflicts        jsonb,
    contradiction    double precision,
    becomes          uuid,
    merges           boolean,
    replaces         uuid[],
    disputes         uuid[],
    -- why gates want a human asked: [{"reason", "detail"}]
    -- whether the subject agrees, and what the pack in force makes of it
    consent_check    text,
    auto_eligible    boolean,
    pack_check       jsonb,
    review_asked     jsonb,
    -- what they work out for the human: risk, factors, report, terms; or why nobody was asked (told_of_auto)
    review           jsonb,
    -- what each gate said, until it is stored
    trail            text,
    -- what they decided
    outcome          memwarden_data.request_outcome,
    gate             text,
    reason           text,
    detail           jsonb,
    item_id          uuid,
    version_id       uuid,
    -- what it was to what stood there: no_conflict, superseded, contradiction
    verdict          text,
    retry_at         timestamptz,
    decided_at       timestamptz,
    -- a line for each gate: its number or name, its time, how it decided where it did not just accept (gates_of)
    gates            text,
    -- HMAC of the content's hash, where the content was refused
    refused_hash     bytea,
    -- What was asked under this id: 32 bytes of SHA-256; 33, an HMAC of them, where they could confirm a guess
    asked_hash       bytea,
    -- What it does instead of writing: retract, rollback ... (42_approval/68_acts.sql). Its content says to which memories.
    act              text,
    -- of what waits: who answered for the writer when it asked, and from which login it asked
    owner_id         bigint,
    login            text,
    -- the caller gave a key of its own: its content alone does not answer for it
    keyed            boolean,
    -- Of a class that is encrypted: the key of its subject, and, while it waits, what it says under that key
    subject_key_id   uuid,
    sealed_words     bytea,
    -- of which attribute of which thing it tells, and the memories of it that are then out of date
    attribute_key    bytea,
    outdates         uuid[],
    -- to the most like memory there
    likeness         double precision,
    -- What another profile would have said of it: profile, outcome, reason, gate; and was, what was said at first. See observe_profile().
    trial            jsonb
) PARTITION BY RANGE (request_id);
CREATE INDEX write_request_mine ON memwarden_data.write_request (org_id, principal_id, request_id);
CREATE INDEX write_request_pending ON memwarden_data.write_request (org_id, principal_id, layer) WHERE outcome = 'DEFERRED';
CREATE INDEX write_request_due ON memwarden_data.write_request (retry_at) WHERE outcome = 'DEFERRED';
COMMENT ON TABLE memwarden_data.write_request IS
    'Every write that was ever asked for, with its outcome. Content is kept only while it waits, or where a later gate refused it.';

-- Writers of one scope and layer queue on its row here. A row, not an advisory lock: those any role could hold for ever.
CREATE TABLE memwarden_data.write_lock (
    org_id    bigint NOT NULL,
    scope_id  bigint NOT NULL,
    layer     text NOT NULL,
    PRIMARY KEY (org_id, scope_id, layer)
);
COMMENT ON TABLE memwarden_data.write_lock IS
    'One row per scope and layer, locked by whoever writes there; and one per organisation and layer, under the highest '
    'number, by whoever adds to its review queue.';

CREATE TABLE memwarden_data.idempotency (
    org_id        bigint NOT NULL,
    principal_id  bigint NOT NULL,
    scope_id      bigint NOT NULL,
    layer         text NOT NULL,
    token         bytea NOT NULL,
    request_id    uuid NOT NULL,
    item_id       uuid,
    version_id    uuid,
    derived       boolean NOT NULL,
    expires_at    timestamptz NOT NULL,
    PRIMARY KEY (org_id, principal_id, scope_id, layer, token)
);
CREATE INDEX idempotency_expiry ON memwarden_data.idempotency (expires_at);
COMMENT ON TABLE memwarden_data.idempotency IS
    'Tokens of requests that committed or wait. derived: the token was computed from the content, not given by the caller. A plain '
    'write that became a memory of its own has none.';
