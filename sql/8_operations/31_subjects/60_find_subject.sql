CREATE OR REPLACE FUNCTION memwarden.find_subject(org text, subject text, identifiers text[] DEFAULT '{}')
RETURNS TABLE (item_id uuid)
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_org_id bigint := memwarden_internal.require_eraser(find_subject.org);
    v_person memwarden_internal.found_person := memwarden_internal.look_for_person(
        v_org_id, memwarden_internal.orgs_of(v_org_id), find_subject.subject,
        memwarden_internal.erasure_terms(find_subject.subject, find_subject.identifiers, '-'));
    v_unread memwarden_internal.unread_extent := memwarden_internal.add_unread(
        v_person.unread, memwarden_internal.unread_of_register(v_org_id, find_subject.subject, v_person.synonyms));
BEGIN
    IF v_unread.documents > 0 THEN
        PERFORM memwarden_internal.raise_error('subject_key_unavailable', format('%s documents could not be read', v_unread.documents));
    END IF;
    RETURN QUERY SELECT f.id FROM unnest((v_person.extent).item_ids) AS f (id) ORDER BY f.id;
END
$function$;
COMMENT ON FUNCTION memwarden.find_subject IS
    'Lists the memories that concern a person: those that erase_subject() would erase, whatever their status. memwarden export '
    '--subject writes them to a file, with their provenance. Who may call it, and the arguments, are those of erase_subject(). Raises '
    '42501 without the right; 42704 for an unknown organisation; 22023 for arguments out of range; F0000 where this server cannot read '
    'something that may concern the person. Source: chapter 12.10.1.';
GRANT EXECUTE ON FUNCTION memwarden.find_subject TO memwarden_agent, memwarden_curator, memwarden_admin;
