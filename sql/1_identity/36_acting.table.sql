-- For whom a transaction acts. A row is gone before its transaction commits, so that no other ever sees one, nor could have left it there.
CREATE TABLE memwarden_data.acting (
    org_id          bigint NOT NULL,
    principal_id    bigint NOT NULL,
    transaction_id  xid8 NOT NULL,
    request_id      uuid,
    PRIMARY KEY (org_id, principal_id, transaction_id)
);
COMMENT ON TABLE memwarden_data.acting IS
    'For whom a job acts at this moment, or who carries out an act (request_id) that people agreed to, and in which '
    'transaction; empty to whoever looks.';
