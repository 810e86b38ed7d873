-- A claim in the present that rests on older words holds from when they were said, not from when somebody wrote it down.
CREATE OR REPLACE FUNCTION memwarden_internal.words_said_at(p_org_id bigint, p_grounds jsonb, p_not_before timestamptz)
RETURNS timestamptz
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    -- Words that only the writer has seen have the time that it gives them: they count for nothing here.
    IF p_grounds IS NULL OR NOT p_grounds @? '$[*] ? (exists (@.item_id) || exists (@.evidence_id) || @.held == true)' THEN
        RETURN NULL;
    END IF;
    RETURN (
        SELECT max(greatest(p_not_before, CASE WHEN g.e ? 'version_id' THEN (
                            SELECT memwarden_internal.said_at(lower(v.valid_during), i.created_at, lower(v.recorded_during))
                              FROM memwarden_data.version AS v
                              JOIN memwarden_data.item AS i ON i.org_id = v.org_id AND i.item_id = v.item_id
                             WHERE v.org_id IN (0, p_org_id) AND v.version_id = (g.e ->> 'version_id')::uuid)
                        ELSE (g.e ->> 'accessed_at')::timestamptz END))
          FROM jsonb_array_elements(p_grounds) AS g (e)
         WHERE (g.e ?| '{item_id,evidence_id}' OR g.e @> '{"held": true}')
           AND (g.e ->> 'support')::double precision >= 0.8 AND NOT g.e ?| '{contradicts,believed}');
END
$function$;
COMMENT ON FUNCTION memwarden_internal.words_said_at IS
    'When the words were said that bear a claim out, by its grounds: the latest of those that the store holds (recorded evidence, captures '
    'and memories), by the time that the store has of them, but not before p_not_before. NULL where it holds none.';
