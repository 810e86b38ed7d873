CREATE OR REPLACE FUNCTION memwarden_internal.permits_used(
    p_org_id bigint, p_principal_id bigint, p_scope_id bigint, p_layer text, p_since timestamptz)
RETURNS TABLE (at timestamptz, permits integer)
LANGUAGE plpgsql STABLE PARALLEL SAFE SECURITY INVOKER
AS $function$
BEGIN
    RETURN QUERY
    SELECT e.at, CASE WHEN e.place = a.place AND a.spent > 0 THEN a.spent
                      ELSE least(a.grain, a.share - (e.place::integer - 1) * a.grain) END
      FROM memwarden_data.allowance AS a
     CROSS JOIN LATERAL unnest(a.used_at) WITH ORDINALITY AS e (at, place)
     WHERE a.org_id = p_org_id AND a.principal_id = p_principal_id AND a.scope_id = p_scope_id AND a.layer = p_layer
       AND e.at > p_since;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.permits_used IS
    'Which permits of an allowance were used since: when, the last of them, and how many.';

CREATE OR REPLACE FUNCTION memwarden_internal.count_permits(
    p_org_id bigint, p_principal_id bigint, p_scope_id bigint, p_layer text, p_since timestamptz)
RETURNS integer
LANGUAGE plpgsql VOLATILE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN (SELECT coalesce(sum(u.permits), 0)
              FROM memwarden_internal.permits_used(p_org_id, p_principal_id, p_scope_id, p_layer, p_since) AS u);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.count_permits IS
    'How many permits of an allowance were used since, by transactions that have committed and by this one.';

CREATE OR REPLACE FUNCTION memwarden_internal.has_own_pace(p_org_id bigint, p_principal_id bigint, p_layer text)
RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL SAFE SECURITY INVOKER
AS $function$
BEGIN
    RETURN EXISTS (SELECT FROM memwarden_data.layer_setting AS s
                    WHERE s.org_id = p_org_id AND s.principal_id = p_principal_id AND s.layer IN ('*', p_layer)
                      AND s.name = 'rate_limit' AND s.value <> 'null');
END
$function$;
COMMENT ON FUNCTION memwarden_internal.has_own_pace IS 'Whether an agent has a rate limit of its own in a layer.';

-- The limit that holds for an agent in a layer, as gate 20 reads it.
CREATE OR REPLACE FUNCTION memwarden_internal.limit_of(p_org_id bigint, p_principal_id bigint, p_layer text)
RETURNS TABLE (rate_limit integer, rate_window interval, max_pending integer, agent text)
LANGUAGE plpgsql STABLE PARALLEL SAFE SECURITY INVOKER
AS $function$
BEGIN
    RETURN QUERY
    SELECT l.rate_limit, l.rate_window, l.max_pending,
           (SELECT p.name FROM memwarden_data.principal AS p
             WHERE p.principal_id = p_principal_id AND memwarden_internal.has_own_pace(p_org_id, p_principal_id, p_layer))
      FROM memwarden_data.kept_layer AS l
     WHERE l.org_id = p_org_id AND l.layer = p_layer AND l.principal_id IN (0, p_principal_id)
     ORDER BY l.principal_id DESC LIMIT 1;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.limit_of IS
    'How many writes of an agent a layer takes in which time; agent: its name, where the limit is its own; and how many '
    'of its requests may wait. rate_limit NULL: no limit.';

CREATE OR REPLACE FUNCTION memwarden_internal.permit_expected_at(
    p_org_id bigint, p_principal_id bigint, p_layer text, p_allowed integer, p_window interval, p_waiting integer, p_now timestamptz)
RETURNS timestamptz
LANGUAGE plpgsql VOLATILE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_used  integer := memwarden_internal.count_permits(p_org_id, p_principal_id, 0, p_layer, p_now - p_window);
    -- In the queue for permits that come back, behind those who take what is free.
    v_turn  integer := p_waiting - (p_allowed - v_used);
    v_round integer;
BEGIN
    IF v_turn < 0 THEN
        RETURN p_now;
    END IF;
    v_round := CASE WHEN v_turn < v_used THEN 0 ELSE 1 + (v_turn - v_used) / p_allowed END;
    v_turn := CASE WHEN v_turn < v_used THEN v_turn ELSE greatest(v_used - p_allowed, 0) + (v_turn - v_used) % p_allowed END;
    RETURN (SELECT min(u.at) + p_window * (1 + v_round)
              FROM (SELECT p.at, sum(p.permits) OVER (ORDER BY p.at ROWS UNBOUNDED PRECEDING) AS returned
                      FROM memwarden_internal.permits_used(p_org_id, p_principal_id, 0, p_layer, p_now - p_window) AS p) AS u
             WHERE u.returned > least(v_turn, v_used - 1));
END
$function$;
COMMENT ON FUNCTION memwarden_internal.permit_expected_at IS
    'When a permit of a rate limit is there for one who has p_waiting requests before it: each takes the one that comes back first.';

CREATE OR REPLACE FUNCTION memwarden_internal.count_pending(p_org_id bigint, p_principal_id bigint, p_layer text, p_most integer)
RETURNS integer
LANGUAGE plpgsql VOLATILE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN (SELECT count(*)
              FROM (SELECT FROM memwarden_data.write_request AS r
                     WHERE r.org_id = p_org_id AND r.principal_id = p_principal_id AND r.layer = p_layer AND r.outcome = 'DEFERRED'
                     LIMIT p_most) AS pending);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.count_pending IS 'How many requests of an agent wait for a layer, counted up to p_most.';

-- The outermost: what is opened inside a session belongs to it, or a task within it would begin anew.
CREATE OR REPLACE FUNCTION memwarden_internal.session_of(p_scope_id bigint)
RETURNS bigint
LANGUAGE plpgsql STABLE PARALLEL SAFE SECURITY INVOKER
AS $function$
BEGIN
    RETURN (SELECT s.scope_id
              FROM memwarden_data.scope AS t
              JOIN memwarden_data.scope AS s ON s.scope_id = ANY (t.lineage)
              JOIN memwarden_data.scope_kind AS k ON k.kind = s.kind
             WHERE t.scope_id = p_scope_id AND k.transient
             ORDER BY cardinality(s.lineage) LIMIT 1);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.session_of IS
    'The session that a scope belongs to: the outermost scope of a transient kind on its path; NULL for one that lasts.';
