-- What is written from now on is found by the attribute that it tells of; rebuild_heads() gives the rest its keys.
ALTER TABLE memwarden_data.item ADD COLUMN attribute_key memwarden_data.sha256;
CREATE INDEX item_attribute ON memwarden_data.item (org_id, scope_id, layer, attribute_key) WHERE status = 'ACTIVE'
    AND attribute_key IS NOT NULL;
COMMENT ON COLUMN memwarden_data.item.attribute_key IS
    'A keyed hash of the thing and the attribute that its words tell of, for finding what was said of it earlier.';
COMMENT ON COLUMN memwarden_data.item.contradicted IS
    'Another memory has stood beside it that contradicts it or tells a newer value; whether one still does: marks_of().';

-- A mark says that another memory contradicts one, or that it tells a newer value.
ALTER TABLE memwarden_data.dispute ADD COLUMN outdated boolean NOT NULL DEFAULT false;
CREATE INDEX dispute_newer ON memwarden_data.dispute (org_id, other_item_id) WHERE outdated;
COMMENT ON TABLE memwarden_data.dispute IS
    'Which memories were found to contradict each other, or to tell an older value than another, when one of them was written, '
    'by what they said.';

ALTER TABLE memwarden_data.write_request ADD COLUMN attribute_key bytea, ADD COLUMN outdates uuid[];
