-- How much of a text a memory holds already. What says more of the same grows it and what contradicts it is in conflict with it:
-- this is about the rest, a little news in many known words.
CREATE OR REPLACE FUNCTION memwarden_internal.overlap(
    p_org_id bigint, p_text text, p_config text, p_neighbours jsonb, p_settings jsonb)
RETURNS jsonb
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_near  uuid[] := ARRAY(SELECT (n.e #>> '{}')::uuid FROM jsonb_path_query(
                p_neighbours, '$[0 to 9] ? (@.same_key != true && (@.relation == "unrelated" || @.relation == "wider" || '
                    '@.relation == "same")).item_id') AS n (e));
    -- Those of which the judge knows that they say all of it.
    v_said  uuid[] := ARRAY(SELECT (n.e #>> '{}')::uuid FROM jsonb_path_query(
                p_neighbours, '$[0 to 9] ? (@.relation == "wider" || @.relation == "same").item_id') AS n (e));
    v_words text[];
    v_telling text[];
BEGIN
    -- What changes the value of a fact repeats nothing: it is the next version of that fact.
    IF v_near = '{}' OR p_neighbours @? '$[*] ? (@.same_key == true)' THEN
        RETURN NULL;
    END IF;
    v_words := tsvector_to_array(memwarden_internal.whole_words(p_config, left(p_text, 20000)));
    -- In a short text one word is the news. In one without any nothing is known.
    IF v_words = '{}' OR cardinality(v_words) < (p_settings ->> 'words')::integer THEN
        RETURN NULL;
    END IF;
    -- Another number or another name: another thing, however it is told.
    v_telling := CASE WHEN p_settings @> '{"names": true}' THEN tsvector_to_array(memwarden_internal.whole_words(p_config, array_to_string(
        ARRAY(SELECT w.m [1] FROM regexp_matches(left(p_text, 20000), E'(\\m[[:upper:]]\\w*|\\S*\\d\\S*)', 'g') AS w (m)), ' ')))
            ELSE '{}' END;
    RETURN (
        SELECT jsonb_build_object('item_id', o.item_id, 'version_id', o.version_id, 'share', round(o.share::numeric, 3),
                                  'action', CASE WHEN NOT o.understood AND p_settings ->> 'unknown' = 'link' THEN 'link'
                                  ELSE p_settings ->> 'action' END)
          FROM (SELECT i.item_id, i.version_id, h.words, i.item_id = ANY (v_said) AS understood,
                       (SELECT count(*) FROM unnest(v_words) AS w WHERE w = ANY (h.words))::double precision / cardinality(v_words) AS share
                  FROM memwarden_data.item AS i
                 CROSS JOIN LATERAL (SELECT tsvector_to_array(i.search_vector) AS words) AS h
                 WHERE i.org_id = p_org_id AND i.item_id = ANY (v_near)) AS o
         WHERE o.share > (p_settings ->> 'share')::double precision AND v_telling <@ o.words
         ORDER BY o.understood DESC, o.share DESC, o.item_id LIMIT 1);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.overlap IS
    'The memory, of the nearest ten that are neither in conflict with a text nor what it adds to, that holds more than '
    'settings.share of its words, and how many it holds: A memory of which the judge knows that it says all of the text '
    'goes before others. action: link where the judge does not know it and settings.unknown says so, else '
    'settings.action. Words are counted as different words without their endings, stop words left out, by the text '
    'search configuration of the layer. NULL for none, for a text of fewer than settings.words such words, where '
    'settings.names is true and the text has a number or a name that the memory has not, and for a new value of a fact '
    'that is there. Source: four-layer design, 4; D6.';
