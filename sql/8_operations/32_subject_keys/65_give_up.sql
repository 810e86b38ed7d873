-- Keys that nobody will ever bring back. Until somebody says so, what they encrypt counts as held and as not erased.
CREATE OR REPLACE FUNCTION memwarden.give_up_subject_keys(expected bigint, reason text)
RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_orgs bigint[] := ARRAY(SELECT o.org_id FROM memwarden_data.organisation AS o);
    v_lost uuid[];
BEGIN
    IF give_up_subject_keys.reason IS NULL OR length(btrim(give_up_subject_keys.reason)) NOT BETWEEN 1 AND 1000 THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'reason: 1 to 1,000 characters');
    -- Where there is no file at all, it was perhaps only not put in its place.
    ELSIF memwarden_internal.subject_key_generations() = '{}' THEN
        PERFORM memwarden_internal.raise_error('no_subject_keys', 'put a new generation into the file first');
    END IF;
    -- No write is on its way with a key.
    PERFORM memwarden_internal.hold_organisations(v_orgs);
    v_lost := memwarden_internal.unopened_keys(0, ARRAY(SELECT k.subject_key_id FROM memwarden_data.subject_key AS k));
    IF cardinality(v_lost) IS DISTINCT FROM give_up_subject_keys.expected THEN
        PERFORM memwarden_internal.raise_error('not_expected', format('%s keys of subjects are not opened here', cardinality(v_lost)));
    END IF;
    PERFORM memwarden_internal.destroy_keys(v_orgs, memwarden_internal.uuid7(), v_lost);
    PERFORM memwarden_internal.record_access_change(0, 'give_up_subject_keys', jsonb_build_object(
        'keys', cardinality(v_lost), 'reason', give_up_subject_keys.reason));
    RETURN cardinality(v_lost);
END
$function$;
COMMENT ON FUNCTION memwarden.give_up_subject_keys IS
    'Declares the keys of subjects that this server does not open lost for good. There is no way back: what they encrypt is gone, '
    'though its file be found later. From then on it is not held as unread, and erasures that wait for it are carried out by '
    'enforce_consent(). A new generation must be in the file already. The caller is a member of memwarden_admin. expected: how many '
    'keys, as status() says for subject keys. reason: why, for the log of access changes. Returns how many keys were given up. Raises '
    '22023 for another number or no reason, 55000 where the server has no generation, F0000 where the file is malformed, 25001 at an '
    'isolation level other than READ COMMITTED, 55P03 when others hold it up for longer than 30 seconds, or lock_timeout. '
    'Source: chapter 12.10.2.';
GRANT EXECUTE ON FUNCTION memwarden.give_up_subject_keys TO memwarden_admin;
