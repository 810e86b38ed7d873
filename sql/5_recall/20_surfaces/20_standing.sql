-- With which phrase a standing is told.
-- No evidence, vote or approval makes an order to the reader a fact: that somebody said it is all that is known.
CREATE OR REPLACE FUNCTION memwarden_internal.holds_instruction(p_suspicious text[])
RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
RETURN coalesce(' ' || array_to_string(p_suspicious, ' ') LIKE '% injection.%', false);
COMMENT ON FUNCTION memwarden_internal.holds_instruction IS
    'Whether the kinds of what was found in a memory (suspicious, as recall() returns it) say that it holds what looks '
    'like an instruction to its reader: injection.*.';

-- One look for all that telling depends on: every recall pays for each.
CREATE OR REPLACE FUNCTION memwarden_internal.telling_terms(
    p_org_id bigint, p_surface text, OUT hedges jsonb, OUT packs_have_rules boolean)
RETURNS record
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
SET plan_cache_mode = force_generic_plan
AS $function$
DECLARE
    v_names_sources boolean;
BEGIN
    SELECT coalesce((SELECT jsonb_object_agg(h.standing, h.phrase ORDER BY h.language <> 'en', h.org_id)
                       FROM memwarden_data.hedge AS h
                      WHERE h.org_id IN (0, p_org_id) AND h.language IN ('en', s.language)), '{}') || coalesce(s.hedges, '{}'),
           EXISTS (SELECT FROM memwarden_data.pack_use AS u WHERE u.org_id = p_org_id AND u.rules_since IS NOT NULL),
           s.name IS NULL OR s.internals AND s.strip = '{}'
      INTO hedges, packs_have_rules, v_names_sources
      FROM (VALUES (p_surface)) AS a (surface)
      LEFT JOIN memwarden_data.surface AS s ON s.org_id = p_org_id AND s.name = a.surface;
    IF NOT v_names_sources AND strpos(hedges ->> 'supported', '{') > 0 THEN
        -- Who said it does not cross.
        hedges := hedges || jsonb_build_object('supported', hedges -> 'reported');
    END IF;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.telling_terms IS
    'How an organisation tells memories. hedges: the phrases by standing, in the language of a surface and with its own; English '
    'where there are none in that language. packs_have_rules: whether packs screen as well.';

CREATE OR REPLACE FUNCTION memwarden_internal.hedge_of(p_hedges jsonb, p_standing text, p_record jsonb)
RETURNS text
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
SET plan_cache_mode = force_generic_plan
AS $function$
DECLARE
    v_ground jsonb := jsonb_path_query_first(p_record, '$.evidence[*] ? (@.held == true && @.support >= 0.8
        && (@.independent == true || @.declared == true))');
    v_name   text := coalesce(v_ground ->> 'speaker', (
        SELECT p.name FROM memwarden_data.principal AS p WHERE p.principal_id = (v_ground ->> 'recorder')::bigint));
BEGIN
    -- Whose record is gone has no name to be told.
    RETURN CASE WHEN v_name IS NULL THEN p_hedges ->> 'reported'
                ELSE replace(replace(p_hedges ->> p_standing, '{source}', v_name), '{date}', left(v_ground ->> 'accessed_at', 10)) END;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.hedge_of IS
    'The phrase for a standing, where it names the source: {source} is who said or recorded the words that bear a memory out, '
    '{date} when. p_record: the last record of its version.';

CREATE OR REPLACE FUNCTION memwarden.set_hedge(standing text, phrase text, language text DEFAULT 'en', org text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
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
COMMENT ON FUNCTION memwarden.set_hedge IS
    'Sets the phrase (the hedge) with which a standing is told in a language. A surface can have hedges of its own, see '
    'define_surface(). standing: a standing as recall() returns it. phrase: the phrase; an empty one for none. In the phrase of '
    'supported, {source} is who said or recorded the words that bear the memory out, and {date} when. language: the '
    'language; en by default. org: the organisation; by default the caller''s, and for members of memwarden_admin all organisations. '
    'Raises 22023 for malformed arguments, 42704 for an unknown organisation, 42501 without ADMIN (full), 25001 at an isolation '
    'level other than READ COMMITTED. Source: agent memory primitives, 14.';
GRANT EXECUTE ON FUNCTION memwarden.set_hedge TO memwarden_curator, memwarden_admin;
