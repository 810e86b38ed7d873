-- Whose memories an organisation's recall meets: its own and those of all. Organisation 0 stands for those that have no model of their own.
CREATE OR REPLACE FUNCTION memwarden_internal.served_orgs(p_org_id bigint)
RETURNS bigint[]
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    IF p_org_id <> 0 THEN
        RETURN ARRAY[0, p_org_id];
    END IF;
    RETURN ARRAY(SELECT o.org_id FROM memwarden_data.organisation AS o
                  WHERE o.org_id = 0
                     OR NOT EXISTS (SELECT FROM memwarden_data.embedding_use AS u WHERE u.org_id = o.org_id AND u.is_active));
END
$function$;
COMMENT ON FUNCTION memwarden_internal.served_orgs IS
    'The organisations whose memories need vectors of a model that an organisation uses: it and 0; for 0 all that have '
    'no active model of their own.';

CREATE OR REPLACE FUNCTION memwarden_internal.vector_coverage(p_org_id bigint, p_model_id smallint, OUT items bigint, OUT missing bigint)
RETURNS record
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
SET jit = off
AS $function$
DECLARE
    v_orgs bigint[] := memwarden_internal.served_orgs(p_org_id);
BEGIN
    -- Counted in one pass of each: asking item by item would take minutes of a million.
    SELECT count(*), count(*) FILTER (WHERE e.item_id IS NULL AND j.item_id IS NULL) INTO items, missing
      FROM memwarden_data.item AS i
      -- A move of vectors may have left a copy: it counts once.
      LEFT JOIN (SELECT DISTINCT v.org_id, v.scope_id, v.item_id FROM memwarden_data.embedding AS v
                  WHERE v.model_id = p_model_id AND v.org_id = ANY (v_orgs) AND v.shelf >= 0) AS e
        ON e.org_id = i.org_id AND e.scope_id = i.scope_id AND e.item_id = i.item_id
      LEFT JOIN memwarden_data.embedding_job AS j
        ON j.model_id = p_model_id AND j.org_id = i.org_id AND j.item_id = i.item_id AND j.version_id = i.version_id AND j.state = 'empty'
     WHERE i.org_id = ANY (v_orgs) AND i.status = 'ACTIVE';
END
$function$;
COMMENT ON FUNCTION memwarden_internal.vector_coverage IS
    'How many current memories served_orgs() have, and how many of them lack a vector of a model that they could have.';
