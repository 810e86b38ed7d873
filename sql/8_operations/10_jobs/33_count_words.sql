-- What a recall weighs words by, counted by the job that arranges shelves: how many memories of a shelf have a word. It may be some
-- hours old. An erasure takes it away at once, so that nothing tells of what is gone.
CREATE OR REPLACE FUNCTION memwarden_internal.count_next_shelf()
RETURNS boolean
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_shelf record;
    v_items bigint;
BEGIN
    FOR v_shelf IN
        SELECT s.org_id, s.scope_id, s.layer, s.shelf, s.items, s.counted_at,
               s.config IS DISTINCT FROM coalesce(c.text_search_config, l.text_search_config) AS read_anew
          FROM memwarden_data.shelf AS s
          JOIN memwarden_data.layer AS l ON l.layer = s.layer
          JOIN memwarden_data.scope AS c ON c.scope_id = s.scope_id AND c.reindexed_to IS NULL
         WHERE s.shelf > 0 AND s.vacated_at IS NULL ORDER BY s.counted_at NULLS FIRST, s.shelf
    LOOP
        IF v_shelf.counted_at IS NOT NULL AND NOT v_shelf.read_anew THEN
            -- So soon a run does not look at it twice.
            CONTINUE WHEN v_shelf.counted_at > clock_timestamp() - interval '5 minutes';
            SELECT count(*) INTO v_items FROM memwarden_data.item AS i
             WHERE i.org_id = v_shelf.org_id AND i.scope_id = v_shelf.scope_id AND i.status = 'ACTIVE' AND i.layer = v_shelf.layer;
            -- A little sooner or later tells a recall nothing else.
            CONTINUE WHEN abs(v_items - v_shelf.items)
                          < CASE WHEN v_shelf.counted_at > clock_timestamp() - interval '1 hour' THEN 0.2 ELSE 0.02 END * v_shelf.items;
        END IF;
        IF memwarden_internal.count_shelf(v_shelf.org_id, v_shelf.shelf) THEN
            RETURN true;
        END IF;
    END LOOP;
    RETURN false;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.count_next_shelf IS
    'Counts the words of one shelf that nobody has counted, whose language is another, or that has grown or shrunk since: by a fifth '
    'after five minutes, by 2 % after an hour. False when none is due.';

CREATE OR REPLACE FUNCTION memwarden_internal.count_shelf(p_org_id bigint, p_shelf integer)
RETURNS boolean
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET jit = off
AS $function$
DECLARE
    v_home record;
BEGIN
    -- Held until the counts are there: an erasure waits, and takes them away again.
    SELECT s.org_id, s.scope_id, s.layer, coalesce(c.text_search_config, l.text_search_config) AS config INTO v_home
      FROM memwarden_data.shelf AS s
      JOIN memwarden_data.layer AS l ON l.layer = s.layer
      JOIN memwarden_data.scope AS c ON c.scope_id = s.scope_id
     WHERE s.org_id = p_org_id AND s.shelf = p_shelf FOR NO KEY UPDATE OF s SKIP LOCKED;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    DELETE FROM memwarden_data.shelf_word AS w WHERE w.org_id = p_org_id AND w.shelf = p_shelf;
    WITH counted AS MATERIALIZED (
        SELECT i.label_id, i.search_vector FROM memwarden_data.item AS i
         WHERE i.org_id = v_home.org_id AND i.scope_id = v_home.scope_id AND i.status = 'ACTIVE' AND i.layer = v_home.layer
           AND (i.expires_at IS NULL OR i.expires_at > clock_timestamp()) AND i.subject_key_id IS NULL
           AND (i.class IS NULL OR NOT memwarden_internal.has_withdrawn_consent(i.org_id, i.item_id, i.class, i.subject_form, i.subject))
    ), kept AS (
        INSERT INTO memwarden_data.shelf_word (org_id, shelf, word, holders)
        SELECT p_org_id, p_shelf, hashtextextended(w.lexeme, 0), count(*)
          FROM counted AS c CROSS JOIN LATERAL unnest(tsvector_to_array(c.search_vector)) AS w (lexeme)
         -- What fewer have is looked up.
         GROUP BY hashtextextended(w.lexeme, 0) HAVING count(*) >= 50
    )
    UPDATE memwarden_data.shelf AS s
       SET counted_at = clock_timestamp(), items = n.items, words = n.words, label_ids = n.label_ids, config = v_home.config
      FROM (SELECT count(*) AS items, coalesce(sum(length(c.search_vector)), 0) AS words, array_agg(DISTINCT c.label_id) AS label_ids
              FROM counted AS c) AS n
     WHERE s.org_id = p_org_id AND s.shelf = p_shelf;
    RETURN true;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.count_shelf IS
    'Counts the words of a shelf; false where another does, or an erasure takes them away.';

CREATE OR REPLACE FUNCTION memwarden_internal.forget_counts(p_org_ids bigint[], p_scope_ids bigint[])
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_shelves integer[];
BEGIN
    WITH told AS (
        UPDATE memwarden_data.shelf AS s SET counted_at = NULL, items = NULL, words = NULL, label_ids = NULL, config = NULL
         WHERE s.org_id = ANY (p_org_ids) AND s.scope_id = ANY (p_scope_ids) AND s.shelf > 0 RETURNING s.shelf
    )
    SELECT array_agg(t.shelf) INTO v_shelves FROM told AS t;
    -- Who counted until now has left something here.
    IF v_shelves IS NOT NULL THEN
        DELETE FROM memwarden_data.shelf_word AS w WHERE w.org_id = ANY (p_org_ids) AND w.shelf = ANY (v_shelves);
    END IF;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.forget_counts IS
    'Takes away what was counted of the shelves of some scopes; waits for whoever counts. Until the job counts again recalls draw a '
    'sample.';
