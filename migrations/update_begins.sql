-- The first part of every update script; tools/update_script.py fills in the names. It drops the functions and types that
-- the new release lacks or declares otherwise, together with whatever of the extension hangs on them: the script makes all of it
-- again. Views and policies of setup() stay in place and are closed until setup() has run, so rights on views are kept.
DO $update$
DECLARE
    v_functions text[] := ARRAY[@functions@]::text[];
    v_types     text[] := ARRAY[@types@]::text[];
    v_views     text[] := ARRAY[@views@]::text[];
    v_names     text[] := ARRAY[@names@]::text[];
    v_foreign   text;
    v_going     record;
BEGIN
    CREATE TEMPORARY TABLE memwarden_going ON COMMIT DROP AS
    WITH RECURSIVE going (classid, objid) AS (
        SELECT 'pg_proc'::regclass::oid, to_regprocedure(f.name)::oid FROM unnest(v_functions) AS f (name)
        UNION
        SELECT 'pg_type'::regclass::oid, to_regtype(t.name)::oid FROM unnest(v_types) AS t (name)
        UNION
        SELECT 'pg_class'::regclass::oid, to_regclass(v.name)::oid FROM unnest(v_views) AS v (name)
        UNION
        SELECT n.classid, n.objid
          FROM going AS g
         CROSS JOIN LATERAL (
               SELECT d.classid, d.objid FROM pg_depend AS d WHERE d.refclassid = g.classid AND d.refobjid = g.objid
               UNION ALL
               SELECT 'pg_type'::regclass, c.reltype FROM pg_class AS c
                WHERE g.classid = 'pg_class'::regclass AND c.oid = g.objid AND c.relkind = 'c') AS n
         WHERE g.classid IN ('pg_proc'::regclass, 'pg_type'::regclass, 'pg_class'::regclass)
    )
    SELECT DISTINCT a.kind, a.objid, a.relation,
           CASE WHEN r.oid IS NULL THEN pg_describe_object(g.classid, g.objid, 0)
                ELSE pg_describe_object('pg_class'::regclass, r.ev_class, 0) END AS described
      FROM going AS g
      LEFT JOIN pg_rewrite AS r ON g.classid = 'pg_rewrite'::regclass AND r.oid = g.objid
      LEFT JOIN pg_policy AS p ON g.classid = 'pg_policy'::regclass AND p.oid = g.objid
      LEFT JOIN pg_trigger AS t ON g.classid = 'pg_trigger'::regclass AND t.oid = g.objid
      LEFT JOIN pg_type AS y ON g.classid = 'pg_type'::regclass AND y.oid = g.objid
      LEFT JOIN pg_class AS c ON c.oid = CASE WHEN g.classid = 'pg_class'::regclass THEN g.objid
                                              ELSE coalesce(r.ev_class, p.polrelid, t.tgrelid, NULLIF(y.typrelid, 0)) END
     CROSS JOIN LATERAL (
           SELECT EXISTS (SELECT FROM pg_depend AS e JOIN pg_extension AS x ON x.oid = e.refobjid
                           WHERE e.classid = g.classid AND e.objid = g.objid AND e.deptype = 'e' AND x.extname = 'memwarden')
                      AS is_member,
                  c.relowner = 'memwarden_owner'::regrole AND c.relnamespace = ANY (ARRAY[to_regnamespace('memwarden'),
                      to_regnamespace('memwarden_data')]::oid[]) AS is_stored) AS i
     CROSS JOIN LATERAL (
           SELECT CASE WHEN g.classid = 'pg_proc'::regclass AND i.is_member THEN 'routine'
                       WHEN y.typtype = 'c' AND i.is_member THEN 'type'
                       -- What a type or a view brings along, and loses with itself.
                       WHEN y.typcategory = 'A' OR c.relkind = 'c' AND g.classid = 'pg_class'::regclass
                         OR i.is_stored AND c.relkind = 'v' AND y.oid IS NOT NULL THEN 'part'
                       WHEN i.is_stored AND c.relkind = 'v' AND c.oid::regclass::text = ANY (v_views) THEN 'old view'
                       WHEN i.is_stored AND r.oid IS NOT NULL AND c.relkind = 'v' THEN 'view'
                       WHEN i.is_stored AND p.oid IS NOT NULL THEN 'policy'
                       WHEN i.is_stored AND t.oid IS NOT NULL THEN 'trigger'
                       ELSE 'foreign' END AS kind,
                  CASE WHEN r.oid IS NULL THEN g.objid ELSE c.oid END AS objid,
                  c.oid::regclass AS relation) AS a
     WHERE g.objid IS NOT NULL;

    SELECT string_agg(g.described, ', ' ORDER BY g.described) INTO v_foreign FROM memwarden_going AS g WHERE g.kind = 'foreign';
    IF v_foreign IS NOT NULL THEN
        RAISE EXCEPTION 'objects that are not memwarden''s depend on what this release changes'
            USING ERRCODE = 'dependent_objects_still_exist', DETAIL = v_foreign,
                  HINT = 'Nothing was changed. Keep the definitions of what the detail names and drop it. Then update, run '
                         'memwarden.setup(), and create it anew.';
    END IF;

    PERFORM set_config('memwarden.something_hangs',
        EXISTS (SELECT FROM memwarden_going AS g WHERE g.kind IN ('view', 'policy', 'trigger'))::text, true);
    -- What others were granted on functions that come again; the last part of the script grants it anew.
    PERFORM set_config('memwarden.kept_rights', coalesce(jsonb_agg(jsonb_build_object(
                'routine', p.oid::regprocedure::text, 'name', format('%I.%I', p.pronamespace::regnamespace, p.proname),
                'grantee', a.grantee::regrole::text, 'grantable', a.is_grantable)), '[]')::text, true)
      FROM memwarden_going AS g JOIN pg_proc AS p ON p.oid = g.objid CROSS JOIN LATERAL aclexplode(p.proacl) AS a
     WHERE g.kind = 'routine' AND a.grantee <> 0 AND a.grantee <> p.proowner AND a.grantee::regrole::text !~ '^memwarden_';

    PERFORM memwarden_internal.close_view(v.relation)
       FROM (SELECT DISTINCT g.relation FROM memwarden_going AS g WHERE g.kind = 'view') AS v;
    FOR v_going IN
        SELECT p.polname, g.relation, concat(CASE WHEN p.polqual IS NOT NULL THEN ' USING (false)' END,
                   CASE WHEN p.polwithcheck IS NOT NULL THEN ' WITH CHECK (false)' END) AS closed
          FROM memwarden_going AS g JOIN pg_policy AS p ON p.oid = g.objid WHERE g.kind = 'policy'
    LOOP
        EXECUTE format('ALTER POLICY %I ON %s%s', v_going.polname, v_going.relation, v_going.closed);
    END LOOP;
    FOR v_going IN
        SELECT t.tgname, g.relation FROM memwarden_going AS g JOIN pg_trigger AS t ON t.oid = g.objid WHERE g.kind = 'trigger'
    LOOP
        EXECUTE format('DROP TRIGGER %I ON %s', v_going.tgname, v_going.relation);
    END LOOP;
    FOR v_going IN
        SELECT format('DROP %s %s', g.kind, string_agg(g.name, ', ')) AS statement
          FROM (SELECT 1 AS step, 'VIEW' AS kind, v.objid::regclass::text AS name FROM memwarden_going AS v WHERE v.kind = 'old view'
                UNION
                SELECT 2, 'ROUTINE', f.objid::regprocedure::text FROM memwarden_going AS f WHERE f.kind = 'routine'
                UNION
                SELECT 3, 'TYPE', t.objid::regtype::text FROM memwarden_going AS t WHERE t.kind = 'type') AS g
         GROUP BY g.step, g.kind ORDER BY g.step
    LOOP
        EXECUTE v_going.statement;
    END LOOP;
    DROP TABLE memwarden_going;

    -- Comments and rights name a function without its arguments.
    SELECT string_agg(p.oid::regprocedure::text, ', ' ORDER BY p.oid::regprocedure::text) INTO v_foreign
      FROM pg_proc AS p
     WHERE p.pronamespace IN ('memwarden'::regnamespace, 'memwarden_internal'::regnamespace)
       AND concat(p.pronamespace::regnamespace, '.', p.proname) = ANY (v_names)
       AND NOT EXISTS (SELECT FROM pg_depend AS e JOIN pg_extension AS x ON x.oid = e.refobjid
                        WHERE e.classid = 'pg_proc'::regclass AND e.objid = p.oid AND e.deptype = 'e' AND x.extname = 'memwarden');
    IF v_foreign IS NOT NULL THEN
        RAISE EXCEPTION 'functions that are not memwarden''s have names that this release uses'
            USING ERRCODE = 'duplicate_function', DETAIL = v_foreign,
                  HINT = 'Nothing was changed. Give what the detail names another name or schema. Then update.';
    END IF;
END
$update$;
