-- What may cross, settled before the search: neither scores nor counts depend on anything else.
CREATE OR REPLACE FUNCTION memwarden_internal.require_surface(p_principal_id bigint, p_surface text)
RETURNS double precision
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_floor double precision;
BEGIN
    SELECT s.floor INTO v_floor
      FROM memwarden_data.principal AS p JOIN memwarden_data.surface AS s ON s.org_id = p.org_id
     WHERE p.principal_id = p_principal_id AND s.name = p_surface;
    IF NOT FOUND THEN
        PERFORM memwarden_internal.raise_error('unknown_object', format('surface %L', p_surface));
    END IF;
    RETURN v_floor;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.require_surface IS
    'The floor of a surface of the principal''s organisation, NULL for none. Raises 42704 where there is no such surface.';

CREATE OR REPLACE FUNCTION memwarden_internal.labels_across(p_principal_id bigint, p_surface text)
RETURNS integer[]
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_labels integer[] := memwarden_internal.readable_labels(p_principal_id);
BEGIN
    IF p_surface IS NULL THEN
        RETURN v_labels;
    END IF;
    RETURN ARRAY(
        SELECT u.label
          FROM unnest(v_labels) AS u (label)
          JOIN memwarden_data.label AS l ON l.label_id = abs(u.label)
          JOIN memwarden_data.principal AS p ON p.principal_id = p_principal_id
          JOIN memwarden_data.surface AS s ON s.org_id = p.org_id AND s.name = p_surface
         WHERE l.classification <= s.max_classification AND (s.layers IS NULL OR l.layer = ANY (s.layers)));
END
$function$;
COMMENT ON FUNCTION memwarden_internal.labels_across IS
    'readable_labels(), and of these what may cross a surface; nothing where there is no such surface.';
