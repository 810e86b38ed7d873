-- Said by whoever administers an organisation: what its agents are given without asking.
CREATE OR REPLACE FUNCTION memwarden.set_injection_policy(settings jsonb, agent text DEFAULT NULL, org text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_org_id bigint := memwarden_internal.administered_org(set_injection_policy.org, 'full');
    v_held   record;
    v_new    memwarden_data.injection_policy;
    v_id     bigint;
BEGIN
    PERFORM memwarden_internal.require_injection_settings(set_injection_policy.settings);
    PERFORM memwarden_internal.hold_table('memwarden_data.injection_policy');
    -- What is not named stays; in a new policy it is as in the one that held so far.
    SELECT p.org_id, p.policy_id, to_jsonb(p) AS document INTO v_held
      FROM memwarden_data.injection_policy AS p
     WHERE p.org_id IN (0, v_org_id) AND (p.agent IS NULL OR p.agent = set_injection_policy.agent AND p.org_id = v_org_id)
     ORDER BY p.agent IS NULL, p.org_id DESC LIMIT 1;
    BEGIN
        v_new := jsonb_populate_record(NULL::memwarden_data.injection_policy,
            coalesce(v_held.document, '{}') || (set_injection_policy.settings - 'blocks'));
        INSERT INTO memwarden_data.injection_policy AS p (org_id, agent, token_budget, max_items, refresh_turns, working_budget,
            resumed_budget)
        VALUES (v_org_id, set_injection_policy.agent, v_new.token_budget, v_new.max_items, v_new.refresh_turns,
            v_new.working_budget, v_new.resumed_budget)
        ON CONFLICT ON CONSTRAINT injection_policy_org_id_agent_key DO UPDATE
           SET token_budget = excluded.token_budget, max_items = excluded.max_items, refresh_turns = excluded.refresh_turns,
               working_budget = excluded.working_budget,
               resumed_budget = excluded.resumed_budget
        RETURNING p.policy_id INTO v_id;
        IF set_injection_policy.settings ? 'blocks' THEN
            DELETE FROM memwarden_data.injection_block AS b WHERE b.org_id = v_org_id AND b.policy_id = v_id;
        END IF;
        INSERT INTO memwarden_data.injection_block AS b (org_id, policy_id, block, tier, priority, source, token_budget,
            max_items, threshold, layers, kinds, predicates)
        SELECT v_org_id, v_id, n.block, coalesce(n.tier, 'always'), coalesce(n.priority, 0), coalesce(n.source, 'memory'),
            n.token_budget, n.max_items, n.threshold,
               n.layers, n.kinds, n.predicates
          FROM jsonb_to_recordset(coalesce(set_injection_policy.settings -> 'blocks', (
                   SELECT jsonb_agg(to_jsonb(o)) FROM memwarden_data.injection_block AS o
                    WHERE o.org_id = v_held.org_id AND o.policy_id = v_held.policy_id AND o.policy_id <> v_id), '[]'))
               AS n (block text, tier text, priority integer, source text, token_budget integer, max_items integer,
                   threshold double precision,
                     layers text[], kinds text[], predicates text[]);
    EXCEPTION WHEN check_violation OR not_null_violation OR unique_violation OR numeric_value_out_of_range OR invalid_text_representation
                OR feature_not_supported OR array_subscript_error THEN
        PERFORM memwarden_internal.raise_error('invalid_argument',
            'token_budget, working_budget: 1 to 1,000,000; resumed_budget: 0 to 1,000,000; max_items: 1 to 100; refresh_turns: '
            '1 to 1,000; each of blocks: a block (a name, once), layers, '
            'tier (always, on_demand), priority (-1,000 to 1,000), source (memory, session), token_budget, max_items, threshold '
            '(0 to 1), kinds and predicates (at most 10)');
    END;
    PERFORM memwarden_internal.record_access_change(v_org_id, 'set_injection_policy', jsonb_build_object(
        'agent', set_injection_policy.agent, 'settings', set_injection_policy.settings));
END
$function$;
COMMENT ON FUNCTION memwarden.set_injection_policy IS
    'Sets which memories agents are given before they ask. A setting that is left out keeps its value. Blocks are set all together. '
    'settings: {"token_budget", "max_items", "refresh_turns", "working_budget", "resumed_budget", "blocks": [{"block", "layers", '
    '"tier", "priority", "source", "token_budget", "max_items", "threshold", "kinds", "predicates"}]}. agent: the name of one agent '
    'of the organisation; by default the policy is for all agents without one of their own. org: the organisation; by default the '
    'caller''s, and for members of memwarden_admin all organisations. The setting token_budget is the tokens of what is pushed, '
    'header included (2,000 as shipped); max_items is its number of memories (5). After refresh_turns turns of a session, the '
    'memories are chosen anew (5). The settings working_budget and resumed_budget are the tokens, in a prompt, of working memory '
    '(1,000) and of what an earlier session of the task found (500). In a block, block is its name, and layers are the layers that '
    'it takes from. Its tier is always, or on_demand, which push() fills only where it is named. A block of higher priority (0 by '
    'default) is filled first. Its source is memory, or session for what the session itself has noted. Its token_budget and '
    'max_items limit the block. Its threshold excludes memories of less relevance (0 to 1); by default the layers decide. Its kinds '
    'and predicates limit the block to these. Raises 22023 for malformed settings, 42704 for an unknown layer or organisation, 42501 '
    'without ADMIN (full), 25001 at an isolation level other than READ COMMITTED. '
    'Raises 55P03 when others hold it up for longer than 30 seconds, or lock_timeout. '
    'Source: primitive 12; four-layer design, 5.';
GRANT EXECUTE ON FUNCTION memwarden.set_injection_policy TO memwarden_curator, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden_internal.require_injection_settings(p_settings jsonb)
RETURNS void
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_wrong text;
BEGIN
    IF jsonb_typeof(p_settings) IS DISTINCT FROM 'object' OR p_settings ? 'blocks' AND jsonb_typeof(p_settings -> 'blocks') <> 'array' THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'settings: an object, blocks in it an array');
    END IF;
    SELECT k.name INTO v_wrong FROM jsonb_object_keys(p_settings) AS k (name)
     WHERE k.name NOT IN ('token_budget', 'max_items', 'refresh_turns', 'working_budget', 'resumed_budget', 'blocks') LIMIT 1;
    IF NOT FOUND THEN
        SELECT coalesce(k.name, 'a block that is no object') INTO v_wrong
          FROM jsonb_array_elements(coalesce(p_settings -> 'blocks', '[]')) AS b (block)
          LEFT JOIN LATERAL jsonb_object_keys(CASE jsonb_typeof(b.block) WHEN 'object' THEN b.block END) AS k (name) ON true
         WHERE k.name IS NULL OR k.name NOT IN ('block', 'tier', 'priority', 'source', 'token_budget', 'max_items', 'threshold',
             'layers', 'kinds', 'predicates') LIMIT 1;
    END IF;
    IF FOUND THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', format('settings: %L is not one', v_wrong));
    ELSIF jsonb_array_length(coalesce(p_settings -> 'blocks', '[]')) > 20 THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'blocks: at most 20');
    END IF;
    PERFORM memwarden_internal.require_layers(nullif(ARRAY(
        SELECT DISTINCT l.layer FROM jsonb_array_elements(coalesce(p_settings -> 'blocks', '[]')) AS b (block),
               jsonb_array_elements_text(CASE jsonb_typeof(b.block -> 'layers') WHEN 'array'
                   THEN b.block -> 'layers' END) AS l (layer)), '{}'));
END
$function$;
COMMENT ON FUNCTION memwarden_internal.require_injection_settings IS
    'Raises 22023 for settings of set_injection_policy() of another form, 42704 for an unknown layer.';

CREATE OR REPLACE FUNCTION memwarden.drop_injection_policy(agent text DEFAULT NULL, org text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_org_id bigint := memwarden_internal.administered_org(drop_injection_policy.org, 'full');
BEGIN
    DELETE FROM memwarden_data.injection_policy AS p
     WHERE p.org_id = v_org_id AND p.agent IS NOT DISTINCT FROM drop_injection_policy.agent AND p.policy_id <> 0;
    IF NOT FOUND THEN
        PERFORM memwarden_internal.raise_error('unknown_object', format('injection policy of %L',
            coalesce(drop_injection_policy.agent, 'the organisation')));
    END IF;
    PERFORM memwarden_internal.record_access_change(v_org_id, 'drop_injection_policy',
        jsonb_build_object('agent', drop_injection_policy.agent));
END
$function$;
COMMENT ON FUNCTION memwarden.drop_injection_policy IS
    'Drops the injection policy of an agent or organisation, so that the next wider one holds. The policy that all organisations '
    'share cannot be dropped. agent: the name of the agent; by default the policy of the organisation is dropped. org: the '
    'organisation; by default the caller''s. Raises 42704 where there is none, 42501 without ADMIN (full), 25001 at an isolation '
    'level other than READ COMMITTED.';
GRANT EXECUTE ON FUNCTION memwarden.drop_injection_policy TO memwarden_curator, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden_internal.list_injection_policies()
RETURNS TABLE (org text, agent text, token_budget integer, max_items integer, refresh_turns integer, working_budget integer,
               resumed_budget integer, blocks jsonb)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
DECLARE
    v_orgs bigint[] := memwarden_internal.visible_orgs();
    v_all  boolean := memwarden_internal.is_database_admin();
BEGIN
    RETURN QUERY
    SELECT o.name, p.agent, p.token_budget, p.max_items, p.refresh_turns, p.working_budget, p.resumed_budget, (
               SELECT coalesce(jsonb_agg(to_jsonb(b) - ARRAY['org_id', 'policy_id'] ORDER BY b.tier, b.priority DESC, b.block), '[]')
                 FROM memwarden_data.injection_block AS b WHERE b.org_id = p.org_id AND b.policy_id = p.policy_id)
      FROM memwarden_data.injection_policy AS p
      JOIN memwarden_data.organisation AS o ON o.org_id = p.org_id
     WHERE v_all OR p.org_id = ANY (v_orgs);
END
$function$;
COMMENT ON VIEW memwarden.injection_policies IS
    'Lists what agents are given before they ask: budgets, and blocks in the order in which they are filled. The policy of an agent '
    'precedes that of its organisation (agent null), which precedes that of all organisations (global).';
GRANT EXECUTE ON FUNCTION memwarden_internal.list_injection_policies
    TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor, memwarden_admin;
