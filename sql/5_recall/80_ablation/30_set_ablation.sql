CREATE OR REPLACE FUNCTION memwarden.set_ablation(
    scope text, share double precision, task text DEFAULT NULL, spare_from double precision DEFAULT 0.9)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_scope record;
    v_task  text := coalesce(left(set_ablation.task, 200), '');
BEGIN
    SELECT s.scope_id, s.org_id INTO v_scope FROM memwarden_internal.require_scope(set_ablation.scope) AS s;
    PERFORM memwarden_internal.require_administration(v_scope.org_id, 'full');
    IF set_ablation.task = '' OR length(set_ablation.task) > 1000 THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'task: 1 to 1,000 characters');
    ELSIF set_ablation.share IS NULL THEN
        DELETE FROM memwarden_data.ablation AS a WHERE a.org_id = v_scope.org_id AND a.scope_id = v_scope.scope_id AND a.task = v_task;
        IF NOT FOUND THEN
            PERFORM memwarden_internal.raise_error('unknown_object', format('ablation of scope %L and that task', set_ablation.scope));
        END IF;
    ELSE
        BEGIN
            INSERT INTO memwarden_data.ablation AS a (org_id, scope_id, task, share, spare_from, set_at, set_by)
            VALUES (v_scope.org_id, v_scope.scope_id, v_task, set_ablation.share, set_ablation.spare_from, clock_timestamp(), session_user)
            ON CONFLICT ON CONSTRAINT ablation_pkey DO UPDATE
               SET share = excluded.share, spare_from = excluded.spare_from, set_at = excluded.set_at, set_by = excluded.set_by;
        EXCEPTION WHEN check_violation OR not_null_violation THEN
            PERFORM memwarden_internal.raise_error('invalid_argument', 'share: more than 0, at most 0.5; spare_from: 0 to 1');
        END;
    END IF;
    PERFORM memwarden_internal.record_access_change(v_scope.org_id, 'set_ablation', jsonb_build_object(
        'scope', set_ablation.scope, 'share', set_ablation.share, 'has_task', set_ablation.task IS NOT NULL,
        'spare_from', set_ablation.spare_from));
END
$function$;
COMMENT ON FUNCTION memwarden.set_ablation IS
    'Withholds a share of recalls at random, so that correctness_impact shows what memory does for tasks. It concerns recall() of agents '
    'whose home is in the scope or below; nothing is withheld where nobody has set it, nor in a read-only transaction. A withheld recall '
    'says so: its last row has the standing withheld, no item_id, and the recall_id for report_outcome(). All recalls of an agent for one '
    'task on one day (in UTC) are withheld, or none. Memories that somebody has pinned, and those as important as spare_from, are always '
    'given. share: more than 0, at most 0.5; NULL ends it. task: only recalls with this task (its first 200 characters count); by default '
    'all. The innermost scope decides, and in it the task before all tasks. spare_from: 0 to 1, default 0.9. Raises 42704 for an unknown '
    'scope, or one without ablation where share is NULL; 22023 for values out of range; 42501 without the right to administer the '
    'organisation; 25001 at an isolation level other than READ COMMITTED. Source: chapter 12.12.5.';
GRANT EXECUTE ON FUNCTION memwarden.set_ablation TO memwarden_curator, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden_internal.list_ablations()
RETURNS TABLE (org text, scope text, task text, share double precision, spare_from double precision, set_at timestamptz, set_by text)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
DECLARE
    v_orgs bigint[] := CASE WHEN memwarden_internal.is_overseer() THEN memwarden_internal.overseen_orgs() ELSE '{}' END;
BEGIN
    RETURN QUERY
    SELECT o.name, s.path, nullif(a.task, ''), a.share, a.spare_from, a.set_at, a.set_by
      FROM memwarden_data.ablation AS a
      JOIN memwarden_data.organisation AS o ON o.org_id = a.org_id
      JOIN memwarden_data.scope AS s ON s.scope_id = a.scope_id
     WHERE a.org_id = ANY (v_orgs);
END
$function$;
COMMENT ON VIEW memwarden.ablations IS
    'Lists where recalls are withheld at random, see set_ablation(). task: of which task, null for all. Auditors and curators see those '
    'of their organisation, administrators of the database all.';
GRANT EXECUTE ON FUNCTION memwarden_internal.list_ablations TO memwarden_curator, memwarden_auditor, memwarden_admin;
