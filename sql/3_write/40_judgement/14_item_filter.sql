CREATE TYPE memwarden_internal.item_filter AS (
    subjects        text[],
    predicates      text[],
    kind            text,
    content         jsonb,
    min_confidence  double precision,
    valid_at        timestamptz
);
COMMENT ON TYPE memwarden_internal.item_filter IS
    'What recall() narrows down to: names by their forms, the rest as its arguments say it; what is NULL is not asked for.';

-- Only what is asked for is in the statement, which is planned for it.
CREATE OR REPLACE FUNCTION memwarden_internal.filter_conditions(p_only memwarden_internal.item_filter)
RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
AS $function$
BEGIN
    RETURN concat(
        CASE WHEN p_only.subjects IS NOT NULL
             THEN ' AND memwarden_internal.form_of_subject(i.subject_form, i.subject) = ANY (($7).subjects)' END,
        CASE WHEN p_only.predicates IS NOT NULL
             THEN ' AND memwarden_internal.form_of_predicate(i.predicate_form, i.predicate) = ANY (($7).predicates)' END,
        CASE WHEN p_only.kind IS NOT NULL THEN ' AND i.kind = ($7).kind' END,
        CASE WHEN p_only.min_confidence IS NOT NULL THEN ' AND i.confidence >= ($7).min_confidence' END,
        CASE WHEN p_only.valid_at IS NOT NULL THEN ' AND i.valid_during @> ($7).valid_at' END,
        CASE WHEN p_only.content IS NOT NULL THEN
            ' AND EXISTS (SELECT FROM memwarden_data.said_version AS v'
            ' WHERE v.org_id = i.org_id AND v.version_id = i.version_id AND v.tier = ''hot'' AND v.content @> ($7).content)' END);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.filter_conditions IS
    'The conditions of a filter on an item i, for a statement whose $7 it is; empty for NULL.';

CREATE OR REPLACE FUNCTION memwarden_internal.consent_condition()
RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
AS $function$
BEGIN
    RETURN ' AND (i.class IS NULL
        OR NOT memwarden_internal.has_withdrawn_consent(i.org_id, i.item_id, i.class, i.subject_form, i.subject))';
END
$function$;
COMMENT ON FUNCTION memwarden_internal.consent_condition IS 'The condition that nobody has taken back a consent that an item i needs.';
