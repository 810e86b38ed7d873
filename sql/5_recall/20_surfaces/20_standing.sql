-- How far a memory may be asserted, as a word and as a phrase to say it with.
-- One expression, which PostgreSQL writes into the query that asks: every row of every recall pays for a call.
CREATE OR REPLACE FUNCTION memwarden_internal.standing(
    p_rules jsonb, p_contradicted boolean, p_is_over boolean, p_approval text, p_sources integer, p_confidence double precision,
        p_authority double precision)
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
RETURN CASE
    WHEN p_contradicted THEN 'disputed'
    WHEN p_is_over THEN 'outdated'
    WHEN p_approval = 'APPROVED' THEN 'verified'
    WHEN p_confidence >= (p_rules #>> '{verified,confidence}')::double precision
        AND p_authority >= (p_rules #>> '{verified,authority}')::double precision
         AND p_sources >= (p_rules #>> '{verified,sources}')::integer THEN 'verified'
    WHEN p_confidence >= (p_rules #>> '{supported,confidence}')::double precision
        AND p_authority >= (p_rules #>> '{supported,authority}')::double precision
         AND p_sources >= (p_rules #>> '{supported,sources}')::integer THEN 'supported'
    WHEN p_confidence >= (p_rules #>> '{reported,confidence}')::double precision
        AND p_authority >= (p_rules #>> '{reported,authority}')::double precision
         AND p_sources >= (p_rules #>> '{reported,sources}')::integer THEN 'reported'
    ELSE 'inferred' END;
COMMENT ON FUNCTION memwarden_internal.standing(jsonb, boolean, boolean, text, integer, double precision, double precision) IS
    'The standing of a memory by rules as telling_terms() gives them: disputed, outdated, verified, supported, '
    'reported or inferred. p_approval: approval_state of its record of provenance; p_sources: how many external sources '
    'the store resolved; confidence (adjusted) and authority: those of its head. Source: agent memory primitives, 14.';
REVOKE ALL ON FUNCTION memwarden_internal.standing(jsonb, boolean, boolean, text, integer, double precision, double precision) FROM PUBLIC;

-- No evidence, vote or approval makes an order to the reader a fact: that somebody said it is all that is known.
CREATE OR REPLACE FUNCTION memwarden_internal.holds_instruction(p_suspicious text[])
RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
RETURN coalesce(' ' || array_to_string(p_suspicious, ' ') LIKE '% injection.%', false);
COMMENT ON FUNCTION memwarden_internal.holds_instruction(text[]) IS
    'Whether the kinds of what was found in a memory (suspicious, as recall() returns it) say that it holds what looks '
    'like an instruction to its reader: injection.*.';
REVOKE ALL ON FUNCTION memwarden_internal.holds_instruction(text[]) FROM PUBLIC;

-- One look for all that telling depends on: every recall pays for each.
CREATE OR REPLACE FUNCTION memwarden_internal.telling_terms(
    p_org_id bigint, p_surface text, OUT rules jsonb, OUT hedges jsonb, OUT packs_have_rules boolean)
RETURNS record
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan
AS $function$
BEGIN
    SELECT (SELECT jsonb_object_agg(r.standing, jsonb_build_object('confidence', r.min_confidence, 'authority', r.min_authority,
                                                                   'sources', r.min_sources) ORDER BY r.org_id)
              FROM memwarden_data.standing_rule AS r WHERE r.org_id IN (0, p_org_id)),
           coalesce((SELECT jsonb_object_agg(h.standing, h.phrase ORDER BY h.language <> 'en', h.org_id)
                       FROM memwarden_data.hedge AS h
                      WHERE h.org_id IN (0, p_org_id) AND h.language IN ('en', s.language)), '{}') || coalesce(s.hedges, '{}'),
           EXISTS (SELECT FROM memwarden_data.pack_use AS u WHERE u.org_id = p_org_id AND u.rules_since IS NOT NULL)
      INTO rules, hedges, packs_have_rules
      FROM (VALUES (p_surface)) AS a (surface)
      LEFT JOIN memwarden_data.surface AS s ON s.org_id = p_org_id AND s.name = a.surface;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.telling_terms(bigint, text) IS
    'How an organisation tells memories. rules: what each standing needs, {"verified": {"confidence", "authority", "sources"}, '
    '...}. hedges: the phrases by standing, in the language of a surface and with its own; English where there are none in that '
    'language. packs_have_rules: whether packs screen as well.';
REVOKE ALL ON FUNCTION memwarden_internal.telling_terms(bigint, text) FROM PUBLIC;

CREATE OR REPLACE FUNCTION memwarden.set_standing_rule(
    standing text, min_confidence double precision, min_authority double precision, min_sources integer, org text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $function$
DECLARE
    v_org_id bigint := memwarden_internal.administered_org(set_standing_rule.org, 'full');
BEGIN
    IF set_standing_rule.standing IS NULL OR set_standing_rule.standing NOT IN ('verified', 'supported', 'reported')
       OR (set_standing_rule.min_confidence BETWEEN 0 AND 1) IS NOT TRUE OR (set_standing_rule.min_authority BETWEEN 0 AND 1) IS NOT TRUE
       OR (set_standing_rule.min_sources BETWEEN 0 AND 100) IS NOT TRUE THEN
        PERFORM memwarden_internal.raise_error('invalid_argument',
            'standing: verified, supported or reported; min_confidence, min_authority: 0 to 1; min_sources: 0 to 100');
    END IF;
    INSERT INTO memwarden_data.standing_rule AS r (org_id, standing, min_confidence, min_authority, min_sources)
    VALUES (v_org_id, set_standing_rule.standing, set_standing_rule.min_confidence, set_standing_rule.min_authority,
        set_standing_rule.min_sources)
    ON CONFLICT ON CONSTRAINT standing_rule_pkey DO UPDATE
       SET min_confidence = excluded.min_confidence, min_authority = excluded.min_authority, min_sources = excluded.min_sources;
    PERFORM memwarden_internal.record_access_change(v_org_id, 'set_standing_rule', jsonb_build_object(
        'standing', standing, 'min_confidence', min_confidence, 'min_authority', min_authority, 'min_sources', min_sources));
END
$function$;
COMMENT ON FUNCTION memwarden.set_standing_rule(text, double precision, double precision, integer, text) IS
    'Sets what a memory needs to be recalled as verified, supported or reported. A standing tells a reader how well a memory is '
    'founded. The highest standing that a memory reaches counts. Some standings do not depend on these numbers. A memory that a '
    'human approved is verified, and one that another contradicts is disputed. A memory that is stale or no longer valid is '
    'outdated. The rest is inferred. A memory that looks like an instruction to its reader (suspicious names injection.*) is at most '
    'reported, whatever it reaches. standing: verified, supported or reported. min_confidence: the least adjusted confidence, 0 to '
    '1. min_authority: the least authority of its best source, 0 to 1. min_sources: the least number of different external sources '
    'of registered evidence, 0 to 100. org: the organisation; by default the caller''s, and for members of memwarden_admin all '
    'organisations. Raises 22023 out of range, 42704 for an unknown organisation, 42501 without ADMIN (full), 25001 at an isolation '
    'level other than READ COMMITTED. Source: agent memory primitives, 14.';
REVOKE ALL ON FUNCTION memwarden.set_standing_rule(text, double precision, double precision, integer, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION memwarden.set_standing_rule(text, double precision, double precision, integer,
    text) TO memwarden_curator, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden.set_hedge(standing text, phrase text, language text DEFAULT 'en', org text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $function$
DECLARE
    v_org_id bigint := memwarden_internal.administered_org(set_hedge.org, 'full');
BEGIN
    IF (set_hedge.standing IN ('verified', 'supported', 'reported', 'inferred', 'disputed', 'outdated', 'unknown')) IS NOT TRUE
       OR (length(set_hedge.phrase) <= 200) IS NOT TRUE OR (set_hedge.language ~ '^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$') IS NOT TRUE THEN
        PERFORM memwarden_internal.raise_error('invalid_argument',
            'standing: verified, supported, reported, inferred, disputed, outdated or unknown; phrase: at most 200 characters; '
            'language: a code as en or pt-BR');
    END IF;
    INSERT INTO memwarden_data.hedge AS h (org_id, language, standing, phrase)
    VALUES (v_org_id, set_hedge.language, set_hedge.standing, set_hedge.phrase)
    ON CONFLICT ON CONSTRAINT hedge_pkey DO UPDATE SET phrase = excluded.phrase;
    PERFORM memwarden_internal.record_access_change(v_org_id, 'set_hedge', jsonb_build_object('standing', standing, 'language',
        language, 'phrase', phrase));
END
$function$;
COMMENT ON FUNCTION memwarden.set_hedge(text, text, text, text) IS
    'Sets the phrase (the hedge) with which a standing is told in a language. A surface can have hedges of its own, see '
    'define_surface(). standing: a standing as recall() returns it. phrase: the phrase; an empty one for none. language: the '
    'language; en by default. org: the organisation; by default the caller''s, and for members of memwarden_admin all organisations. '
    'Raises 22023 for malformed arguments, 42704 for an unknown organisation, 42501 without ADMIN (full), 25001 at an isolation '
    'level other than READ COMMITTED. Source: agent memory primitives, 14.';
REVOKE ALL ON FUNCTION memwarden.set_hedge(text, text, text, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION memwarden.set_hedge(text, text, text, text) TO memwarden_curator, memwarden_admin;
