-- On what terms somebody writes somewhere. What settings make of the writer is asked of a row that was kept, as long as it
-- holds; what is the scope's, what writes change and what time changes is asked now, in the same statement.
-- p_form: NULL::memwarden_data.write_terms, which is the answer where there are none. The type is the storage's, which is
-- not there yet when the function is made.
CREATE OR REPLACE FUNCTION memwarden_internal.terms_of(p_form anyelement, p_principal_id bigint, p_layer text, p_path text)
RETURNS anyelement
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_found record;
    v_terms record;
BEGIN
    FOR v_try IN 1..100 LOOP
        SELECT t.terms, t.scope_id, t.closed_at, t.may_write, t.kind, t.text_search_config, t.has_noise, t.has_agreed, t.pack,
               t.has_entities, t.plain_label_id
          INTO v_found
          FROM memwarden_data.terms_at AS t
         WHERE t.principal_id = p_principal_id AND t.layer = p_layer
           AND t.scope_id = coalesce((SELECT n.scope_id FROM memwarden_data.scope AS n WHERE n.path = p_path),
                                     (SELECT p.home_scope_id FROM memwarden_data.principal AS p
                                       WHERE p.principal_id = p_principal_id AND p_path IS NULL))
         LIMIT 1;
        EXIT WHEN FOUND;
        IF p_path IS NOT NULL AND NOT EXISTS (SELECT FROM memwarden_data.scope AS n WHERE n.path = p_path)
            OR NOT memwarden_internal.keep_terms(p_principal_id, p_layer) THEN
            RETURN p_form;
        ELSIF v_try = 100 THEN
            PERFORM memwarden_internal.raise_error('store_busy', 'settings change faster than they can be read');
        END IF;
    END LOOP;
    v_terms := v_found.terms;
    -- In one statement: a new connection plans each.
    SELECT v_found.scope_id, v_found.closed_at, v_found.may_write, v_found.kind,
           coalesce(v_found.text_search_config, v_terms.text_search_config), v_found.has_noise,
           v_terms.asks_approval OR v_found.has_agreed, v_found.pack, v_found.has_entities, v_found.plain_label_id
      INTO v_terms.scope_id, v_terms.closed_at, v_terms.may_write, v_terms.scope_kind, v_terms.text_search_config, v_terms.has_noise,
           v_terms.asks_approval, v_terms.pack, v_terms.has_entities, v_terms.plain_label_id;
    RETURN v_terms;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.terms_of IS
    'On what terms a principal writes in a layer of a scope, given its path; NULL: its home. NULL where it is disabled, or where '
    'one of the three is none. Raises 55P03 where settings change all the time.';

CREATE OR REPLACE FUNCTION memwarden_internal.keep_terms(p_principal_id bigint, p_layer text)
RETURNS boolean
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
BEGIN
    -- Whoever keeps the same at the same time keeps it twice, and neither waits. Elsewhere a row that another took away
    -- meanwhile would be an error.
    IF current_setting('transaction_isolation') = 'read committed' THEN
        DELETE FROM memwarden_data.kept_terms AS k
         WHERE k.ctid = ANY (ARRAY(SELECT o.ctid FROM memwarden_data.kept_terms AS o
                                    WHERE o.principal_id = p_principal_id AND o.layer = p_layer FOR UPDATE SKIP LOCKED));
    END IF;
    -- The settings and their generation in one statement: as one snapshot has them.
    INSERT INTO memwarden_data.kept_terms (principal_id, layer, org_id, home_scope_id, has_packs, generation, rule, rule_made, terms, plain)
    SELECT v.principal_id, v.layer, v.org_id, v.home_scope_id, v.has_packs,
           (SELECT coalesce(sum(c.weight), 0) FROM memwarden_data.settings_change AS c WHERE c.org_id IN (0, v.org_id)),
           r.oid, r.xmin, v.terms, v.plain
      FROM memwarden_data.layer_terms AS v, pg_rewrite AS r
     WHERE v.principal_id = p_principal_id AND v.layer = p_layer AND r.ev_class = 'memwarden_data.layer_terms'::regclass;
    RETURN FOUND;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.keep_terms IS
    'Keeps what settings make of a principal in a layer; false where one of them is none, or disabled.';
