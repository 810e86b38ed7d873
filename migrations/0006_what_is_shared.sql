-- What an agent notes in a session is its own, where neither its layer nor its session is shared.
ALTER TABLE memwarden_data.layer ADD COLUMN shared boolean NOT NULL DEFAULT true;
COMMENT ON COLUMN memwarden_data.layer.shared IS
    'Off: a memory is read by who wrote it, and by principals whose role has ADMIN over the layer, unless its session '
    'is shared. Takes effect at once.';
UPDATE memwarden_data.layer SET shared = false WHERE layer IN ('working', 'session');
ALTER TABLE memwarden_data.label ADD COLUMN shared boolean NOT NULL DEFAULT false;
COMMENT ON COLUMN memwarden_data.label.shared IS 'Items are of a shared session: others read them although the layer is not shared.';
ALTER TABLE memwarden_data.session ADD COLUMN shared boolean NOT NULL DEFAULT false;

-- The review queue of a layer has its lock here as well.
COMMENT ON TABLE memwarden_data.write_lock IS
    'One row per scope and layer, locked by whoever writes there; and one per organisation and layer, under the highest '
    'number, by whoever adds to its review queue.';
COMMENT ON COLUMN memwarden_data.layer.embedding IS
    'What the gates judge by. optional: the vector that a write brings, or else its words; required: who writes has to '
    'bring one; worker: a write that brings none waits until the worker has made one, which takes an embedder of the '
    'model in use, see status().';

-- One place says for whom a transaction acts, whatever it does.
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
ALTER TABLE memwarden_data.session DROP COLUMN ending_in;
COMMENT ON COLUMN memwarden_data.integrity_rule.broken IS 'The condition, compiled to jsonpath: where it does not hold.';
