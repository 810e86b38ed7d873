-- A name that led nowhere is the caller's text: the request keeps none of it, and the answer says which it was.
CREATE OR REPLACE FUNCTION memwarden_internal.tell_names(p_reason text, p_detail jsonb, p_given jsonb)
RETURNS jsonb
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
RETURN (
    SELECT coalesce(
        (SELECT coalesce(p_detail, '{}') || jsonb_build_object(
                    n.argument, CASE WHEN jsonb_typeof(p_given -> n.argument) = 'string'
                                     THEN to_jsonb(left(p_given ->> n.argument, 1000)) ELSE p_given -> n.argument END)
           FROM (VALUES
               ('scope', '{UNKNOWN_SCOPE,SCOPE_READ_ONLY,SCOPE_CLOSED,ANCHOR_MISMATCH}'::text[]),
               ('layer', '{UNKNOWN_LAYER}'),
               ('kind', '{UNKNOWN_KIND}'),
               ('class', '{UNKNOWN_CLASS,CLASS_NOT_PERMITTED,CLASS_NOT_IN_PACK,CLASS_NOT_HERE}'),
               ('classification', '{UNKNOWN_CLASSIFICATION,CLEARANCE_TOO_LOW}'),
               ('embedding_model', '{UNKNOWN_EMBEDDING_MODEL}')) AS n (argument, reasons)
          WHERE p_reason = ANY (n.reasons) AND p_given ->> n.argument IS NOT NULL),
        p_detail));
COMMENT ON FUNCTION memwarden_internal.tell_names IS
    'The detail of a refusal with the name that it is about, of at most 1,000 characters, as the caller gave it.';

CREATE OR REPLACE FUNCTION memwarden_internal.tell_result(
    p_principal_id bigint, p_result memwarden_internal.write_result, p_given jsonb DEFAULT NULL)
RETURNS memwarden_internal.write_result
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN ROW (p_result.request_id, p_result.outcome, p_result.item_id, p_result.version_id, p_result.gate, p_result.reason,
                memwarden_internal.tell_replaced(p_principal_id, p_result.request_id, p_result.reason,
                    memwarden_internal.tell_names(p_result.reason, p_result.detail, p_given)),
                p_result.retry_after)::memwarden_internal.write_result;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.tell_result IS
    'The answer to a write with its detail as tell_replaced() and tell_names() tell it.';
