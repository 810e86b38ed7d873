-- What a closing scope promotes by itself: what is important, in the name of whoever wanted it so.
CREATE OR REPLACE FUNCTION memwarden_internal.check_promotion(p_layer text, p_importance double precision)
RETURNS void
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    IF p_importance IS NOT NULL AND (p_layer IS NULL OR NOT p_importance BETWEEN 0 AND 1) THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'promote_from: 0 to 1, together with promote_to');
    ELSIF p_layer IS NOT NULL AND NOT EXISTS (SELECT FROM memwarden_data.layer AS l WHERE l.layer = p_layer) THEN
        PERFORM memwarden_internal.raise_error('unknown_object', format('layer %L', p_layer));
    END IF;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.check_promotion IS
    'Raises 42704 for an unknown layer, 22023 for an importance that is not 0 to 1 or comes without a layer.';

CREATE OR REPLACE FUNCTION memwarden_internal.promotes(p_scope_id bigint)
RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN EXISTS (SELECT FROM memwarden_data.scope AS s
                    WHERE s.lineage @> ARRAY[p_scope_id] AND s.closed_at IS NULL AND s.promote_to IS NOT NULL);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.promotes IS
    'Whether a scope, or an open one below it, is to promote what is important when it closes.';

CREATE OR REPLACE FUNCTION memwarden_internal.promotion_layers(p_scopes bigint[], p_layer text DEFAULT NULL)
RETURNS text[]
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN ARRAY(SELECT DISTINCT coalesce(p_layer, s.promote_to) FROM memwarden_data.scope AS s
                  WHERE s.scope_id = ANY (p_scopes) AND s.closed_at IS NULL AND coalesce(p_layer, s.promote_to) IS NOT NULL);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.promotion_layers IS
    'The layers into which these scopes promote what is important: p_layer, or what create_scope() was told.';

CREATE OR REPLACE FUNCTION memwarden_internal.may_see_item(p_principal_id bigint, p_org_id bigint, p_item_id uuid)
RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN EXISTS (SELECT FROM memwarden_data.item AS i
                    WHERE i.org_id = p_org_id AND i.item_id = p_item_id
                      AND memwarden_internal.sees_item(p_principal_id, i.scope_id, i.label_id, i.principal_id));
END
$function$;
COMMENT ON FUNCTION memwarden_internal.may_see_item IS 'Whether a principal may read an item.';

CREATE OR REPLACE FUNCTION memwarden_internal.promote_named(p_item_ids uuid[], p_target text, p_layer text)
RETURNS TABLE (item_id uuid, disposition text, request_id uuid, outcome text, reason text)
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
BEGIN
    FOREACH item_id IN ARRAY p_item_ids LOOP
        SELECT CASE WHEN p.outcome IN ('COMMITTED', 'MERGED', 'ALREADY_COMMITTED', 'DEFERRED') OR p.item_id IS NOT NULL
                    THEN 'promoted' ELSE 'released' END, p.request_id, p.outcome, p.reason
          INTO disposition, request_id, outcome, reason
          FROM memwarden.promote(promote_named.item_id, p_target, p_layer) AS p;
        RETURN NEXT;
    END LOOP;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.promote_named IS
    'Promotes these memories in the name of the caller, and returns the rows of close_scope().';

CREATE OR REPLACE FUNCTION memwarden_internal.promote_important(
    p_org_id bigint, p_scopes bigint[], p_target text, p_layer text DEFAULT NULL, p_importance double precision DEFAULT NULL,
    p_but uuid[] DEFAULT NULL, p_principal_id bigint DEFAULT NULL)
RETURNS TABLE (item_id uuid, disposition text, request_id uuid, outcome text, reason text)
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_caller  bigint := memwarden_internal.current_principal();
    v_acted   bigint := memwarden_internal.acted_for();
    v_act     uuid := memwarden_internal.acting_request();
    v_item    record;
    v_is_else boolean;
BEGIN
    IF p_layer IS NOT NULL THEN
        PERFORM memwarden_internal.require_principal();
    END IF;
    FOR v_item IN
        SELECT i.item_id, coalesce(p_layer, w.promote_to) AS layer,
               coalesce(p_principal_id, w.promote_by) AS principal_id
          FROM memwarden_data.item AS i
          JOIN memwarden_data.scope AS s ON s.scope_id = i.scope_id
          -- The nearest scope that was told something.
          LEFT JOIN LATERAL (SELECT t.promote_to, t.promote_from, t.promote_by FROM memwarden_data.scope AS t
                              WHERE t.scope_id = ANY (s.lineage) AND t.scope_id = ANY (p_scopes) AND t.promote_to IS NOT NULL
                              ORDER BY cardinality(t.lineage) DESC LIMIT 1) AS w ON p_layer IS NULL
          JOIN memwarden_data.principal AS p ON p.disabled_at IS NULL
           AND p.principal_id = coalesce(p_principal_id, w.promote_by)
         WHERE i.org_id = p_org_id AND i.scope_id = ANY (p_scopes) AND i.status = 'ACTIVE' AND i.kind IS DISTINCT FROM 'annotation'
           AND i.importance >= coalesce(p_importance, w.promote_from, 0.8) AND i.item_id <> ALL (coalesce(p_but, '{}'))
           AND (i.expires_at IS NULL OR i.expires_at > clock_timestamp())
           AND memwarden_internal.sees_item(p.principal_id, i.scope_id, i.label_id, i.principal_id)
         -- A call by hand is one transaction; the job takes another step.
         ORDER BY i.item_id LIMIT CASE WHEN p_but IS NULL THEN 100 END
    LOOP
        v_is_else := v_item.principal_id IS DISTINCT FROM v_caller;
        IF v_is_else AND v_acted IS NOT NULL THEN
            PERFORM memwarden_internal.stop_acting();
        END IF;
        IF v_is_else THEN
            PERFORM memwarden_internal.act_for(p_org_id, v_item.principal_id);
        END IF;
        SELECT p.item_id, p.disposition, p.request_id, p.outcome, p.reason INTO item_id, disposition, request_id, outcome, reason
          FROM memwarden_internal.promote_named(ARRAY[v_item.item_id], p_target, v_item.layer) AS p;
        IF v_is_else THEN
            PERFORM memwarden_internal.stop_acting();
        END IF;
        IF v_is_else AND v_acted IS NOT NULL THEN
            PERFORM memwarden_internal.act_for(p_org_id, v_acted, v_act);
        END IF;
        RETURN NEXT;
    END LOOP;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.promote_important IS
    'Promotes the important memories of scopes whose writers are locked out into p_target: into p_layer, or as create_scope() was '
    'told; in the name of p_principal_id, or of whoever told it. What that principal does not see is left out. '
    'p_but: leaves these out and takes all others; where NULL, at most 100. Returns the rows of close_scope(). Raises 28000 with '
    'p_layer and no identity.';
