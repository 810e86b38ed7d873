-- From which relevance on a question counts as known: a property of the model, as the weight of its vectors is.
ALTER TABLE memwarden_data.embedding_model
    ADD COLUMN relevance_threshold double precision NOT NULL DEFAULT 0.36 CHECK (relevance_threshold BETWEEN 0 AND 1);
UPDATE memwarden_data.embedding_model SET relevance_threshold = 0.31 WHERE model_id = 1;
ALTER TABLE memwarden_data.kept_reader ADD COLUMN relevance_threshold double precision;
