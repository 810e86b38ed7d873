-- Lock order: a writer holds its scope and then shares the consent. So who ends memories takes scopes only while it holds no
-- consent: a withdrawal is recorded first, and carried out by transactions of its own.
CREATE OR REPLACE FUNCTION memwarden_internal.enforce_next_consent(p_after uuid)
RETURNS uuid
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
-- Also what is sent through the gates waits no longer for its scope: several scopes are held here.
SET lock_timeout = '100ms'
AS $function$
DECLARE
    v_state   record;
    v_classes text[];
BEGIN
    SELECT s.org_id, s.purpose, s.consent_id, array_agg(s.subject_form) AS forms INTO v_state
      FROM memwarden_data.consent_state AS s
     WHERE s.state = 'withdrawn' AND s.enforced_at IS NULL AND (p_after IS NULL OR s.consent_id > p_after)
     GROUP BY s.org_id, s.purpose, s.consent_id ORDER BY s.consent_id LIMIT 1;
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    v_classes := memwarden_internal.classes_of_purpose(v_state.org_id, v_state.purpose);
    BEGIN
        PERFORM memwarden_internal.end_without_consent(v_state.org_id, v_state.forms, v_classes);
        PERFORM memwarden_internal.refuse_without_consent(v_state.org_id, v_state.forms, v_classes);
    EXCEPTION WHEN lock_not_available THEN
        RAISE NOTICE 'what consent % ends is in use', v_state.consent_id;
    END;
    RETURN v_state.consent_id;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.enforce_next_consent IS
    'Ends memories and refuses requests of the next withdrawal, by number, that is not carried out. Returns its number; '
    'NULL when there is none.';
GRANT EXECUTE ON FUNCTION memwarden_internal.enforce_next_consent TO memwarden_jobs, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden_internal.end_without_consent(p_org_id bigint, p_forms text[], p_classes text[])
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_place record;
BEGIN
    FOR v_place IN
        SELECT i.scope_id, i.layer, array_agg(i.item_id) AS item_ids
          FROM memwarden_internal.items_resting_on(p_org_id, p_forms, p_classes) AS i
         GROUP BY i.scope_id, i.layer ORDER BY i.scope_id, i.layer
    LOOP
        -- Busy now: the next run takes it. Nobody waits here with another scope in hand.
        IF EXISTS (SELECT FROM memwarden_data.write_lock AS w
                    WHERE w.org_id = p_org_id AND w.scope_id = v_place.scope_id AND w.layer = v_place.layer
                      FOR NO KEY UPDATE SKIP LOCKED)
           -- Of a scope that is closed there is no such row: nobody writes there any more.
           OR NOT EXISTS (SELECT FROM memwarden_data.write_lock AS w
                           WHERE w.org_id = p_org_id AND w.scope_id = v_place.scope_id AND w.layer = v_place.layer) THEN
            PERFORM memwarden_internal.end_items(p_org_id, v_place.item_ids, 'RETRACTED', 'RETRACT', 'consent withdrawn', 0);
        END IF;
    END LOOP;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.end_without_consent IS
    'Retracts the memories of a subject in some classes, wherever nobody writes just now.';

CREATE OR REPLACE FUNCTION memwarden_internal.refuse_without_consent(p_org_id bigint, p_forms text[], p_classes text[])
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_request_id uuid;
BEGIN
    FOR v_request_id IN
        SELECT r.request_id FROM memwarden_data.write_request AS r
         WHERE r.outcome = 'DEFERRED' AND r.org_id = p_org_id AND r.class = ANY (p_classes)
           AND memwarden_internal.current_form(p_org_id, r.subject) = ANY (p_forms)
         ORDER BY r.request_id
           FOR UPDATE SKIP LOCKED
    LOOP
        -- Its gate for consent says no before another has it wait.
        PERFORM memwarden_internal.send_again(v_request_id);
    END LOOP;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.refuse_without_consent IS
    'Sends requests that wait, about a subject and of some classes, through the gates, which refuse them.';

CREATE OR REPLACE FUNCTION memwarden_internal.conclude_consent(p_consent_id uuid)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_state   record;
    v_classes text[];
BEGIN
    -- Held before anything is looked for: what comes back meanwhile by another way waits, and has it looked for again.
    SELECT h.org_id, h.purpose, array_agg(h.subject_form) AS forms INTO v_state
      FROM (SELECT s.org_id, s.purpose, s.subject_form
              FROM memwarden_data.consent_state AS s
             WHERE s.consent_id = p_consent_id AND s.state = 'withdrawn' AND s.enforced_at IS NULL
               FOR NO KEY UPDATE SKIP LOCKED) AS h
     GROUP BY h.org_id, h.purpose;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    v_classes := memwarden_internal.classes_of_purpose(v_state.org_id, v_state.purpose);
    UPDATE memwarden_data.consent_state AS s SET enforced_at = clock_timestamp()
     WHERE s.org_id = v_state.org_id AND s.subject_form = ANY (v_state.forms) AND s.purpose = v_state.purpose
       AND NOT EXISTS (SELECT FROM memwarden_internal.items_resting_on(v_state.org_id, ARRAY[s.subject_form], v_classes))
       AND NOT EXISTS (SELECT FROM memwarden_data.write_request AS r
                        WHERE r.outcome = 'DEFERRED' AND r.org_id = v_state.org_id AND r.class = ANY (v_classes)
                          AND memwarden_internal.current_form(r.org_id, r.subject) = s.subject_form);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.conclude_consent IS
    'Notes that a withdrawal is carried out, where nothing is left of what it ends.';
GRANT EXECUTE ON FUNCTION memwarden_internal.conclude_consent TO memwarden_jobs, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden_internal.enforce_consent_step(p_after text)
RETURNS text
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_after uuid := substring(p_after FROM '^(?:erasure )?(.+)$')::uuid;
    v_next  uuid;
BEGIN
    IF p_after IS NULL OR NOT starts_with(p_after, 'erasure') THEN
        -- In a transaction of its own: what the step before ended is committed.
        IF v_after IS NOT NULL THEN
            PERFORM memwarden_internal.conclude_consent(v_after);
        END IF;
        v_next := memwarden_internal.enforce_next_consent(v_after);
        IF v_next IS NOT NULL THEN
            RETURN v_next::text;
        END IF;
        v_after := NULL;
    END IF;
    RETURN 'erasure ' || memwarden_internal.carry_out_next_blocked(v_after);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.enforce_consent_step IS
    'One step of enforce_consent(): notes that the withdrawal before is carried out, and carries out the next, or, behind the last, the '
    'next erasure whose holds are lifted. Returns its number.';
GRANT EXECUTE ON FUNCTION memwarden_internal.enforce_consent_step TO memwarden_jobs, memwarden_admin;

CREATE OR REPLACE PROCEDURE memwarden.enforce_consent()
LANGUAGE plpgsql SECURITY INVOKER
AS $procedure$
BEGIN
    CALL memwarden_internal.run_job('memwarden_consent');
END
$procedure$;
COMMENT ON PROCEDURE memwarden.enforce_consent IS
    'Retracts the memories of people who withdrew consent, and refuses their waiting writes, as a job. It concerns the classes of '
    'the purpose. It also carries out erasures that waited for a legal hold, once all that blocked them is '
    'lifted. A memory that somebody is writing now is left to the next run; meanwhile nobody reads it. It is safe to run twice '
    'at once and to kill. It commits after each withdrawal and erasure, so it cannot run inside a '
    'transaction. Raises 25001 where its transactions are not READ COMMITTED; an erasure that would leave something behind (XX000) is a '
    'warning, and waits on.';
GRANT EXECUTE ON PROCEDURE memwarden.enforce_consent TO memwarden_jobs, memwarden_admin;
