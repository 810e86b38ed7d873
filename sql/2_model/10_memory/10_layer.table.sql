-- Layers are rows, not code: what a layer demands of a write and promises to a reader.
CREATE TABLE memwarden_data.layer (
    layer               text PRIMARY KEY CHECK (layer ~ '^[a-z][a-z0-9_]{0,62}$'),
    ordinal             integer NOT NULL UNIQUE,
    description         text NOT NULL,
    admission           text NOT NULL CHECK (admission IN ('free', 'schema', 'full')),
    writers             text NOT NULL CHECK (writers IN ('any', 'owner', 'validated')),
    direct_writes       boolean NOT NULL DEFAULT true,
    same_key            text NOT NULL CHECK (same_key IN ('new_version', 'accumulate')),
    default_ttl         interval CHECK (default_ttl > interval '0'),
    max_ttl             interval CHECK (max_ttl > interval '0'),
    default_confidence  double precision NOT NULL DEFAULT 0.6 CHECK (default_confidence BETWEEN 0 AND 1),
    confidence_floor    double precision NOT NULL DEFAULT 0.5 CHECK (confidence_floor BETWEEN 0 AND 1),
    embedding           text NOT NULL DEFAULT 'optional' CHECK (embedding IN ('optional', 'required', 'worker')),
    text_search_config  text NOT NULL DEFAULT 'english',
    recency_half_life   interval NOT NULL DEFAULT '30 days' CHECK (recency_half_life > interval '0'),
    recall_weight       double precision NOT NULL DEFAULT 1 CHECK (recall_weight BETWEEN 0 AND 1000),
    weights             jsonb,
    relevance_threshold double precision CHECK (relevance_threshold BETWEEN 0 AND 1),
    max_content_bytes   integer NOT NULL DEFAULT 1048576 CHECK (max_content_bytes BETWEEN 1 AND 67108864),
    max_text_length     integer CHECK (max_text_length BETWEEN 1 AND 65536),
    idempotency_window  interval NOT NULL DEFAULT '24 hours' CHECK (idempotency_window > interval '0'),
    lock_wait           interval NOT NULL DEFAULT '5 seconds' CHECK (lock_wait BETWEEN interval '1 millisecond' AND interval '5 minutes'),
    max_attempts        integer NOT NULL DEFAULT 8 CHECK (max_attempts BETWEEN 1 AND 100),
    retry_backoff       interval NOT NULL DEFAULT '5 seconds' CHECK (retry_backoff BETWEEN interval '1 millisecond' AND interval '1 day'),
    recovery_window     interval NOT NULL DEFAULT '30 days' CHECK (recovery_window >= interval '0'),
    warm_after          interval NOT NULL DEFAULT '90 days' CHECK (warm_after >= interval '0'),
    cold_after          interval NOT NULL DEFAULT '1 year' CHECK (cold_after >= warm_after),
    rate_limit          integer CHECK (rate_limit BETWEEN 1 AND 1000000),
    rate_window         interval NOT NULL DEFAULT '1 minute' CHECK (rate_window BETWEEN interval '1 second' AND interval '1 day'),
    own_shelf_from      integer NOT NULL DEFAULT 5000 CHECK (own_shelf_from >= 2),
    extend_validity     boolean NOT NULL DEFAULT false,
    duplicate_similarity double precision CHECK (duplicate_similarity BETWEEN 0.5 AND 1),
    topic_similarity    double precision NOT NULL DEFAULT 0.5 CHECK (topic_similarity BETWEEN 0 AND 1),
    contradiction_score double precision NOT NULL DEFAULT 0.85 CHECK (contradiction_score BETWEEN 0 AND 1),
    conflict            text NOT NULL DEFAULT 'accumulate'
        CHECK (conflict IN ('accumulate', 'review', 'auto_resolve', 'latest_wins', 'coexist', 'mark', 'ask_firmer')),
    conflict_gap        double precision NOT NULL DEFAULT 0.2 CHECK (conflict_gap BETWEEN 0 AND 1),
    max_items           integer CHECK (max_items BETWEEN 1 AND 1000000),
    max_pending         integer NOT NULL DEFAULT 1000 CHECK (max_pending BETWEEN 1 AND 1000000),
    fact_threshold      double precision NOT NULL DEFAULT 0 CHECK (fact_threshold BETWEEN 0 AND 1),
    evidence_half_life  interval NOT NULL DEFAULT '365 days' CHECK (evidence_half_life > interval '0'),
    min_authority       double precision NOT NULL DEFAULT 0 CHECK (min_authority BETWEEN 0 AND 1),
    min_external        integer NOT NULL DEFAULT 0 CHECK (min_external BETWEEN 0 AND 100),
    external_types      text[] NOT NULL DEFAULT '{document,api_response,human_input}',
    self_reference      text NOT NULL DEFAULT 'allow' CHECK (self_reference IN ('allow', 'not_all', 'refuse')),
    validation_weights  double precision[] NOT NULL DEFAULT '{0.2,0.5,0.3}'
        CHECK (cardinality(validation_weights) = 3 AND 0 <= ALL (validation_weights)
               AND abs(validation_weights[1] + validation_weights[2] + validation_weights[3] - 1) < 1e-9),
    confidence_weights  double precision[] NOT NULL DEFAULT '{0.15,0.30,0.25,0.30}'
        CHECK (cardinality(confidence_weights) = 4 AND 0 <= ALL (confidence_weights)
               AND abs(confidence_weights[1] + confidence_weights[2] + confidence_weights[3] + confidence_weights[4] - 1) < 1e-9),
    shared              boolean NOT NULL DEFAULT true,
    decay               text NOT NULL DEFAULT 'exempt' CHECK (decay IN ('forcing', 'validity', 'exempt')),
    decay_rate          double precision NOT NULL DEFAULT 0 CHECK (decay_rate BETWEEN 0 AND 1000),
    soft_ttl            interval CHECK (soft_ttl > interval '0'),
    counted_from        text NOT NULL DEFAULT 'update' CHECK (counted_from IN ('creation', 'update')),
    gc_threshold        double precision CHECK (gc_threshold BETWEEN 0 AND 1),
    max_idle            interval CHECK (max_idle > interval '0'),
    eviction            text CHECK (eviction IN ('lru', 'fifo', 'ttl', 'relevance')),
    hard_delete         text NOT NULL DEFAULT 'never' CHECK (hard_delete IN ('never', 'after_grace', 'retention')),
    neighbour_weight    double precision NOT NULL DEFAULT 0 CHECK (neighbour_weight BETWEEN 0 AND 1000),
    time_weight         double precision NOT NULL DEFAULT 0 CHECK (time_weight BETWEEN 0 AND 1000),
    unclear             text NOT NULL DEFAULT 'ask' CHECK (unclear IN ('store', 'ask', 'refuse')),
    no_evidence         text NOT NULL DEFAULT 'refuse' CHECK (no_evidence IN ('store', 'ask', 'refuse')),
    fixed               text[] NOT NULL DEFAULT '{}',
    hygiene             text NOT NULL DEFAULT 'report' CHECK (hygiene IN ('off', 'report', 'clean'))
);
COMMENT ON TABLE memwarden_data.layer IS
    'The layers of memory, and their settings as the server has them. What holds for an organisation: kept_layer.';
COMMENT ON COLUMN memwarden_data.layer.admission IS 'free: no gate weighs the content; schema: its form is checked; full: every gate.';
COMMENT ON COLUMN memwarden_data.layer.writers IS
    'any agent; owner: who first wrote a key; validated: agents an administrator vouches for.';
COMMENT ON COLUMN memwarden_data.layer.direct_writes IS 'Off: only promotion feeds the layer.';
COMMENT ON COLUMN memwarden_data.layer.same_key IS
    'A second value for (scope, subject, predicate): a new version of the item, or an item of its own.';
COMMENT ON COLUMN memwarden_data.layer.confidence_floor IS 'Below it, recall marks an item low_confidence.';
COMMENT ON COLUMN memwarden_data.layer.embedding IS
    'What the gates judge by. optional: the vector that a write brings, or else its words; required: who writes has to '
    'bring one; worker: a write that brings none waits until the worker has made one, which takes an embedder of the '
    'model in use, see status().';
COMMENT ON COLUMN memwarden_data.layer.recall_weight IS 'What recall multiplies the scores of the layer''s memories by.';
COMMENT ON COLUMN memwarden_data.layer.weights IS
    'How recall scores the layer''s memories where a call does not say, as recall() takes weights; null: by what '
    'measured best for the embedding model.';
COMMENT ON COLUMN memwarden_data.layer.relevance_threshold IS
    'Memories of less relevance a recall leaves out where it does not say itself; null: all, unless none reaches the '
    'relevance_threshold of the embedding model.';
COMMENT ON COLUMN memwarden_data.layer.max_text_length IS
    'How many characters the text of a memory may have; no limit where null. Memory notes; it does not archive.';
COMMENT ON COLUMN memwarden_data.layer.recovery_window IS 'How long after it expired an item can be recovered.';
COMMENT ON COLUMN memwarden_data.layer.warm_after IS
    'How long after it was superseded or ended a version moves to the warm tier; cold_after: to the cold one.';
COMMENT ON COLUMN memwarden_data.layer.rate_limit IS 'How many writes one agent may ask for within rate_window; no limit where null.';
COMMENT ON COLUMN memwarden_data.layer.max_items IS
    'How many memories there are meant to be: of a turn in working memory, of one session in layer session, which lets '
    'the least important go, and of a scope elsewhere, by eviction; no limit where null.';
COMMENT ON COLUMN memwarden_data.layer.own_shelf_from IS
    'From so many vectors on, those of a scope are searched by an index of their own instead of one by one; with fewer '
    'than half as many they go back.';
COMMENT ON COLUMN memwarden_data.layer.extend_validity IS 'A memory that is said again lives as long as if it had been written then.';
COMMENT ON COLUMN memwarden_data.layer.duplicate_similarity IS
    'Memories more alike than this (cosine) are looked at for saying the same; nobody looks where null.';
COMMENT ON COLUMN memwarden_data.layer.topic_similarity IS
    'Memories more alike than this are about one thing: only those can contradict each other.';
COMMENT ON COLUMN memwarden_data.layer.contradiction_score IS 'How sure a judge must be that a memory contradicts another.';
COMMENT ON COLUMN memwarden_data.layer.conflict IS
    'A memory that contradicts others. accumulate: both stand. review: a more confident one waits for a human, any '
    'other is refused. auto_resolve: one more confident by conflict_gap takes their place, one that is merely more '
    'confident waits, any other is refused. latest_wins: it takes their place. coexist: one more confident by '
    'conflict_gap takes their place; otherwise all stand, marked contradicted. mark: all stand, marked. ask_firmer: one that '
    'contradicts what stands firmer waits for a human; otherwise all stand, marked.';
COMMENT ON COLUMN memwarden_data.layer.max_pending IS 'How many deferred requests of one agent may wait for the layer.';
COMMENT ON COLUMN memwarden_data.layer.fact_threshold IS 'The least factual score (0 to 1) of a write; 0 asks for no evidence.';
COMMENT ON COLUMN memwarden_data.layer.unclear IS
    'What becomes of a write whose evidence neither reaches fact_threshold nor denies the claim. store: it is remembered, with '
    'its low score. ask: a person decides. refuse: it is refused. What evidence denies is refused in any case.';
COMMENT ON COLUMN memwarden_data.layer.no_evidence IS
    'What becomes of a write without the evidence that the layer asks for: with none, with none that can be read, or with less '
    'than min_external, min_authority and self_reference ask. store, ask or refuse.';
COMMENT ON COLUMN memwarden_data.layer.evidence_half_life IS 'In this time the freshness of evidence falls by half.';
COMMENT ON COLUMN memwarden_data.layer.min_authority IS 'No evidence of a write may have less authority.';
COMMENT ON COLUMN memwarden_data.layer.min_external IS 'How many pieces of evidence must be of the external_types.';
COMMENT ON COLUMN memwarden_data.layer.self_reference IS
    'Evidence that the agent made itself: allow; not_all, something else must stand beside it; refuse.';
COMMENT ON COLUMN memwarden_data.layer.validation_weights IS
    'Of the validation score: form, factual score, freedom from contradiction. Their sum is 1.';
COMMENT ON COLUMN memwarden_data.layer.confidence_weights IS
    'Of the adjusted confidence: agent, factual score, authority of the evidence, human approval. Their sum is 1.';
COMMENT ON COLUMN memwarden_data.layer.shared IS
    'Off: a memory is read by who wrote it, and by principals whose role has ADMIN over the layer, unless its session '
    'is shared. Takes effect at once.';
COMMENT ON COLUMN memwarden_data.layer.decay IS
    'How relevance falls with age. forcing: from creation, whatever is said of a memory later. validity: from when it was '
    'last written, said again or confirmed. exempt: not at all.';
COMMENT ON COLUMN memwarden_data.layer.decay_rate IS 'By how much relevance falls a day: it is multiplied by exp(-decay_rate * days).';
COMMENT ON COLUMN memwarden_data.layer.soft_ttl IS
    'After this time a memory counts half in recall and asks for a review; one that is exempt from decay only asks for a '
    'review. Null: never.';
COMMENT ON COLUMN memwarden_data.layer.counted_from IS
    'Where lifetimes begin, soft and hard: when the memory was created, or when its current version was written.';
COMMENT ON COLUMN memwarden_data.layer.gc_threshold IS
    'Collection may take a memory whose relevance is lower, if nobody has read it for max_idle. Null: never.';
COMMENT ON COLUMN memwarden_data.layer.max_idle IS 'How long a memory may go unread: see gc_threshold. Staleness counts reads by it too.';
COMMENT ON COLUMN memwarden_data.layer.eviction IS
    'Which memories of a scope go first where it holds more than max_items. lru: those read longest ago. fifo: the oldest. '
    'ttl: those that end soonest. relevance: those of least relevance, one pass after status() said so. Null: none.';
COMMENT ON COLUMN memwarden_data.layer.hard_delete IS
    'Whether an expired memory is deleted for good. never; after_grace: once recovery_window is over; retention: once its '
    'retention is over as well.';
COMMENT ON COLUMN memwarden_data.layer.hygiene IS
    'What the weekly job clean_layers() does about duplicates and contradictions of the layer. off: it does not look; report: it counts '
    'them; clean: it ends what is surely worse than what stands beside it.';
COMMENT ON COLUMN memwarden_data.layer.neighbour_weight IS
    'How far recall lifts a memory towards what was written just before or after it in its conversation and answers better. 0: not '
    'at all. Where weights are given, theirs counts.';
COMMENT ON COLUMN memwarden_data.layer.time_weight IS
    'What it counts in recall that a memory holds from a month or year on that the question names. Where weights are given, theirs '
    'counts.';
COMMENT ON COLUMN memwarden_data.layer.fixed IS 'Settings that no organisation or agent may have weaker than the server.';
COMMENT ON COLUMN memwarden_data.layer.lock_wait IS 'How long a write waits for the scope where the session sets no lock_timeout.';

INSERT INTO memwarden_data.layer
    (layer, ordinal, description, admission, writers, same_key, default_ttl, max_ttl) VALUES
    ('working', 0, 'what an agent has at hand during a turn', 'free', 'any', 'accumulate', '15 minutes', '1 hour'),
    ('session', 10, 'what a session has learned so far', 'schema', 'owner', 'new_version', '1 hour', '24 hours'),
    ('episodic', 20, 'what happened', 'full', 'validated', 'accumulate', '365 days', NULL),
    ('semantic', 21, 'what is true', 'full', 'validated', 'new_version', NULL, NULL),
    ('procedural', 22, 'how things are done', 'full', 'validated', 'new_version', NULL, NULL),
    ('durable', 30, 'what the organisation stands by', 'full', 'validated', 'new_version', NULL, NULL);
-- What one agent notes while it works is its own until it is promoted.
UPDATE memwarden_data.layer SET shared = false WHERE layer IN ('working', 'session');
-- Episodes are observed by tools; what is to be true or done rests on somebody else's word.
UPDATE memwarden_data.layer SET rate_limit = 6000 WHERE layer IN ('session', 'episodic');
UPDATE memwarden_data.layer SET rate_limit = 600 WHERE layer IN ('semantic', 'procedural', 'durable');
UPDATE memwarden_data.layer
   SET fact_threshold = 0.6, min_external = 1, self_reference = 'not_all',
       external_types = '{document,api_response,human_input,tool_output,code_execution}' WHERE layer = 'episodic';
UPDATE memwarden_data.layer
   SET fact_threshold = CASE layer WHEN 'procedural' THEN 0.9 ELSE 0.8 END, min_external = 1, min_authority = 0.3,
       self_reference = 'refuse' WHERE layer IN ('semantic', 'procedural', 'durable');
-- Where contradictions are looked for, the judge sees near memories anyway: it tells which of them say the same.
UPDATE memwarden_data.layer SET duplicate_similarity = CASE layer WHEN 'episodic' THEN 0.95 ELSE 0.8 END WHERE admission = 'full';
UPDATE memwarden_data.layer
   SET conflict = CASE layer WHEN 'semantic' THEN 'review' WHEN 'procedural' THEN 'latest_wins' ELSE 'coexist' END
 WHERE layer IN ('semantic', 'procedural', 'durable');
UPDATE memwarden_data.layer SET max_attempts = 3, retry_backoff = '1 second' WHERE layer IN ('working', 'session');
UPDATE memwarden_data.layer SET max_text_length = 8000 WHERE layer = 'durable';
UPDATE memwarden_data.layer SET max_items = CASE layer WHEN 'working' THEN 5 WHEN 'session' THEN 100 ELSE 10000 END
    WHERE layer <> 'durable';
-- What happened is told in turns: the answer often stands beside the turn that has the words of the question.
UPDATE memwarden_data.layer SET neighbour_weight = 0.5, time_weight = 0.2 WHERE layer = 'episodic';
-- How memory ages: the table of chapter 12.7.3. What an organisation stands by is exempt, and no fact ends by itself.
UPDATE memwarden_data.layer AS l
   SET decay = d.decay, decay_rate = d.decay_rate, soft_ttl = d.soft_ttl, gc_threshold = d.gc_threshold, max_idle = d.max_idle,
       eviction = d.eviction, hard_delete = d.hard_delete
  FROM (VALUES ('working', 'exempt', 0, NULL::interval, NULL::double precision, NULL::interval, NULL, 'after_grace'),
               ('session', 'forcing', 12, NULL, 0.1, '1 hour', NULL, 'after_grace'),
               ('episodic', 'forcing', 0.01, '30 days', 0.2, '30 days', 'lru', 'after_grace'),
               ('semantic', 'validity', 0.001, NULL, 0.1, '180 days', 'relevance', 'retention'),
               ('procedural', 'validity', 0.0005, NULL, 0.1, '365 days', 'relevance', 'retention'))
       AS d (layer, decay, decay_rate, soft_ttl, gc_threshold, max_idle, eviction, hard_delete)
 WHERE l.layer = d.layer;
