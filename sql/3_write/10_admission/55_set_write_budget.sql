CREATE OR REPLACE FUNCTION memwarden.set_write_budget(role text, budget integer, org text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_org_id bigint := memwarden_internal.administered_org(set_write_budget.org, 'full');
BEGIN
    IF set_write_budget.budget NOT BETWEEN 1 AND 1000000 THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'budget: 1 to 1,000,000');
    END IF;
    UPDATE memwarden_data.access_role AS r SET write_budget = set_write_budget.budget
     WHERE r.org_id = v_org_id AND r.name = set_write_budget.role;
    IF NOT FOUND THEN
        PERFORM memwarden_internal.raise_error('unknown_object', format('role %L of that organisation', set_write_budget.role));
    END IF;
    PERFORM memwarden_internal.record_access_change(v_org_id, 'set_write_budget',
        jsonb_build_object('role', set_write_budget.role, 'budget', set_write_budget.budget));
END
$function$;
COMMENT ON FUNCTION memwarden.set_write_budget IS
    'Sets how many writes an agent of a role may commit in one session. A session is the outermost transient scope (a task) on the '
    'path that is written to, with everything below it. Layers of free admission (working) are not counted, nor are writes outside '
    'every session. role: the role. budget: 1 to 1,000,000 writes; null, as for a new role, sets no budget. org: the organisation '
    'that defined the role with define_role(); by default the caller''s, and for members of memwarden_admin the roles that all '
    'organisations share. Raises 42704 for an unknown role or organisation, 22023 for a number out of range, 42501 without the '
    'right, 25001 at an isolation level other than READ COMMITTED. Source: chapter 12.11.2.';
GRANT EXECUTE ON FUNCTION memwarden.set_write_budget TO memwarden_curator, memwarden_admin;
