-- A job that ends a session or reads captures writes in the name of the agent whose they are, while it does. An act that
-- people agreed to is carried out in the name of who asked for it.
CREATE OR REPLACE FUNCTION memwarden_internal.act_for(p_org_id bigint, p_principal_id bigint, p_request_id uuid DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
BEGIN
    INSERT INTO memwarden_data.acting (org_id, principal_id, transaction_id, request_id)
    VALUES (p_org_id, p_principal_id, pg_current_xact_id(), p_request_id);
    PERFORM set_config('memwarden.acting', p_org_id || ':' || p_principal_id, true);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.act_for IS
    'Has this transaction act for a principal until stop_acting(), to carry out a request where one is named. Callers '
    'authorise themselves.';

CREATE OR REPLACE FUNCTION memwarden_internal.stop_acting()
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
BEGIN
    PERFORM set_config('memwarden.acting', '', true);
    DELETE FROM memwarden_data.acting AS a WHERE a.transaction_id = pg_current_xact_id();
END
$function$;
COMMENT ON FUNCTION memwarden_internal.stop_acting IS 'Ends what act_for() began.';

-- The setting only says where to look, so that nobody else pays for a look; what counts is the row.
CREATE OR REPLACE FUNCTION memwarden_internal.acted_for()
RETURNS bigint
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_who text[] := string_to_array(current_setting('memwarden.acting', true), ':');
BEGIN
    IF NOT (pg_input_is_valid(coalesce(v_who[1], ''), 'bigint') AND pg_input_is_valid(coalesce(v_who[2], ''), 'bigint')) THEN
        RETURN NULL;
    END IF;
    RETURN (SELECT p.principal_id
              FROM memwarden_data.acting AS a
              JOIN memwarden_data.principal AS p ON p.principal_id = a.principal_id AND p.disabled_at IS NULL
             WHERE a.org_id = v_who[1]::bigint AND a.principal_id = v_who[2]::bigint
                 AND a.transaction_id = pg_current_xact_id_if_assigned());
END
$function$;
COMMENT ON FUNCTION memwarden_internal.acted_for IS
    'The principal that this transaction acts for just now; NULL where there is none, whatever the setting says.';

CREATE OR REPLACE FUNCTION memwarden_internal.acting_request()
RETURNS uuid
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_principal_id bigint;
BEGIN
    IF coalesce(current_setting('memwarden.acting', true), '') = '' THEN
        RETURN NULL;
    END IF;
    v_principal_id := memwarden_internal.acted_for();
    RETURN (SELECT a.request_id FROM memwarden_data.acting AS a
             WHERE a.principal_id = v_principal_id AND a.transaction_id = pg_current_xact_id_if_assigned());
END
$function$;
COMMENT ON FUNCTION memwarden_internal.acting_request IS
    'The act that this transaction carries out just now; NULL where it carries out none.';
