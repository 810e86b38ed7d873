-- Which memories memwarden.items has. Ids alone cost a tenth of rows, so that a condition on item_id is tested on them first.
-- The view asks up to three times: for one memory, for a handful, for all others. So a LIMIT ends the work.
CREATE OR REPLACE FUNCTION memwarden_internal.visible_items(p_seen uuid[])
RETURNS TABLE (orgs bigint[], items uuid[], seen uuid[])
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER COST 1000 ROWS 2
SET jit = off
-- With the values at hand the planner drops the alternative that does not apply, and finds the index.
SET plan_cache_mode = force_custom_plan
AS $function$
DECLARE
    c_batch CONSTANT integer := 1024;
    v_principal_id bigint := memwarden_internal.current_principal();
    v_all          boolean := memwarden_internal.is_superuser();
    v_orgs         bigint[] := memwarden_internal.visible_orgs();
    v_scopes       bigint[] := memwarden_internal.readable_scopes(v_principal_id);
    v_labels       integer[] := memwarden_internal.readable_labels(v_principal_id);
    -- Whose consents were taken back: rows of others are not asked.
    v_withdrawn    text[] := ARRAY(SELECT s.subject_form FROM memwarden_data.consent_state AS s
                                    WHERE s.org_id = ANY (v_orgs) AND s.state = 'withdrawn');
    v_most         integer := CASE cardinality(p_seen) WHEN 0 THEN 1 WHEN 1 THEN 127 END;
BEGIN
    RETURN QUERY
    SELECT f.orgs[n : n + c_batch - 1], f.items[n : n + c_batch - 1], CASE WHEN cardinality(f.items) = v_most THEN p_seen || f.items END
      FROM (SELECT array_agg(v.org_id) AS orgs, array_agg(v.item_id) AS items
              FROM (SELECT i.org_id, i.item_id
                      FROM memwarden_data.item AS i
                     WHERE (v_all OR i.org_id = ANY (v_orgs) AND i.scope_id = ANY (v_scopes)
                               AND (CASE WHEN i.principal_id = v_principal_id THEN -i.label_id ELSE i.label_id END) = ANY (v_labels)
                               AND (i.class IS NULL OR i.status <> 'ACTIVE'
                                    OR memwarden_internal.form_of_subject(i.subject_form, i.subject) NOT IN (SELECT unnest(v_withdrawn))
                                    OR NOT memwarden_internal.has_withdrawn_consent(
                                        i.org_id, i.item_id, i.class, i.subject_form, i.subject)))
                       AND (i.expires_at IS NULL OR i.expires_at > clock_timestamp()) AND i.item_id <> ALL (p_seen)
                     LIMIT v_most) AS v) AS f
     CROSS JOIN LATERAL generate_series(1, cardinality(f.items), c_batch) AS n;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.visible_items IS
    'The memories that the caller sees, other than p_seen, in batches of at most 1024. seen: what to ask with for more; NULL where these '
    'are all. Asked with an empty p_seen it tells one, and asked with that one up to 127.';
GRANT EXECUTE ON FUNCTION memwarden_internal.visible_items
    TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor;
