-- What logical replication carries to a region. The smallest unit is an organisation: a row filter sees the columns of a
-- table's replica identity alone, and org_id is the one that every key has. So an organisation is carried where every rule
-- that it has, for whatever class, allows the region.
CREATE OR REPLACE FUNCTION memwarden_internal.published_tables()
RETURNS TABLE (relation text, condition text, whole_identity boolean)
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
AS $function$
VALUES
    -- Places and people have keys of one number, so the filter needs their whole row. What setup() makes is there already.
    ('organisation', 'org_id IN (%s) AND org_id <> 0', false),
    ('scope', 'org_id IN (%s) AND org_id <> 0', true),
    ('principal', 'org_id IN (%s) AND principal_id <> 0', true),
    ('label', 'org_id IN (%s)', true),
    ('item', 'org_id IN (%s)', false),
    ('version', 'org_id IN (%s)', false),
    -- A partition of its own is each server's own business.
    ('embedding', 'org_id IN (%s) AND shelf = 0', false),
    ('derivation', 'org_id IN (%s)', false),
    ('dispute', 'org_id IN (%s)', false),
    ('provenance', 'org_id IN (%s)', false)
$function$;
COMMENT ON FUNCTION memwarden_internal.published_tables IS
    'What create_region_publication() publishes, on which condition (%s: the organisations), and whether the table needs REPLICA '
    'IDENTITY FULL for it. All else stays where it was written: requests, captures, sessions, the log, settings and grants.';

CREATE OR REPLACE FUNCTION memwarden_internal.publication_name(p_region text)
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
RETURN 'memwarden_' || replace(p_region, '-', '_');
COMMENT ON FUNCTION memwarden_internal.publication_name IS 'The name of the publication for a region.';

CREATE OR REPLACE FUNCTION memwarden_internal.publication_shape(p_name text)
RETURNS text
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN (SELECT md5(concat_ws(' ', p.puballtables, p.pubviaroot, p.pubtruncate, t.tables))
              FROM pg_publication AS p
             CROSS JOIN LATERAL (SELECT string_agg(concat_ws(' ', x.schemaname, x.tablename, x.rowfilter), ';'
                                                   ORDER BY x.schemaname, x.tablename) AS tables
                                   FROM pg_publication_tables AS x WHERE x.pubname = p.pubname) AS t
             WHERE p.pubname = p_name);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.publication_shape IS 'A hash of what a publication publishes; NULL where there is none.';

CREATE OR REPLACE FUNCTION memwarden_internal.publications()
RETURNS TABLE (pubname text, region text, orgs bigint[])
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN QUERY
    -- One that somebody has changed carries whatever it likes.
    SELECT memwarden_internal.publication_name(r.region), r.region,
           CASE WHEN r.published_as = memwarden_internal.publication_shape(memwarden_internal.publication_name(r.region))
                THEN r.published_orgs || r.withdrawn_orgs END
      FROM memwarden_data.region AS r
     WHERE EXISTS (SELECT FROM pg_publication AS p WHERE p.pubname = memwarden_internal.publication_name(r.region))
       AND r.published_orgs IS NOT NULL
     UNION ALL
    SELECT DISTINCT t.pubname::text, NULL, NULL::bigint[]
      FROM pg_publication_tables AS t
     WHERE t.schemaname = 'memwarden_data'
       AND NOT EXISTS (SELECT FROM memwarden_data.region AS r
                        WHERE r.published_orgs IS NOT NULL AND memwarden_internal.publication_name(r.region) = t.pubname);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.publications IS
    'The publications of memories, to which region (NULL: to anywhere), and of which organisations (NULL: of all): those that they '
    'carry, and those that they have carried, whose copies may be there still.';

CREATE OR REPLACE FUNCTION memwarden_internal.may_be_published(p_org_id bigint, p_region text)
RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN NOT EXISTS (SELECT FROM jsonb_each(memwarden_internal.residency_of(p_org_id)) AS r WHERE NOT r.value ? p_region);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.may_be_published IS 'Whether all residency rules of an organisation allow a region.';

CREATE OR REPLACE FUNCTION memwarden_internal.publish(p_region text, p_orgs bigint[])
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_name text := memwarden_internal.publication_name(p_region);
BEGIN
    -- The filter names at least a number that no organisation has.
    EXECUTE format('ALTER PUBLICATION %I SET TABLE %s', v_name, (
        SELECT string_agg(format('memwarden_data.%I WHERE (', t.relation) || format(t.condition, v.orgs) || ')', ', ')
          FROM memwarden_internal.published_tables() AS t,
               (SELECT coalesce(string_agg(o.org_id::text, ', ' ORDER BY o.org_id), '-1') AS orgs
                  FROM unnest(p_orgs) AS o (org_id)) AS v));
    UPDATE memwarden_data.region AS r
       SET published_orgs = p_orgs, published_as = memwarden_internal.publication_shape(v_name)
     WHERE r.region = p_region;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.publish IS 'Has the publication for a region carry these organisations and no other.';

-- An organisation is added only while it has nothing yet: what it had would not follow. And before its row is there, since a
-- row is carried by what the publication was when it came.
CREATE OR REPLACE FUNCTION memwarden_internal.renew_publications()
RETURNS trigger
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_new    bigint[] := CASE WHEN TG_LEVEL = 'ROW' THEN ARRAY[(to_jsonb(NEW) ->> 'org_id')::bigint] ELSE '{}'::bigint[] END;
    v_region record;
BEGIN
    -- One of that name is there: the row will not come.
    IF TG_LEVEL = 'ROW' AND EXISTS (SELECT FROM memwarden_data.organisation AS o WHERE o.name = to_jsonb(NEW) ->> 'name') THEN
        RETURN NEW;
    END IF;
    PERFORM memwarden_internal.bound_wait(interval '30 seconds');
    -- One change at a time: the next statement sees what the one before has left.
    PERFORM FROM memwarden_data.region AS r WHERE r.published_orgs IS NOT NULL ORDER BY r.region FOR UPDATE;
    FOR v_region IN
        SELECT r.region, r.published_orgs,
               ARRAY(SELECT o.org_id FROM unnest(r.published_orgs || v_new) AS o (org_id)
                      WHERE memwarden_internal.may_be_published(o.org_id, r.region) ORDER BY 1) AS orgs
          FROM memwarden_data.region AS r
         WHERE r.published_orgs IS NOT NULL
           AND EXISTS (SELECT FROM pg_publication AS p WHERE p.pubname = memwarden_internal.publication_name(r.region))
    LOOP
        IF v_region.orgs <> v_region.published_orgs THEN
            PERFORM memwarden_internal.publish(v_region.region, v_region.orgs);
            UPDATE memwarden_data.region AS r
               SET withdrawn_orgs = ARRAY(SELECT DISTINCT o FROM unnest(r.withdrawn_orgs || v_region.published_orgs) AS o
                                           WHERE o <> ALL (v_region.orgs) ORDER BY 1)
             WHERE r.region = v_region.region;
        END IF;
    END LOOP;
    RETURN CASE WHEN TG_LEVEL = 'ROW' THEN NEW END;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.renew_publications IS
    'Triggers of organisation and residency_rule: takes out of each publication what its region may no longer hold, and adds an '
    'organisation that is being made.';

-- SECURITY INVOKER: only a superuser makes a publication where memwarden_owner may create nothing.
CREATE OR REPLACE FUNCTION memwarden.create_region_publication(region text)
RETURNS TABLE (publication text, org text)
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_name  text := memwarden_internal.publication_name(create_region_publication.region);
    v_orgs  bigint[];
    v_table text;
BEGIN
    IF NOT (SELECT r.rolsuper FROM pg_roles AS r WHERE r.rolname = current_user) THEN
        PERFORM memwarden_internal.raise_error('not_superuser', format('role %I', current_user));
    END IF;
    PERFORM memwarden_internal.require_regions(ARRAY[create_region_publication.region]);
    -- Rules wait: what they say now is what is published.
    PERFORM memwarden_internal.hold_table('memwarden_data.residency_rule', 'SHARE');
    PERFORM memwarden_internal.hold_table('memwarden_data.organisation', 'SHARE');
    v_orgs := ARRAY(SELECT o.org_id FROM memwarden_data.organisation AS o
                     WHERE memwarden_internal.may_be_published(o.org_id, create_region_publication.region) ORDER BY o.org_id);
    FOR v_table IN
        SELECT t.relation FROM memwarden_internal.published_tables() AS t
          JOIN pg_class AS c ON c.oid = format('memwarden_data.%I', t.relation)::regclass
         WHERE t.whole_identity AND c.relreplident <> 'f'
    LOOP
        EXECUTE format('ALTER TABLE memwarden_data.%I REPLICA IDENTITY FULL', v_table);
    END LOOP;
    IF NOT EXISTS (SELECT FROM pg_publication AS p WHERE p.pubname = v_name) THEN
        EXECUTE format('CREATE PUBLICATION %I WITH (publish = %L, publish_via_partition_root = true)', v_name, 'insert, update, delete');
        EXECUTE format('ALTER PUBLICATION %I OWNER TO memwarden_owner', v_name);
    END IF;
    PERFORM memwarden_internal.publish(create_region_publication.region, v_orgs);
    UPDATE memwarden_data.region AS r SET withdrawn_orgs = '{}' WHERE r.region = create_region_publication.region;
    PERFORM memwarden_internal.record_access_change(0, 'create_region_publication', jsonb_build_object('region', region, 'orgs', v_orgs));
    RETURN QUERY SELECT v_name, o.name FROM memwarden_data.organisation AS o WHERE o.org_id = ANY (v_orgs) ORDER BY o.name;
END
$function$;
COMMENT ON FUNCTION memwarden.create_region_publication IS
    'Creates the publication from which a server in a region subscribes to the memories that may lie there: of organisations all of '
    'whose residency rules allow the region. A rule that forbids the region takes its organisation out at once, and new '
    'organisations come in by themselves. Called again, it takes in organisations whose rules have come to allow the region, and '
    'holds that no subscriber has copies of any other: make the subscription anew, or call remove_copies() there. region: a region '
    'of define_region(). publication: its name. org: an organisation that it carries. Raises 42501 for other roles than superusers, '
    '42704 for an unknown region, 25001 at an isolation level other than READ COMMITTED. '
    'Raises 55P03 when others hold it up for longer than 30 seconds, or lock_timeout. '
    'Source: chapter 12.10.3.';

CREATE OR REPLACE FUNCTION memwarden.remove_copies(org text)
RETURNS TABLE (place text, rows bigint)
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET session_replication_role = replica
AS $function$
DECLARE
    v_org_id bigint := (SELECT o.org_id FROM memwarden_data.organisation AS o WHERE o.name = remove_copies.org AND o.org_id <> 0);
    v_table  text;
BEGIN
    IF v_org_id IS NULL THEN
        PERFORM memwarden_internal.raise_error('unknown_object', format('organisation %L', remove_copies.org));
    ELSIF EXISTS (SELECT FROM memwarden_data.log AS l WHERE l.org_id = v_org_id) THEN
        PERFORM memwarden_internal.raise_error('no_copies', format('organisation %L was written on this server', remove_copies.org));
    END IF;
    FOR v_table IN SELECT t.relation FROM memwarden_internal.published_tables() AS t ORDER BY t.relation LOOP
        EXECUTE format('DELETE FROM memwarden_data.%I WHERE org_id = $1', v_table) USING v_org_id;
        place := v_table;
        GET DIAGNOSTICS rows = ROW_COUNT;
        RETURN NEXT;
    END LOOP;
    PERFORM memwarden_internal.record_access_change(0, 'remove_copies', jsonb_build_object('org_id', v_org_id));
END
$function$;
COMMENT ON FUNCTION memwarden.remove_copies IS
    'Removes from a subscriber all copies of an organisation that its region may no longer hold. Only a superuser may. Afterwards '
    'create_region_publication() on the publisher says that they are gone. org: the organisation. place: a table. rows: how many of '
    'its rows are gone. Raises 42501 for other roles, 42704 for an unknown organisation, 55000 for one that was written on this '
    'server, 25001 at an isolation level other than READ COMMITTED. Source: chapter 12.10.3.';
