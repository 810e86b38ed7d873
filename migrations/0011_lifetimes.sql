-- Layers and classes say how memory ages. What is there is aged as what is written from now on; no lifetime of a memory gets shorter.
ALTER TABLE memwarden_data.layer
    ADD COLUMN decay text NOT NULL DEFAULT 'exempt' CHECK (decay IN ('forcing', 'validity', 'exempt')),
    ADD COLUMN decay_rate double precision NOT NULL DEFAULT 0 CHECK (decay_rate BETWEEN 0 AND 1000),
    ADD COLUMN soft_ttl interval CHECK (soft_ttl > interval '0'),
    ADD COLUMN counted_from text NOT NULL DEFAULT 'update' CHECK (counted_from IN ('creation', 'update')),
    ADD COLUMN gc_threshold double precision CHECK (gc_threshold BETWEEN 0 AND 1),
    ADD COLUMN max_idle interval CHECK (max_idle > interval '0'),
    ADD COLUMN eviction text CHECK (eviction IN ('lru', 'fifo', 'ttl')),
    ADD COLUMN hard_delete text NOT NULL DEFAULT 'never' CHECK (hard_delete IN ('never', 'after_grace', 'retention'));
-- How memory ages: the table of chapter 12.7.3. What an organisation stands by is exempt, and no fact ends by itself.
UPDATE memwarden_data.layer AS l
   SET decay = d.decay, decay_rate = d.decay_rate, soft_ttl = d.soft_ttl, gc_threshold = d.gc_threshold, max_idle = d.max_idle,
       eviction = d.eviction, hard_delete = d.hard_delete
  FROM (VALUES ('working', 'exempt', 0, NULL::interval, NULL::double precision, NULL::interval, NULL, 'after_grace'),
               ('session', 'forcing', 12, NULL, 0.1, '1 hour', NULL, 'after_grace'),
               ('episodic', 'forcing', 0.01, '30 days', 0.2, '30 days', 'lru', 'after_grace'),
               ('semantic', 'validity', 0.001, NULL, 0.1, '180 days', NULL, 'retention'),
               ('procedural', 'validity', 0.0005, NULL, 0.1, '365 days', NULL, 'retention'))
       AS d (layer, decay, decay_rate, soft_ttl, gc_threshold, max_idle, eviction, hard_delete)
 WHERE l.layer = d.layer;

ALTER TABLE memwarden_data.write_class
    ADD COLUMN soft_ttl interval CHECK (soft_ttl > interval '0'),
    ADD COLUMN decay text CHECK (decay IN ('forcing', 'validity', 'exempt'));
-- Lifetimes by category. A fact about an entity is permanent, and asks for a review now and then.
UPDATE memwarden_data.write_class SET soft_ttl = interval '90 days' WHERE org_id = 0 AND class = 'preference';
INSERT INTO memwarden_data.write_class (org_id, class, description, layers, default_ttl, soft_ttl, decay) VALUES
    (0, 'task_learning', 'what a task has taught', NULL, interval '1 year', interval '30 days', NULL),
    (0, 'entity_fact', 'what holds of an entity until something else does', '{semantic,durable}', NULL, interval '180 days', 'exempt')
    ON CONFLICT DO NOTHING;

ALTER TABLE memwarden_data.item ADD COLUMN fresh_until timestamptz;
CREATE INDEX item_fresh ON memwarden_data.item (org_id, scope_id, layer, coalesce(fresh_until, updated_at)) WHERE status = 'ACTIVE';

-- Once a day.
ALTER TABLE memwarden_data.sweep
    DROP CONSTRAINT sweep_sweep_check,
    ADD CONSTRAINT sweep_sweep_check CHECK (sweep IN ('sensitivity', 'provenance', 'lifetimes'));
INSERT INTO memwarden_data.sweep (sweep) VALUES ('lifetimes');
CREATE INDEX review_of_lifetime ON memwarden_data.review (org_id, (report #>> '{current,item_id}')) WHERE 'LIFETIME_OVER' = ANY (reasons);

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
    'ttl: those that end soonest. Null: none.';
COMMENT ON COLUMN memwarden_data.layer.hard_delete IS
    'Whether an expired memory is deleted for good. never; after_grace: once recovery_window is over; retention: once its '
    'retention is over as well.';
COMMENT ON COLUMN memwarden_data.write_class.soft_ttl IS 'Instead of the layer''s; NULL for the layer''s.';
COMMENT ON COLUMN memwarden_data.write_class.decay IS 'Instead of the layer''s; NULL for the layer''s.';
COMMENT ON TABLE memwarden_data.sweep IS
    'Passes over everything that is stored: for what today''s rules find, for provenance that is not as it was '
    'signed, and for what has aged.';
