-- What lies where it may not. Memories are counted where a rule is broken, and nowhere else.
CREATE OR REPLACE FUNCTION memwarden_internal.places()
RETURNS TABLE (place text, region text, since timestamptz, orgs bigint[])
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN QUERY
    SELECT 'this server', n.region, n.set_at, NULL::bigint[]
      FROM (SELECT 1) AS here
      LEFT JOIN memwarden_data.node AS n
        ON n.system_identifier = memwarden_internal.system_identifier() AND n.name = current_setting('cluster_name')
     UNION ALL
    SELECT format('standby %s', n.name), n.region, n.set_at, NULL
      FROM memwarden_data.node AS n
     WHERE n.system_identifier = memwarden_internal.system_identifier() AND n.name <> current_setting('cluster_name')
     UNION ALL
    -- Who else copies everything. Slots are all that is told to whoever is no superuser.
    SELECT format('replication slot %s, which no node bears', s.slot_name), NULL, NULL, NULL
      FROM pg_replication_slots AS s
     WHERE s.slot_type = 'physical' AND NOT s.temporary
       AND NOT EXISTS (SELECT FROM memwarden_data.node AS n
                        WHERE n.system_identifier = memwarden_internal.system_identifier()
                          AND replace(n.name, '-', '_') = s.slot_name)
     UNION ALL
    SELECT format('publication %s', p.pubname), p.region, NULL, p.orgs
      FROM memwarden_internal.publications() AS p;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.places IS
    'Where memories lie or are carried to: this server, its standbys and the publications, each with its region (NULL: nobody has '
    'declared it) and since when. orgs: of whom; NULL for everybody.';

CREATE OR REPLACE FUNCTION memwarden_internal.residency_breaches(p_org_id bigint DEFAULT NULL)
RETURNS TABLE (org_id bigint, org text, class text, place text, region text, allowed text[], memories bigint, since timestamptz)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
BEGIN
    IF NOT EXISTS (SELECT FROM memwarden_data.residency_rule) THEN
        RETURN;
    END IF;
    RETURN QUERY
    WITH ruled AS MATERIALIZED (
        SELECT o.org_id, o.name, memwarden_internal.residency_of(o.org_id) AS rules FROM memwarden_data.organisation AS o
         WHERE p_org_id IS NULL OR o.org_id = p_org_id
    ), broken AS MATERIALIZED (
        SELECT o.org_id, o.name, p.place, p.region, p.since, c.class, a.allowed,
               -- What breaks the rule for all is not told again for each class.
               bool_or(c.class = '*') OVER (PARTITION BY o.org_id, p.place) AS breaks_all
          FROM ruled AS o
         CROSS JOIN LATERAL jsonb_object_keys(o.rules) AS c (class)
         CROSS JOIN LATERAL (SELECT memwarden_internal.allowed_regions(o.rules, c.class) AS allowed) AS a
          JOIN memwarden_internal.places() AS p ON p.orgs IS NULL OR o.org_id = ANY (p.orgs)
         WHERE (a.allowed ? p.region) IS NOT TRUE
    )
    SELECT b.org_id, b.name, NULLIF(b.class, '*'), b.place, b.region, ARRAY(SELECT jsonb_array_elements_text(b.allowed)),
           m.memories, greatest(m.first, b.since, (
               SELECT r.set_at FROM memwarden_data.residency_rule AS r
                WHERE r.org_id IN (0, b.org_id) AND r.class = b.class ORDER BY r.org_id DESC LIMIT 1))
      FROM broken AS b
     CROSS JOIN LATERAL (SELECT count(*) AS memories, min(i.created_at) AS first FROM memwarden_data.item AS i
                          WHERE i.org_id = b.org_id AND (b.class = '*' OR i.class = b.class)) AS m
     WHERE m.memories > 0 AND (b.class = '*' OR NOT b.breaks_all)
     ORDER BY b.name, b.class, b.place;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.residency_breaches IS
    'What lies, or is carried, where its residency rules do not allow it (p_org_id NULL: of every organisation): whose, of which '
    'class (NULL: of any), at '
    'which place and in which region (NULL: nobody has declared it), where it may lie, how many memories, and since when. '
    'For the compliance job. Source: chapter 12.10.3.';

CREATE OR REPLACE FUNCTION memwarden_internal.count_breaches()
RETURNS bigint
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN (SELECT coalesce(sum(b.memories), 0)::bigint FROM memwarden_internal.residency_breaches() AS b);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.count_breaches IS
    'How many memories lie outside their regions; one in several places counts for each.';
