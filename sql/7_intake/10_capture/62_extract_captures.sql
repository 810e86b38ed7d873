-- Extraction that nobody asks for: what needs no model is read by a job, in the name of who captured.
CREATE OR REPLACE FUNCTION memwarden_internal.extract_next(p_after bigint, OUT principal_id bigint, OUT pairs bigint)
RETURNS record
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_who record;
BEGIN
    IF current_setting('transaction_isolation') <> 'read committed' THEN
        PERFORM memwarden_internal.raise_error('wrong_isolation', 'isolation is ' || current_setting('transaction_isolation'));
    END IF;
    FOR v_who IN
        SELECT p.org_id, p.principal_id FROM memwarden_data.principal AS p
         WHERE p.principal_id > p_after AND p.disabled_at IS NULL
           AND EXISTS (SELECT FROM memwarden_data.capture AS c
                        WHERE c.org_id = p.org_id AND c.principal_id = p.principal_id AND c.content IS NOT NULL)
         ORDER BY p.principal_id
    LOOP
        IF EXISTS (SELECT FROM memwarden_internal.due_captures(
                       v_who.principal_id, '{rules,function}', NULL, NULL, NULL, NULL, NULL, 1)) THEN
            principal_id := v_who.principal_id;
            BEGIN
                PERFORM memwarden_internal.act_for(v_who.org_id, v_who.principal_id);
                pairs := (SELECT count(*) FROM (SELECT DISTINCT e.capture_id, e.extractor_name FROM memwarden.extract(k => 100) AS e) AS r);
                PERFORM memwarden_internal.stop_acting();
            EXCEPTION WHEN OTHERS THEN
                -- They stay due, for the next run; those of others do not wait for them.
                RAISE WARNING 'captures of principal % met an error when they were read: %', v_who.principal_id, SQLSTATE;
                pairs := 0;
            END;
            RETURN;
        END IF;
    END LOOP;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.extract_next IS
    'Reads captures of the next principal behind p_after that has some to be read, as extract() of its own would: up to 100 pairs of '
    'a capture and an extractor. pairs: how many, 0 after an error; NULLs when nobody has any.';
GRANT EXECUTE ON FUNCTION memwarden_internal.extract_next TO memwarden_jobs, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden_internal.extract_step(p_after text)
RETURNS text
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
BEGIN
    -- Once more for the same principal, as long as there is a full page.
    RETURN (SELECT CASE WHEN e.pairs >= 100 THEN e.principal_id - 1 ELSE e.principal_id END
              FROM memwarden_internal.extract_next(coalesce(p_after, '0')::bigint) AS e);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.extract_step IS
    'One step of extract_captures(): a page of the next principal. Returns behind which principal the next step begins.';
GRANT EXECUTE ON FUNCTION memwarden_internal.extract_step TO memwarden_jobs, memwarden_admin;

CREATE OR REPLACE PROCEDURE memwarden.extract_captures()
LANGUAGE plpgsql SECURITY INVOKER
AS $procedure$
BEGIN
    CALL memwarden_internal.run_job('memwarden_extract');
END
$procedure$;
COMMENT ON PROCEDURE memwarden.extract_captures IS
    'Runs the extractors of method rules and function on every capture that they have still to read, as a job. It writes what they '
    'find through every gate, in the name of the agent that captured it, as extract() does. memwarden extract --every runs the '
    'extractors that ask a model. Captures of a disabled agent wait. Captures of an agent that meet an error stay for the next run, '
    'with a warning. It is safe to run twice at once and to kill. It commits after each page, so it cannot run inside a transaction. '
    'Raises 25001 at an isolation level other than READ COMMITTED. Source: F2.';
GRANT EXECUTE ON PROCEDURE memwarden.extract_captures TO memwarden_jobs, memwarden_admin;
