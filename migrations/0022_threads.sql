-- Threads of a checkpointer beside the store are records with an age too.
INSERT INTO memwarden_data.record_retention (kind, keep) VALUES ('threads', '13 months');
