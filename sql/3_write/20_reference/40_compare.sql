-- The words of a memory are compared with the rows that its trigrams find. Nothing of a row is kept here or told.
CREATE OR REPLACE FUNCTION memwarden_internal.words_to_compare(
    p_canonical text, p_subject text, p_predicate text, OUT spoken text, OUT probes text[])
RETURNS record
LANGUAGE plpython3u IMMUTABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
if "memwarden:@python_hash@" not in GD: plpy.execute("SELECT memwarden_internal.load_python()")
return GD["memwarden:@python_hash@"].words_to_compare(p_canonical, p_subject, p_predicate)
$function$;
COMMENT ON FUNCTION memwarden_internal.words_to_compare IS
    'The words of a content with its subject, predicate and property names (8,000 characters at most), and at most 100 '
    'patterns for ILIKE, one of which finds a row that they repeat.';

CREATE OR REPLACE FUNCTION memwarden_internal.repeated_share(p_spoken text, p_records text[])
RETURNS double precision
LANGUAGE plpython3u IMMUTABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
if "memwarden:@python_hash@" not in GD: plpy.execute("SELECT memwarden_internal.load_python()")
return GD["memwarden:@python_hash@"].repeated_share(p_spoken, p_records)
$function$;
COMMENT ON FUNCTION memwarden_internal.repeated_share IS
    'The greatest share (0 to 1) of words, of the text or of one of the records, that stand in the other in runs of '
    'three or more; 1 from 25 in a row on.';

-- Row security that came later would hide rows: then this fails, and the source counts as missing. An index is used
-- where there is one; a migration that holds the table does not hold the writers for long.
CREATE OR REPLACE FUNCTION memwarden_internal.similar_records(p_relation oid, p_column text, p_probes text[])
RETURNS text[]
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET row_security = off
SET lock_timeout = '1s'
SET enable_seqscan = off
SET jit = off
SET max_parallel_workers_per_gather = 0
AS $function$
DECLARE
    v_records text[];
BEGIN
    IF p_relation IS NULL THEN
        RETURN NULL;
    END IF;
    EXECUTE format(
        'SELECT array_agg(f.found) FROM (SELECT h.found FROM unnest($1) AS p (probe) '
        ' CROSS JOIN LATERAL (SELECT left(c.%I::text, 100000) AS found FROM %s AS c WHERE c.%I::text ~~* p.probe LIMIT 20) AS h '
        ' GROUP BY h.found ORDER BY count(*) DESC LIMIT 20) AS f', p_column, p_relation::regclass, p_column)
       INTO v_records USING p_probes;
    RETURN coalesce(v_records, '{}');
EXCEPTION WHEN undefined_table OR undefined_column OR invalid_schema_name OR insufficient_privilege OR lock_not_available
            OR feature_not_supported OR datatype_mismatch OR undefined_function OR syntax_error THEN
    -- A syntax error: it was dropped just now, and its number has no name.
    RETURN NULL;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.similar_records IS
    'The up to 20 rows'' texts that most probes find; NULL where the table or column is gone, locked for a second, or not to be read.';

CREATE OR REPLACE FUNCTION memwarden_internal.find_copies(
    p_org_id bigint, p_principal_id bigint, p_canonical text, p_subject text, p_predicate text)
RETURNS TABLE (source text, kind text, mode text, similarity double precision)
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_source  record;
    v_words   record;
    v_records text[];
BEGIN
    v_words := memwarden_internal.words_to_compare(p_canonical, p_subject, p_predicate);
    IF cardinality(v_words.probes) = 0 THEN
        RETURN;
    END IF;
    FOR v_source IN
        SELECT s.source_id, s.name, s.kind, s.text_column, s.threshold, coalesce(d.mode, 'primary') AS mode
          FROM memwarden_data.canonical_source AS s
          LEFT JOIN LATERAL (SELECT l.mode FROM memwarden_data.leak_defence AS l
                              WHERE l.org_id = p_org_id AND l.principal_id = p_principal_id AND l.source_id IN (0, s.source_id)
                              ORDER BY l.source_id DESC LIMIT 1) AS d ON true
         WHERE s.org_id IN (0, p_org_id) AND s.enabled AND d.mode IS DISTINCT FROM 'off'
         ORDER BY s.source_id
    LOOP
        source := v_source.name;
        kind := v_source.kind;
        mode := v_source.mode;
        similarity := NULL;
        v_records := memwarden_internal.similar_records(
            memwarden_internal.canonical_relation(v_source.source_id), v_source.text_column, v_words.probes);
        IF v_records IS NULL THEN
            RETURN NEXT;
        ELSIF v_records <> '{}' THEN
            similarity := memwarden_internal.repeated_share(v_words.spoken, v_records);
            IF similarity >= v_source.threshold THEN
                RETURN NEXT;
            END IF;
        END IF;
    END LOOP;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.find_copies IS
    'The canonical sources that a content repeats from their threshold on, with the share; NULL for one that could not '
    'be asked. What the agent''s leak defence leaves out is not asked. Source: agent memory primitives, 9 and 13.';
