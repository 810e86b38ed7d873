-- What makes a memory personal: that personal data was found in it, and stayed.
CREATE OR REPLACE FUNCTION memwarden_internal.personal_kinds(p_findings jsonb)
RETURNS text[]
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
AS $function$
SELECT array_agg(DISTINCT k.kind #>> '{}')
  FROM jsonb_path_query(p_findings, '$[*] ? (@.kind starts with "pii." && @.level != "none" && @.action != "redact").kind') AS k (kind)
$function$;
COMMENT ON FUNCTION memwarden_internal.personal_kinds IS
    'The kinds of personal data among findings, but for what was taken out of the content; null where there is none.';

CREATE OR REPLACE FUNCTION memwarden_internal.note_personal(p_org_id bigint, p_item_id uuid, p_kinds text[])
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
BEGIN
    IF p_kinds IS NULL THEN
        RETURN;
    END IF;
    INSERT INTO memwarden_data.personal_item AS p (org_id, item_id, kinds) VALUES (p_org_id, p_item_id, p_kinds)
    ON CONFLICT ON CONSTRAINT personal_item_pkey DO UPDATE
       SET kinds = ARRAY(SELECT DISTINCT k FROM unnest(p.kinds || excluded.kinds) AS k ORDER BY k)
     WHERE NOT p.kinds @> excluded.kinds;
    IF FOUND THEN
        PERFORM memwarden_internal.settle_kept_until(p_org_id, ARRAY[p_item_id]);
    END IF;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.note_personal IS
    'Notes that personal data of these kinds was found in a memory, and until when it may be read; nothing where they are NULL.';
