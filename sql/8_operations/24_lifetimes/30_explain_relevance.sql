CREATE OR REPLACE FUNCTION memwarden.explain_relevance(item_id uuid)
RETURNS TABLE (part text, value double precision, detail text)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
DECLARE
    v_item   record := memwarden_internal.require_item(explain_relevance.item_id);
    v_figure record;
    v_layer  record;
    v_known  boolean;
    v_score  double precision;
BEGIN
    SELECT g.* INTO v_figure FROM memwarden_internal.relevance_of(v_item.org_id, ARRAY[explain_relevance.item_id]) AS g;
    -- What contradicts it as far as the caller sees that; there may be more.
    v_known := v_figure.disputed AND (
        SELECT memwarden_internal.is_marked(i.org_id, i.item_id, i.content_hash, memwarden_internal.current_principal(),
                                            memwarden_internal.readable_labels(memwarden_internal.current_principal()), false)
          FROM memwarden_data.item AS i WHERE i.org_id = v_item.org_id AND i.item_id = explain_relevance.item_id);
    v_score := v_figure.staleness - 0.3 * (v_figure.disputed AND NOT v_known)::integer;
    SELECT l.layer, l.gc_threshold, l.max_idle, l.decay_rate INTO v_layer
      FROM memwarden_data.item AS i
     CROSS JOIN LATERAL (SELECT k.* FROM memwarden_data.kept_layer AS k
                          WHERE k.org_id = i.org_id AND k.layer = i.layer AND k.principal_id IN (0, i.principal_id)
                          ORDER BY k.principal_id DESC LIMIT 1) AS l
     WHERE i.org_id = v_item.org_id AND i.item_id = explain_relevance.item_id;
    RETURN QUERY VALUES
        ('initial', v_figure.initial, 'mean of validation score and adjusted confidence'),
        ('decay', v_figure.decayed, CASE v_figure.decay WHEN 'exempt' THEN 'exempt'
            ELSE format('%s, %s a day since %s', v_figure.decay, v_layer.decay_rate, memwarden_internal.utc_text(v_figure.since)) END),
        ('reinforcement', v_figure.reinforced, format('read %s times in the last 30 days, last %s', v_figure.reads,
            coalesce(memwarden_internal.utc_text(v_figure.last_read), 'never'))),
        ('impact', v_figure.impact, 'share of the reported uses that succeeded, one success taken for granted'),
        ('curation', v_figure.curation, 'what others say of it: annotate()'),
        ('relevance', v_figure.relevance, format('the product; collection takes it below %s, unread for %s',
            coalesce(v_layer.gc_threshold::text, 'nothing'), coalesce(v_layer.max_idle::text, 'ever'))),
        ('staleness', v_score, CASE WHEN v_score > 0.9 THEN 'waits for eviction'
            WHEN v_score > 0.7 OR v_figure.is_stale AND v_figure.staleness <= 0.7 THEN 'stale: counts half in recall' ELSE 'fresh' END
            || CASE WHEN v_known THEN '; another memory contradicts it' ELSE '' END
            || coalesce('; review from ' || memwarden_internal.utc_text(v_figure.review_at), ''));
END
$function$;
COMMENT ON FUNCTION memwarden.explain_relevance IS
    'Shows how relevant a memory still is, and each part of the figure, as of the last count of recalls. part: initial, decay, '
    'reinforcement, impact and curation, whose product is relevance; then relevance and staleness. value: the figure; staleness and '
    'decay are 0 to 1. detail: what it follows from. Raises 42704 for a memory that is not active or that the caller does not see, '
    '28000 without an identity. Source: chapter 12.7.2, four-layer design 6.';
GRANT EXECUTE ON FUNCTION memwarden.explain_relevance
    TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor;
