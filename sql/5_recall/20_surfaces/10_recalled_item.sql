DO $type$
BEGIN
    IF to_regtype('memwarden_internal.recalled_item') IS NULL THEN
        CREATE TYPE memwarden_internal.recalled_item AS (
            item_id           uuid,
            version_id        uuid,
            layer             text,
            scope             text,
            kind              text,
            subject           text,
            predicate         text,
            content           jsonb,
            "text"            text,
            score             double precision,
            vector_score      double precision,
            keyword_score     double precision,
            recency_score     double precision,
            importance_score  double precision,
            confidence_score  double precision,
            authority_score   double precision,
            similarity        double precision,
            confidence        double precision,
            low_confidence    boolean,
            contradicted      boolean,
            stale             boolean,
            classification    text,
            domains           text[],
            provenance        jsonb,
            freshness_score   double precision,
            relevance         double precision,
            same_as           uuid[],
            standing          text,
            hedge             text,
            suspicious        text[],
            origin            jsonb,
            recall_id         uuid,
            contradicts       uuid[],
            neighbour_score   double precision,
            time_score        double precision,
            valid_from        timestamptz,
            valid_to          timestamptz
        );
    END IF;
END
$type$;
COMMENT ON TYPE memwarden_internal.recalled_item IS
    'One recalled memory. score is fused from the nine components, each from 0 to 1 within this recall; similarity is '
    'the plain cosine, relevance what thresholds mean. valid_from, valid_to: from when to when it is true; NULL where it '
    'has no such bound.';
