CREATE OR REPLACE VIEW memwarden.embedding_models WITH (security_invoker = true) AS
SELECT m.org, m.model, m.dimension, m.vector_weight, m.state, m.embedder, m.items, m.missing, m.waiting, m.dead, m.last_error,
    m.oldest_at, m.changed_at
  FROM memwarden_internal.list_embedding_models() AS m;
COMMENT ON VIEW memwarden.embedding_models IS
    'Embedding models and how far each is, by organisation (global: all without an active model of their own). state: '
    'active (what vectors are of where a call names none), filling (the worker makes what is missing), ready (nothing '
    'is missing), retired (it was active), registered, dropped (its vectors are being taken away). items: current '
    'memories; missing: those without a vector that could have one; waiting: those that the worker knows of, oldest_at '
    'since when; dead: those it has given up, with the last error. Counted at each look.';
GRANT SELECT ON memwarden.embedding_models TO memwarden_auditor, memwarden_admin;
