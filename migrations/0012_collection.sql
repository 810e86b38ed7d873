-- What is collected goes as what is erased does, and says so.
ALTER TABLE memwarden_data.erasure
    ADD COLUMN cause text NOT NULL DEFAULT 'ERASURE' CHECK (cause IN ('ERASURE', 'COLLECTION', 'RETENTION'));
-- What hangs on a memory or a request is found from it, without reading all.
CREATE INDEX session_entry_request ON memwarden_data.session_entry (org_id, request_id);
CREATE INDEX consolidation_source ON memwarden_data.consolidation (org_id, source_item_id);
CREATE INDEX consolidation_target ON memwarden_data.consolidation (org_id, target_item_id);
