-- Who writes, and into which scope and layer?
CREATE OR REPLACE FUNCTION memwarden_internal.gate_identity()
RETURNS trigger
LANGUAGE plpgsql VOLATILE PARALLEL RESTRICTED SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $function$
DECLARE
    v_started timestamptz := clock_timestamp();
    v_who     record;
BEGIN
    -- A deferred request goes where it was going, though the scope may have moved and another taken its path.
    IF TG_OP = 'UPDATE' AND NEW.scope_id IS NOT NULL THEN
        NEW.scope_path := (SELECT s.path FROM memwarden_data.scope AS s WHERE s.scope_id = NEW.scope_id);
    END IF;
    -- A retry is made by a job in the name of who asked; its rights are asked for again.
    SELECT p.principal_id, p.org_id, s.scope_id, s.closed_at, l.layer, l.admission,
           -- may_write(), written out: every write pays for a call.
           EXISTS (SELECT FROM memwarden_data.scope_grant AS g
                    WHERE g.principal_id = p.principal_id AND g.writes
                      AND (g.scope_id = s.scope_id OR (g.descendants AND g.scope_id = ANY (s.lineage)))) AS may_write,
           memwarden_internal.is_anchored(s.path, p.anchor_required, p.anchor_nullable) AS is_anchored,
           ROW (p.name, p.validated, p.role_id, p.clearance, p.domains, a.write_budget, s.kind,
                l.writers, l.direct_writes, coalesce(r.rate_limit, l.rate_limit), coalesce(r.rate_window, l.rate_window), l.max_pending,
                l.max_content_bytes, l.max_text_length, l.max_ttl, l.default_ttl, l.embedding, coalesce(s.text_search_config, l.text_search_config), l.same_key,
                l.idempotency_window, l.default_confidence, l.validation_weights, l.confidence_weights,
                l.fact_threshold, l.min_authority, l.min_external, l.external_types, l.self_reference, l.evidence_half_life,
                l.extend_validity, l.duplicate_similarity, l.topic_similarity, l.contradiction_score, l.conflict, l.conflict_gap, NULL,
                (SELECT d.rules FROM memwarden_data.durability_ruleset AS d
                  WHERE d.org_id IN (0, p.org_id) AND d.layer = l.layer ORDER BY d.org_id DESC LIMIT 1),
                m.model_id, m.dimension,
                EXISTS (SELECT FROM memwarden_data.policy_set AS t WHERE t.org_id IN (0, p.org_id) AND 'WRITE' = ANY (t.operations)),
                EXISTS (SELECT FROM memwarden_data.canonical_source AS c WHERE c.org_id IN (0, p.org_id) AND c.enabled),
                EXISTS (SELECT FROM memwarden_data.verifier AS v WHERE v.org_id IN (0, p.org_id) AND v.layer = l.layer AND v.purpose = 'verify'),
                EXISTS (SELECT FROM memwarden_data.verifier AS v WHERE v.org_id IN (0, p.org_id) AND v.layer = l.layer AND v.purpose = 'gate'),
                EXISTS (SELECT FROM memwarden_data.verifier AS v WHERE v.org_id IN (0, p.org_id) AND v.layer = l.layer AND v.purpose = 'judge'),
                EXISTS (SELECT FROM memwarden_data.predicate AS d
                         WHERE d.org_id IN (0, p.org_id)
                           AND (d.inverse IS NOT NULL OR d.disjoint <> '{}' OR d.subject_schema IS NOT NULL OR d.object_schema IS NOT NULL)),
                EXISTS (SELECT FROM memwarden_data.integrity_rule AS c WHERE c.org_id IN (0, p.org_id) AND c.layer IN ('*', l.layer)),
                EXISTS (SELECT FROM memwarden_data.noise AS x
                         WHERE x.org_id = p.org_id AND x.scope_id = s.scope_id AND x.layer = l.layer AND x.expires_at > v_started),
                l.admission = 'full' AND EXISTS (SELECT FROM memwarden_data.approval_policy AS y
                                                  WHERE y.org_id IN (0, p.org_id) AND y.layer = l.layer AND y.approval <> 'never')
                OR l.admission <> 'free' AND p.reputation < 1 AND p.reputation < (
                    SELECT o.reputation_threshold FROM memwarden_data.organisation AS o WHERE o.org_id = p.org_id),
                (SELECT to_jsonb(c) FROM memwarden_data.write_class AS c
                  WHERE NEW.class IS NOT NULL AND c.class = NEW.class AND c.org_id IN (0, p.org_id) ORDER BY c.org_id DESC LIMIT 1),
                (SELECT u.pack FROM memwarden_data.pack_use AS u
                  WHERE u.org_id IN (0, p.org_id) AND (u.principal_id IS NULL OR u.principal_id = p.principal_id)
                    AND (u.scope_id IS NULL OR u.scope_id = ANY (s.lineage))
                  ORDER BY u.org_id = 0, u.depth DESC LIMIT 1),
                EXISTS (SELECT FROM memwarden_data.entity AS e WHERE e.org_id IN (0, p.org_id))
               )::memwarden_data.write_terms AS terms
      INTO v_who
      FROM memwarden_data.principal AS p
      LEFT JOIN memwarden_data.scope AS home ON home.scope_id = p.home_scope_id
      LEFT JOIN memwarden_data.scope AS s ON s.path = coalesce(NEW.scope_path, home.path)
      LEFT JOIN memwarden_data.layer AS l ON l.layer = NEW.layer
      LEFT JOIN LATERAL (SELECT u.model_id FROM memwarden_data.embedding_use AS u
                          WHERE u.org_id IN (0, p.org_id) AND u.is_active ORDER BY u.org_id DESC LIMIT 1) AS n ON true
      LEFT JOIN memwarden_data.embedding_model AS m ON m.model_id = n.model_id
      LEFT JOIN memwarden_data.access_role AS a ON a.role_id = p.role_id
      LEFT JOIN memwarden_data.rate_limit AS r ON r.org_id = p.org_id AND r.principal_id = p.principal_id AND r.layer = NEW.layer
     WHERE p.disabled_at IS NULL
       AND p.principal_id = CASE TG_OP
               WHEN 'UPDATE' THEN NEW.principal_id
               -- current_principal(), its usual half written out.
               ELSE coalesce(CASE WHEN current_setting('memwarden.ending', true) <> '' THEN memwarden_internal.owner_of_ending_session() END,
                             (SELECT b.principal_id FROM memwarden_data.principal_login AS b WHERE b.login_role = session_user),
                             memwarden_internal.current_principal()) END;

    IF v_who.principal_id IS NULL AND TG_OP = 'INSERT' THEN
        PERFORM memwarden_internal.raise_error('not_identified', format('login role %I', session_user));
    ELSIF v_who.principal_id IS NULL THEN
        NEW.outcome := 'REJECTED';
        NEW.reason := 'PRINCIPAL_DISABLED';
    ELSE
        NEW.principal_id := v_who.principal_id;
        NEW.org_id := v_who.org_id;
    END IF;

    IF NEW.outcome IS NULL AND TG_OP = 'INSERT' THEN
        IF EXISTS (SELECT FROM memwarden_data.write_request AS r WHERE r.request_id = NEW.request_id) THEN
            -- A replayed request id stores nothing; the door answers with the first request.
            RETURN NULL;
        ELSIF split_part(NEW.intake_fault, ' ', 1) = 'INVALID_REQUEST_ID' THEN
            NEW.outcome := 'REJECTED';
            NEW.reason := 'INVALID_REQUEST_ID';
        END IF;
    END IF;

    IF NEW.outcome IS NULL THEN
        IF v_who.layer IS NULL THEN
            NEW.outcome := 'REJECTED';
            -- A batch element that could not even be read names no layer either.
            NEW.reason := coalesce(split_part(NEW.intake_fault, ' ', 1), 'UNKNOWN_LAYER');
        ELSIF v_who.may_write AND v_who.closed_at IS NULL THEN
            NEW.scope_id := v_who.scope_id;
            NEW.admission := v_who.admission;
            NEW.terms := v_who.terms;
            IF NOT v_who.is_anchored THEN
                NEW.outcome := 'REJECTED';
                NEW.reason := 'ANCHOR_MISMATCH';
            END IF;
        ELSE
            NEW.outcome := 'REJECTED';
            -- A scope the writer cannot see and one that does not exist answer alike.
            NEW.reason := CASE
                WHEN v_who.scope_id IS NULL OR NOT memwarden_internal.may_read(v_who.principal_id, v_who.scope_id) THEN 'UNKNOWN_SCOPE'
                WHEN v_who.may_write THEN 'SCOPE_CLOSED'
                ELSE 'SCOPE_READ_ONLY' END;
        END IF;
    END IF;

    NEW.trail := NEW.trail || memwarden_internal.gate_entry(TG_NAME, NEW.outcome, NEW.reason, v_started);
    RETURN NEW;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.gate_identity() IS
    'Trigger gate_05_identity: resolves the writer from login or ticket, the scope and the layer. Source: chapter 12.1.4, four-layer design 7.';
REVOKE ALL ON FUNCTION memwarden_internal.gate_identity() FROM PUBLIC;

CREATE OR REPLACE FUNCTION memwarden_internal.is_anchored(p_path text, p_required text[], p_nullable text[])
RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
RETURN (p_required = '{}' AND p_nullable IS NULL)
    OR (p_required <@ regexp_split_to_array(ltrim(p_path, '/'), '/[^/]+/?')
        AND (p_nullable IS NULL OR array_remove(regexp_split_to_array(ltrim(p_path, '/'), '/[^/]+/?'), '') <@ (p_required || p_nullable)));
COMMENT ON FUNCTION memwarden_internal.is_anchored(text, text[], text[]) IS
    'Whether the kinds of scope on a path include every required one and, where nullable ones are named, no others. Source: agent memory primitives, 1.';
REVOKE ALL ON FUNCTION memwarden_internal.is_anchored(text, text[], text[]) FROM PUBLIC;

CREATE OR REPLACE FUNCTION memwarden_internal.is_current_request_id(p_id uuid)
RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL SAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $function$
DECLARE
    v_id  bytea := uuid_send(p_id);
    v_now timestamptz := clock_timestamp();
BEGIN
    RETURN get_byte(v_id, 6) >> 4 = 7
       AND substring(v_id FROM 1 FOR 6)
           BETWEEN substring(int8send((extract(epoch FROM v_now - interval '24 hours') * 1000)::bigint) FROM 3)
               AND substring(int8send((extract(epoch FROM v_now + interval '5 minutes') * 1000)::bigint) FROM 3);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.is_current_request_id(uuid) IS
    'A request id is a UUID version 7 of the last 24 hours (5 minutes ahead, for clocks that differ): '
    'requests are partitioned by it, and an absurd time would land outside every partition.';
REVOKE ALL ON FUNCTION memwarden_internal.is_current_request_id(uuid) FROM PUBLIC;
