CREATE OR REPLACE FUNCTION memwarden.set_review_channel(
    name text, kind text, target text, events text[] DEFAULT '{opened,escalated,expired}', tiers text[] DEFAULT '{async,sync}',
    layer text DEFAULT NULL, scope text DEFAULT NULL, settings jsonb DEFAULT '{}', org text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_org_id   bigint := memwarden_internal.administered_org(set_review_channel.org, 'full');
    v_scope_id bigint;
BEGIN
    IF set_review_channel.layer IS NOT NULL THEN
        PERFORM memwarden_internal.require_layers(ARRAY[set_review_channel.layer]);
    END IF;
    IF set_review_channel.scope IS NOT NULL THEN
        SELECT s.scope_id INTO v_scope_id FROM memwarden_data.scope AS s
         WHERE s.path = set_review_channel.scope AND (v_org_id = 0 OR s.org_id = v_org_id);
        IF v_scope_id IS NULL THEN
            PERFORM memwarden_internal.raise_error('unknown_object', format('scope %L', set_review_channel.scope));
        END IF;
    END IF;
    BEGIN
        INSERT INTO memwarden_data.review_channel AS c (org_id, name, kind, target, events, tiers, layer, scope_id, settings)
        VALUES (v_org_id, set_review_channel.name, set_review_channel.kind, set_review_channel.target, set_review_channel.events,
                set_review_channel.tiers, set_review_channel.layer, v_scope_id, set_review_channel.settings)
        ON CONFLICT ON CONSTRAINT review_channel_pkey
        DO UPDATE SET kind = excluded.kind, target = excluded.target, events = excluded.events, tiers = excluded.tiers,
                      layer = excluded.layer, scope_id = excluded.scope_id, settings = excluded.settings;
    EXCEPTION WHEN check_violation OR not_null_violation THEN
        PERFORM memwarden_internal.raise_error('invalid_argument',
            'name: lower-case letters, digits, _ and -, at most 63; kind: the same without -; target: 1 to 1,000 characters, '
            'none of control; '
            'events: some of opened, edited, approved, rejected, escalated, expired, not_applicable, probe_failed, incident; '
            'tiers: '
            'async, sync; settings: an object, at most 4 KiB');
    END;
    PERFORM memwarden_internal.record_access_change(v_org_id, 'set_review_channel', jsonb_build_object(
        'channel', set_review_channel.name, 'kind', set_review_channel.kind, 'events', set_review_channel.events,
        'tiers', set_review_channel.tiers, 'layer', set_review_channel.layer, 'scope', set_review_channel.scope));
END
$function$;
COMMENT ON FUNCTION memwarden.set_review_channel IS
    'Makes a worker tell reviewers what happens in the review queue, or changes the channel of that name. A notice carries ids, '
    'layer, scope, tier, risk, reasons and times, and never the content that is to be remembered. name: the name of the channel; an '
    'organisation''s own channel precedes that of all. kind: a kind of channel that the worker has; webhook and email are built in. '
    'target: the address. events: some of opened, edited, approved, rejected, escalated, expired, not_applicable, probe_failed and '
    'incident (a breach of compliance; for channels without layer and scope); by default opened, escalated and '
    'expired. tiers: async (the writer goes on), sync (the writer waits); both by default. layer: '
    'limits the channel to one layer. scope: limits the channel to one scope and the scopes below it. settings: what the kind takes, '
    'at most 4 KiB; secret_env names a variable of the worker''s environment, MEMWARDEN_SECRET_..., and link the address to which a '
    'proposal''s id is appended. org: the organisation; by default all. Raises 42704 for an unknown layer, scope or organisation, '
    '22023 for a value out of range, 42501 without the right, 25001 at an isolation level other than READ COMMITTED. Source: chapter '
    '12.6.6, Z9.';
-- The worker goes where it is sent: whoever names the address reaches what the worker reaches.
GRANT EXECUTE ON FUNCTION memwarden.set_review_channel TO memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden.drop_review_channel(name text, org text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_org_id bigint := memwarden_internal.administered_org(drop_review_channel.org, 'full');
BEGIN
    DELETE FROM memwarden_data.review_channel AS c WHERE c.org_id = v_org_id AND c.name = drop_review_channel.name;
    IF NOT FOUND THEN
        PERFORM memwarden_internal.raise_error('unknown_object', format('review channel %L', drop_review_channel.name));
    END IF;
    DELETE FROM memwarden_data.review_notice AS n
     WHERE n.channel_org_id = v_org_id AND n.channel = drop_review_channel.name AND n.state IN ('ready', 'running', 'dead');
    PERFORM memwarden_internal.record_access_change(v_org_id, 'drop_review_channel',
        jsonb_build_object('channel', drop_review_channel.name));
END
$function$;
COMMENT ON FUNCTION memwarden.drop_review_channel IS
    'Removes a channel of set_review_channel() and its unsent notices. Raises 42704 where there is none, 42501 without the right, '
    '25001 at an isolation level other than READ COMMITTED.';
GRANT EXECUTE ON FUNCTION memwarden.drop_review_channel TO memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden_internal.list_review_channels()
RETURNS TABLE (org text, channel text, kind text, target text, events text[], tiers text[], layer text, scope text, settings jsonb,
               waiting bigint, sent bigint, set_aside bigint, oldest_at timestamptz, last_error text)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
DECLARE
    v_orgs bigint[] := memwarden_internal.overseen_orgs();
    v_all  boolean := memwarden_internal.is_database_admin();
BEGIN
    -- Of a channel of all an auditor sees what concerns its own organisation, and not where it leads.
    RETURN QUERY
    SELECT o.name, c.name, c.kind, CASE WHEN v_all OR c.org_id <> 0 THEN c.target END, c.events, c.tiers, c.layer, s.path,
           CASE WHEN v_all OR c.org_id <> 0 THEN c.settings END, n.waiting, n.sent, n.set_aside, n.oldest_at, n.last_error
      FROM memwarden_data.review_channel AS c
      JOIN memwarden_data.organisation AS o ON o.org_id = c.org_id
      LEFT JOIN memwarden_data.scope AS s ON s.scope_id = c.scope_id AND (v_all OR s.org_id = ANY (v_orgs))
     CROSS JOIN LATERAL (
           SELECT count(*) FILTER (WHERE m.state IN ('ready', 'running')) AS waiting, count(*) FILTER (WHERE m.state = 'done') AS sent,
                  count(*) FILTER (WHERE m.state = 'dead') AS set_aside,
                  min(m.created_at) FILTER (WHERE m.state IN ('ready', 'running')) AS oldest_at,
                  (array_agg(m.last_error ORDER BY m.created_at DESC) FILTER (WHERE m.last_error IS NOT NULL))[1] AS last_error
             FROM memwarden_data.review_notice AS m
            WHERE m.channel_org_id = c.org_id AND m.channel = c.name AND (v_all OR m.org_id = ANY (v_orgs))) AS n
     WHERE v_all OR c.org_id = 0 OR c.org_id = ANY (v_orgs);
END
$function$;
COMMENT ON VIEW memwarden.review_channels IS
    'Lists the channels on which reviewers are told, with the state of their notices, see set_review_channel(). waiting counts '
    'notices that wait, the oldest of them since oldest_at. sent counts those of the last month, and set_aside those that were set '
    'aside. last_error is what went wrong last.';
GRANT EXECUTE ON FUNCTION memwarden_internal.list_review_channels TO memwarden_auditor, memwarden_admin;
