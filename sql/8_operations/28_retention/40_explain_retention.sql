CREATE OR REPLACE FUNCTION memwarden.explain_retention(item_id uuid)
RETURNS TABLE (rule text, decides boolean, ends_at timestamptz, afterwards text, because jsonb, rule_org text, keep_at_most interval,
               keep_at_least interval, counted_from timestamptz, permitted_until timestamptz, required_until timestamptz)
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER ROWS 5
AS $function$
DECLARE
    v_org_id bigint := memwarden_internal.org_of_explained(explain_retention.item_id);
    v_terms  record;
    v_holds  boolean := memwarden_internal.may_hold();
    v_links  boolean := memwarden_internal.is_database_admin() OR pg_has_role(session_user, 'memwarden_curator', 'USAGE')
        OR pg_has_role(session_user, 'memwarden_auditor', 'USAGE');
BEGIN
    SELECT r.ends_at, r.required_until INTO v_terms
      FROM memwarden_internal.retention_of(v_org_id, ARRAY[explain_retention.item_id]) AS r;
    RETURN QUERY
    WITH reason AS (
        -- As the views holds and action_links: who is under inquiry must not learn of it, nor anybody of another's actions.
        SELECT DISTINCT CASE k.reason WHEN 'HELD' THEN 'legal hold' WHEN 'PINNED' THEN 'pin' ELSE 'action link' END AS rule,
               k.reason = 'HELD' AS held,
               jsonb_build_object('kept', CASE WHEN k.reason = 'LINKED' AND NOT v_links THEN 'an action' ELSE k.detail END) AS because
          FROM memwarden_internal.reasons_to_keep(v_org_id, ARRAY[explain_retention.item_id]) AS k
         WHERE v_holds OR k.reason <> 'HELD'
    ), rule AS (
        SELECT r.applies_to || ' ' || r.name AS rule, r.because, o.name AS org, r.keep_at_most, r.keep_at_least, r.counted_at,
               r.permitted_until, r.required_until, r.afterwards,
               row_number() OVER (ORDER BY
                   -- The longest duty, where it outlasts the shortest permission; otherwise that permission.
                   CASE WHEN r.required_until = v_terms.ends_at THEN 0 ELSE 1 END,
                   r.permitted_until NULLS LAST, array_position('{delete,cold,archive}', r.afterwards), r.applies_to, r.name) AS place
          FROM memwarden_internal.rules_of_items(v_org_id, ARRAY[explain_retention.item_id], clock_timestamp()) AS r
          JOIN memwarden_data.organisation AS o ON o.org_id = r.org_id
    )
    SELECT r.rule, r.held, NULL::timestamptz, NULL::text, r.because, NULL::text, NULL::interval, NULL::interval, NULL::timestamptz,
           NULL::timestamptz, NULL::timestamptz
      FROM reason AS r WHERE r.held
     UNION ALL
    SELECT f.rule, f.place = 1 AND NOT EXISTS (SELECT FROM reason AS h WHERE h.held),
           CASE WHEN f.place = 1 AND NOT EXISTS (SELECT FROM reason AS h WHERE h.held) THEN v_terms.ends_at END,
           f.afterwards, f.because, f.org, f.keep_at_most, f.keep_at_least, f.counted_at, f.permitted_until, f.required_until
      FROM (SELECT * FROM rule ORDER BY place) AS f
     UNION ALL
    SELECT r.rule, false, NULL, NULL, r.because, NULL, NULL, NULL, NULL, NULL, NULL FROM reason AS r WHERE NOT r.held;
END
$function$;
COMMENT ON FUNCTION memwarden.explain_retention IS
    'Explains how long a memory is kept: one row for each rule that applies, and which of them decides. A legal hold goes before '
    'every rule; it is shown to those who may know of holds, and others are told what decides without it. '
    'Otherwise the longest duty (required_until) wins over every permission. Otherwise the shortest permission '
    '(permitted_until) decides. Pins and links of actions are listed, and decide nothing here. Valid consent to all purposes of '
    'its classes extends the permission of personal data; a withdrawal ends it. rule: the rule, legal hold, pin or action link. '
    'ends_at: at the rule that decides, when the memory ends; null for never. afterwards: what then follows: delete, archive or '
    'cold. because: why the rule applies. rule_org: whose rule it is; global is that of all. counted_from: since when it counts. '
    'Raises 42704 for a memory that the caller does not see, 28000 without an identity, 55000 before setup(). Source: chapter '
    '12.10.4, R5.';
GRANT EXECUTE ON FUNCTION memwarden.explain_retention
    TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden_internal.org_of_explained(p_item_id uuid)
RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_all    boolean := memwarden_internal.is_database_admin();
    v_org_id bigint := (SELECT i.org_id FROM memwarden_data.item AS i
                         WHERE i.item_id = p_item_id AND (v_all OR i.org_id = ANY (memwarden_internal.visible_orgs())));
BEGIN
    IF v_org_id IS NULL
       OR NOT v_all AND memwarden_internal.change_refusal(
              memwarden_internal.require_principal(), p_item_id, 'READ', true) IS NOT DISTINCT FROM 'UNKNOWN' THEN
        IF NOT v_all THEN
            PERFORM memwarden_internal.require_principal();
        END IF;
        PERFORM memwarden_internal.raise_error('unknown_object', format('item %s', p_item_id));
    END IF;
    RETURN v_org_id;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.org_of_explained IS
    'The organisation of a memory that the caller sees, or of any for members of memwarden_admin. Raises 42704 for others, '
    '28000 without an identity.';

CREATE OR REPLACE FUNCTION memwarden_internal.list_retention_rules()
RETURNS TABLE (org text, applies_to text, name text, keep_at_most interval, keep_at_least interval, afterwards text, counted_from text,
               set_at timestamptz, set_by text)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
DECLARE
    v_orgs bigint[] := memwarden_internal.visible_orgs();
    v_all  boolean := memwarden_internal.is_database_admin();
BEGIN
    RETURN QUERY
    SELECT o.name, r.applies_to, r.name, r.keep_at_most, r.keep_at_least, r.afterwards, r.counted_from, r.set_at,
           -- Of the rules of all only the administrators of the database are told who set them.
           CASE WHEN v_all OR r.org_id <> 0 THEN r.set_by END
      FROM memwarden_data.retention_rule AS r
      JOIN memwarden_data.organisation AS o ON o.org_id = r.org_id
     WHERE v_all OR r.org_id = ANY (v_orgs);
END
$function$;
COMMENT ON VIEW memwarden.retention_rules IS
    'Lists how long memories may be kept at most, and must be kept at least, by classification, layer and class. A rule of an '
    'organisation precedes the rule of all organisations (global).';
GRANT EXECUTE ON FUNCTION memwarden_internal.list_retention_rules
    TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor, memwarden_admin;
