-- Memory refers to what has a home elsewhere; it does not hold a second copy.
CREATE OR REPLACE FUNCTION memwarden_internal.gate_reference()
RETURNS trigger
LANGUAGE plpgsql VOLATILE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_started timestamptz := clock_timestamp();
    v_found   jsonb;
    v_kind    text;
    v_copied  boolean;
    v_note    text;
BEGIN
    IF (NEW.terms).has_sources THEN
        SELECT jsonb_agg(jsonb_strip_nulls(jsonb_build_object(
                   'source', f.source, 'mode', f.mode, 'similarity', round(f.similarity::numeric, 2),
                   'missing', CASE WHEN f.similarity IS NULL THEN true END))),
               (array_agg(f.kind ORDER BY f.similarity DESC NULLS LAST) FILTER (WHERE f.mode = 'primary'))[1],
               bool_or(f.similarity IS NOT NULL) FILTER (WHERE f.mode = 'primary')
          INTO v_found, v_kind, v_copied
          FROM memwarden_internal.find_copies(NEW.org_id, NEW.principal_id, NEW.canonical, NEW.subject, NEW.predicate) AS f;
    END IF;
    IF v_found IS NOT NULL THEN
        NEW.detail := coalesce(NEW.detail, '{}') || jsonb_build_object('canonical', v_found);
        v_note := 'CANONICAL_COPY';
    END IF;
    IF v_copied THEN
        NEW.outcome := 'REJECTED';
        NEW.reason := CASE v_kind WHEN 'record' THEN 'VERBATIM_RECORD' ELSE 'CANONICAL_COPY' END;
        -- The request is no place for a copy either.
        NEW.content := NULL;
        NEW.subject := NULL;
        NEW.predicate := NULL;
    ELSIF v_kind IS NOT NULL THEN
        -- A table that is being replaced is back in a moment, and one that is gone is for an administrator to notice.
        NEW.outcome := 'DEFERRED';
        NEW.reason := 'CANONICAL_SOURCE_MISSING';
    END IF;
    NEW.trail := NEW.trail || memwarden_internal.gate_entry(TG_NAME, NEW.outcome, coalesce(NEW.reason, v_note), v_started);
    RETURN NEW;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.gate_reference IS
    'Trigger gate_35_reference: refuses near-verbatim copies of canonical content and of records, or notes them, as the '
    'agent''s leak defence says; defers while a source cannot be read. Source: agent memory primitives, 9 and 13.';
