DO $type$
BEGIN
    IF to_regtype('memwarden_internal.context_record') IS NULL THEN
        CREATE TYPE memwarden_internal.context_record AS (
            item_id         uuid,
            version_id      uuid,
            layer           text,
            scope           text,
            kind            text,
            subject         text,
            predicate       text,
            content         jsonb,
            confidence      double precision,
            low_confidence  boolean,
            contradicted    boolean,
            stale           boolean,
            sensitivity     text,
            classification  text,
            said_at         timestamptz,
            agent           text,
            evidence        jsonb,
            provenance      jsonb,
            origin          jsonb,
            standing        text,
            hedge           text,
            suspicious      text[],
            valid_from      timestamptz,
            valid_to        timestamptz,
            "text"          text
        );
    END IF;
    IF to_regtype('memwarden_internal.context_item') IS NULL THEN
        CREATE TYPE memwarden_internal.context_item AS (
            "position"      integer,
            item_id         uuid,
            version_id      uuid,
            layer           text,
            scope           text,
            kind            text,
            subject         text,
            predicate       text,
            content         jsonb,
            score           double precision,
            tokens          integer,
            confidence      double precision,
            low_confidence  boolean,
            contradicted    boolean,
            contradicts     uuid[],
            stale           boolean,
            age             interval,
            classification  text,
            provenance      jsonb,
            origin          jsonb,
            line            text,
            standing        text,
            hedge           text,
            suspicious      text[],
            recall_id       uuid,
            valid_from      timestamptz,
            valid_to        timestamptz
        );
    END IF;
END
$type$;
COMMENT ON TYPE memwarden_internal.context_record IS 'A memory as a context needs it, with what its provenance tells of its origin.';
COMMENT ON TYPE memwarden_internal.context_item IS 'One memory of a compiled context, with the line that stands for it there.';
