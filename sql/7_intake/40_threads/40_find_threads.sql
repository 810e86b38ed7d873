-- A thread is found by whom it is for, and by the names in its states.
CREATE OR REPLACE FUNCTION memwarden_internal.packed_text(p_value bytea)
RETURNS text
LANGUAGE plpython3u IMMUTABLE STRICT PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
if "memwarden:@python_hash@" not in GD: plpy.execute("SELECT memwarden_internal.load_python()")
return GD["memwarden:@python_hash@"].packed_text(p_value)
$function$;
COMMENT ON FUNCTION memwarden_internal.packed_text IS 'Every text in a MessagePack value, one a line.';

CREATE OR REPLACE FUNCTION memwarden_internal.find_threads(
    p_orgs bigint[], p_subject text, p_terms text[], p_synonyms text, p_among uuid[])
RETURNS uuid[]
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_schema text := memwarden_internal.threads_schema();
    v_found  uuid[];
BEGIN
    IF v_schema IS NOT NULL THEN
        -- OFFSET 0: states of other organisations are not even looked at.
        EXECUTE format($query$
            SELECT array_agg(t.thread_number)
              FROM memwarden_data.thread AS t
             WHERE t.org_id = ANY ($3) AND ($5 IS NULL OR t.thread_number = ANY ($5))
               AND ($2 <> '{}' AND memwarden_internal.mentions($2, ARRAY[t.thread_id])
                    OR EXISTS (
                       SELECT FROM (SELECT c.* FROM %1$I.checkpoints AS c
                                     WHERE c.login_role = t.login_role AND c.thread_id = t.thread_id OFFSET 0) AS c
                        WHERE c.metadata ->> 'user_id' = $6
                           OR memwarden_internal.normalised_subject(c.metadata ->> 'user_id', $4) = $1
                           OR $2 <> '{}' AND memwarden_internal.mentions($2, ARRAY[c.checkpoint_ns, c.metadata::text, c.checkpoint::text]))
                    OR $2 <> '{}' AND EXISTS (
                       SELECT FROM (SELECT b.blob FROM %1$I.checkpoint_blobs AS b
                                     WHERE b.login_role = t.login_role AND b.thread_id = t.thread_id
                                     UNION ALL
                                    SELECT w.blob FROM %1$I.checkpoint_writes AS w
                                     WHERE w.login_role = t.login_role AND w.thread_id = t.thread_id OFFSET 0) AS s
                        WHERE memwarden_internal.mentions($2, ARRAY[memwarden_internal.packed_text(s.blob)]))) $query$, v_schema)
           INTO v_found USING memwarden_internal.normalised_subject(p_subject, p_synonyms), p_terms, p_orgs, p_synonyms, p_among,
                           memwarden_internal.named_id(p_subject);
    END IF;
    RETURN coalesce(v_found, '{}');
END
$function$;
COMMENT ON FUNCTION memwarden_internal.find_threads IS
    'Threads of these organisations whose user_id is the subject, or whose id or states name one of the terms. p_among: of '
    'these alone; of all where it is NULL.';
