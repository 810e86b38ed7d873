-- A subject as consents are looked up by it: the same person in another spelling of case and blanks.
CREATE OR REPLACE FUNCTION memwarden_internal.subject_form(p_subject text)
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
-- Written out where an index has it: item_class.
RETURN lower(normalize(p_subject, NFKC));
COMMENT ON FUNCTION memwarden_internal.subject_form(text) IS 'The spelling by which consents of a subject are found.';
REVOKE ALL ON FUNCTION memwarden_internal.subject_form(text) FROM PUBLIC;

CREATE OR REPLACE FUNCTION memwarden.record_consent(
    subject text, purpose text, decision text, valid_during tstzrange DEFAULT NULL, evidence jsonb DEFAULT '[]', org text DEFAULT NULL)
RETURNS uuid
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $function$
DECLARE
    v_org_id bigint := memwarden_internal.administered_org(record_consent.org, 'full');
    v_id     uuid := memwarden_internal.uuid7();
    v_form   text := memwarden_internal.subject_form(record_consent.subject);
    v_valid  tstzrange := coalesce(record_consent.valid_during, tstzrange(clock_timestamp(), NULL));
BEGIN
    IF v_org_id = 0 THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'org: name the organisation');
    ELSIF record_consent.subject IS NULL OR record_consent.subject !~ E'\\S' OR length(record_consent.subject) > 1000
       OR record_consent.purpose IS NULL OR record_consent.purpose !~ '^[a-z][a-z0-9_]{0,62}$'
       OR record_consent.decision IS NULL OR record_consent.decision NOT IN ('granted', 'withdrawn') OR isempty(v_valid)
       OR jsonb_typeof(record_consent.evidence) IS DISTINCT FROM 'array' OR octet_length(record_consent.evidence::text) > 65536 THEN
        PERFORM memwarden_internal.raise_error('invalid_argument',
            'subject: 1 to 1,000 characters, not blank; purpose: lower-case letters, digits and _; decision: granted or '
            'withdrawn; valid_during: not empty; evidence: an array of at most 64 KiB');
    END IF;
    IF memwarden_internal.current_principal() IS NOT NULL THEN
        PERFORM memwarden_internal.require_harmless(memwarden_internal.current_principal(),
            jsonb_build_object('evidence', record_consent.evidence));
    END IF;
    -- Waits for the writes that have asked: what they write is there before anybody looks for what is to end.
    INSERT INTO memwarden_data.consent_state AS s (org_id, subject_form, purpose, state, valid_during, consent_id)
    VALUES (v_org_id, v_form, record_consent.purpose, record_consent.decision, v_valid, v_id)
    ON CONFLICT ON CONSTRAINT consent_state_pkey DO UPDATE
       SET state = excluded.state, valid_during = excluded.valid_during, consent_id = excluded.consent_id, enforced_at = NULL;
    INSERT INTO memwarden_data.consent (org_id, consent_id, subject, purpose, decision, valid_during, evidence, principal_id,
        login, recorded_at)
    VALUES (v_org_id, v_id, record_consent.subject, record_consent.purpose, record_consent.decision, v_valid, record_consent.evidence,
            memwarden_internal.current_principal(), session_user, clock_timestamp());
    -- Consent extends how long memories may be read, from now on.
    PERFORM memwarden_internal.settle_kept_until(v_org_id, ARRAY(
        SELECT i.item_id FROM memwarden_data.item AS i
         WHERE i.org_id = v_org_id AND i.status = 'ACTIVE' AND i.class IS NOT NULL AND lower(normalize(i.subject, NFKC)) = v_form
           AND EXISTS (SELECT FROM memwarden_data.version AS v
                        WHERE v.org_id = i.org_id AND v.item_id = i.item_id
                          AND v.class = ANY (memwarden_internal.classes_of_purpose(v_org_id, record_consent.purpose)))));
    -- Of the person the log of changes says nothing: it outlives an erasure.
    PERFORM memwarden_internal.record_access_change(v_org_id, 'record_consent', jsonb_build_object(
        'consent_id', v_id, 'purpose', record_consent.purpose, 'decision', record_consent.decision));
    IF record_consent.decision = 'withdrawn' THEN
        PERFORM pg_notify('memwarden_consent', v_id::text);
    END IF;
    RETURN v_id;
END
$function$;
COMMENT ON FUNCTION memwarden.record_consent(text, text, text, tstzrange, jsonb, text) IS
    'Records a person''s consent to be remembered for a purpose, or its withdrawal, and returns the record''s id. The record that '
    'was made last holds. A withdrawal waits for running writes that rest on the consent. Once it is committed, it takes effect for '
    'the classes of that purpose. recall() and get() pass over the memories of the subject, and new writes are refused. The job '
    'enforce_consent() retracts the existing memories and refuses the waiting writes. subject: the person as memories name it, in '
    'upper or lower case. purpose: what the person agrees to. decision: granted or withdrawn. valid_during: when it holds; from now '
    'on by default. evidence: what shows the decision; none by default. org: the organisation; by default the caller''s; members of '
    'memwarden_admin name it. Raises 22023 for malformed arguments or a secret in evidence, 42501 without ADMIN (full), 42704 for an '
    'unknown organisation, 25001 at an isolation level other than READ COMMITTED, 55000 before setup(). Source: R7, memory fabric.';
REVOKE ALL ON FUNCTION memwarden.record_consent(text, text, text, tstzrange, jsonb, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION memwarden.record_consent(text, text, text, tstzrange, jsonb, text) TO memwarden_curator, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden_internal.list_consents()
RETURNS TABLE (org text, subject text, purpose text, decision text, valid_during tstzrange, evidence jsonb, agent text, login text,
               recorded_at timestamptz, consent_id uuid, current boolean, enforced_at timestamptz)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $function$
DECLARE
    v_orgs bigint[] := memwarden_internal.overseen_orgs();
BEGIN
    RETURN QUERY
    SELECT o.name, c.subject, c.purpose, c.decision, c.valid_during, c.evidence, p.name, c.login, c.recorded_at, c.consent_id,
           s.consent_id IS NOT NULL, s.enforced_at
      FROM memwarden_data.consent AS c
      JOIN memwarden_data.organisation AS o ON o.org_id = c.org_id
      LEFT JOIN memwarden_data.principal AS p ON p.principal_id = c.principal_id
      LEFT JOIN memwarden_data.consent_state AS s ON s.org_id = c.org_id AND s.consent_id = c.consent_id
     WHERE c.org_id = ANY (v_orgs);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.list_consents() IS 'The rows of memwarden.consents.';
REVOKE ALL ON FUNCTION memwarden_internal.list_consents() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION memwarden_internal.list_consents() TO memwarden_curator, memwarden_auditor, memwarden_admin;
