-- Items are read through a function, as 10_identity/85_overviews.sql says why. This one is of SQL, and the view calls it in its
-- target list: then a row is made when the query asks for it, and a LIMIT ends the work.
DO $type$
BEGIN
    IF to_regtype('memwarden_internal.listed_item') IS NULL THEN
        CREATE TYPE memwarden_internal.listed_item AS (
            item_id uuid, version_id uuid, version integer, layer text, scope text, kind text, subject text, predicate text,
            content jsonb, "text" text, confidence double precision, importance double precision, status text,
            contradicted boolean, stale boolean, created_at timestamptz, updated_at timestamptz, expires_at timestamptz,
            valid_from timestamptz, valid_to timestamptz, classification text, domains text[], attributes jsonb,
            evidence jsonb, request_id uuid, last_seen_at timestamptz, times_seen bigint, witnesses integer,
            corroborated_confidence double precision, class text
        );
    END IF;
END
$type$;
COMMENT ON TYPE memwarden_internal.listed_item IS 'One row of memwarden.items.';

CREATE OR REPLACE FUNCTION memwarden_internal.list_items()
RETURNS SETOF memwarden_internal.listed_item
LANGUAGE sql STABLE PARALLEL RESTRICTED SECURITY DEFINER COST 100000
SET search_path = pg_catalog, pg_temp
SET jit = off
AS $function$
    SELECT i.item_id, i.version_id, i.version::integer, i.layer, s.path, i.kind, i.subject, i.predicate, v.content, v.search_text,
           i.confidence::double precision, i.importance::double precision, i.status::text,
           i.contradicted AND i.status = 'ACTIVE' AND memwarden_internal.is_disputed(
               i.org_id, i.item_id, i.content_hash, me.principal_id, CASE WHEN NOT me.sees_all THEN me.labels END),
           EXISTS (SELECT FROM memwarden_data.derivation AS d WHERE d.org_id = i.org_id AND d.version_id = i.version_id)
               AND memwarden_internal.is_stale(i.org_id, i.version_id), i.created_at, i.updated_at, i.expires_at,
           lower(i.valid_during), upper(i.valid_during), l.classification, l.domains, l.attributes, v.evidence, v.request_id,
           coalesce((n.said).last_seen_at, i.updated_at), coalesce((n.said).times_seen, 0), coalesce((n.said).witnesses, 0),
           coalesce((n.said).confidence, i.adjusted_confidence), i.class
      -- OFFSET 0: asked once. Below it keeps each table looked up row by row, so that the first row waits for no other.
      FROM (SELECT m.principal_id, m.sees_all,
                   CASE WHEN m.sees_all THEN ARRAY(SELECT o.org_id FROM memwarden_data.organisation AS o)
                        ELSE memwarden_internal.visible_orgs() END AS orgs,
                   CASE WHEN m.sees_all THEN ARRAY(SELECT s.scope_id FROM memwarden_data.scope AS s)
                        ELSE memwarden_internal.readable_scopes(m.principal_id) END AS scopes,
                   memwarden_internal.readable_labels(m.principal_id) AS labels
              FROM (SELECT memwarden_internal.current_principal() AS principal_id,
                  memwarden_internal.is_superuser() AS sees_all OFFSET 0) AS m
            OFFSET 0) AS me
      JOIN memwarden_data.item AS i
        ON i.org_id = ANY (me.orgs) AND i.scope_id = ANY (me.scopes) AND (i.expires_at IS NULL OR i.expires_at > clock_timestamp())
       AND (me.sees_all
            OR (CASE WHEN i.principal_id = me.principal_id THEN -i.label_id ELSE i.label_id END) = ANY (me.labels)
               AND (i.class IS NULL OR i.status <> 'ACTIVE' OR NOT memwarden_internal.has_withdrawn_consent(i.org_id, i.item_id,
                   i.class, i.subject)))
     CROSS JOIN LATERAL (
           SELECT v.content, v.search_text, v.evidence, v.request_id
             FROM memwarden_data.version AS v WHERE v.org_id = i.org_id AND v.version_id = i.version_id OFFSET 0) AS v
     CROSS JOIN LATERAL (SELECT s.path FROM memwarden_data.scope AS s WHERE s.scope_id = i.scope_id OFFSET 0) AS s
     CROSS JOIN LATERAL (
           SELECT c.name AS classification, l.domains, l.attributes
             FROM memwarden_data.label AS l JOIN memwarden_data.classification AS c ON c.level = l.classification
            WHERE l.label_id = i.label_id OFFSET 0) AS l
      -- Most were never said again: for those the function is not called. In FROM it would be, with the question asked after it; OFFSET 0
      -- keeps the fields of its answer from being one call each.
      LEFT JOIN LATERAL (
           SELECT CASE WHEN EXISTS (SELECT FROM memwarden_data.sighting AS t WHERE t.org_id = i.org_id AND t.item_id = i.item_id)
                       THEN memwarden_internal.corroboration(i.org_id, i.item_id, i.version_id, i.adjusted_confidence,
                           i.authority, i.updated_at)
                       END AS said
           OFFSET 0) AS n ON true
$function$;
COMMENT ON FUNCTION memwarden_internal.list_items() IS 'The rows of memwarden.items, made one by one as they are asked for.';
REVOKE ALL ON FUNCTION memwarden_internal.list_items() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION memwarden_internal.list_items() TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor;
