CREATE OR REPLACE FUNCTION memwarden_internal.keep_reader(p_principal_id bigint)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
-- What is kept serves others too: how exactly the caller wants numbers written is not in it.
SET extra_float_digits = 1
AS $function$
BEGIN
    -- Elsewhere a row that another took away meanwhile would be an error, and two that keep the same at once would be one too.
    IF current_setting('transaction_isolation') <> 'read committed' THEN
        RETURN;
    END IF;
    -- As keep_terms() does: nobody waits.
    DELETE FROM memwarden_data.kept_reader AS k
     WHERE k.ctid = ANY (ARRAY(SELECT o.ctid FROM memwarden_data.kept_reader AS o
                                WHERE o.principal_id = p_principal_id FOR UPDATE SKIP LOCKED));
    INSERT INTO memwarden_data.kept_reader (principal_id, org_id, generation, rule, rule_made, labels, model_id, model, dimension,
                                            vector_weight, languages, layers, hedges, packs_have_rules, relevance_threshold)
    SELECT v.principal_id, v.org_id,
           (SELECT coalesce(sum(c.weight), 0) FROM memwarden_data.settings_change AS c
             WHERE c.org_id IN (0, v.org_id, -1, -1 - v.org_id)),
           r.oid, r.xmin, v.labels, v.model_id, v.model, v.dimension, v.vector_weight, v.languages, v.layers, v.hedges,
           v.packs_have_rules, v.relevance_threshold
      FROM memwarden_data.reader_terms AS v, pg_rewrite AS r
     WHERE v.principal_id = p_principal_id AND r.ev_class = 'memwarden_data.reader_terms'::regclass;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.keep_reader IS
    'Keeps what settings make of a principal that reads, at isolation level READ COMMITTED; nothing elsewhere.';
