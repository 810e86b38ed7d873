-- What is stored is told anew, a batch at a time: its text, the words that it is found by, and its lexical vector.
CREATE OR REPLACE FUNCTION memwarden_internal.retell_batch(
    p_org_id bigint, p_version_id uuid, p_count integer,
    OUT org_id bigint, OUT item_id uuid, OUT looked bigint, OUT faults bigint, OUT findings jsonb, OUT is_over boolean)
RETURNS record
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET plan_cache_mode = force_custom_plan
AS $function$
DECLARE
    v_last     record;
    v_orgs     bigint[];
    v_items    uuid[];
    v_versions uuid[];
    v_texts    text[];
BEGIN
    findings := '[]';
    SELECT count(*) AS looked, (array_agg(n.org_id ORDER BY n.org_id DESC, n.version_id DESC))[1] AS org_id,
           (array_agg(n.version_id ORDER BY n.org_id DESC, n.version_id DESC))[1] AS version_id
      INTO v_last
      FROM (SELECT v.org_id, v.version_id FROM memwarden_data.version AS v
             WHERE (v.org_id, v.version_id) > (p_org_id, p_version_id)
             ORDER BY v.org_id, v.version_id LIMIT p_count) AS n;
    looked := v_last.looked;
    org_id := v_last.org_id;
    item_id := v_last.version_id;
    is_over := looked < p_count;
    SELECT array_agg(n.org_id ORDER BY n.org_id, n.item_id, n.version_id), array_agg(n.item_id ORDER BY n.org_id, n.item_id, n.version_id),
           array_agg(n.version_id ORDER BY n.org_id, n.item_id, n.version_id), array_agg(n.text ORDER BY n.org_id, n.item_id, n.version_id)
      INTO v_orgs, v_items, v_versions, v_texts
      FROM (SELECT v.org_id, v.item_id, v.version_id, CASE WHEN v.sealed IS NULL THEN v.search_text
                        ELSE memwarden_internal.unsealed(v.subject_key_id, v.sealed) ->> 'text' END AS was,
                   memwarden_internal.told_anew(
                       v.content, v.schema_id, v.subject, v.predicate, v.subject_key_id, v.sealed) AS text
              FROM memwarden_data.version AS v
             WHERE (v.org_id, v.version_id) > (p_org_id, p_version_id)
               AND (v.org_id, v.version_id) <= (v_last.org_id, v_last.version_id)) AS n
     WHERE n.text <> n.was;
    faults := coalesce(cardinality(v_versions), 0);
    IF faults > 0 THEN
        PERFORM memwarden_internal.retell(v_orgs, v_items, v_versions, v_texts);
    END IF;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.retell_batch IS
    'Tells the next versions anew where their text is no longer as the functions make it; item_id: the last of these versions, '
    'faults: how many had another text.';

CREATE OR REPLACE FUNCTION memwarden_internal.retell(p_orgs bigint[], p_items uuid[], p_versions uuid[], p_texts text[])
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET plan_cache_mode = force_custom_plan
AS $function$
BEGIN
    -- Not while words are copied to a shelf: no log tells that they change.
    PERFORM memwarden_internal.hold_shelves();
    PERFORM FROM memwarden_data.item AS i
       JOIN (SELECT DISTINCT n.org_id, n.item_id FROM unnest(p_orgs, p_items) AS n (org_id, item_id)) AS n
         ON i.org_id = n.org_id AND i.item_id = n.item_id
      ORDER BY i.org_id, i.item_id FOR NO KEY UPDATE OF i;
    -- The text of an encrypted one is made when it is read.
    UPDATE memwarden_data.version AS v SET search_text = n.text
      FROM unnest(p_orgs, p_versions, p_texts) AS n (org_id, version_id, text)
     WHERE v.org_id = n.org_id AND v.version_id = n.version_id AND v.sealed IS NULL;
    UPDATE memwarden_data.item AS i
       SET search_vector = memwarden_internal.indexed_words(memwarden_internal.words_of(
               coalesce(s.text_search_config, l.text_search_config), n.text), i.subject_key_id)
      FROM unnest(p_orgs, p_versions, p_texts) AS n (org_id, version_id, text), memwarden_data.scope AS s, memwarden_data.layer AS l
     WHERE i.org_id = n.org_id AND i.version_id = n.version_id AND s.scope_id = i.scope_id AND l.layer = i.layer;
    -- A vector that a model outside made of nearly the same words stays.
    UPDATE memwarden_data.embedding AS e
       SET words = CASE WHEN e.shelf <> 0 THEN i.search_vector END,
           embedding = CASE WHEN m.name = 'lexical' AND i.subject_key_id IS NULL
                            THEN coalesce(memwarden.lexical_embedding(n.text)::@extschema:vector@.halfvec, e.embedding) ELSE e.embedding END
      FROM unnest(p_orgs, p_items, p_versions, p_texts) AS n (org_id, item_id, version_id, text),
           memwarden_data.item AS i, memwarden_data.embedding_model AS m
     WHERE i.org_id = n.org_id AND i.item_id = n.item_id AND i.version_id = n.version_id AND e.org_id = n.org_id AND e.item_id = n.item_id
       AND m.model_id = e.model_id;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.retell IS
    'Gives versions another text, and the memories whose versions are current its words and its lexical vector.';
