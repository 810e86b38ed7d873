CREATE OR REPLACE FUNCTION memwarden.remediate(incident uuid, dry_run boolean DEFAULT true, max_objects integer DEFAULT 1000)
RETURNS TABLE (object_id uuid, action text, outcome text, detail jsonb)
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_now    timestamptz := clock_timestamp();
    v_case   record := memwarden_internal.open_incident(remediate.incident);
    v_breach record;
BEGIN
    IF (remediate.max_objects BETWEEN 1 AND 10000) IS NOT TRUE OR remediate.dry_run IS NULL THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'max_objects: 1 to 10,000; dry_run: true or false');
    END IF;
    IF NOT remediate.dry_run THEN
        PERFORM memwarden_internal.record_access_change(v_case.org_id, 'remediate', jsonb_build_object(
            'incident_id', remediate.incident, 'kind', v_case.kind));
    END IF;
    -- What is a breach now, and not what was one when the incident was opened.
    FOR v_breach IN
        SELECT b.object_id, b.detail FROM memwarden_internal.breaches(v_case.org_id, v_now, v_case.kind) AS b
         ORDER BY b.object_id LIMIT remediate.max_objects
    LOOP
        object_id := v_breach.object_id;
        detail := v_breach.detail;
        action := CASE v_case.kind WHEN 'RETENTION_BREACH' THEN v_breach.detail ->> 'action'
                                   WHEN 'ERASURE_UNFINISHED' THEN 'erase again'
                                   WHEN 'CONSENT_NOT_ENFORCED' THEN 'retract and refuse'
                                   WHEN 'MEMORY_HARMS' THEN 'correct the memories at fault'
                                   WHEN 'KEYS_UNAVAILABLE' THEN 'bring the keys back'
                                   ELSE 'move the data, or allow the region' END;
        outcome := CASE WHEN v_case.kind IN ('RESIDENCY_BREACH', 'MEMORY_HARMS', 'KEYS_UNAVAILABLE') THEN 'BY_HAND'
                        WHEN remediate.dry_run THEN 'WOULD_BE_DONE'
                        ELSE memwarden_internal.remedy(v_case.org_id, v_case.kind, v_breach.object_id) END;
        RETURN NEXT;
    END LOOP;
    IF NOT remediate.dry_run THEN
        PERFORM memwarden_internal.note_incidents(v_case.org_id);
    END IF;
END
$function$;
COMMENT ON FUNCTION memwarden.remediate IS
    'Remedies an open incident of the compliance run, or shows what that would do. It acts on what is a breach now, as the jobs '
    'would: a memory whose retention is over is deleted, or put away; what was erased is erased again; what a withdrawn consent ends '
    'is retracted. Then it looks again, and closes the incident where nothing is left. incident: the number, from the view '
    'incidents. dry_run: true (the default) changes nothing. max_objects: how many at most, 1 to 10,000; 1,000 by default. '
    'object_id: the memory, the erasure or the consent. action: what follows. outcome: WOULD_BE_DONE, DONE, BUSY where somebody works '
    'on it just now, or BY_HAND: where data lie is for a DBA to change, see set_residency() and set_region(), and '
    'memories at fault (see memory_errors) are for a person to correct, and keys of subjects are for a DBA to bring back. '
    'Raises 42704 for an incident that is not open or that the caller does not administer, 22023 for arguments '
    'out of range, 25001 at an isolation level other than READ COMMITTED, XX000 when something of an erasure would '
    'be left. '
    'Raises 55P03 when others hold it up for longer than 30 seconds, or lock_timeout. '
    'Source: chapter 12.10.5, R6.';
GRANT EXECUTE ON FUNCTION memwarden.remediate TO memwarden_curator, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden_internal.open_incident(p_incident_id uuid, OUT org_id bigint, OUT kind text)
RETURNS record
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_case record;
BEGIN
    SELECT i.org_id, i.kind INTO v_case FROM memwarden_data.incident AS i
     WHERE i.incident_id = p_incident_id AND i.closed_at IS NULL AND memwarden_internal.may_administer(i.org_id, 'full');
    IF NOT FOUND THEN
        PERFORM memwarden_internal.raise_error('unknown_object', format('open incident %s', p_incident_id));
    END IF;
    org_id := v_case.org_id;
    kind := v_case.kind;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.open_incident IS
    'An open incident of an organisation that the caller administers. Raises 42704 for another.';

CREATE OR REPLACE FUNCTION memwarden_internal.remedy(p_org_id bigint, p_kind text, p_object_id uuid)
RETURNS text
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_state record;
    v_done  record;
BEGIN
    CASE p_kind
        WHEN 'RETENTION_BREACH' THEN
            v_done := memwarden_internal.end_by_retention(p_org_id, ARRAY[p_object_id]);
            RETURN CASE WHEN v_done.expired + v_done.deleted > 0 THEN 'DONE' ELSE 'BUSY' END;
        WHEN 'ERASURE_UNFINISHED' THEN
            PERFORM FROM jsonb_array_elements(memwarden.export_erasures()) AS e (entry)
              CROSS JOIN LATERAL memwarden_internal.apply_erasure(e.entry) AS a
              WHERE e.entry #>> '{certificate,erasure}' = p_object_id::text;
            RETURN 'DONE';
        WHEN 'CONSENT_NOT_ENFORCED' THEN
            SELECT array_agg(s.subject_form) AS forms, memwarden_internal.classes_of_purpose(p_org_id, min(s.purpose)) AS classes
              INTO v_state FROM memwarden_data.consent_state AS s WHERE s.org_id = p_org_id AND s.consent_id = p_object_id;
            PERFORM memwarden_internal.end_without_consent(p_org_id, v_state.forms, v_state.classes);
            PERFORM memwarden_internal.refuse_without_consent(p_org_id, v_state.forms, v_state.classes);
            PERFORM memwarden_internal.conclude_consent(p_object_id);
            RETURN CASE WHEN EXISTS (SELECT FROM memwarden_data.consent_state AS s
                                      WHERE s.org_id = p_org_id AND s.consent_id = p_object_id AND s.enforced_at IS NULL)
                        THEN 'BUSY' ELSE 'DONE' END;
        ELSE
            RETURN 'BY_HAND';
    END CASE;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.remedy IS
    'Does what a breach wants: DONE, BUSY where somebody else works there, or BY_HAND where a person must.';
