-- Only promote() and reclassify() write here: so a request cannot claim to be a promotion.
CREATE TABLE memwarden_data.promotion (
    org_id      bigint NOT NULL,
    request_id  uuid NOT NULL,
    item_id     uuid NOT NULL,
    PRIMARY KEY (org_id, request_id)
);
COMMENT ON TABLE memwarden_data.promotion IS
    'Write requests that promote an item, until they are decided: they may enter a layer that takes no direct writes.';
