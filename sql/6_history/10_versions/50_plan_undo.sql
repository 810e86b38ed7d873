-- What would undo some of an item's changes? They must be its last ones, in a row: it then returns to what
-- it was before them. What others have built on since is not torn out from under them, but reported.
CREATE TYPE memwarden_internal.undo_step AS (
    org_id             bigint,
    item_id            uuid,
    scope_id           bigint,
    layer              text,
    action             text,
    head_version_id    uuid,
    source_version_id  uuid,
    ends_by            text,
    changes            integer
);
COMMENT ON TYPE memwarden_internal.undo_step IS
    'What undoing does to one item. action: RESTORE (version source_version_id comes back), RETRACT (nothing stood '
    'before), END (it had ended before, by the operation ends_by), NEEDS_REVIEW (one of these, once people agree), '
    'NOTHING, CHANGED_SINCE, KEY_TAKEN, or why the caller may not.';

CREATE OR REPLACE FUNCTION memwarden_internal.plan_undo(
    p_principal_id bigint, p_item_ids uuid[], p_author_ids bigint[], p_scope_ids bigint[], p_request_ids uuid[],
        p_since timestamptz, p_until timestamptz)
RETURNS SETOF memwarden_internal.undo_step
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET plan_cache_mode = force_custom_plan
AS $function$
BEGIN
    RETURN QUERY
    WITH concerned AS MATERIALIZED (
        SELECT i.org_id, i.item_id, i.scope_id, i.layer, i.status, i.version_id, i.exclusive, i.key_hash, t.meant, last.log_seq,
               last.kept, coalesce(last.others <= coalesce(last.kept, 0) AND last.others < last.log_seq, true) AS own
          FROM memwarden_internal.meant_entries(p_item_ids, p_author_ids, p_scope_ids, p_request_ids, p_since, p_until) AS t
          JOIN memwarden_data.item AS i ON i.org_id = t.org_id AND i.item_id = t.item_id
         CROSS JOIN LATERAL (
               -- As last_change() says it, of all entries, of those that stay, and of others'.
               SELECT max(g.log_seq) AS log_seq, max(g.log_seq) FILTER (WHERE NOT g.log_seq = ANY (t.meant)) AS kept,
                      max(g.log_seq) FILTER (WHERE g.principal_id IS DISTINCT FROM p_principal_id) AS others
                 FROM memwarden_data.log AS g
                WHERE g.org_id = i.org_id AND g.item_id = i.item_id AND NOT (g.principal_id = 0 AND g.operation = 'UPDATE')) AS last
    ), refused AS MATERIALIZED (
        SELECT r.*
          FROM (SELECT array_agg(c.org_id) AS orgs, array_agg(c.item_id) AS items, array_agg(c.own) AS own FROM concerned AS c) AS a
         CROSS JOIN LATERAL memwarden_internal.undo_refusals(p_principal_id, a.orgs, a.items, a.own) AS r
    ), judged AS MATERIALIZED (
        SELECT c.org_id, c.item_id, c.scope_id, c.layer, c.status, c.version_id, c.exclusive, c.key_hash, before.operation,
            before.version_id AS before_id, r.refusal, NOT c.log_seq = ANY (c.meant) AS is_changed,
               (SELECT count(*)::integer FROM unnest(c.meant) AS m (log_seq) WHERE m.log_seq > coalesce(c.kept, 0)) AS changes
          FROM concerned AS c
          JOIN refused AS r ON r.org_id = c.org_id AND r.item_id = c.item_id
          LEFT JOIN LATERAL (
              -- The last entry before those that are to be undone.
              SELECT g.operation, g.version_id FROM memwarden_data.log AS g
               WHERE g.org_id = c.org_id AND g.item_id = c.item_id
                 AND g.log_seq < (SELECT min(m.log_seq) FROM unnest(c.meant) AS m (log_seq) WHERE m.log_seq > coalesce(c.kept, 0))
               ORDER BY g.log_seq DESC LIMIT 1) AS before ON true
    ), ending AS (
        SELECT array_agg(j.item_id) AS items FROM judged AS j
         WHERE j.refusal IS NULL AND NOT j.is_changed AND j.status = 'ACTIVE' AND coalesce(j.operation, '')
               NOT IN ('INSERT', 'UPDATE', 'RESTORE')
    ), planned AS MATERIALIZED (
        SELECT j.org_id, j.item_id, j.scope_id, j.layer, j.status, j.version_id, j.operation, j.before_id, j.changes,
               CASE WHEN j.exclusive THEN j.key_hash END AS key_hash,
               CASE WHEN j.refusal IS NOT NULL THEN j.refusal
                    WHEN j.is_changed THEN 'CHANGED_SINCE'
                    WHEN j.operation IN ('INSERT', 'UPDATE', 'RESTORE') THEN
                        CASE WHEN memwarden_internal.free_instance(p_principal_id, j.org_id, j.item_id, j.before_id, e.items) IS NULL
                             THEN 'KEY_TAKEN' ELSE coalesce(memwarden_internal.act_refusal(p_principal_id, j.item_id, true), 'RESTORE') END
                    WHEN j.status <> 'ACTIVE' THEN 'NOTHING'
                    ELSE coalesce(memwarden_internal.act_refusal(p_principal_id, j.item_id, false),
                                  CASE WHEN j.operation IS NULL THEN 'RETRACT' ELSE 'END' END) END AS action
          FROM judged AS j CROSS JOIN ending AS e
    )
    SELECT p.org_id, p.item_id, p.scope_id, p.layer,
           -- Of two that would come back with one key, the first does.
           CASE WHEN p.action = 'RESTORE' AND p.status <> 'ACTIVE' AND EXISTS (
                         SELECT FROM planned AS o
                          WHERE o.action = 'RESTORE' AND o.org_id = p.org_id AND o.scope_id = p.scope_id AND o.layer = p.layer
                            AND o.key_hash = p.key_hash AND o.item_id < p.item_id
                            AND NOT memwarden_internal.stood_beside(p.org_id, o.item_id, p.before_id))
                THEN 'KEY_TAKEN' ELSE p.action END,
           p.version_id, CASE WHEN p.operation IN ('INSERT', 'UPDATE', 'RESTORE') THEN p.before_id END,
           CASE WHEN p.operation NOT IN ('INSERT', 'UPDATE', 'RESTORE') THEN p.operation END, p.changes
      FROM planned AS p
     WHERE p.action <> 'UNKNOWN'
     ORDER BY p.org_id, p.scope_id, p.layer, p.item_id;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.plan_undo IS
    'What undoing the changes that meet every condition given would do, item by item. Items that the principal does not '
    'see are left out. Source: chapter 12.5.6.';

-- A poisoned run has many items in few scopes, under few labels: rights are asked for once for each of those.
CREATE OR REPLACE FUNCTION memwarden_internal.undo_refusals(
    p_principal_id bigint, p_org_ids bigint[], p_item_ids uuid[], p_own_changes boolean[])
RETURNS TABLE (org_id bigint, item_id uuid, refusal text)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN QUERY
    WITH concerned AS MATERIALIZED (
        SELECT i.org_id, i.item_id, i.scope_id, i.label_id, i.principal_id = p_principal_id AS own, t.own_change,
               i.status <> 'ACTIVE' AND t.own_change AS is_ended
          FROM unnest(p_org_ids, p_item_ids, p_own_changes) AS t (org_id, item_id, own_change)
          JOIN memwarden_data.item AS i ON i.org_id = t.org_id AND i.item_id = t.item_id
    ), places AS MATERIALIZED (
        SELECT s.scope_id, CASE WHEN NOT memwarden_internal.may_read(p_principal_id, s.scope_id) THEN 'UNKNOWN'
                                WHEN NOT memwarden_internal.may_write(p_principal_id, s.scope_id, s.lineage) THEN 'SCOPE_READ_ONLY'
                                WHEN s.closed_at IS NOT NULL THEN 'SCOPE_CLOSED' END AS refusal
          FROM memwarden_data.scope AS s
         WHERE s.scope_id IN (SELECT c.scope_id FROM concerned AS c)
    ), rules AS MATERIALIZED (
        SELECT r.label_id, r.own,
               memwarden_internal.refusal(p_principal_id, 'READ', r.label_id, r.author) AS reading,
               memwarden_internal.refusal(p_principal_id, 'WRITE', r.label_id, r.author) AS writing,
               memwarden_internal.refusal(p_principal_id, 'DELETE', r.label_id, r.author) AS deleting
          FROM (SELECT DISTINCT c.label_id, w.own, CASE WHEN w.own THEN p_principal_id ELSE -1 END AS author
                  FROM concerned AS c, (VALUES (true), (false)) AS w (own)) AS r
    )
    SELECT c.org_id, c.item_id,
           CASE WHEN p.refusal = 'UNKNOWN' OR r.reading IS NOT NULL THEN 'UNKNOWN'
                -- Whoever ended what another wrote brings it back without a right to delete it.
                ELSE coalesce(p.refusal, CASE WHEN NOT c.is_ended THEN r.deleting END, r.writing, u.deleting) END
      FROM concerned AS c
      JOIN places AS p ON p.scope_id = c.scope_id
      JOIN rules AS r ON r.label_id = c.label_id AND r.own = c.own
      LEFT JOIN rules AS u ON u.label_id = c.label_id AND u.own = c.own_change;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.undo_refusals IS
    'Why a principal may not undo changes of items: what change_refusal() says of DELETE and of WRITE, or that not all of the changes '
    'are its own; NULL where it may. No rows for nobody.';

CREATE OR REPLACE FUNCTION memwarden_internal.meant_entries(
    p_item_ids uuid[], p_author_ids bigint[], p_scope_ids bigint[], p_request_ids uuid[], p_since timestamptz, p_until timestamptz)
RETURNS TABLE (org_id bigint, item_id uuid, meant bigint[])
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
SET plan_cache_mode = force_custom_plan
AS $function$
BEGIN
    RETURN QUERY
    SELECT g.org_id, g.item_id, array_agg(g.log_seq)
      FROM memwarden_data.log AS g
     WHERE g.org_id = ANY (memwarden_internal.visible_orgs())
       AND (p_item_ids IS NULL OR g.item_id = ANY (p_item_ids))
       AND (p_author_ids IS NULL OR g.principal_id = ANY (p_author_ids))
       AND (p_scope_ids IS NULL OR g.scope_id = ANY (p_scope_ids))
       AND (p_request_ids IS NULL OR g.request_id = ANY (p_request_ids))
       AND (p_since IS NULL OR g.recorded_at >= p_since)
       AND (p_until IS NULL OR g.recorded_at <= p_until)
     GROUP BY g.org_id, g.item_id;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.meant_entries IS
    'The entries of the log that meet every condition given, by item. Asks no rights but the organisation.';

-- Who may change only its own memories undoes only its own changes: what others took back of it stays taken back.
CREATE OR REPLACE FUNCTION memwarden_internal.undo_refusal(p_principal_id bigint, p_org_id bigint, p_item_id uuid)
RETURNS text
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN (SELECT memwarden_internal.refusal(p_principal_id, 'DELETE', i.label_id, g.principal_id)
              FROM memwarden_data.item AS i
              JOIN memwarden_data.log AS g ON g.org_id = i.org_id AND g.item_id = i.item_id
             WHERE i.org_id = p_org_id AND i.item_id = p_item_id
               -- In a sub-select, it is asked once, and not for every entry that the query passes.
               AND g.log_seq = (SELECT memwarden_internal.last_change(p_org_id, p_item_id)));
END
$function$;
COMMENT ON FUNCTION memwarden_internal.undo_refusal IS
    'Why a principal may not undo the last change of an item, as refusal() says it of whoever made that change; NULL where it may.';

-- That another of its values has come into force changed nothing that anybody said: it goes with what it follows.
CREATE OR REPLACE FUNCTION memwarden_internal.last_change(p_org_id bigint, p_item_id uuid, p_but bigint[] DEFAULT '{}')
RETURNS bigint
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN (SELECT g.log_seq
              FROM memwarden_data.log AS g
             WHERE g.org_id = p_org_id AND g.item_id = p_item_id
               AND NOT (g.principal_id = 0 AND g.operation = 'UPDATE') AND NOT g.log_seq = ANY (p_but)
             ORDER BY g.log_seq DESC
             LIMIT 1);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.last_change IS
    'The last entry of an item, but for those given and those of settle_values().';

CREATE OR REPLACE FUNCTION memwarden_internal.stood_beside(p_org_id bigint, p_item_id uuid, p_version_id uuid)
RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN EXISTS (
        SELECT FROM memwarden_data.version AS v
          JOIN memwarden_data.version AS o ON o.org_id = v.org_id AND o.item_id = p_item_id AND o.recorded_during && v.recorded_during
         WHERE v.org_id = p_org_id AND v.version_id = p_version_id);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.stood_beside IS
    'Whether an item was active at some time while a version of another one was current.';

CREATE OR REPLACE FUNCTION memwarden_internal.free_instance(
    p_principal_id bigint, p_org_id bigint, p_item_id uuid, p_version_id uuid, p_ending uuid[] DEFAULT NULL)
RETURNS integer
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_version  record;
    v_key_hash bytea;
    v_holders  record;
BEGIN
    SELECT v.scope_id, v.layer, v.exclusive, i.instance, v.content, v.subject, v.predicate INTO v_version
      FROM memwarden_data.said_version AS v
      JOIN memwarden_data.item AS i ON i.org_id = v.org_id AND i.item_id = v.item_id
     WHERE v.org_id = p_org_id AND v.version_id = p_version_id;
    IF NOT v_version.exclusive THEN
        RETURN v_version.instance;
    END IF;
    SELECT f.key_hash INTO v_key_hash
      FROM memwarden_internal.fingerprints(
               v_version.content::text, v_version.subject, v_version.predicate,
               coalesce((SELECT y.synonyms::text FROM memwarden_data.vocabulary AS y WHERE y.org_id = p_org_id), '{}')) AS f;
    SELECT max(i.instance) AS highest, bool_or(i.instance = v_version.instance) AS is_taken,
           bool_or(memwarden_internal.refusal(p_principal_id, 'READ', i.label_id, i.principal_id) IS NULL
                   -- What bore the key beside it before, as another instance, may again.
                   AND NOT memwarden_internal.stood_beside(i.org_id, i.item_id, p_version_id)) AS is_seen
      INTO v_holders
      FROM memwarden_data.item AS i
     WHERE i.org_id = p_org_id AND i.scope_id = v_version.scope_id AND i.layer = v_version.layer AND i.key_hash = v_key_hash
       AND i.status = 'ACTIVE' AND i.exclusive AND i.item_id <> p_item_id
       AND (p_ending IS NULL OR NOT i.item_id = ANY (p_ending));
    -- Beside a holder that the caller does not see it becomes an instance of its own, as a write would.
    RETURN CASE WHEN v_holders.is_seen THEN NULL
                WHEN v_holders.is_taken THEN v_holders.highest + 1
                ELSE v_version.instance END;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.free_instance IS
    'The instance under which an item may bear the subject and predicate of one of its versions again; NULL where '
    'another item that the principal sees, and that is not among p_ending, bears them now.';
