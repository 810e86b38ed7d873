-- Keys that live are wrapped anew by the newest generation; then the servers can forget the older ones, and with those goes whatever
-- an erasure destroyed.
CREATE OR REPLACE FUNCTION memwarden_internal.rewrapped_subject_key(p_generation integer, p_wrapped bytea, OUT generation integer,
    OUT wrapped bytea)
RETURNS record
LANGUAGE plpython3u VOLATILE STRICT PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
import os
if "memwarden:@python_hash@" not in GD: plpy.execute("SELECT memwarden_internal.load_python()")
try:
    return GD["memwarden:@python_hash@"].rewrapped_subject_key(os.environ.get("MEMWARDEN_MASTER_KEY_FILE"), p_generation, p_wrapped)
except ValueError as error:
    plpy.error(str(error), sqlstate="F0000")
$function$;
COMMENT ON FUNCTION memwarden_internal.rewrapped_subject_key IS
    'A key as the newest generation wraps it; NULL where that has wrapped it already. Raises F0000 where this server does not open it.';

CREATE OR REPLACE FUNCTION memwarden.rewrap_subject_keys()
RETURNS TABLE (rewrapped bigint, generation integer)
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_generations integer[] := memwarden_internal.subject_key_generations();
    v_newest      integer := (SELECT max(g.number) FROM unnest(v_generations) AS g (number));
    v_orgs        bigint[] := ARRAY(SELECT o.org_id FROM memwarden_data.organisation AS o);
BEGIN
    IF v_newest IS NULL THEN
        PERFORM memwarden_internal.raise_error('no_subject_keys', 'nothing to wrap with');
    END IF;
    -- No write is on its way with a key of before; and none begins until this is over.
    PERFORM memwarden_internal.hold_organisations(v_orgs);
    WITH anew AS (
        UPDATE memwarden_data.subject_key AS k SET generation = w.generation, wrapped = w.wrapped
          FROM (SELECT s.subject_key_id, memwarden_internal.rewrapped_subject_key(s.generation, s.wrapped) AS made
                  FROM memwarden_data.subject_key AS s WHERE s.generation < v_newest AND s.generation = ANY (v_generations) OFFSET 0) AS n,
               LATERAL (SELECT (n.made).generation, (n.made).wrapped) AS w
         WHERE k.subject_key_id = n.subject_key_id AND w.wrapped IS NOT NULL
        RETURNING k.subject_key_id
    )
    SELECT count(*), v_newest INTO rewrapped, generation FROM anew;
    PERFORM memwarden_internal.record_access_change(0, 'rewrap_subject_keys', jsonb_build_object(
        'generation', v_newest, 'rewrapped', rewrapped));
    RETURN NEXT;
END
$function$;
COMMENT ON FUNCTION memwarden.rewrap_subject_keys IS
    'Wraps every living key of a subject by the newest generation of subject keys. Call it once each server has that generation; then '
    'drop the older ones from every server and call finalise_erasures(). About 10,000 keys a second; writers wait meanwhile, and it may '
    'be called again. The caller is a member of memwarden_admin. rewrapped: how many keys changed. generation: the newest. Raises 55000 '
    'where the server has no generation, F0000 for one that is malformed, 25001 at an isolation level other than READ COMMITTED. '
    'Raises 55P03 when others hold it up for longer than 30 seconds, or lock_timeout. '
    'Source: chapter 12.10.2.';
GRANT EXECUTE ON FUNCTION memwarden.rewrap_subject_keys TO memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden.finalise_erasures(no_copy_before timestamptz DEFAULT NULL)
RETURNS TABLE (erasure_id uuid, final_at timestamptz, final_by text)
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_oldest integer := (SELECT min(g.number) FROM unnest(memwarden_internal.subject_key_generations()) AS g (number));
    v_key_id text := memwarden_internal.log_key_id();
    v_now    timestamptz := clock_timestamp();
    v_count  bigint;
BEGIN
    IF finalise_erasures.no_copy_before > v_now THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'no_copy_before: a time that is over');
    END IF;
    RETURN QUERY
    UPDATE memwarden_data.erasure AS e
       SET final_at = v_now, final_by = n.why, final_key_id = v_key_id, final_signature = memwarden_internal.sign(
               'final erasure', memwarden_internal.final_statement(e.org_id, e.erasure_id, v_now, n.why, v_key_id))
      FROM (SELECT h.erasure_id, CASE
                       WHEN h.erased_at < finalise_erasures.no_copy_before THEN 'COPIES'
                       -- Everything was encrypted, and what wrapped the keys is nowhere here.
                       WHEN (h.detail ->> 'in_clear')::integer = 0 AND (h.detail ->> 'generation')::integer < v_oldest
                        AND NOT EXISTS (SELECT FROM memwarden_data.subject_key AS k
                                         WHERE k.generation <= (h.detail ->> 'generation')::integer) THEN 'KEYS' END AS why
              FROM memwarden_data.erasure AS h WHERE h.final_at IS NULL AND h.detail IS NOT NULL) AS n
     WHERE e.erasure_id = n.erasure_id AND n.why IS NOT NULL
    RETURNING e.erasure_id, e.final_at, e.final_by;
    GET DIAGNOSTICS v_count = ROW_COUNT;
    -- The certificate says that there is no copy; here it says who said so.
    IF v_count > 0 OR finalise_erasures.no_copy_before IS NOT NULL THEN
        PERFORM memwarden_internal.record_access_change(0, 'finalise_erasures', jsonb_build_object(
            'no_copy_before', finalise_erasures.no_copy_before, 'erasures', v_count));
    END IF;
END
$function$;
COMMENT ON FUNCTION memwarden.finalise_erasures IS
    'Makes certificates of erasures final: from then on no copy of the store can bring back what was erased. Two things make one final. '
    'KEYS: all of it was encrypted under keys that the erasure destroyed, and this server has forgotten every generation that had wrapped '
    'them; that all servers have is for the caller to know. COPIES: the caller says that there is no backup, archived WAL, dump or replica '
    'from before a time later than the erasure. The caller is a member of memwarden_admin. no_copy_before: that time; by default '
    'nothing is said. erasure_id, final_at, final_by: the certificates that became final by this call. Raises 22023 '
    'for a time to come, F0000 '
    'where the file of generations is malformed, 25001 at an isolation level other than READ COMMITTED. Source: chapter 12.10.2.';
GRANT EXECUTE ON FUNCTION memwarden.finalise_erasures TO memwarden_admin;

-- A backup has the keys as an older generation wrapped them: the newest travel apart from it.
CREATE OR REPLACE FUNCTION memwarden.export_subject_keys()
RETURNS jsonb
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
BEGIN
    RETURN (SELECT coalesce(jsonb_agg(jsonb_build_object('org_id', k.org_id, 'id', k.subject_key_id, 'generation', k.generation,
                                                         'wrapped', encode(k.wrapped, 'hex')) ORDER BY k.subject_key_id), '[]')
              FROM memwarden_data.subject_key AS k);
END
$function$;
COMMENT ON FUNCTION memwarden.export_subject_keys IS
    'Returns the living keys of subjects as the newest generation wraps them: a JSON array for import_subject_keys() in a restored copy. '
    'Without the files of a server they open nothing, and they name nobody. Keep the newest list beside the backups and overwrite older '
    'ones. The caller is a member of memwarden_admin. Source: chapter 12.10.2.';
GRANT EXECUTE ON FUNCTION memwarden.export_subject_keys TO memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden.import_subject_keys(keys jsonb)
RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_count bigint;
BEGIN
    IF coalesce(jsonb_typeof(import_subject_keys.keys), '') <> 'array' OR EXISTS (
        SELECT FROM jsonb_array_elements(import_subject_keys.keys) AS k (key)
         WHERE NOT coalesce(k.key ->> 'id' ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' AND k.key ->> 'generation' ~ '^[1-9][0-9]{0,8}$'
                            AND k.key ->> 'wrapped' ~ '^[0-9a-f]{120}$', false)) THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'keys: what export_subject_keys() returns');
    END IF;
    -- Only keys that this copy has: what it lacks was made later, and so was all that it encrypts.
    UPDATE memwarden_data.subject_key AS s SET generation = n.generation, wrapped = decode(n.wrapped, 'hex')
      FROM jsonb_to_recordset(import_subject_keys.keys) AS n (id uuid, generation integer, wrapped text)
     WHERE s.subject_key_id = n.id AND s.generation < n.generation;
    GET DIAGNOSTICS v_count = ROW_COUNT;
    IF v_count > 0 THEN
        PERFORM memwarden_internal.record_access_change(0, 'import_subject_keys', jsonb_build_object('keys', v_count));
    END IF;
    RETURN v_count;
END
$function$;
COMMENT ON FUNCTION memwarden.import_subject_keys IS
    'Takes over, in a restored copy of the store, keys of subjects as a newer generation wraps them. A key that this copy does not have '
    'is not made. The caller is a member of memwarden_admin. keys: what export_subject_keys() returned. Returns how many keys changed. '
    'Raises 22023 for what is no such list, 25001 at an isolation level other than READ COMMITTED. Source: chapter 12.10.2.';
GRANT EXECUTE ON FUNCTION memwarden.import_subject_keys TO memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden_internal.subject_key_status()
RETURNS TABLE (component text, state text, detail text)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
DECLARE
    v_generations integer[] := memwarden_internal.subject_key_generations();
    v_keys        record;
    v_waiting     bigint;
BEGIN
    -- One key of each generation is tried: of that number another server may have another.
    SELECT coalesce(sum(k.keys), 0) AS all_keys, coalesce(sum(k.keys) FILTER (WHERE NOT (
               memwarden_internal.opened_subject_keys(ARRAY[k.generation], ARRAY[k.wrapped]))[1]), 0) AS lost,
           coalesce(sum(k.keys) FILTER (WHERE k.generation < (SELECT max(g.number) FROM unnest(v_generations) AS g (number))), 0) AS older
      INTO v_keys
      FROM (SELECT s.generation, count(*) AS keys, (array_agg(s.wrapped))[1] AS wrapped
              FROM memwarden_data.subject_key AS s GROUP BY s.generation) AS k;
    v_waiting := (SELECT count(*) FROM memwarden_data.erasure AS e WHERE e.final_at IS NULL AND e.detail ? 'generation');
    RETURN QUERY SELECT 'subject keys',
        CASE WHEN v_keys.lost > 0 OR v_generations = '{}' AND EXISTS (SELECT FROM memwarden_data.write_class AS c WHERE c.encrypted)
             THEN 'missing' WHEN v_keys.older > 0 AND v_keys.lost = 0 THEN 'warning' ELSE 'ok' END,
        CASE WHEN v_keys.lost > 0 THEN format('%s of %s keys are wrapped by a generation that this server does not have: bring it back, or '
                 'SELECT memwarden.import_subject_keys(...), with the newest list; if it is lost for good: '
                 'SELECT memwarden.give_up_subject_keys(...)', v_keys.lost, v_keys.all_keys)
             WHEN v_generations = '{}' THEN 'no generation: nothing can be encrypted for a subject; deploy/lib/subject-keys add makes one'
             WHEN v_keys.older > 0 THEN format('%s of %s keys are wrapped by an older generation: SELECT * FROM '
                 'memwarden.rewrap_subject_keys();', v_keys.older, v_keys.all_keys)
             ELSE format('%s keys; %s erasures are not final', v_keys.all_keys, v_waiting) END;
EXCEPTION WHEN config_file_error THEN
    RETURN QUERY VALUES ('subject keys', 'missing', 'the file of generations is malformed: lines of a number and 64 hexadecimal digits');
END
$function$;
COMMENT ON FUNCTION memwarden_internal.subject_key_status IS
    'Whether the server opens every key of a subject, and how many erasures are not final; a row of status().';
