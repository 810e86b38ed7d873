-- By which rules a write would be asked today: what is remembered, or comes from outside, is asked by them when it is told.
CREATE OR REPLACE FUNCTION memwarden_internal.rules_hash_for(p_org_id bigint, p_principal_id bigint, p_lineage bigint[], p_layer text)
RETURNS text
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN coalesce(
        (SELECT k.rules_hash FROM (
            SELECT u.pack #>> ARRAY['rules', p_layer] AS rules_hash
              FROM memwarden_data.pack_use AS u
             WHERE u.org_id IN (0, p_org_id) AND (u.principal_id IS NULL OR u.principal_id = p_principal_id)
               AND (u.scope_id IS NULL OR u.scope_id = ANY (p_lineage))
             ORDER BY u.org_id = 0, u.depth DESC LIMIT 1) AS k),
        (SELECT s.rules_hash FROM memwarden_data.sensitivity_ruleset AS s
          WHERE s.org_id IN (0, p_org_id) AND s.layer IN ('*', p_layer)
          ORDER BY s.org_id DESC, s.layer = '*' LIMIT 1));
END
$function$;
COMMENT ON FUNCTION memwarden_internal.rules_hash_for IS
    'The hash of the rules that a write of a principal would be asked by in a scope (its lineage; NULL for none in '
    'particular) and a layer (* for all): those of the organisation, with those of the pack in force. NULL before '
    'setup().';

CREATE OR REPLACE FUNCTION memwarden_internal.rules_of_item(p_org_id bigint, p_principal_id bigint, p_scope_id bigint, p_layer text)
RETURNS text
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_rules text := (
        SELECT t.rules FROM memwarden_data.sensitivity_rules_text AS t
         WHERE t.rules_hash = memwarden_internal.rules_hash_for(
                   p_org_id, p_principal_id, (SELECT s.lineage FROM memwarden_data.scope AS s WHERE s.scope_id = p_scope_id), p_layer));
BEGIN
    IF v_rules IS NULL THEN
        PERFORM memwarden_internal.raise_error('not_set_up', 'there are no sensitivity rules');
    END IF;
    RETURN v_rules;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.rules_of_item IS
    'The rules that hold for what a principal wrote in a scope and layer, as prepared, with those of the pack in force. '
    'Raises 55000 where there are none.';

CREATE OR REPLACE FUNCTION memwarden_internal.renew_pack_rules(p_org_id bigint)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
BEGIN
    UPDATE memwarden_data.pack_use AS u SET rules_since = clock_timestamp(), swept_at = NULL
     WHERE u.org_id = p_org_id AND u.rules_since IS NOT NULL;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.renew_pack_rules IS
    'Has all that was written so far looked at again by the rules of packs: another pack than before may hold for it.';
