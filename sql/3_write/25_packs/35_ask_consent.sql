-- For which purposes a class is written: by itself, or by a pack that is in force somewhere in the organisation.
CREATE OR REPLACE FUNCTION memwarden_internal.classes_of_purpose(p_org_id bigint, p_purpose text)
RETURNS text[]
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN ARRAY(
        SELECT c.class FROM memwarden_data.write_class AS c WHERE c.org_id IN (0, p_org_id) AND c.consent_purpose = p_purpose
         UNION
        SELECT e.key FROM memwarden_data.pack AS k CROSS JOIN LATERAL jsonb_each(k.definition -> 'consent') AS e
         WHERE k.org_id IN (0, p_org_id) AND e.value ->> 'purpose' = p_purpose);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.classes_of_purpose IS
    'The classes whose writes need consent to a purpose, by their definition or by any version of a pack.';

CREATE OR REPLACE FUNCTION memwarden_internal.items_resting_on(p_org_id bigint, p_forms text[], p_classes text[])
RETURNS TABLE (scope_id bigint, layer text, item_id uuid)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER ROWS 10
AS $function$
DECLARE
    v_hashes bigint[] := ARRAY(SELECT hashtextextended(f.form, 0) FROM unnest(p_forms) AS f (form));
BEGIN
    RETURN QUERY
    SELECT i.scope_id, i.layer, i.item_id FROM memwarden_data.item AS i
     WHERE i.org_id = p_org_id AND i.status = 'ACTIVE' AND i.class IS NOT NULL AND i.subject IS NOT NULL
       AND hashtextextended(memwarden_internal.form_of_subject(i.subject_form, i.subject), 0) = ANY (v_hashes)
       AND memwarden_internal.form_of_subject(i.subject_form, i.subject) = ANY (p_forms)
       AND (i.class = ANY (p_classes)
            -- A correction of what rested on it rests on it as well.
            OR EXISTS (SELECT FROM memwarden_data.version AS v
                        WHERE v.org_id = i.org_id AND v.item_id = i.item_id AND v.class = ANY (p_classes)));
END
$function$;
COMMENT ON FUNCTION memwarden_internal.items_resting_on IS
    'The memories of subjects in some forms, of some classes now or once.';

CREATE OR REPLACE FUNCTION memwarden_internal.has_withdrawn_consent(
    p_org_id bigint, p_item_id uuid, p_class text, p_form text, p_subject text)
RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
-- Asked row by row, by functions that plan anew: planning takes ten times as long as the answer.
SET plan_cache_mode = force_generic_plan
AS $function$
BEGIN
    RETURN EXISTS (
        SELECT FROM memwarden_data.consent_state AS s
         WHERE s.org_id = p_org_id AND s.subject_form = memwarden_internal.form_of_subject(p_form, p_subject) AND s.state = 'withdrawn'
           AND (p_class = ANY (memwarden_internal.classes_of_purpose(p_org_id, s.purpose))
                -- A correction of what rested on it rests on it as well.
                OR EXISTS (SELECT FROM memwarden_data.version AS v
                            WHERE v.org_id = p_org_id AND v.item_id = p_item_id
                              AND v.class = ANY (memwarden_internal.classes_of_purpose(p_org_id, s.purpose)))));
END
$function$;
COMMENT ON FUNCTION memwarden_internal.has_withdrawn_consent IS
    'Whether the subject of a memory has withdrawn the consent that its class, or that of an earlier version, rests on.';

CREATE OR REPLACE FUNCTION memwarden_internal.ask_consent(p_org_id bigint, p_subject text, p_purpose text)
RETURNS text
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_form  text := memwarden_internal.current_form(p_org_id, p_subject);
    v_state record;
BEGIN
    IF p_subject IS NULL THEN
        RETURN 'missing';
    END IF;
    -- Shared until the write commits: whoever withdraws waits for it. Writers do not wait for one another.
    SELECT s.state, s.valid_during INTO v_state FROM memwarden_data.consent_state AS s
     WHERE s.org_id = p_org_id AND s.subject_form = v_form AND s.purpose = p_purpose
       FOR SHARE;
    IF NOT FOUND THEN
        -- A first withdrawal, too, must have something to wait for.
        INSERT INTO memwarden_data.consent_state (org_id, subject_form, purpose, state)
        VALUES (p_org_id, v_form, p_purpose, 'unknown') ON CONFLICT DO NOTHING;
        SELECT s.state, s.valid_during INTO v_state FROM memwarden_data.consent_state AS s
         WHERE s.org_id = p_org_id AND s.subject_form = v_form AND s.purpose = p_purpose
           FOR SHARE;
    END IF;
    RETURN CASE WHEN v_state.state = 'withdrawn' THEN 'withdrawn'
                WHEN v_state.state = 'granted' AND v_state.valid_during @> clock_timestamp() THEN 'passed'
                ELSE 'missing' END;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.ask_consent IS
    'passed, missing or withdrawn: whether a subject agrees to be remembered for a purpose, as it stays until this '
    'transaction ends. Asked with the scope held: whoever withdraws holds no scope.';

-- What comes back by another way than a write (undone, merged, recovered) goes again, if the subject wants it gone.
CREATE OR REPLACE FUNCTION memwarden_internal.enforce_again(p_org_id bigint, p_subject text)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
BEGIN
    -- Whatever the state is: one that changes meanwhile waits for this.
    UPDATE memwarden_data.consent_state AS s SET enforced_at = NULL
     WHERE s.org_id = p_org_id AND s.subject_form = memwarden_internal.current_form(p_org_id, p_subject);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.enforce_again IS 'Has the job look again for what withdrawals of a subject end.';

CREATE OR REPLACE FUNCTION memwarden_internal.carry_consents(p_org_id bigint, p_was text[], p_are text[])
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
BEGIN
    WITH gone AS (
        DELETE FROM memwarden_data.consent_state AS s WHERE s.org_id = p_org_id RETURNING s.*
    ), said AS (
        SELECT g.*, memwarden_internal.consent_forms(p_org_id, c.subject) AS forms
          FROM gone AS g
          JOIN memwarden_data.consent AS c ON c.org_id = g.org_id AND c.consent_id = g.consent_id
    ), named AS (
        SELECT s.*, f.form
          FROM said AS s
         CROSS JOIN LATERAL (
               -- Of an identifier another form may have been decided since.
               SELECT unnest(CASE WHEN s.subject_form = ANY (s.forms) THEN ARRAY[s.subject_form] ELSE s.forms END)
                UNION
               -- What one has withdrawn stays withdrawn for each of the two that it becomes.
               SELECT n.are FROM unnest(p_was, p_are) AS n (was, are) WHERE n.was = s.subject_form AND s.state = 'withdrawn') AS f (form)
    )
    -- Of those that become one the withdrawal counts. Nobody has asked yet: writers are kept away.
    INSERT INTO memwarden_data.consent_state (org_id, subject_form, purpose, state, valid_during, consent_id, enforced_at)
    SELECT DISTINCT ON (n.form, n.purpose) p_org_id, n.form, n.purpose, n.state, n.valid_during, n.consent_id,
           CASE WHEN n.form = n.subject_form AND n.form <> ALL (p_are) THEN n.enforced_at END
      FROM named AS n
     ORDER BY n.form, n.purpose, n.state = 'withdrawn' DESC, n.enforced_at DESC NULLS FIRST, n.consent_id DESC;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.carry_consents IS
    'Has what people of an organisation agreed to follow the forms of their names. p_was, p_are: the forms of memories that have changed. '
    'The caller keeps writers away.';
