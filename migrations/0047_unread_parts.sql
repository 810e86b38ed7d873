-- Parts of a capture whose shape its extractor does not know; of captures that were read before nobody knows.
ALTER TABLE memwarden_data.extraction ADD COLUMN unread integer NOT NULL DEFAULT 0;
CREATE INDEX extraction_unread ON memwarden_data.extraction (org_id, capture_id) WHERE unread > 0;
