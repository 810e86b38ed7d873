-- What tools/reference.py asks the catalog. Each query begins with its name.

-- name: session
-- Types read as they are written, wherever pgvector is installed.
SELECT set_config('search_path', concat_ws(', ', 'pg_catalog', (
           SELECT quote_ident(n.nspname) FROM pg_extension AS e
             JOIN pg_namespace AS n ON n.oid = e.extnamespace WHERE e.extname = 'vector')), false),
       set_config('intervalstyle', 'postgres_verbose', false)

-- name: routines
SELECT p.proname AS name, f.area, f.audience, f.summary, f.callers AS roles, p.prokind = 'p' AS is_procedure, p.proretset AS is_set,
       format_type(p.prorettype, NULL) AS returns,
       obj_description(p.oid, 'pg_proc') AS comment,
       coalesce((SELECT jsonb_agg(jsonb_build_object(
                            'name', a.name, 'type', format_type(a.type, NULL),
                            'default', pg_get_function_arg_default(p.oid, a.n::integer),
                            'is_result', coalesce(a.mode IN ('o', 't'), false)) ORDER BY a.n)
                   FROM unnest(coalesce(p.proallargtypes, p.proargtypes::oid[]), p.proargmodes, p.proargnames)
                        WITH ORDINALITY AS a (type, mode, name, n)), '[]') AS arguments,
       (SELECT jsonb_agg(jsonb_build_object(
                   'name', a.attname, 'type', format_type(a.atttypid, a.atttypmod),
                   'comment', col_description(t.typrelid, a.attnum)) ORDER BY a.attnum)
          FROM pg_type AS t JOIN pg_attribute AS a ON a.attrelid = t.typrelid AND a.attnum > 0
         WHERE t.oid = p.prorettype) AS columns
  FROM pg_proc AS p
  JOIN memwarden.functions AS f ON f.name = p.proname
 WHERE p.pronamespace = 'memwarden'::regnamespace
 ORDER BY p.proname

-- name: relations
SELECT c.relname AS name, obj_description(c.oid, 'pg_class') AS comment,
       ARRAY(SELECT r.rolname::text FROM aclexplode(c.relacl) AS a JOIN pg_roles AS r ON r.oid = a.grantee
              WHERE a.privilege_type = 'SELECT' AND NOT r.rolsuper AND r.rolname <> 'memwarden_owner' ORDER BY 1) AS roles,
       (SELECT jsonb_agg(jsonb_build_object(
                   'name', a.attname, 'type', format_type(a.atttypid, a.atttypmod),
                   'comment', col_description(c.oid, a.attnum)) ORDER BY a.attnum)
          FROM pg_attribute AS a
         WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped) AS columns
  FROM pg_class AS c
 WHERE c.relnamespace = %(schema)s::regnamespace AND c.relkind = ANY (%(kinds)s) AND NOT c.relispartition
 ORDER BY c.relname

-- name: roles
SELECT DISTINCT r.rolname AS name, r.rolcanlogin AS can_login
  FROM pg_namespace AS n, aclexplode(n.nspacl) AS a
  JOIN pg_roles AS r ON r.oid = a.grantee
 WHERE n.nspname = 'memwarden' AND NOT r.rolsuper
 ORDER BY r.rolname

-- name: reasons
SELECT reason, outcome, gate, meaning, remedy FROM memwarden.reasons()

-- name: errors
SELECT sqlstate_code, message, hint FROM memwarden_internal.errors() ORDER BY sqlstate_code, name

-- name: layers
SELECT row_to_json(l) AS layer FROM memwarden_data.layer AS l ORDER BY l.ordinal

-- name: models
SELECT name, dimension, vector_weight FROM memwarden_data.embedding_model ORDER BY name

-- name: kinds
SELECT kind, description FROM memwarden_data.scope_kind ORDER BY kind

-- name: rules
SELECT r.name, r.owner, r.acts FROM memwarden_internal.setting_rules() AS r
