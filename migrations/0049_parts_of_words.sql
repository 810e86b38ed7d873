-- Words without accents and the parts of names and codes are words too: those of memories are made anew by the job memwarden_words, and
-- the words of shelves are counted afterwards.
UPDATE memwarden_data.scope AS s SET reindexed_to = '00000000-0000-0000-0000-000000000000'
 WHERE EXISTS (SELECT FROM memwarden_data.item AS i WHERE i.org_id = s.org_id AND i.scope_id = s.scope_id);
UPDATE memwarden_data.shelf SET counted_at = NULL, items = NULL, words = NULL, label_ids = NULL, config = NULL WHERE shelf > 0;
DELETE FROM memwarden_data.shelf_word;
