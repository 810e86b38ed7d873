-- A statement of its own, so that the judge prepares one plan of a call.
CREATE OR REPLACE FUNCTION memwarden_internal.look_up(p_words text[])
RETURNS TABLE (language text, word text, rank smallint, sense integer, part text, file smallint, above integer[], steps smallint[],
               against integer[])
LANGUAGE plpgsql STABLE PARALLEL SAFE SECURITY INVOKER
SET plan_cache_mode = force_generic_plan
AS $function$
BEGIN
    -- Each by its key, however many senses a planner expects.
    RETURN QUERY
    SELECT w.language, w.word, w.rank, w.sense, s.part, s.file, s.above, s.steps, s.against
      FROM unnest(p_words) AS a (word)
     CROSS JOIN LATERAL (SELECT x.language, x.word, x.rank, x.sense FROM memwarden_data.lexicon_word AS x
                          WHERE x.word = a.word AND x.rank <= 6 OFFSET 0) AS w
     CROSS JOIN LATERAL (SELECT y.part, y.file, y.above, y.steps, y.against FROM memwarden_data.lexicon_sense AS y
                          WHERE y.language = w.language AND y.sense = w.sense OFFSET 0) AS s;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.look_up IS
    'The six most frequent senses of each part of speech of each word, in every dictionary.';
