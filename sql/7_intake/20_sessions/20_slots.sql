-- The rules of the slots, each of which says what is kept of what.
CREATE OR REPLACE FUNCTION memwarden_internal.importance_weight(p_importance text)
RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
RETURN CASE p_importance WHEN 'critical' THEN 1 WHEN 'high' THEN 0.8 WHEN 'normal' THEN 0.5 WHEN 'low' THEN 0.2 END;
COMMENT ON FUNCTION memwarden_internal.importance_weight IS
    'What critical, high, normal and low count for, 0 to 1; NULL for any other word.';

CREATE OR REPLACE FUNCTION memwarden_internal.with_observation(p_kept jsonb, p_new jsonb, p_max integer)
RETURNS jsonb
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
AS $function$
BEGIN
    RETURN (
        SELECT coalesce(jsonb_agg(k.observation ORDER BY k.is_critical DESC, k.ordinal DESC), '[]')
          FROM (SELECT o.observation, o.is_critical, o.ordinal
                  FROM (SELECT e.observation, e.observation ->> 'importance' = 'critical' AS is_critical,
                      (e.observation ->> 'ordinal')::integer AS ordinal
                          FROM jsonb_array_elements(p_kept || jsonb_build_array(p_new)) AS e (observation)) AS o
                 -- The newest is always seen; beside it what is critical, then what is new.
                 ORDER BY o.ordinal = (p_new ->> 'ordinal')::integer DESC, o.is_critical DESC, o.ordinal DESC
                 LIMIT p_max) AS k);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.with_observation IS
    'Observations with one more, at most p_max: the newest, then critical ones, then the newest of the others. In the '
    'order in which they are shown: critical ones first, each kind newest first. Source: four-layer design, 3.';

CREATE OR REPLACE FUNCTION memwarden_internal.chosen_constraints(p_constraints jsonb)
RETURNS jsonb
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
AS $function$
BEGIN
    RETURN (
        SELECT coalesce(jsonb_agg(jsonb_build_object('text', k.said, 'importance', k.importance) ORDER BY k.ordinal), '[]')
          FROM (SELECT c.said, c.importance, c.ordinal
                  FROM (SELECT coalesce(e.element ->> 'text', e.element #>> '{}') AS said,
                      coalesce(e.element ->> 'importance', 'normal') AS importance, e.ordinal
                          FROM jsonb_array_elements(p_constraints) WITH ORDINALITY AS e (element, ordinal)) AS c
                 -- The more words of its own one has, the more it pins down.
                 ORDER BY memwarden_internal.importance_weight(c.importance) DESC,
                          (SELECT count(DISTINCT lower(w.word)) FROM regexp_split_to_table(c.said, E'\\s+') AS w (word)) DESC, c.ordinal
                 LIMIT 8) AS k);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.chosen_constraints IS
    'Of constraints (texts, or {"text", "importance"}) the 8 that matter most, by importance and then by how specific '
    'they are, in the order given. Source: four-layer design, 3.';

CREATE OR REPLACE FUNCTION memwarden_internal.pruned_scratchpad(p_text text)
RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SECURITY INVOKER
AS $function$
BEGIN
    IF length(p_text) <= 500 THEN
        RETURN p_text;
    END IF;
    RETURN coalesce((
        SELECT string_agg(k.line, E'\n' ORDER BY k.ordinal)
          FROM (SELECT l.line, l.ordinal, sum(length(l.line) + 1) OVER (ORDER BY l.ordinal DESC) AS length
                  FROM string_to_table(p_text, E'\n') WITH ORDINALITY AS l (line, ordinal)) AS k
         WHERE k.length <= 501), left(split_part(p_text, E'\n', -1), 500));
END
$function$;
COMMENT ON FUNCTION memwarden_internal.pruned_scratchpad IS
    'The last whole lines of a text, at most 500 characters; of a longer last line its beginning. Source: four-layer '
    'design, 3.';

-- What is sensitive is taken out before anything is stored: a workbench that refused would lose what happened.
CREATE OR REPLACE FUNCTION memwarden_internal.mask_session(p_org_id bigint, p_document jsonb, OUT document jsonb, OUT masked jsonb)
RETURNS record
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_clean record := memwarden_internal.mask_capture(p_document::text, '{}', memwarden_internal.ruleset(p_org_id, NULL));
BEGIN
    IF v_clean.fault IS NOT NULL THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'text: ' || v_clean.fault);
    END IF;
    document := v_clean.content::jsonb;
    masked := v_clean.masked;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.mask_session IS
    'A document with [KIND] in the place of all that the sensitivity rules block, encrypt or redact; masked: where, as '
    'findings, NULL for nowhere.';
