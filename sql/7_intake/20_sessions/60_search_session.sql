CREATE OR REPLACE FUNCTION memwarden.search_session(session_id uuid, query text, k integer DEFAULT 10, surface text DEFAULT NULL)
RETURNS TABLE (request_id uuid, part text, importance text, item_id uuid, content jsonb, score double precision)
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_session record := memwarden_internal.find_session(search_session.session_id);
    v_own     jsonb;
    v_reader  memwarden_internal.reader;
    v_rows    memwarden_internal.recalled_item[];
BEGIN
    IF search_session.k IS NULL OR search_session.k NOT BETWEEN 1 AND 1000 THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'k: 1 to 1,000');
    END IF;
    v_own := (
        SELECT jsonb_object_agg(i.item_id, i.entries)
          FROM (SELECT m.item_id, count(*) AS entries
                  FROM memwarden_internal.session_memories(v_session.org_id, search_session.session_id) AS m GROUP BY m.item_id) AS i);
    -- Others work on tasks of that name too: what theirs remember is neither told nor in the way.
    v_reader := memwarden_internal.settle_reader(
        v_session.principal_id, search_session.query, NULL, search_session.k, '{session}', NULL, ARRAY[v_session.scope], NULL, NULL,
        'weighted', NULL, NULL, NULL, NULL, search_session.surface);
    v_rows := memwarden_internal.present_found(v_reader, memwarden_internal.find(
        v_reader, search_session.query, search_session.k, '{session}', p_subject => v_session.about,
        p_among => ARRAY(SELECT o.item_id::uuid FROM jsonb_object_keys(v_own) AS o (item_id))), NULL, search_session.surface);
    -- What was noted twice is told once, and was noted twice: the last of them may not be told any more.
    v_rows := ARRAY(
        SELECT v_rows[t.place]
          FROM (SELECT g.place, coalesce(sum(g.entries) OVER (ORDER BY g.place ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING),
              0) AS before
                  FROM (SELECT p.place, (SELECT sum((v_own ->> i.item_id::text)::integer)
                                           FROM unnest((v_rows[p.place]).item_id || (v_rows[p.place]).same_as) AS i (item_id)) AS entries
                          FROM generate_subscripts(v_rows, 1) AS p (place)) AS g) AS t
         WHERE t.before < search_session.k ORDER BY t.place);
    PERFORM memwarden_internal.log_recall(
        v_session.principal_id, 'recall', search_session.query,
        jsonb_build_object('k', search_session.k, 'layers', ARRAY['session'], 'scopes', ARRAY[v_session.scope], 'surface',
            search_session.surface), v_rows, p_session_id => search_session.session_id,
        p_is_kept => v_reader.is_kept);
    RETURN QUERY
    SELECT m.request_id, m.part, m.importance, m.item_id, f.content, f.score
      FROM unnest(v_rows) WITH ORDINALITY AS f
      JOIN memwarden_internal.session_memories(v_session.org_id, search_session.session_id) AS m ON m.item_id = ANY (f.item_id || f.same_as)
     ORDER BY f.ordinality, m.ordinal DESC
     LIMIT search_session.k;
END
$function$;
COMMENT ON FUNCTION memwarden.search_session IS
    'Returns what a session of the caller''s own remembers about a query, best first. It searches goals, progress and '
    'observations with their whole results, also those that working memory has let go. A session that is over gives '
    'no row. The call is recorded as a recall of the session. k: at most so many rows, 1 to 1,000; default 10. '
    'surface: the boundary that the answer crosses, as recall() takes it. Raises 42704 for a session that is not the '
    'caller''s; 22023 for k; otherwise as recall() does. Source: four-layer design, 2.';
GRANT EXECUTE ON FUNCTION memwarden.search_session TO memwarden_agent, memwarden_curator;
