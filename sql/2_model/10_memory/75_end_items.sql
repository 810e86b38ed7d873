CREATE OR REPLACE FUNCTION memwarden_internal.end_items(
    p_org_id bigint, p_item_ids uuid[], p_status text, p_operation text, p_reason text, p_principal_id bigint,
        p_request_id uuid DEFAULT NULL,
    p_now timestamptz DEFAULT NULL)
RETURNS SETOF uuid
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    -- What one call ends is one change.
    v_request_id uuid := coalesce(p_request_id, memwarden_internal.uuid7());
BEGIN
    RETURN QUERY
    WITH ended AS (
        UPDATE memwarden_data.item AS i
           -- The clock may step back; the versions of an item do not.
           SET status = p_status, updated_at = coalesce(p_now, greatest(clock_timestamp(), i.updated_at + interval '1 microsecond'))
         WHERE i.org_id = p_org_id AND i.item_id = ANY (p_item_ids) AND i.status = 'ACTIVE'
        RETURNING i.org_id, i.item_id, i.version_id, i.updated_at
    ), closed AS (
        UPDATE memwarden_data.version AS v
           SET status = p_status, recorded_during = tstzrange(lower(v.recorded_during), e.updated_at)
          FROM ended AS e
         WHERE v.org_id = e.org_id AND v.version_id = e.version_id AND v.tier = 'hot'
        RETURNING v.org_id, v.item_id, v.version_id, v.version, v.previous_version_id, v.restores_version_id, v.absorbed_version_id,
                  v.scope_id, v.layer, v.kind, v.subject, v.predicate, v.content_hash, v.confidence, v.importance, v.evidence,
                  v.principal_id, v.label_id, v.request_id, v.recorded_during, v.valid_during, v.expires_at, v.class,
                  v.subject_key_id, v.sealed
    ), aside AS (
        SELECT memwarden_internal.set_vectors_aside(c.org_id, c.scope_id, array_agg(c.item_id)) FROM closed AS c GROUP BY c.org_id,
            c.scope_id
    ), untrue AS (
        SELECT memwarden_internal.end_values(e.org_id, e.item_id, e.updated_at) FROM ended AS e
    ), logged AS (
        INSERT INTO memwarden_data.log (
            recorded_at, transaction_id, system_identifier, org_id, operation, item_id, version_id,
            previous_version_id, scope_id, layer, principal_id, request_id, reason, snapshot_hash)
        SELECT upper(c.recorded_during), pg_current_xact_id(), memwarden_internal.system_identifier(), c.org_id, p_operation, c.item_id,
               c.version_id, NULL, c.scope_id, c.layer, p_principal_id, v_request_id, p_reason,
               memwarden_internal.snapshot_hash(
                   c.version_id, c.item_id, c.version, c.previous_version_id, c.restores_version_id, c.absorbed_version_id,
                       c.scope_id, c.layer,
                   c.kind, c.subject, c.predicate, c.content_hash, c.confidence, c.importance, c.evidence, c.principal_id, c.label_id,
                   c.request_id, lower(c.recorded_during), c.valid_during, c.expires_at, c.class,
                   c.subject_key_id, c.sealed)
          FROM closed AS c
        RETURNING item_id
    )
    SELECT g.item_id FROM logged AS g
     WHERE (SELECT count(*) FROM aside) + (SELECT count(*) FROM untrue) >= 0;
    -- Who takes back what it said of a memory says nothing of it any more.
    PERFORM memwarden_internal.settle_standing(p_org_id, memwarden_internal.cited_item(i.subject))
       FROM memwarden_data.item AS i
      WHERE i.org_id = p_org_id AND i.item_id = ANY (p_item_ids) AND i.kind = 'annotation' AND i.status = p_status;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.end_items IS
    'Ends active items: head and version take the status, the log says who and why, what was held true by them no '
    'longer is, the vectors go. Returns those it ended; what had ended stays as it is. p_now: the moment, later than '
    'any change of them; by default that of each. The caller holds the scope. Source: chapter 12.5.';

CREATE OR REPLACE FUNCTION memwarden_internal.set_vectors_aside(p_org_id bigint, p_scope_id bigint, p_item_ids uuid[])
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_shelf   integer;
    v_wide    integer;
    v_shelved boolean;
BEGIN
    -- The shared shelf by its name: through the parent a statement locks every partition that there is.
    WITH gone AS (
        DELETE FROM memwarden_data.embedding_shared AS e
         WHERE e.org_id = p_org_id AND e.scope_id = p_scope_id AND e.item_id = ANY (p_item_ids)
        RETURNING e.org_id, e.scope_id, e.item_id, e.model_id, e.embedding
    ), kept AS (
        INSERT INTO memwarden_data.past_embedding (org_id, scope_id, item_id, version_id, model_id, embedding)
        SELECT g.org_id, g.scope_id, g.item_id, i.version_id, g.model_id, g.embedding
          FROM gone AS g
          JOIN memwarden_data.embedding_model AS m ON m.model_id = g.model_id
          JOIN memwarden_data.item AS i ON i.org_id = g.org_id AND i.item_id = g.item_id
         -- Beside others that of the words is kept as well: what comes back has all that it had.
         WHERE m.name <> 'lexical' OR EXISTS (SELECT FROM gone AS h WHERE h.item_id = g.item_id AND h.model_id <> g.model_id)
    )
    SELECT bool_or(s.scope_id <> 0), min(s.shelf) INTO v_shelved, v_wide
      FROM memwarden_data.shelf AS s
     WHERE s.org_id = p_org_id AND s.shelf <> 0
       AND (s.scope_id = p_scope_id AND (s.vacated_at IS NULL OR NOT s.cleared) OR s.scope_id = 0 AND s.vacated_at IS NULL);
    -- Below zero: copies, of which none is kept.
    IF v_wide < 0 THEN
        PERFORM memwarden_internal.remove_copies(v_wide, p_item_ids);
    END IF;
    IF v_shelved THEN
        -- A move may have left a copy, which is the same: both go.
        FOR v_shelf IN SELECT s.shelf FROM memwarden_data.shelf AS s
                        WHERE s.org_id = p_org_id AND s.scope_id = p_scope_id AND (s.vacated_at IS NULL OR NOT s.cleared) LOOP
            EXECUTE format(
                'WITH gone AS ('
                '    DELETE FROM memwarden_data.%I AS e WHERE e.org_id = $1 AND e.scope_id = $2 AND e.item_id = ANY ($3)'
                '    RETURNING e.org_id, e.scope_id, e.item_id, e.model_id, e.embedding) '
                'INSERT INTO memwarden_data.past_embedding (org_id, scope_id, item_id, version_id, model_id, embedding) '
                'SELECT g.org_id, g.scope_id, g.item_id, i.version_id, g.model_id, g.embedding'
                '  FROM gone AS g'
                '  JOIN memwarden_data.embedding_model AS m ON m.model_id = g.model_id'
                '  JOIN memwarden_data.item AS i ON i.org_id = g.org_id AND i.item_id = g.item_id'
                ' WHERE m.name <> ''lexical'' OR EXISTS (SELECT FROM gone AS h WHERE h.item_id = g.item_id AND h.model_id <> g.model_id)'
                '    ON CONFLICT DO NOTHING',
                memwarden_internal.shelf_name(v_shelf))
              USING p_org_id, p_scope_id, p_item_ids;
        END LOOP;
    END IF;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.set_vectors_aside IS
    'Takes the vectors of items out of retrieval, copies too, before their heads move on. Those that the words cannot give back '
    'are kept with the version, and beside them what they can.';
