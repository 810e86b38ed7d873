CREATE OR REPLACE FUNCTION memwarden.diff(item_id uuid, version_a integer, version_b integer)
RETURNS TABLE (path text, change text, before jsonb, after jsonb)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
DECLARE
    v_principal_id bigint := memwarden_internal.require_principal();
    v_said         jsonb[];
BEGIN
    SELECT array_agg(memwarden_internal.version_document(v.content, v.kind, v.subject, v.predicate, v.confidence, v.importance,
                                                         v.evidence, v.valid_during, v.expires_at) ORDER BY w.ordinal)
      INTO v_said
      FROM unnest(ARRAY[diff.version_a, diff.version_b]) WITH ORDINALITY AS w (version, ordinal)
      JOIN memwarden_data.item AS i ON i.org_id = ANY (memwarden_internal.visible_orgs()) AND i.item_id = diff.item_id
      JOIN memwarden_data.said_version AS v
        ON v.org_id = i.org_id AND v.version_id = memwarden_internal.version_of_number(i.org_id, i.item_id, w.version)
     WHERE memwarden_internal.may_read(v_principal_id, i.scope_id)
       AND memwarden_internal.refusal(v_principal_id, 'READ', i.label_id, i.principal_id) IS NULL
       AND (i.kept_until IS NULL OR i.kept_until > clock_timestamp());
    IF cardinality(v_said) IS DISTINCT FROM 2 THEN
        PERFORM memwarden_internal.raise_error('unknown_object',
            format('item %s with versions %s and %s', diff.item_id, diff.version_a, diff.version_b));
    END IF;
    RETURN QUERY SELECT d.path, d.change, d.before, d.after FROM memwarden_internal.json_diff(v_said[1], v_said[2]) AS d;
END
$function$;
COMMENT ON FUNCTION memwarden.diff IS
    'Lists the differences between two versions of an item, path by path. version_a, version_b: the numbers of the '
    'versions. path: as in RFC 6901, such as /confidence, /evidence/0/uri, or a path below /content. change: added, '
    'removed or changed. before, after: the two values. Raises 42704 for an item or version that does not exist or '
    'that the caller may not see; 28000 without an identity. Source: primitives, 10.';
GRANT EXECUTE ON FUNCTION memwarden.diff TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor;

CREATE OR REPLACE FUNCTION memwarden.diff_store(since timestamptz, until timestamptz DEFAULT NULL, scope text DEFAULT NULL,
    layers text[] DEFAULT NULL)
RETURNS TABLE (item_id uuid, change text, layer text, item_scope text, subject text, predicate text, version_before integer,
    version_after integer,
               before jsonb, after jsonb, actor text, reason text, changed_at timestamptz)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
-- The planner expects a thousand rows of each side, and would have this compiled for longer than it runs.
SET jit = off
AS $function$
DECLARE
    v_orgs  bigint[] := memwarden_internal.visible_orgs();
    v_until timestamptz := coalesce(diff_store.until, clock_timestamp());
BEGIN
    IF diff_store.since IS NULL OR diff_store.since > v_until THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'since: a time before until');
    END IF;
    RETURN QUERY
    WITH changed AS MATERIALIZED (
        SELECT a, b, coalesce(a.item_id, b.item_id) AS item_id
          FROM memwarden.as_of(diff_store.since, scope => diff_store.scope, layers => diff_store.layers) AS b
          FULL JOIN memwarden.as_of(v_until, scope => diff_store.scope, layers => diff_store.layers) AS a ON a.item_id = b.item_id
         WHERE a.version_id IS DISTINCT FROM b.version_id
    )
    SELECT c.item_id, CASE WHEN (c.b).item_id IS NULL THEN 'added' WHEN (c.a).item_id IS NULL THEN 'removed' ELSE 'changed' END,
           coalesce((c.a).layer, (c.b).layer), coalesce((c.a).scope, (c.b).scope), coalesce((c.a).subject, (c.b).subject),
           coalesce((c.a).predicate, (c.b).predicate), (c.b).version, (c.a).version, (c.b).content, (c.a).content,
           CASE WHEN NOT g.is_over THEN g.name END, CASE WHEN NOT g.is_over THEN g.reason ELSE 'expired' END,
           CASE WHEN NOT g.is_over THEN g.recorded_at ELSE coalesce(g.expires_at, (c.b).expires_at) END
      FROM changed AS c
      LEFT JOIN LATERAL (
          -- Gone, and nobody ended it: its time to live was over.
          SELECT p.name, l.reason, l.recorded_at, v.expires_at,
                 (c.a).item_id IS NULL AND l.operation IN ('INSERT', 'UPDATE', 'RESTORE') AS is_over
            FROM memwarden_data.log AS l
            JOIN memwarden_data.principal AS p ON p.principal_id = l.principal_id
            JOIN memwarden_data.version AS v ON v.org_id = l.org_id AND v.version_id = l.version_id
           WHERE l.org_id = ANY (v_orgs) AND l.item_id = c.item_id
             AND l.recorded_at > diff_store.since AND l.recorded_at <= v_until
           ORDER BY l.log_seq DESC
           LIMIT 1) AS g ON true
     ORDER BY 13, 1;
END
$function$;
COMMENT ON FUNCTION memwarden.diff_store IS
    'Lists the items that became different between two moments. until: default now. scope: this scope and those it '
    'inherits from; default all that the caller sees. layers: default all. change: added, removed (retracted, '
    'expired, or superseded by another item) or changed. before, after: what the item said. actor, reason, '
    'changed_at: who made the last change in between, why and when. Raises 28000 without an identity; 42704 for an '
    'unknown scope or layer; 22023 for times out of order. Source: primitives, 10.';
GRANT EXECUTE ON FUNCTION memwarden.diff_store TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor;
