CREATE OR REPLACE VIEW memwarden.embedding_models WITH (security_invoker = true) AS
SELECT m.org, m.model, m.dimension, m.vector_weight, m.state, m.embedder, m.items, m.missing, m.waiting, m.dead, m.last_error,
    m.oldest_at, m.changed_at, memwarden_internal.languages_of_model(m.model) AS languages
  FROM memwarden_internal.list_embedding_models() AS m;
COMMENT ON VIEW memwarden.embedding_models IS
    'Lists the embedding models and their progress, by organisation. Rows of organisation global concern all organisations without '
    'an active model of their own. state is active (used where a call names no model), filling (the worker makes the missing '
    'vectors), ready (none is missing), retired (it was active), registered, or dropped (its vectors are being deleted). items '
    'counts current memories, and missing counts those without a vector that could have one. waiting counts those that the worker '
    'knows of, the oldest since oldest_at. dead counts those that it has given up, with the last error. languages are those that '
    'the model knows, NULL for all. Each query counts anew.';
GRANT SELECT ON memwarden.embedding_models TO memwarden_auditor, memwarden_admin;
