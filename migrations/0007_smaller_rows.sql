-- What the gates said takes a line each, not an object with the same four names. This writes the partitions of
-- write_request anew, once, and leaves them about half as large.
ALTER TABLE memwarden_data.write_request ALTER COLUMN gates TYPE text USING memwarden_internal.gates_text(gates::jsonb);

-- A plain write leaves no token: the memory is one, unless the caller gave a key.
ALTER TABLE memwarden_data.write_request ADD COLUMN keyed boolean;
UPDATE memwarden_data.write_request AS r SET keyed = true
  FROM memwarden_data.idempotency AS i
 WHERE NOT i.derived AND i.version_id IS NOT NULL AND r.request_id = i.request_id;
COMMENT ON TABLE memwarden_data.idempotency IS
    'Tokens of requests that committed or wait. derived: the token was computed from the content, not given by the caller. A plain '
    'write that became a memory of its own has none.';
