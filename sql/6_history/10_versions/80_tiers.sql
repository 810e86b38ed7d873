-- History grows for ever; what is read every day does not. Versions that are over move to partitions of their own,
-- which a DBA may put on slower disks. Nothing is thinned out: every question keeps its answer.
CREATE OR REPLACE FUNCTION memwarden_internal.move_versions(p_limit integer)
RETURNS boolean
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
SET lock_timeout = '2s'
AS $function$
DECLARE
    v_layer record;
    v_count bigint := 0;
    v_moved bigint;
    v_free  text[];
BEGIN
    -- One mover a layer: who meets a row that another has just moved is not told where to, but fails.
    v_free := ARRAY(SELECT l.layer FROM memwarden_data.layer AS l ORDER BY l.ordinal FOR NO KEY UPDATE SKIP LOCKED);
    -- Organisations with the same times are looked through together, and agents with times of their own behind them.
    FOR v_layer IN SELECT l.layer, l.warm_after, l.cold_after, clock_timestamp() - l.warm_after AS warm,
                          clock_timestamp() - l.cold_after AS cold
                     FROM memwarden_data.kept_layer AS l WHERE l.layer = ANY (v_free)
                    GROUP BY l.ordinal, l.layer, l.warm_after, l.cold_after ORDER BY l.ordinal, count(*) DESC LOOP
        -- One tier after the other, each by the index of what is over: asked for both at once all is read.
        WITH cooled AS (
            SELECT v.org_id, v.version_id, v.tier, CASE WHEN upper(v.recorded_during) <= v_layer.cold THEN 'cold' ELSE 'warm' END AS target
              FROM memwarden_data.version AS v
             WHERE v.tier = 'hot' AND v.layer = v_layer.layer AND NOT upper_inf(v.recorded_during)
                 AND upper(v.recorded_during) <= v_layer.warm
               AND (v_layer.warm_after, v_layer.cold_after) = (
                       SELECT k.warm_after, k.cold_after FROM memwarden_data.kept_layer AS k
                        WHERE k.org_id = v.org_id AND k.layer = v.layer AND k.principal_id IN (0, v.principal_id)
                        ORDER BY k.principal_id DESC LIMIT 1)
             ORDER BY upper(v.recorded_during)
             LIMIT p_limit - v_count
               FOR NO KEY UPDATE SKIP LOCKED
        ), frozen AS (
            SELECT v.org_id, v.version_id, v.tier, 'cold' AS target
              FROM memwarden_data.version AS v
             WHERE v.tier = 'warm' AND v.layer = v_layer.layer AND NOT upper_inf(v.recorded_during)
                 AND upper(v.recorded_during) <= v_layer.cold
               AND (v_layer.warm_after, v_layer.cold_after) = (
                       SELECT k.warm_after, k.cold_after FROM memwarden_data.kept_layer AS k
                        WHERE k.org_id = v.org_id AND k.layer = v.layer AND k.principal_id IN (0, v.principal_id)
                        ORDER BY k.principal_id DESC LIMIT 1)
             ORDER BY upper(v.recorded_during)
             LIMIT p_limit - v_count - (SELECT count(*) FROM cooled)
               FOR NO KEY UPDATE SKIP LOCKED
        ), due AS (
            SELECT c.org_id, c.version_id, c.tier, c.target FROM cooled AS c
             UNION ALL
            SELECT f.org_id, f.version_id, f.tier, f.target FROM frozen AS f
        )
        UPDATE memwarden_data.version AS v SET tier = d.target
          FROM due AS d
         WHERE v.org_id = d.org_id AND v.version_id = d.version_id AND v.tier = d.tier;
        GET DIAGNOSTICS v_moved = ROW_COUNT;
        v_count := v_count + v_moved;
        EXIT WHEN v_count >= p_limit;
    END LOOP;
    RETURN v_count > 0;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.move_versions IS
    'Moves versions that have been over for their layer''s warm_after or cold_after to that tier, at most so many; '
    'whether there were any. Two callers move different ones.';
GRANT EXECUTE ON FUNCTION memwarden_internal.move_versions TO memwarden_jobs, memwarden_admin;

CREATE OR REPLACE PROCEDURE memwarden.compact_history()
LANGUAGE plpgsql SECURITY INVOKER
AS $procedure$
BEGIN
    CALL memwarden_internal.run_job('memwarden_compact');
END
$procedure$;
COMMENT ON PROCEDURE memwarden.compact_history IS
    'Moves versions that have ended to the warm tier, and later to the cold tier, as a job. The settings warm_after and cold_after '
    'of a layer say when. Answers stay the same. It is safe to run twice at once and to kill. It commits after every thousand '
    'versions, so it cannot run inside a transaction. Source: chapter 12.5.7.';
GRANT EXECUTE ON PROCEDURE memwarden.compact_history TO memwarden_jobs, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden.place_tier(tier text, tablespace text)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_index record;
BEGIN
    IF place_tier.tier IS NULL OR place_tier.tier NOT IN ('hot', 'warm', 'cold') THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'tier: hot, warm or cold');
    ELSIF place_tier.tablespace = 'pg_global' THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'tablespace: pg_global holds what all databases share');
    ELSIF NOT EXISTS (SELECT FROM pg_tablespace AS t WHERE t.spcname = place_tier.tablespace) THEN
        PERFORM memwarden_internal.raise_error('unknown_object', format('tablespace %L', left(place_tier.tablespace, 100)));
    END IF;
    EXECUTE format('ALTER TABLE memwarden_data.%I SET TABLESPACE %I', 'version_' || place_tier.tier, place_tier.tablespace);
    FOR v_index IN
        SELECT i.indexrelid::regclass AS name FROM pg_index AS i
         WHERE i.indrelid = to_regclass('memwarden_data.version_' || place_tier.tier) ORDER BY 1
    LOOP
        EXECUTE format('ALTER INDEX %s SET TABLESPACE %I', v_index.name, place_tier.tablespace);
    END LOOP;
END
$function$;
COMMENT ON FUNCTION memwarden.place_tier IS
    'Moves a tier of the versions, with its indexes, to a tablespace. The move copies the tier and locks it until the copy is '
    'complete. Only a superuser may call it. tier: hot, warm or cold. tablespace: the name of the tablespace. Raises 42501 for '
    'others, 42704 for an unknown tablespace, 22023 for an unknown tier and for pg_global. Source: chapter 12.5.7.';
