-- Scopes that promote what is important when they close.
ALTER TABLE memwarden_data.scope
    ADD COLUMN promote_to text, ADD COLUMN promote_from double precision CHECK (promote_from BETWEEN 0 AND 1), ADD COLUMN promote_by bigint;
