-- The judge tells what says the same: where it sees near memories anyway, it is asked about those less alike too. What somebody has
-- set stays.
UPDATE memwarden_data.layer SET duplicate_similarity = 0.8
 WHERE duplicate_similarity = 0.95 AND layer IN ('semantic', 'procedural', 'durable');
