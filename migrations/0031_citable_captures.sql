-- Memories cite captures: a source says who may, and a capture for whom it was made.
ALTER TABLE memwarden_data.capture_source ADD COLUMN citable_by bigint[];
ALTER TABLE memwarden_data.capture ADD COLUMN captured_for bigint[];
