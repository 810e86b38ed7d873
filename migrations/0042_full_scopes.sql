-- Facts and procedures are let go down to max_items, too: the least relevant, one pass after somebody was told.
ALTER TABLE memwarden_data.layer DROP CONSTRAINT layer_eviction_check;
ALTER TABLE memwarden_data.layer ADD CONSTRAINT layer_eviction_check CHECK (eviction IN ('lru', 'fifo', 'ttl', 'relevance'));
ALTER TABLE memwarden_data.kept_layer DROP CONSTRAINT layer_eviction_check;
ALTER TABLE memwarden_data.kept_layer ADD CONSTRAINT layer_eviction_check CHECK (eviction IN ('lru', 'fifo', 'ttl', 'relevance'));
UPDATE memwarden_data.layer SET eviction = 'relevance' WHERE layer IN ('semantic', 'procedural') AND eviction IS NULL;
COMMENT ON COLUMN memwarden_data.layer.max_items IS
    'How many memories there are meant to be: of a turn in working memory, of one session in layer session, which lets '
    'the least important go, and of a scope elsewhere, by eviction; no limit where null.';
COMMENT ON COLUMN memwarden_data.layer.eviction IS
    'Which memories of a scope go first where it holds more than max_items. lru: those read longest ago. fifo: the oldest. '
    'ttl: those that end soonest. relevance: those of least relevance, one pass after status() said so. Null: none.';
ALTER TABLE memwarden_data.collection ADD COLUMN full_scopes jsonb NOT NULL DEFAULT '{}';
