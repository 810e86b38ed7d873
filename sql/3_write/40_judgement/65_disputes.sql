-- Memories that contradict each other beside one another: recorded where both are let stand, and asked of when they are read.
CREATE OR REPLACE FUNCTION memwarden_internal.record_disputes(p_org_id bigint, p_scope_id bigint, p_item_id uuid, p_other_ids uuid[])
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
BEGIN
    INSERT INTO memwarden_data.dispute (org_id, scope_id, item_id, content_hash, other_item_id, other_content_hash, found_at)
    SELECT p_org_id, p_scope_id, p.item_id, p.content_hash, p.other_item_id, p.other_content_hash, clock_timestamp()
      FROM memwarden_data.item AS i
      JOIN memwarden_data.item AS o ON o.org_id = p_org_id AND o.item_id = ANY (p_other_ids) AND o.item_id <> i.item_id,
           LATERAL (VALUES (i.item_id, i.content_hash, o.item_id, o.content_hash),
                           (o.item_id, o.content_hash, i.item_id, i.content_hash)) AS p (item_id, content_hash, other_item_id,
                               other_content_hash)
     WHERE i.org_id = p_org_id AND i.item_id = p_item_id
    ON CONFLICT DO NOTHING;
    UPDATE memwarden_data.item AS i SET contradicted = true
     WHERE i.org_id = p_org_id AND i.item_id = ANY (p_item_id || p_other_ids) AND NOT i.contradicted;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.record_disputes IS
    'Records that a memory contradicts others, as all of them are now. The caller holds the scope.';

-- The older one of a pair is out of date, whichever of them is written last. Only what stands no firmer than the newer one is.
CREATE OR REPLACE FUNCTION memwarden_internal.record_outdated(p_org_id bigint, p_scope_id bigint, p_item_id uuid, p_other_ids uuid[])
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
BEGIN
    WITH told AS (
        -- When it was said: as it was recorded, or earlier where the record says so. No writer makes a memory newer than it is.
        SELECT i.item_id, i.content_hash, memwarden_internal.firmness(i.standing) AS firmness,
               (least(i.updated_at, lower(i.valid_during)), i.updated_at, i.item_id) AS told_at
          FROM memwarden_data.item AS i
         WHERE i.org_id = p_org_id AND i.scope_id = p_scope_id AND i.item_id = ANY (p_item_id || p_other_ids)
    ), pair AS (
        SELECT o.item_id, o.content_hash, n.item_id AS other_item_id, n.content_hash AS other_content_hash
          FROM told AS o
          JOIN told AS n ON p_item_id IN (o.item_id, n.item_id) AND n.told_at > o.told_at AND n.firmness >= o.firmness
    ), marked AS (
        INSERT INTO memwarden_data.dispute (
            org_id, scope_id, item_id, content_hash, other_item_id, other_content_hash, found_at, outdated)
        SELECT p_org_id, p_scope_id, p.item_id, p.content_hash, p.other_item_id, p.other_content_hash, clock_timestamp(), true
          FROM pair AS p
        ON CONFLICT DO NOTHING
    )
    UPDATE memwarden_data.item AS i SET contradicted = true
      FROM pair AS p
     WHERE i.org_id = p_org_id AND i.item_id = p.item_id AND NOT i.contradicted;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.record_outdated IS
    'Records that of a memory and each of some others the older one is out of date, as all of them are now, where the newer one '
    'stands at least as firm. The caller holds the scope.';

CREATE TYPE memwarden_internal.marks AS (
    contradicts  uuid[],
    outdated_by  uuid[]
);
COMMENT ON TYPE memwarden_internal.marks IS 'Which memories contradict one, and which tell a newer value than it does.';

CREATE OR REPLACE FUNCTION memwarden_internal.marks_of(
    p_org_id bigint, p_item_id uuid, p_content_hash bytea, p_principal_id bigint, p_labels integer[])
RETURNS memwarden_internal.marks
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
SET plan_cache_mode = force_generic_plan
AS $function$
BEGIN
    RETURN (
    SELECT (coalesce(array_agg(m.item_id ORDER BY m.item_id) FILTER (WHERE NOT m.outdated), '{}'),
            coalesce(array_agg(m.item_id ORDER BY m.item_id) FILTER (WHERE m.outdated), '{}'))::memwarden_internal.marks
      FROM (SELECT DISTINCT o.item_id, d.outdated FROM memwarden_data.dispute AS d
              JOIN memwarden_data.item AS i ON i.org_id = d.org_id AND i.item_id = d.item_id
              JOIN memwarden_data.item AS o
                ON o.org_id = d.org_id AND o.item_id = d.other_item_id AND o.content_hash = d.other_content_hash
               -- Who reads the one reads the scope of both.
               AND o.scope_id = i.scope_id
             WHERE d.org_id = p_org_id AND d.item_id = p_item_id AND d.content_hash = p_content_hash AND d.settled_at IS NULL
               AND o.status = 'ACTIVE' AND (o.expires_at IS NULL OR o.expires_at > clock_timestamp())
               AND (p_labels IS NULL OR (CASE WHEN o.principal_id = p_principal_id THEN -o.label_id ELSE o.label_id END) = ANY (p_labels))
               -- A value that came back: what is out of date itself makes nothing out of date.
               AND NOT (d.outdated AND memwarden_internal.is_marked(
                            o.org_id, o.item_id, o.content_hash, p_principal_id, p_labels, true))) AS m);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.marks_of IS
    'Which memories that stand and that the reader sees contradict one, saying what it says, and which tell a newer value: '
    'p_labels as readable_labels() gives them, NULL for all. Ask it where item.contradicted is set; elsewhere there are none.';

CREATE OR REPLACE FUNCTION memwarden_internal.is_marked(
    p_org_id bigint, p_item_id uuid, p_content_hash bytea, p_principal_id bigint, p_labels integer[], p_outdated boolean)
RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
-- Asked row by row, by functions that plan anew: planning takes ten times as long as the answer.
SET plan_cache_mode = force_generic_plan
AS $function$
BEGIN
    RETURN EXISTS (
        SELECT FROM memwarden_data.dispute AS d
          JOIN memwarden_data.item AS o
            ON o.org_id = d.org_id AND o.item_id = d.other_item_id AND o.content_hash = d.other_content_hash
         WHERE d.org_id = p_org_id AND d.item_id = p_item_id AND d.content_hash = p_content_hash AND d.settled_at IS NULL
           AND d.outdated = p_outdated AND o.status = 'ACTIVE' AND (o.expires_at IS NULL OR o.expires_at > clock_timestamp())
           AND (p_labels IS NULL OR (CASE WHEN o.principal_id = p_principal_id THEN -o.label_id ELSE o.label_id END) = ANY (p_labels)));
END
$function$;
COMMENT ON FUNCTION memwarden_internal.is_marked IS
    'Whether a memory, saying what it says, is contradicted by one that stands and that the reader sees, or, where p_outdated, whether '
    'such a one tells a newer value: p_labels as readable_labels() gives them, NULL for all. When the other ends, by whatever way, it '
    'is not any more.';

-- What stands less firm disputes nothing: it is disputed itself, and the firmer one lists it.
CREATE OR REPLACE FUNCTION memwarden_internal.is_outweighed(p_org_id bigint, p_standing text, p_contradicts uuid[])
RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
SET plan_cache_mode = force_generic_plan
AS $function$
BEGIN
    RETURN EXISTS (SELECT FROM memwarden_data.item AS o
                    WHERE o.org_id = p_org_id AND o.item_id = ANY (p_contradicts)
                      AND memwarden_internal.firmness(o.standing) >= memwarden_internal.firmness(p_standing));
END
$function$;
COMMENT ON FUNCTION memwarden_internal.is_outweighed IS
    'Whether one of the memories that contradict another stands at least as firm as that.';

CREATE OR REPLACE FUNCTION memwarden_internal.stands_disputed(p_org_id bigint, p_item_id uuid)
RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
SET plan_cache_mode = force_generic_plan
AS $function$
BEGIN
    RETURN EXISTS (
        SELECT FROM memwarden_data.item AS i
         WHERE i.org_id = p_org_id AND i.item_id = p_item_id
           AND (i.standing = 'disputed' OR i.contradicted AND EXISTS (
                SELECT FROM memwarden_data.dispute AS d
                  JOIN memwarden_data.item AS o
                    ON o.org_id = d.org_id AND o.item_id = d.other_item_id AND o.content_hash = d.other_content_hash
                 WHERE d.org_id = i.org_id AND d.item_id = i.item_id AND d.content_hash = i.content_hash AND d.settled_at IS NULL
                   AND NOT d.outdated AND o.status = 'ACTIVE' AND (o.expires_at IS NULL OR o.expires_at > clock_timestamp())
                   AND memwarden_internal.firmness(o.standing) >= memwarden_internal.firmness(i.standing))));
END
$function$;
COMMENT ON FUNCTION memwarden_internal.stands_disputed IS
    'Whether a memory is lowered, or contradicted by one that stands at least as firm, whoever sees that.';
