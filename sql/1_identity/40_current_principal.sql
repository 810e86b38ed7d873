-- Who is asking. Either the login role is bound to a principal (session_user, which SQL cannot change: a
-- setting could be set by anyone, and current_user follows SET ROLE), or authenticate() has left a ticket in
-- this transaction. The ticket is a setting too, but one that nobody else can make. A job that ends somebody's session acts for whose it is while it does (67_sessions), and who agrees to an act for whoever asked for it (42_approval).
CREATE OR REPLACE FUNCTION memwarden_internal.current_principal()
RETURNS bigint
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $function$
DECLARE
    v_principal_id bigint;
    v_ticket       text;
BEGIN
    IF current_setting('memwarden.acting', true) <> '' THEN
        v_principal_id := memwarden_internal.acting_principal();
        IF v_principal_id IS NOT NULL THEN
            RETURN v_principal_id;
        END IF;
    END IF;
    SELECT p.principal_id INTO v_principal_id
      FROM memwarden_data.principal_login AS l
      JOIN memwarden_data.principal AS p ON p.principal_id = l.principal_id
     WHERE l.login_role = session_user AND p.disabled_at IS NULL;
    IF v_principal_id IS NULL THEN
        v_ticket := current_setting('memwarden.ticket', true);
        IF v_ticket <> '' THEN
            v_principal_id := memwarden_internal.ticket_holder(v_ticket);
        END IF;
    END IF;
    RETURN v_principal_id;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.current_principal() IS
    'The principal that this session''s login role is bound to, or that this transaction was authenticated for, or for whom it acts at this moment (acting_principal()); NULL when there is none, or it is disabled.';
REVOKE ALL ON FUNCTION memwarden_internal.current_principal() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION memwarden_internal.current_principal()
    TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden_internal.require_principal()
RETURNS bigint
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $function$
DECLARE
    v_principal_id bigint := memwarden_internal.current_principal();
BEGIN
    IF v_principal_id IS NULL THEN
        PERFORM memwarden_internal.raise_error('not_identified', format('login role %I', session_user));
    END IF;
    RETURN v_principal_id;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.require_principal() IS
    'The principal of this session. Raises 28000 when there is none.';
REVOKE ALL ON FUNCTION memwarden_internal.require_principal() FROM PUBLIC;

-- The setting only says where to look, so that nobody else pays for a look; what counts is the row, on which no transaction but this
-- one can have left its own number.
CREATE OR REPLACE FUNCTION memwarden_internal.acting_principal()
RETURNS bigint
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $function$
DECLARE
    v_place text[] := string_to_array(current_setting('memwarden.acting', true), ':');
BEGIN
    IF NOT (pg_input_is_valid(coalesce(v_place[1], ''), 'bigint') AND pg_input_is_valid(coalesce(v_place[2], ''), 'uuid')) THEN
        RETURN NULL;
    END IF;
    RETURN (SELECT p.principal_id
              FROM (SELECT s.principal_id FROM memwarden_data.session AS s
                     WHERE s.org_id = v_place[1]::bigint AND s.session_id = v_place[2]::uuid AND s.ending_in = pg_current_xact_id_if_assigned()
                     UNION ALL
                    SELECT r.principal_id FROM memwarden_data.review AS r
                     WHERE r.org_id = v_place[1]::bigint AND r.request_id = v_place[2]::uuid AND r.acting_in = pg_current_xact_id_if_assigned()) AS a
              JOIN memwarden_data.principal AS p ON p.principal_id = a.principal_id AND p.disabled_at IS NULL);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.acting_principal() IS
    'The principal whose session this transaction is ending just now, or whose act it carries out; NULL where it does neither, whatever the setting says.';
REVOKE ALL ON FUNCTION memwarden_internal.acting_principal() FROM PUBLIC;
