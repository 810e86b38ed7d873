-- What a recall does not give, and how it says so.
CREATE OR REPLACE FUNCTION memwarden_internal.is_withheld(
    p_org_id bigint, p_principal_id bigint, p_task text, p_share double precision, p_now timestamptz)
RETURNS boolean
LANGUAGE plpgsql VOLATILE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_drawn bytea;
BEGIN
    IF p_task IS NULL THEN
        RETURN random() < p_share;
    END IF;
    -- Keyed: who chooses the name of a task must not choose what it falls on.
    v_drawn := memwarden_internal.keyed_hash('ablation', convert_to(
        concat_ws(' ', p_org_id, p_principal_id, (p_now AT TIME ZONE 'UTC')::date, p_task), 'UTF8'));
    RETURN coalesce(('x' || encode(substring(v_drawn FROM 1 FOR 4), 'hex'))::bit(32)::bigint / 4294967296.0, random()) < p_share;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.is_withheld IS
    'Whether a recall goes without memory: of one principal, task and day all or none; without a task, or a master key, each by itself.';

CREATE OR REPLACE FUNCTION memwarden_internal.withheld_items(
    p_principal_id bigint, p_task text, p_rows memwarden_internal.recalled_item[])
RETURNS uuid[]
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_terms record;
    v_items uuid[];
BEGIN
    -- What is not recorded proves nothing.
    IF p_rows = '{}' OR current_setting('transaction_read_only')::boolean THEN
        RETURN NULL;
    END IF;
    SELECT a.org_id, a.share, a.spare_from INTO v_terms
      FROM memwarden_data.principal AS p
      JOIN memwarden_data.scope AS h ON h.scope_id = p.home_scope_id
      JOIN memwarden_data.ablation AS a
        ON a.org_id IN (0, p.org_id) AND a.scope_id = ANY (h.lineage) AND a.task IN ('', left(p_task, 200))
      JOIN memwarden_data.scope AS s ON s.scope_id = a.scope_id
     WHERE p.principal_id = p_principal_id
     ORDER BY cardinality(s.lineage) DESC, a.task DESC LIMIT 1;
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    v_items := ARRAY(
        SELECT r.item_id FROM unnest(p_rows) WITH ORDINALITY AS r
          JOIN memwarden_data.item AS i ON i.org_id IN (0, (SELECT p.org_id FROM memwarden_data.principal AS p
                                                             WHERE p.principal_id = p_principal_id)) AND i.item_id = r.item_id
         WHERE i.importance < v_terms.spare_from
           AND NOT EXISTS (SELECT FROM memwarden_data.pin AS n WHERE n.org_id = i.org_id AND n.item_id = i.item_id)
         ORDER BY r.ordinality);
    IF v_items = '{}' THEN
        RETURN NULL;
    END IF;
    RETURN CASE WHEN memwarden_internal.is_withheld(v_terms.org_id, p_principal_id, p_task, v_terms.share, clock_timestamp())
                THEN v_items ELSE '{}' END;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.withheld_items IS
    'Which memories of an answer are withheld; empty where the recall takes part and they are given; NULL where it takes no part, or where '
    'nothing of it may be withheld.';

CREATE OR REPLACE FUNCTION memwarden_internal.withheld_row(p_count integer)
RETURNS memwarden_internal.recalled_item
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN jsonb_populate_record(NULL::memwarden_internal.recalled_item, jsonb_build_object(
        'standing', 'withheld', 'relevance', 0, 'domains', '[]'::jsonb, 'contradicts', '[]'::jsonb, 'origin', '{}'::jsonb,
        'provenance', jsonb_build_object('withheld', jsonb_build_object('memories', p_count))));
END
$function$;
COMMENT ON FUNCTION memwarden_internal.withheld_row IS
    'The row that says that memories were withheld, and how many: standing withheld, item_id NULL.';
