-- The index of what is fresh begins as that of fingerprints does, and is smaller: before a table had statistics, look-ups of
-- fingerprints walked it whole. Its last condition is one that only who asks for what is fresh says too.
DROP INDEX memwarden_data.item_fresh;
CREATE INDEX item_fresh ON memwarden_data.item (org_id, scope_id, layer, coalesce(fresh_until, updated_at)) WHERE status = 'ACTIVE'
    AND coalesce(fresh_until, updated_at) IS NOT NULL;
