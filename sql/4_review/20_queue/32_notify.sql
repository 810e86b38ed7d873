-- Every event of a review is told to the channels that want it: in its own transaction, so none is lost and none is of what never was.
CREATE OR REPLACE FUNCTION memwarden_internal.notify_of_review()
RETURNS trigger
LANGUAGE plpgsql VOLATILE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_now timestamptz := clock_timestamp();
BEGIN
    INSERT INTO memwarden_data.review_notice (
        org_id, notice_id, channel_org_id, channel, event_id, request_id, event, created_at, run_at)
    SELECT NEW.org_id, memwarden_internal.uuid7(), c.org_id, c.name, NEW.event_id, NEW.request_id, NEW.event, v_now, v_now
      FROM memwarden_data.review AS r
      JOIN memwarden_data.scope AS s ON s.scope_id = r.scope_id
     CROSS JOIN LATERAL (SELECT DISTINCT ON (o.name) o.* FROM memwarden_data.review_channel AS o
                          WHERE o.org_id IN (0, NEW.org_id) ORDER BY o.name, o.org_id DESC) AS c
     WHERE r.org_id = NEW.org_id AND r.request_id = NEW.request_id
       -- A level of the escalation may name its channel: that is told, whatever else it takes, and no other.
       AND CASE WHEN NEW.event = 'escalated' AND NEW.detail ->> 'channel' IS NOT NULL THEN c.name = NEW.detail ->> 'channel'
                ELSE NEW.event = ANY (c.events) AND r.tier = ANY (c.tiers) AND (c.layer IS NULL OR c.layer = r.layer)
                     AND (c.scope_id IS NULL OR c.scope_id = ANY (s.lineage)) END;
    IF FOUND THEN
        -- However many a transaction makes, one message leaves it.
        PERFORM pg_notify('memwarden_notice', '');
    END IF;
    RETURN NULL;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.notify_of_review IS
    'Trigger notify_of_review: makes a notice of an event for each channel that wants it, and wakes the workers. '
    'Source: chapter 12.6.6, Z9.';

CREATE OR REPLACE FUNCTION memwarden_internal.notice_of(
    p_org_id bigint, p_notice_id uuid, p_request_id uuid, p_event_id uuid, p_event text, p_link text)
RETURNS jsonb
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    IF p_event = 'incident' THEN
        RETURN memwarden_internal.notice_of_incident(p_org_id, p_notice_id, p_request_id, p_link);
    END IF;
    RETURN (
        SELECT jsonb_strip_nulls(jsonb_build_object(
                   'id', p_notice_id, 'event', p_event, 'at', e.at, 'proposal_id', r.request_id, 'org', o.name, 'layer',
                   r.layer, 'scope', s.path,
                   'class', r.class, 'tier', r.tier, 'risk', round(r.risk::numeric, 3), 'reasons', to_jsonb(r.reasons), 'state', r.state,
                   'opened_at', r.opened_at, 'age_seconds', extract(epoch FROM clock_timestamp() - r.opened_at)::bigint,
                   'due_at', r.due_at, 'overdue', r.state = 'pending' AND r.due_at < clock_timestamp(), 'expires_at', r.expires_at,
                   'escalated', r.escalated, 'link', p_link || r.request_id::text))
          FROM memwarden_data.review AS r
          JOIN memwarden_data.scope AS s ON s.scope_id = r.scope_id
          JOIN memwarden_data.organisation AS o ON o.org_id = r.org_id
          LEFT JOIN memwarden_data.review_event AS e ON e.org_id = r.org_id AND e.event_id = p_event_id
         WHERE r.org_id = p_org_id AND r.request_id = p_request_id);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.notice_of IS
    'What a channel is told about an event: ids, names and times as they are now, and nothing of the content.';
