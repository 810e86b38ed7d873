-- What the memories of a shelf are like is counted. Nothing is counted yet.
ALTER TABLE memwarden_data.shelf
    ADD COLUMN counted_at timestamptz,
    ADD COLUMN items bigint,
    ADD COLUMN words bigint,
    ADD COLUMN label_ids integer[],
    ADD COLUMN config text;

-- A recall weighs a word by how many memories have it. To count them takes longer than all else.
CREATE TABLE memwarden_data.shelf_word (
    org_id   bigint NOT NULL,
    shelf    integer NOT NULL,
    -- A hash: a word may be a name.
    word     bigint NOT NULL,
    holders  bigint NOT NULL,
    PRIMARY KEY (org_id, shelf, word)
);
COMMENT ON TABLE memwarden_data.shelf_word IS
    'How many memories of a shelf have a word (hashtextextended(lexeme, 0)), of the words that 50 and more have, as of '
    'shelf.counted_at.';

-- So counted, a shelf is quicker from fewer memories on.
ALTER TABLE memwarden_data.layer ALTER COLUMN own_shelf_from SET DEFAULT 5000;
UPDATE memwarden_data.layer SET own_shelf_from = 5000 WHERE own_shelf_from = 10000;
