CREATE OR REPLACE FUNCTION memwarden_internal.predicate_name(p_predicate text)
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
RETURN lower(btrim(regexp_replace(normalize(p_predicate, NFKC), '[[:space:]_-]+', ' ', 'g')));
COMMENT ON FUNCTION memwarden_internal.predicate_name(text) IS 'A predicate as it is looked up: case, blanks, hyphens and underscores do not matter.';
REVOKE ALL ON FUNCTION memwarden_internal.predicate_name(text) FROM PUBLIC;

CREATE OR REPLACE FUNCTION memwarden.define_predicate(predicate text, same_key text, org text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $function$
DECLARE
    v_org_id bigint := memwarden_internal.administered_org(define_predicate.org, 'layer');
BEGIN
    IF define_predicate.predicate IS NULL OR define_predicate.predicate !~ '[^[:space:]]' OR length(define_predicate.predicate) > 1000 THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'predicate: 1 to 1,000 characters, not blank');
    ELSIF define_predicate.same_key IS NULL OR define_predicate.same_key NOT IN ('new_version', 'accumulate') THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'same_key: new_version or accumulate');
    END IF;
    INSERT INTO memwarden_data.predicate AS p (org_id, predicate, same_key)
    VALUES (v_org_id, memwarden_internal.predicate_name(define_predicate.predicate), define_predicate.same_key)
    ON CONFLICT ON CONSTRAINT predicate_pkey DO UPDATE SET same_key = excluded.same_key;
END
$function$;
COMMENT ON FUNCTION memwarden.define_predicate(text, text, text) IS
    'Says what a second value for the same subject and this predicate is, in every layer, for writes from now on: accumulate, an item of its own '
    '(Ana speaks several languages); new_version, the next version of the fact (Ana lives in one place). What is not defined follows its layer. '
    'org: an organisation of its own; by default the caller''s, and for members of memwarden_admin all. Raises 42704 for an unknown organisation, 42501 without the right, 22023 out of range. Source: D5.';
REVOKE ALL ON FUNCTION memwarden.define_predicate(text, text, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION memwarden.define_predicate(text, text, text) TO memwarden_agent, memwarden_curator, memwarden_admin;
