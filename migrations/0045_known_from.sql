-- From which relevance on a question counts as known: a property of the model, as the weight of its vectors is.
ALTER TABLE memwarden_data.embedding_model
    ADD COLUMN relevance_threshold double precision NOT NULL DEFAULT 0.36 CHECK (relevance_threshold BETWEEN 0 AND 1);
UPDATE memwarden_data.embedding_model SET relevance_threshold = 0.31 WHERE model_id = 1;
ALTER TABLE memwarden_data.kept_reader ADD COLUMN relevance_threshold double precision;
COMMENT ON COLUMN memwarden_data.embedding_model.relevance_threshold IS
    'From this relevance of the best answer on a question counts as known, where neither a recall nor the layer has a threshold; '
    'that among 500 memories, less among fewer.';
COMMENT ON COLUMN memwarden_data.layer.relevance_threshold IS
    'Memories of less relevance a recall leaves out where it does not say itself; null: all, unless none reaches the '
    'relevance_threshold of the embedding model.';
