-- Writers of one scope and layer serialise here, so that what a gate did not find is still absent at commit.
CREATE OR REPLACE FUNCTION memwarden_internal.lock_free_scope(p_org_id bigint, p_scope_id bigint, p_layer text)
RETURNS boolean
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
BEGIN
    -- Nobody is there nearly always: no subtransaction, no timeout to set.
    PERFORM FROM memwarden_data.write_lock AS w
      WHERE w.org_id = p_org_id AND w.scope_id = p_scope_id AND w.layer = p_layer
        FOR NO KEY UPDATE SKIP LOCKED;
    RETURN FOUND;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.lock_free_scope IS
    'Locks one scope and layer for this transaction if nobody holds it, and somebody has before.';

CREATE OR REPLACE FUNCTION memwarden_internal.lock_scope(p_org_id bigint, p_scope_id bigint, p_layer text)
RETURNS boolean
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
BEGIN
    RETURN memwarden_internal.lock_free_scope(p_org_id, p_scope_id, p_layer)
        OR memwarden_internal.wait_for_scope(p_org_id, p_scope_id, p_layer);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.lock_scope IS
    'Locks one scope and layer for this transaction; false when it stayed busy for lock_timeout (at most five '
    'minutes), or the layer''s lock_wait where none is set. Raises 28000 where the caller was disabled meanwhile.';

CREATE OR REPLACE FUNCTION memwarden_internal.wait_for_scope(p_org_id bigint, p_scope_id bigint, p_layer text)
RETURNS boolean
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_caller  bigint := memwarden_internal.current_principal();
    v_timeout text := memwarden_internal.bound_wait((SELECT l.lock_wait FROM memwarden_data.layer AS l WHERE l.layer = p_layer));
    v_locked  boolean;
BEGIN
    BEGIN
        IF NOT EXISTS (SELECT FROM memwarden_data.write_lock AS w
                        WHERE w.org_id = p_org_id AND w.scope_id = p_scope_id AND w.layer = p_layer) THEN
            -- Not while set_synonyms() holds the rows that there are, and not in a scope that is being closed.
            PERFORM FROM memwarden_data.organisation AS o WHERE o.org_id = p_org_id FOR KEY SHARE;
            INSERT INTO memwarden_data.write_lock (org_id, scope_id, layer)
            SELECT s.org_id, s.scope_id, p_layer
              FROM (SELECT c.org_id, c.scope_id FROM memwarden_data.scope AS c
                     WHERE c.scope_id = p_scope_id AND c.closed_at IS NULL FOR KEY SHARE) AS s
            ON CONFLICT DO NOTHING;
        END IF;
        PERFORM FROM memwarden_data.write_lock AS w
          WHERE w.org_id = p_org_id AND w.scope_id = p_scope_id AND w.layer = p_layer
        FOR NO KEY UPDATE;
        v_locked := FOUND;
    EXCEPTION WHEN lock_not_available OR deadlock_detected THEN
        -- Two transactions that write to two scopes each in opposite order: this one's write waits, so that the other ends.
        v_locked := false;
    END;
    PERFORM set_config('lock_timeout', v_timeout, true);
    PERFORM memwarden_internal.require_caller(v_caller);
    RETURN v_locked;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.wait_for_scope IS
    'The slow half of lock_scope(): makes the row where it is missing, unless the scope is closed, and waits for it.';

CREATE OR REPLACE FUNCTION memwarden_internal.require_caller(p_principal_id bigint)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
BEGIN
    -- A statement of its own, which sees what was committed during the wait.
    IF memwarden_internal.current_principal() IS DISTINCT FROM p_principal_id THEN
        PERFORM memwarden_internal.raise_not_identified();
    END IF;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.require_caller IS
    'Raises 28000 where the caller is no longer who it was before it waited: disabled, or its login bound to another.';

-- A batch locks all its scopes first, in one order: two batches in opposite orders cannot deadlock.
-- Only scopes the writer may write: others it could otherwise block. A batch is patient, since the one
-- before it may be as long as itself.
CREATE OR REPLACE FUNCTION memwarden_internal.lock_scopes(p_principal_id bigint, p_paths text[], p_layers text[])
RETURNS boolean
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_orgs    bigint[];
    v_scopes  bigint[];
    v_layers  text[];
    v_caller  bigint := memwarden_internal.current_principal();
    v_timeout text;
    v_locked  boolean := true;
BEGIN
    SELECT array_agg(t.org_id), array_agg(t.scope_id), array_agg(t.layer)
      INTO v_orgs, v_scopes, v_layers
      FROM (SELECT DISTINCT s.org_id, s.scope_id, s.lineage, l.layer
              FROM unnest(p_paths, p_layers) AS wanted (path, layer)
              JOIN memwarden_data.principal AS p ON p.principal_id = p_principal_id
              JOIN memwarden_data.scope AS home ON home.scope_id = p.home_scope_id
              JOIN memwarden_data.scope AS s ON s.path = coalesce(wanted.path, home.path)
              JOIN memwarden_data.layer AS l ON l.layer = wanted.layer
             -- Not asked of every scope of the store, whatever the planner makes of it.
             WHERE s.closed_at IS NULL OFFSET 0) AS t
     WHERE memwarden_internal.may_write(p_principal_id, t.scope_id, t.lineage);

    v_timeout := memwarden_internal.bound_wait(interval '5 minutes');
    BEGIN
        PERFORM FROM memwarden_data.organisation AS o
          WHERE o.org_id IN (SELECT t.org_id FROM unnest(v_orgs, v_scopes, v_layers) AS t (org_id, scope_id, layer)
                              WHERE NOT EXISTS (SELECT FROM memwarden_data.write_lock AS w
                                                 WHERE w.org_id = t.org_id AND w.scope_id = t.scope_id AND w.layer = t.layer))
            FOR KEY SHARE;
        INSERT INTO memwarden_data.write_lock (org_id, scope_id, layer)
        SELECT t.org_id, t.scope_id, t.layer
          FROM unnest(v_orgs, v_scopes, v_layers) AS t (org_id, scope_id, layer)
          JOIN (SELECT s.scope_id FROM memwarden_data.scope AS s
                 WHERE s.scope_id = ANY (v_scopes) AND s.closed_at IS NULL ORDER BY s.scope_id FOR KEY SHARE) AS s
            ON s.scope_id = t.scope_id
         WHERE NOT EXISTS (SELECT FROM memwarden_data.write_lock AS w
                            WHERE w.org_id = t.org_id AND w.scope_id = t.scope_id AND w.layer = t.layer)
         ORDER BY t.org_id, t.scope_id, t.layer
        ON CONFLICT DO NOTHING;

        PERFORM FROM memwarden_data.write_lock AS w
           JOIN unnest(v_orgs, v_scopes, v_layers) AS t (org_id, scope_id, layer)
             ON w.org_id = t.org_id AND w.scope_id = t.scope_id AND w.layer = t.layer
          ORDER BY w.org_id, w.scope_id, w.layer
            FOR NO KEY UPDATE OF w;
    EXCEPTION WHEN lock_not_available OR deadlock_detected THEN
        v_locked := false;
    END;
    PERFORM set_config('lock_timeout', v_timeout, true);
    PERFORM memwarden_internal.require_caller(v_caller);
    RETURN v_locked;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.lock_scopes IS
    'Locks every (scope, layer) of a batch that the principal may write, in ascending order; false, and none locked, '
    'when one stayed busy for lock_timeout, or five minutes where none is set or more. Raises 28000 where the caller was disabled '
    'meanwhile.';
