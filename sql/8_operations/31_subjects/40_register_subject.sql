CREATE OR REPLACE FUNCTION memwarden.register_subject(org text, subject text, identifiers jsonb)
RETURNS TABLE (kind text, identifier text)
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_org_id bigint := memwarden_internal.require_eraser(register_subject.org);
    v_known  jsonb := memwarden_internal.change_registration(
        v_org_id, register_subject.subject, register_subject.identifiers, false);
BEGIN
    PERFORM memwarden_internal.record_access_change(v_org_id, 'register_subject', memwarden_internal.registration_note(
        v_org_id, register_subject.subject, v_known));
    RETURN QUERY SELECT i.kind, i.identifier FROM memwarden_internal.identifiers_of(v_known) AS i;
END
$function$;
COMMENT ON FUNCTION memwarden.register_subject IS
    'Registers identifiers of a person, and returns all that the person has now, in the form in which they are looked for. '
    'erase_subject() of the subject then finds what they find, and so do find_subject() and hold(). Identifiers that are registered '
    'already stay: a second call adds, and unregister_subject() removes. Two persons may share an identifier. Administrators of the '
    'organisation (full) with a role that deletes for good may call it. org: the organisation; NULL is the caller''s; members of '
    'memwarden_admin name it. subject: as memories bear it, at most 1,000 characters. identifiers: an object that gives to each kind a '
    'text or a list, at most 100 in all, each of 2 to 1,000 characters. name: found as erase_subject() finds identifiers. email: one '
    'address, found whatever its case, and not within another address. phone: one number with its country, as in +385 91 123 4567, '
    'found however it is written. account, and adapter for the id that an adapter gave: compared to the letter, and not within a '
    'longer word. kind, identifier: what is registered. The register goes with the erasure. Identifiers are encrypted under the key '
    'of the subject where the server has subject keys. Raises 22023 for arguments out of range; 42501 without the right; 42704 for an '
    'unknown organisation; 40001 when the subject was erased while the call waited; 55000 without a master key; F0000 where this '
    'server does not open the key of the subject; 25001 at an isolation level other than READ COMMITTED. Raises 55P03 when others '
    'hold it up for longer than 30 seconds, or lock_timeout. Source: chapter 12.10.2.';
GRANT EXECUTE ON FUNCTION memwarden.register_subject TO memwarden_agent, memwarden_curator, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden.unregister_subject(org text, subject text, identifiers jsonb DEFAULT NULL)
RETURNS TABLE (kind text, identifier text)
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_org_id bigint := memwarden_internal.require_eraser(unregister_subject.org);
    v_known  jsonb := memwarden_internal.change_registration(
        v_org_id, unregister_subject.subject, unregister_subject.identifiers, true);
BEGIN
    PERFORM memwarden_internal.record_access_change(v_org_id, 'unregister_subject', memwarden_internal.registration_note(
        v_org_id, unregister_subject.subject, v_known));
    RETURN QUERY SELECT i.kind, i.identifier FROM memwarden_internal.identifiers_of(v_known) AS i;
END
$function$;
COMMENT ON FUNCTION memwarden.unregister_subject IS
    'Removes identifiers of a person that were registered by mistake, and returns those that are left. Memories stay. Who may call it, '
    'and the arguments, are those of register_subject(). identifiers: by default all of the subject, also where this server cannot '
    'read them. Raises 42704 for a subject that is not registered, or an unknown organisation; 22023 for an identifier that is not '
    'registered, or arguments out of range; 42501 without the right; 40001 when the subject was erased while the call waited; 55000 '
    'without a master key; F0000 where this server does not open the key of the subject; 25001 at an isolation level other than READ '
    'COMMITTED. Raises 55P03 when others hold it up for longer than 30 seconds, or lock_timeout. Source: chapter 12.10.2.';
GRANT EXECUTE ON FUNCTION memwarden.unregister_subject TO memwarden_agent, memwarden_curator, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden_internal.change_registration(p_org_id bigint, p_subject text, p_identifiers jsonb, p_remove boolean)
RETURNS jsonb
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_hash    bytea := memwarden_internal.hold_registration(p_org_id, p_subject, p_identifiers);
    v_row     memwarden_data.registered_subject;
    v_known   jsonb;
    v_changed record;
BEGIN
    SELECT r.* INTO v_row FROM memwarden_data.registered_subject AS r WHERE r.org_id = p_org_id AND r.subject_hash = v_hash;
    IF FOUND THEN
        v_known := memwarden_internal.opened_identifiers(v_row.identifiers, v_row.subject_key_id, v_row.sealed);
    ELSIF p_remove THEN
        PERFORM memwarden_internal.raise_error('unknown_object', 'subject: not registered');
    ELSE
        v_known := '{}';
    END IF;
    IF p_remove AND p_identifiers IS NULL THEN
        v_known := '{}';
    ELSIF memwarden_internal.is_unread(p_org_id, v_row.subject_key_id, v_row.sealed) THEN
        PERFORM memwarden_internal.raise_error('subject_key_unavailable', 'the register has something that cannot be read');
    ELSE
        v_changed := memwarden_internal.changed_identifiers(coalesce(v_known, '{}')::text, coalesce(p_identifiers, 'null')::text, p_remove);
        IF v_changed.fault IS NOT NULL THEN
            PERFORM memwarden_internal.raise_error('invalid_argument', v_changed.fault);
        END IF;
        v_known := v_changed.identifiers::jsonb;
    END IF;
    PERFORM memwarden_internal.put_registration(p_org_id, v_hash, p_subject, v_known);
    RETURN v_known;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.change_registration IS
    'Adds identifiers of a subject to the register or, with p_remove, takes them out; returns those that are there now.';

-- The log of such changes is never erased, so it names nobody.
CREATE OR REPLACE FUNCTION memwarden_internal.registration_note(p_org_id bigint, p_subject text, p_identifiers jsonb)
RETURNS jsonb
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN jsonb_build_object(
        'subject_hash', encode(memwarden_internal.register_hash(p_org_id, memwarden_internal.normalised_subject(p_subject, '{}')), 'hex'),
        'identifiers', (SELECT count(*) FROM memwarden_internal.identifiers_of(p_identifiers)));
END
$function$;
COMMENT ON FUNCTION memwarden_internal.registration_note IS
    'What the log of changes says of a change of the register: of whom, by a keyed hash, and how many identifiers there are now.';

CREATE OR REPLACE FUNCTION memwarden_internal.hold_registration(p_org_id bigint, p_subject text, p_identifiers jsonb)
RETURNS bytea
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_form   text;
    v_hash   bytea;
    v_erased bytea;
    v_known  uuid[];
BEGIN
    v_form := memwarden_internal.normalised_subject(left(p_subject, 1001), '{}');
    IF coalesce(v_form, '') !~ '[^[:space:]]' OR length(p_subject) > 1000 THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'subject: 1 to 1,000 characters, not blank');
    ELSIF octet_length(p_identifiers::text) > 500000 THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'identifiers: at most 100 of a subject');
    END IF;
    v_hash := memwarden_internal.register_hash(p_org_id, v_form);
    IF v_hash IS NULL THEN
        PERFORM memwarden_internal.raise_error('no_master_key', 'an erasure knows who was registered by a keyed hash');
    END IF;
    v_erased := memwarden_internal.subject_hash(p_org_id, p_subject);
    v_known := ARRAY(SELECT e.erasure_id FROM memwarden_data.erasure AS e WHERE e.org_id = p_org_id AND e.subject_hash = v_erased);
    -- Waits for an erasure that has read the register, and for deletions that have looked for holds.
    PERFORM memwarden_internal.hold_organisation(p_org_id);
    IF EXISTS (SELECT FROM memwarden_data.erasure AS e
                WHERE e.org_id = p_org_id AND e.subject_hash = v_erased AND e.erasure_id <> ALL (v_known)) THEN
        PERFORM memwarden_internal.raise_error('changed_since', 'the subject was erased meanwhile');
    END IF;
    RETURN v_hash;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.hold_registration IS
    'Keeps erasures, deletions and other changes of the register away until this transaction ends, and returns the hash by which '
    'the register knows the subject. Raises 22023 for a malformed subject or too long a list, 55000 without a master key, and 40001 '
    'where the subject was erased while it waited.';

CREATE OR REPLACE FUNCTION memwarden_internal.put_registration(p_org_id bigint, p_hash bytea, p_subject text, p_identifiers jsonb)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_key    uuid;
    v_sealed bytea;
BEGIN
    IF p_identifiers = '{}' THEN
        DELETE FROM memwarden_data.registered_subject AS r WHERE r.org_id = p_org_id AND r.subject_hash = p_hash;
        RETURN;
    END IF;
    v_key := memwarden_internal.subject_key_of(p_org_id, p_subject);
    v_sealed := memwarden_internal.seal(v_key, p_identifiers);
    INSERT INTO memwarden_data.registered_subject AS r (org_id, subject_hash, subject, subject_form, identifiers, subject_key_id,
        sealed, registered_at)
    VALUES (p_org_id, p_hash, p_subject, memwarden_internal.normalised_subject(p_subject, '{}'),
            CASE WHEN v_sealed IS NULL THEN p_identifiers END, v_key, v_sealed, clock_timestamp())
    ON CONFLICT (org_id, subject_hash) DO UPDATE
       SET identifiers = excluded.identifiers, subject_key_id = excluded.subject_key_id, sealed = excluded.sealed;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.put_registration IS
    'Writes the identifiers of a subject, encrypted where the server has subject keys; of none it deletes the row. Raises F0000 where '
    'the key does not open here.';

CREATE OR REPLACE FUNCTION memwarden_internal.identifiers_of(p_identifiers jsonb)
RETURNS TABLE (kind text, identifier text)
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
AS $function$
SELECT k.key, i.value FROM jsonb_each(p_identifiers) AS k, jsonb_array_elements_text(k.value) AS i (value) ORDER BY 1, 2
$function$;
COMMENT ON FUNCTION memwarden_internal.identifiers_of IS 'Registered identifiers, a row for each.';
