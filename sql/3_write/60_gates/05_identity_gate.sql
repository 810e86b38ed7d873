-- Who writes, and into which scope and layer?
CREATE OR REPLACE FUNCTION memwarden_internal.gate_identity()
RETURNS trigger
LANGUAGE plpgsql VOLATILE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_started      timestamptz := clock_timestamp();
    v_principal_id bigint;
    v_who          memwarden_data.write_terms;
BEGIN
    -- A deferred request goes where it was going, though the scope may have moved and another taken its path.
    IF TG_OP = 'UPDATE' AND NEW.scope_id IS NOT NULL THEN
        NEW.scope_path := (SELECT s.path FROM memwarden_data.scope AS s WHERE s.scope_id = NEW.scope_id);
    END IF;
    v_principal_id := CASE TG_OP
        -- A retry is made by a job in the name of who asked; its rights are asked for again.
        WHEN 'UPDATE' THEN NEW.principal_id
        -- current_principal(), its usual half written out.
        ELSE coalesce(CASE WHEN current_setting('memwarden.acting', true) <> '' THEN memwarden_internal.acted_for() END,
                      (SELECT b.principal_id FROM memwarden_data.principal_login AS b
                        WHERE b.login_role = session_user AND b.role_oid = to_regrole(quote_ident(session_user))),
                      memwarden_internal.current_principal()) END;
    IF TG_OP = 'INSERT' AND (NEW.standing).principal_id = v_principal_id THEN
        -- Of a batch the door has asked for all at once.
        v_who := NEW.standing;
    ELSE
        v_who := memwarden_internal.terms_of(NULL::memwarden_data.write_terms, v_principal_id, NEW.layer, NEW.scope_path);
        IF v_who.principal_id IS NULL THEN
            -- The principal, the layer or the scope is none.
            v_who := (
                SELECT jsonb_populate_record(NULL::memwarden_data.write_terms, jsonb_build_object(
                           'principal_id', p.principal_id, 'org_id', p.org_id, 'layer_name', l.layer))
                  FROM memwarden_data.principal AS p
                  LEFT JOIN memwarden_data.layer AS l ON l.layer = NEW.layer
                 WHERE p.principal_id = v_principal_id AND p.disabled_at IS NULL);
        END IF;
    END IF;
    NEW.standing := NULL;

    IF v_who.principal_id IS NULL AND TG_OP = 'INSERT' THEN
        PERFORM memwarden_internal.raise_not_identified();
    ELSIF v_who.principal_id IS NULL THEN
        NEW.outcome := 'REJECTED';
        NEW.reason := 'PRINCIPAL_DISABLED';
    ELSE
        NEW.principal_id := v_who.principal_id;
        NEW.org_id := v_who.org_id;
    END IF;

    IF TG_OP = 'INSERT' AND current_setting('memwarden.ids_are_new', true) IS DISTINCT FROM 'on' THEN
        -- Not through a door, which has looked: the gates behind would act for a row that ON CONFLICT then drops.
        IF memwarden_internal.stored_requests(ARRAY[NEW.request_id]) IS NOT NULL THEN
            RETURN NULL;
        END IF;
    END IF;
    IF NEW.outcome IS NULL AND TG_OP = 'INSERT' THEN
        IF split_part(NEW.intake_fault, ' ', 1) = 'INVALID_REQUEST_ID' THEN
            NEW.outcome := 'REJECTED';
            NEW.reason := 'INVALID_REQUEST_ID';
        ELSIF split_part(NEW.intake_fault, ' ', 1) = 'REQUEST_ID_REUSED' THEN
            NEW.outcome := 'REJECTED';
            NEW.reason := 'REQUEST_ID_REUSED';
            NEW.detail := jsonb_build_object('request_id', split_part(NEW.intake_fault, ' ', 2));
        END IF;
    END IF;

    IF NEW.outcome IS NULL THEN
        IF v_who.layer_name IS NULL THEN
            NEW.outcome := 'REJECTED';
            -- A batch element that could not even be read names no layer either.
            NEW.reason := coalesce(split_part(NEW.intake_fault, ' ', 1), 'UNKNOWN_LAYER');
        ELSIF v_who.may_write AND v_who.closed_at IS NULL THEN
            NEW.scope_id := v_who.scope_id;
            NEW.admission := v_who.admission;
            NEW.terms := v_who;
            IF NEW.class IS NOT NULL THEN
                NEW.terms := jsonb_populate_record(NEW.terms, jsonb_build_object('class', (
                    SELECT to_jsonb(c) FROM memwarden_data.write_class AS c
                     WHERE c.class = NEW.class AND c.org_id IN (0, NEW.org_id) ORDER BY c.org_id DESC LIMIT 1)));
            END IF;
            IF v_who.has_anchors AND NOT memwarden_internal.is_anchored_in(v_who.principal_id, v_who.scope_id) THEN
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
COMMENT ON FUNCTION memwarden_internal.gate_identity IS
    'Trigger gate_05_identity: resolves the writer from login or ticket, the scope and the layer. Source: chapter '
    '12.1.4, four-layer design 7.';

CREATE OR REPLACE FUNCTION memwarden_internal.is_anchored(p_path text, p_required text[], p_nullable text[])
RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
RETURN (p_required = '{}' AND p_nullable IS NULL)
    OR (p_required <@ regexp_split_to_array(ltrim(p_path, '/'), '/[^/]+/?')
        AND (p_nullable IS NULL OR array_remove(regexp_split_to_array(ltrim(p_path, '/'), '/[^/]+/?'), '') <@ (p_required || p_nullable)));
COMMENT ON FUNCTION memwarden_internal.is_anchored IS
    'Whether the kinds of scope on a path include every required one and, where nullable ones are named, no others. '
    'Source: agent memory primitives, 1.';

CREATE OR REPLACE FUNCTION memwarden_internal.is_anchored_in(p_principal_id bigint, p_scope_id bigint)
RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN (SELECT memwarden_internal.is_anchored(s.path, p.anchor_required, p.anchor_nullable)
              FROM memwarden_data.principal AS p, memwarden_data.scope AS s
             WHERE p.principal_id = p_principal_id AND s.scope_id = p_scope_id);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.is_anchored_in IS 'is_anchored() of a principal and a scope.';

CREATE OR REPLACE FUNCTION memwarden_internal.is_current_request_id(p_id uuid)
RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL SAFE SECURITY INVOKER
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
COMMENT ON FUNCTION memwarden_internal.is_current_request_id IS
    'A request id is a UUID version 7 of the last 24 hours (5 minutes ahead, for clocks that differ): '
    'requests are partitioned by it, and an absurd time would land outside every partition.';
