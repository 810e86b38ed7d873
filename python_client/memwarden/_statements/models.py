"""What is sent for embedding models."""

from __future__ import annotations

from typing import Final, LiteralString

EMBEDDING_MODELS: Final[LiteralString] = """
SELECT org, model, dimension, vector_weight, state, embedder, items, missing, waiting, dead,
       last_error, oldest_at, changed_at, languages
FROM memwarden.embedding_models ORDER BY org, model
"""

ACTIVE_EMBEDDING_MODEL: Final[LiteralString] = """
SELECT name FROM memwarden.active_embedding_model()
"""

REGISTER_EMBEDDING_MODEL: Final[LiteralString] = """
SELECT memwarden.register_embedding_model(
    name => %(name)s::text, dimension => %(dimension)s::int,
    vector_weight => %(vector_weight)s::float8, embedder => %(embedder)s::text,
    settings => %(settings)s::jsonb,
    relevance_threshold => %(relevance_threshold)s::float8) AS model_id
"""

SET_MODEL_LANGUAGES: Final[LiteralString] = """
SELECT memwarden.set_model_languages(
    model => %(model)s::text, languages => %(languages)s::text[]) IS NULL AS set
"""

REEMBED: Final[LiteralString] = """
SELECT memwarden.reembed(model => %(model)s::text, org => %(org)s::text) IS NULL AS asked
"""

SWITCH_EMBEDDING_MODEL: Final[LiteralString] = """
SELECT memwarden.switch_embedding_model(
    model => %(model)s::text, org => %(org)s::text, allow_partial => %(allow_partial)s::bool)
    AS before
"""

DROP_EMBEDDING_MODEL: Final[LiteralString] = """
SELECT memwarden.drop_embedding_model(model => %(model)s::text) IS NULL AS dropped
"""
