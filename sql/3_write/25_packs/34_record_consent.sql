-- Under which subjects the memories of a person are: as write() compares them, or those of an identifier, as in id:U0A1.
CREATE OR REPLACE FUNCTION memwarden_internal.consent_forms(p_org_id bigint, p_subject text)
RETURNS text[]
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN ARRAY(
        SELECT DISTINCT memwarden_internal.current_form(p_org_id, s.subject)
          FROM unnest(coalesce(memwarden_internal.subjects_of_id(memwarden_internal.named_id(p_subject)), ARRAY[p_subject])) AS s (subject)
         ORDER BY 1);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.consent_forms IS 'The forms of subjects for which a consent of a subject counts.';

CREATE OR REPLACE FUNCTION memwarden.record_consent(
    subject text, purpose text, decision text, valid_during tstzrange DEFAULT NULL, evidence jsonb DEFAULT '[]', org text DEFAULT NULL)
RETURNS uuid
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_org_id bigint := memwarden_internal.administered_org(record_consent.org, 'full');
    v_id     uuid := memwarden_internal.uuid7();
    v_forms  text[];
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
    -- No change of synonyms meanwhile: it carries the states that it sees. See hold_writers().
    PERFORM FROM memwarden_data.organisation AS o WHERE o.org_id = v_org_id FOR KEY SHARE;
    v_forms := memwarden_internal.consent_forms(v_org_id, record_consent.subject);
    IF record_consent.decision = 'granted' AND '' = ANY (v_forms) THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'subject: it names nobody');
    END IF;
    -- Waits for the writes that have asked: what they write is there before anybody looks for what is to end.
    INSERT INTO memwarden_data.consent_state AS s (org_id, subject_form, purpose, state, valid_during, consent_id)
    SELECT v_org_id, f.form, record_consent.purpose, record_consent.decision, v_valid, v_id FROM unnest(v_forms) AS f (form)
    ON CONFLICT ON CONSTRAINT consent_state_pkey DO UPDATE
       SET state = excluded.state, valid_during = excluded.valid_during, consent_id = excluded.consent_id, enforced_at = NULL;
    INSERT INTO memwarden_data.consent (org_id, consent_id, subject, purpose, decision, valid_during, evidence, principal_id,
        login, recorded_at)
    VALUES (v_org_id, v_id, record_consent.subject, record_consent.purpose, record_consent.decision, v_valid, record_consent.evidence,
            memwarden_internal.current_principal(), session_user, clock_timestamp());
    -- Consent extends how long memories may be read, from now on.
    PERFORM memwarden_internal.settle_kept_until(v_org_id, ARRAY(
        SELECT r.item_id FROM memwarden_internal.items_resting_on(
            v_org_id, v_forms, memwarden_internal.classes_of_purpose(v_org_id, record_consent.purpose)) AS r));
    -- Of the person the log of changes says nothing: it outlives an erasure.
    PERFORM memwarden_internal.record_access_change(v_org_id, 'record_consent', jsonb_build_object(
        'consent_id', v_id, 'purpose', record_consent.purpose, 'decision', record_consent.decision));
    IF record_consent.decision = 'withdrawn' THEN
        PERFORM pg_notify('memwarden_consent', v_id::text);
    END IF;
    RETURN v_id;
END
$function$;
COMMENT ON FUNCTION memwarden.record_consent IS
    'Records a person''s consent to be remembered for a purpose, or its withdrawal, and returns the record''s id. The record that '
    'was made last holds. A withdrawal waits for running writes that rest on the consent. Once it is committed, it takes effect for '
    'the classes of that purpose. recall() and get() pass over the memories of the subject, and new writes are refused. The job '
    'enforce_consent() retracts the existing memories and refuses the waiting writes. subject: the person as memories name it, in '
    'any spelling that writes take for the same subject, synonyms included; or an identifier of another system, as in id:U0A1. '
    'purpose: what the person agrees to. decision: granted or withdrawn. valid_during: when it holds; from now '
    'on by default. evidence: what shows the decision; none by default. org: the organisation; by default the caller''s; members of '
    'memwarden_admin name it. Raises 22023 for malformed arguments or a secret in evidence, 42501 without ADMIN (full), 42704 for an '
    'unknown organisation, 25001 at an isolation level other than READ COMMITTED, 55000 before setup(). Source: R7, memory fabric.';
GRANT EXECUTE ON FUNCTION memwarden.record_consent TO memwarden_curator, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden_internal.list_consents()
RETURNS TABLE (org text, subject text, purpose text, decision text, valid_during tstzrange, evidence jsonb, agent text, login text,
               recorded_at timestamptz, consent_id uuid, current boolean, enforced_at timestamptz)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
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
      LEFT JOIN (SELECT s.org_id, s.consent_id, CASE WHEN bool_and(s.enforced_at IS NOT NULL) THEN max(s.enforced_at) END AS enforced_at
                   FROM memwarden_data.consent_state AS s WHERE s.org_id = ANY (v_orgs) GROUP BY s.org_id, s.consent_id) AS s
        ON s.org_id = c.org_id AND s.consent_id = c.consent_id
     WHERE c.org_id = ANY (v_orgs);
END
$function$;
COMMENT ON VIEW memwarden.consents IS
    'Lists every consent that was recorded; current marks the one that holds. enforced_at tells when a withdrawal had been carried '
    'out.';
GRANT EXECUTE ON FUNCTION memwarden_internal.list_consents TO memwarden_curator, memwarden_auditor, memwarden_admin;
