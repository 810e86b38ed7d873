-- Memories that contradict each other and both stand. A pair is two rows, and holds for as long as both say those
-- words: nobody has to clear it when one of them ends, and a memory that comes back is disputed again. Where the other tells
-- a newer value, the pair is the one row of the older.
CREATE TABLE memwarden_data.dispute (
    org_id              bigint NOT NULL,
    scope_id            bigint NOT NULL,
    item_id             uuid NOT NULL,
    content_hash        memwarden_data.sha256 NOT NULL,
    other_item_id       uuid NOT NULL,
    other_content_hash  memwarden_data.sha256 NOT NULL,
    found_at            timestamptz NOT NULL,
    -- Somebody has decided that both hold. The row stays, so that the same words are not marked again.
    settled_at          timestamptz,
    -- The other one tells what has become of it: no dispute, it is out of date.
    outdated            boolean NOT NULL DEFAULT false,
    PRIMARY KEY (org_id, item_id, other_item_id, content_hash, other_content_hash)
);
-- What an erasure of the newer one takes with it.
CREATE INDEX dispute_newer ON memwarden_data.dispute (org_id, other_item_id) WHERE outdated;
COMMENT ON TABLE memwarden_data.dispute IS
    'Which memories were found to contradict each other, or to tell an older value than another, when one of them was written, '
    'by what they said.';
