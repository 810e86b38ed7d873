-- Recall reads the conversation: a memory knows in which session or task it was written, and layers say what that counts, and a time.
ALTER TABLE memwarden_data.layer ADD COLUMN neighbour_weight double precision NOT NULL DEFAULT 0
    CHECK (neighbour_weight BETWEEN 0 AND 1000);
ALTER TABLE memwarden_data.layer ADD COLUMN time_weight double precision NOT NULL DEFAULT 0 CHECK (time_weight BETWEEN 0 AND 1000);
UPDATE memwarden_data.layer SET neighbour_weight = 0.5, time_weight = 0.2 WHERE layer = 'episodic';
COMMENT ON COLUMN memwarden_data.layer.neighbour_weight IS
    'How far recall lifts a memory towards what was written just before or after it in its conversation and answers better. 0: not '
    'at all. Where weights are given, theirs counts.';
COMMENT ON COLUMN memwarden_data.layer.time_weight IS
    'What it counts in recall that a memory holds from a month or year on that the question names. Where weights are given, theirs '
    'counts.';

ALTER TABLE memwarden_data.item ADD COLUMN conversation bigint;
UPDATE memwarden_data.item AS i SET conversation = memwarden_internal.conversation_of(p.record -> 'origin', i.scope_id)
  FROM memwarden_data.provenance AS p
 WHERE p.org_id = i.org_id AND p.item_id = i.item_id AND p.record -> 'origin' ?| '{session,task}'
   AND p.provenance_id = (SELECT f.provenance_id FROM memwarden_data.provenance AS f
                            WHERE f.org_id = i.org_id AND f.item_id = i.item_id ORDER BY f.provenance_id LIMIT 1);
CREATE INDEX item_conversation ON memwarden_data.item (org_id, scope_id, conversation, created_at) WHERE conversation IS NOT NULL;

-- With its neighbours beside it, a memory is found as often with a little less weight of vectors, and more often in the first place.
ALTER TABLE memwarden_data.embedding_model ALTER COLUMN vector_weight SET DEFAULT 0.55;
UPDATE memwarden_data.embedding_model SET vector_weight = 0.55 WHERE name = 'default' AND vector_weight = 0.6;

-- Words that are run together are found by their parts: what there is is indexed anew by the job of that name.
UPDATE memwarden_data.scope AS s SET reindexed_to = '00000000-0000-0000-0000-000000000000'
 WHERE EXISTS (SELECT FROM memwarden_data.item AS i WHERE i.org_id = s.org_id AND i.scope_id = s.scope_id);

-- A model states its languages: what is in another is found by its words.
ALTER TABLE memwarden_data.embedding_model ADD COLUMN languages text[] CHECK (cardinality(languages) BETWEEN 1 AND 200);
