-- What an approval would break of the golden queries (64_probes) is shown to the reviewer.
CREATE OR REPLACE FUNCTION memwarden_internal.note_failed_probes(p_org_id bigint, p_request_id uuid, p_principal_id bigint, p_failed jsonb)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
BEGIN
    UPDATE memwarden_data.review AS r
       SET report = r.report || jsonb_build_object('probes', p_failed),
           reasons = CASE WHEN 'PROBE' = ANY (r.reasons) THEN r.reasons ELSE r.reasons || 'PROBE'::text END
     WHERE r.org_id = p_org_id AND r.request_id = p_request_id;
    PERFORM memwarden_internal.record_review_event(
        p_org_id, p_request_id, 'probe_failed', p_principal_id, 'PROBE_FAILED', NULL, jsonb_build_object('probes', p_failed));
END
$function$;
COMMENT ON FUNCTION memwarden_internal.note_failed_probes IS
    'Shows the reviewer which golden queries an approval would have broken; the proposal waits on.';
