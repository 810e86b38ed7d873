-- Who else has said what a memory says. A write that is refused as a duplicate leaves its trace here and not on the
-- item: the head stands in every index that a search uses, and what everybody repeats would be rewritten all day.
CREATE TABLE memwarden_data.sighting (
    org_id        bigint NOT NULL,
    item_id       uuid NOT NULL,
    version_id    uuid NOT NULL,
    principal_id  bigint NOT NULL,
    times         integer NOT NULL,
    first_at      timestamptz NOT NULL,
    last_at       timestamptz NOT NULL,
    source        bytea,
    trust         memwarden_data.unit_interval NOT NULL,
    authority     memwarden_data.unit_interval NOT NULL,
    PRIMARY KEY (org_id, item_id, version_id, principal_id)
);
COMMENT ON TABLE memwarden_data.sighting IS
    'How often each principal has written what a version says already, and what that rests on: one row, however often.';
COMMENT ON COLUMN memwarden_data.sighting.source IS
    'What the principal vouches by: the least keyed hash of the sources that it cites and the memory does not, or of '
    'itself where its word is enough; NULL where it brings nothing of its own.';
COMMENT ON COLUMN memwarden_data.sighting.trust IS
    'The greatest adjusted confidence that one of these writes would have had; authority: the greatest of their '
    'evidence.';
