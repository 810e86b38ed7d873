-- The audit of what became of proposals. One statement of it, whoever decides.
CREATE OR REPLACE FUNCTION memwarden_internal.record_review_event(
    p_org_id bigint, p_request_id uuid, p_event text, p_principal_id bigint DEFAULT NULL, p_reason text DEFAULT NULL,
    p_note text DEFAULT NULL, p_detail jsonb DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
BEGIN
    INSERT INTO memwarden_data.review_event (
        org_id, event_id, request_id, round, event, principal_id, login, reason, note, detail, at)
    VALUES (
        p_org_id, memwarden_internal.uuid7(), p_request_id,
        coalesce((SELECT r.round FROM memwarden_data.review AS r WHERE r.org_id = p_org_id AND r.request_id = p_request_id), 1),
        p_event, p_principal_id, CASE WHEN p_principal_id IS NOT NULL THEN session_user END, p_reason, p_note, p_detail, clock_timestamp());
    -- Who waits for a decision, or for work, listens; what is in it each looks up with its own rights.
    PERFORM pg_notify('memwarden_review', p_request_id::text);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.record_review_event IS
    'Appends to the audit of a proposal, in the name of a principal and of the login at work, or of the engine (NULL), '
    'and notifies the channel memwarden_review with its number alone. Source: chapter 12.6.7.';
