-- Changes of everything that the terms of a write and of a reader are made of, at last of what a scope
-- is, and of what writes change. @org: acme or bolt; @n: a number from 1 to 9.
-- One statement from one semicolon at the end of a line to the next.
UPDATE memwarden_data.principal SET name = name || '@n'
    WHERE principal_id = shipped.agent_of('@org');
UPDATE memwarden_data.principal SET validated = NOT validated
    WHERE principal_id = shipped.agent_of('@org');
UPDATE memwarden_data.principal SET clearance = @n % 3
    WHERE principal_id = shipped.agent_of('@org');
UPDATE memwarden_data.principal SET domains = ARRAY['d@n']
    WHERE principal_id = shipped.agent_of('@org');
UPDATE memwarden_data.principal SET reputation = @n / 10.0
    WHERE principal_id = shipped.agent_of('@org');
UPDATE memwarden_data.principal SET anchor_required = ARRAY['k@n']
    WHERE principal_id = shipped.agent_of('@org');
UPDATE memwarden_data.principal SET anchor_nullable = NULLIF('{k@n}', '{k5}')::text[]
    WHERE principal_id = shipped.agent_of('@org');
UPDATE memwarden_data.principal SET home_scope_id = shipped.scope_of('@org')
    WHERE principal_id = shipped.agent_of('@org');
UPDATE memwarden_data.principal SET role_id = (SELECT min(role_id) + @n % 4
    FROM memwarden_data.access_role)
    WHERE principal_id = shipped.agent_of('@org');
UPDATE memwarden_data.principal SET disabled_at = CASE WHEN disabled_at IS NULL THEN now() END
    WHERE principal_id = shipped.agent_of('@org');
UPDATE memwarden_data.organisation SET reputation_threshold = @n / 10.0 WHERE name = '@org';
UPDATE memwarden_data.organisation SET observed = CASE @n % 3 WHEN 0 THEN 'open' WHEN 1 THEN 'strict' END
    WHERE org_id = shipped.either('@org', @n);
UPDATE memwarden_data.organisation SET profile = CASE @n % 3 WHEN 0 THEN 'open' WHEN 1 THEN 'balanced' END
    WHERE org_id = shipped.either('@org', @n);
UPDATE memwarden_data.access_role SET write_budget = NULLIF(@n, 5)
    WHERE role_id = shipped.role_of('@org');
DELETE FROM memwarden_data.role_permission
    WHERE role_id = shipped.role_of('@org') AND operation = 'WRITE';
INSERT INTO memwarden_data.role_permission (role_id, operation, layer)
    SELECT shipped.role_of('@org'), 'WRITE', '*';
UPDATE memwarden_data.role_permission SET layer = 'durable' WHERE role_id = shipped.role_of('@org');
INSERT INTO memwarden_data.layer_setting (org_id, principal_id, layer, name, value)
    SELECT shipped.number_of('@org'), shipped.agent_of('@org'), 'semantic', 'rate_limit', to_jsonb(@n)
    ON CONFLICT DO NOTHING;
INSERT INTO memwarden_data.layer_setting (org_id, principal_id, layer, name, value)
    SELECT shipped.number_of('@org'), shipped.agent_of('@org'), '*', v.name, v.value
    FROM (VALUES ('fact_threshold', to_jsonb(@n / 10.0)), ('soft_ttl', '"@n days"')) AS v (name, value)
    ON CONFLICT DO NOTHING;
INSERT INTO memwarden_data.layer_setting (org_id, layer, name, value)
    SELECT shipped.number_of('@org'), v.layer, v.name, v.value
    FROM (VALUES ('*', 'fact_threshold', to_jsonb(@n / 20.0)), ('semantic', 'fact_threshold', '0.4'),
                 ('semantic', 'shared', to_jsonb(@n % 2 = 0)), ('*', 'decay', '"exempt"'),
                 ('episodic', 'weights', '{"vector": @n}'), ('*', 'max_ttl', 'null')) AS v (layer, name, value)
    ON CONFLICT DO NOTHING;
INSERT INTO memwarden_data.layer_setting (org_id, layer, name, value, profile)
    SELECT shipped.number_of('@org'), 'semantic', 'fact_threshold', to_jsonb(@n / 5.0), 'tried'
    ON CONFLICT DO NOTHING;
UPDATE memwarden_data.layer_setting SET value = to_jsonb(10 + @n)
    WHERE principal_id = shipped.agent_of('@org') AND name = 'rate_limit';
DELETE FROM memwarden_data.layer_setting
    WHERE org_id = shipped.number_of('@org') AND setting_id % 3 = @n % 3;
UPDATE memwarden_data.layer
    SET fixed = CASE @n % 3 WHEN 0 THEN '{}' WHEN 1 THEN '{fact_threshold,shared}'
                            ELSE '{rate_limit,decay,max_ttl}' END::text[];
INSERT INTO memwarden_data.durability_ruleset
    SELECT shipped.either('@org', @n), 'durable', '{"n": @n}'
    ON CONFLICT (org_id, layer) DO UPDATE SET rules = EXCLUDED.rules;
DELETE FROM memwarden_data.durability_ruleset WHERE org_id = shipped.either('@org', @n);
INSERT INTO memwarden_data.policy_set (org_id, name, default_effect, operations)
    SELECT shipped.either('@org', @n), 'p@n', 'allow', ARRAY['WRITE'] ON CONFLICT DO NOTHING;
UPDATE memwarden_data.policy_set SET operations = ARRAY['READ'] WHERE name > 'p5';
DELETE FROM memwarden_data.policy_set WHERE name < 'p@n';
INSERT INTO memwarden_data.verifier
   
    SELECT shipped.either('@org', @n), 'semantic', (ARRAY['verify', 'gate', 'judge'])[1 + @n % 3], 'plugin', 1, '1 minute', 'accept', '{}'
    ON CONFLICT DO NOTHING;
UPDATE memwarden_data.verifier SET layer = 'episodic'
    WHERE purpose = 'judge' AND NOT EXISTS (SELECT FROM memwarden_data.verifier
    WHERE layer = 'episodic');
DELETE FROM memwarden_data.verifier WHERE purpose = (ARRAY['verify', 'gate', 'judge'])[1 + @n % 3];
INSERT INTO memwarden_data.predicate (org_id, predicate, inverse)
    SELECT shipped.either('@org', @n), 'p@n', 'q' ON CONFLICT DO NOTHING;
UPDATE memwarden_data.predicate SET inverse = NULL, disjoint = '{}';
UPDATE memwarden_data.predicate SET disjoint = '{x}' WHERE predicate = 'p@n';
UPDATE memwarden_data.predicate SET subject_schema = NULLIF('{"n": @n}', '{"n": 5}')::jsonb;
DELETE FROM memwarden_data.predicate;
INSERT INTO memwarden_data.integrity_rule (org_id, name, layer, condition, broken, method, action)
   
    SELECT shipped.either('@org', @n), 'r@n', (ARRAY['*', 'semantic'])[1 + @n % 2], 'c', '$.a', 'integrity', 'reject'
    ON CONFLICT DO NOTHING;
UPDATE memwarden_data.integrity_rule SET layer = 'working';
DELETE FROM memwarden_data.integrity_rule WHERE name > 'r@n';
INSERT INTO memwarden_data.approval_policy (org_id, layer, class, approval)
    SELECT shipped.either('@org', @n), 'semantic', 'c@n', 'always' ON CONFLICT DO NOTHING;
UPDATE memwarden_data.approval_policy SET approval = (ARRAY['never', 'by_risk', 'always'])[1 + @n % 3];
INSERT INTO memwarden_data.approval_policy (org_id, layer, approval, profile)
    SELECT shipped.either('@org', @n), (ARRAY['semantic', 'episodic'])[1 + @n % 2], (ARRAY['never', 'by_risk'])[1 + @n % 2],
           (ARRAY['open', 'balanced', 'strict'])[1 + @n % 3] ON CONFLICT DO NOTHING;
UPDATE memwarden_data.approval_policy SET sla = '1 hour @n minutes', max_wait_sync = '@n minutes 1 second', max_queue = 1 + @n,
    expires_after = '1 day @n minutes', needed = 1 + @n % 3, needed_sync = 1 + @n % 2, four_eyes = NOT four_eyes, sync_from = 1;
DELETE FROM memwarden_data.approval_policy WHERE layer = 'semantic';
SELECT memwarden.use_profile((ARRAY['open', 'balanced', 'strict'])[1 + @n % 3], (ARRAY['@org', NULL])[1 + @n % 2]);
INSERT INTO memwarden_data.canonical_source (org_id, name, category, kind, relation, key_column, key_type, text_column, threshold)
    SELECT shipped.either('@org', @n), 's@n', 'c', 'record', 'r', 'k', 'text', 't', 0.5
    ON CONFLICT DO NOTHING;
UPDATE memwarden_data.canonical_source SET enabled = NOT enabled;
DELETE FROM memwarden_data.canonical_source;
INSERT INTO memwarden_data.embedding_use (org_id, model_id, is_active, changed_at)
    SELECT shipped.number_of('@org'), model_id, true, now()
    FROM memwarden_data.embedding_model LIMIT 1
    ON CONFLICT DO NOTHING;
UPDATE memwarden_data.embedding_use SET is_active = NOT is_active;
DELETE FROM memwarden_data.embedding_use WHERE org_id = shipped.number_of('@org');
UPDATE memwarden_data.embedding_model SET dimension = 300 + @n;
INSERT INTO memwarden_data.pack (org_id, name, version, definition, defined_at)
    SELECT 0, 'any', 1, '{}', now() ON CONFLICT DO NOTHING;
INSERT INTO memwarden_data.pack_use (org_id, scope_id, principal_id, depth, name, version, pack, since)
    SELECT k.org_id, NULL, NULL, '@n', k.name, k.version, '{"n": @n}', now()
    FROM memwarden_data.pack AS k
    ON CONFLICT DO NOTHING;
INSERT INTO memwarden_data.pack_use (org_id, scope_id, principal_id, depth, name, version, pack, since)
    SELECT k.org_id, shipped.scope_of('@org'), NULL, '@n', k.name, k.version, '{"n": @n}', now()
    FROM memwarden_data.pack AS k
    ON CONFLICT DO NOTHING;
INSERT INTO memwarden_data.pack_use (org_id, scope_id, principal_id, depth, name, version, pack, since)
    SELECT k.org_id, NULL, shipped.agent_of('@org'), '@n', k.name, k.version, '{"n": @n}', now()
    FROM memwarden_data.pack AS k
    ON CONFLICT DO NOTHING;
UPDATE memwarden_data.pack_use SET pack = '{"m": @n}';
DELETE FROM memwarden_data.pack_use WHERE depth > @n;
INSERT INTO memwarden_data.scope_grant
    SELECT shipped.agent_of('@org'), shipped.scope_of('@org'), true, @n > 5 ON CONFLICT DO NOTHING;
UPDATE memwarden_data.scope_grant SET writes = NOT writes
    WHERE principal_id = shipped.agent_of('@org') AND surfaces IS NULL;
DELETE FROM memwarden_data.scope_grant WHERE principal_id = shipped.agent_of('@org');
UPDATE memwarden_data.scope SET closed_at = CASE WHEN closed_at IS NULL THEN now() END
    WHERE scope_id = shipped.scope_of('@org');
UPDATE memwarden_data.scope SET text_search_config = 'simple'
    WHERE scope_id = shipped.scope_of('@org');
INSERT INTO memwarden_data.label (org_id, layer, scope_kind, classification, domains, attributes, first_used_by)
    SELECT shipped.number_of('@org'), 'episodic', kind, 1, '{}', '{}', 1 FROM memwarden_data.scope
    WHERE scope_id = shipped.scope_of('@org');
INSERT INTO memwarden_data.entity (org_id, scope_id, ceid, type, classification, created_at)
    SELECT shipped.number_of('@org'), shipped.scope_of('@org'), 'e@n', 't', 1, now()
    ON CONFLICT DO NOTHING;
INSERT INTO memwarden_data.noise (org_id, noise_id, scope_id, layer, label_id, principal_id, request_id, reason, created_at, expires_at)
   
    SELECT shipped.number_of('@org'), gen_random_uuid(), shipped.scope_of('@org'), 'semantic', 1, 1, gen_random_uuid(), 'r', now(), now() + '1 hour';
UPDATE memwarden_data.noise SET expires_at = now();
DELETE FROM memwarden_data.noise;
INSERT INTO memwarden_data.residency_rule
    SELECT shipped.either('@org', @n), (ARRAY['*', 'health'])[1 + @n % 2], '{eu,us}', now()
    ON CONFLICT ON CONSTRAINT residency_rule_pkey DO UPDATE SET regions = '{r@n}';
DELETE FROM memwarden_data.residency_rule WHERE org_id = shipped.either('@org', @n);
UPDATE memwarden_data.layer SET admission = (ARRAY['free', 'schema', 'full'])[1 + @n % 3]
    WHERE layer = (ARRAY['semantic', 'durable', 'working'])[1 + @n % 3];
UPDATE memwarden_data.layer SET writers = (ARRAY['any', 'owner', 'validated'])[1 + @n % 3]
    WHERE layer = (ARRAY['semantic', 'durable', 'working'])[1 + @n % 3];
UPDATE memwarden_data.layer SET direct_writes = NOT direct_writes
    WHERE layer = (ARRAY['semantic', 'durable', 'working'])[1 + @n % 3];
UPDATE memwarden_data.layer SET same_key = (ARRAY['new_version', 'accumulate'])[1 + @n % 2]
    WHERE layer = (ARRAY['semantic', 'durable', 'working'])[1 + @n % 3];
UPDATE memwarden_data.layer SET embedding = (ARRAY['optional', 'required', 'worker'])[1 + @n % 3]
    WHERE layer = (ARRAY['semantic', 'durable', 'working'])[1 + @n % 3];
UPDATE memwarden_data.layer SET text_search_config = (ARRAY['english', 'german', 'simple'])[1 + @n % 3]
    WHERE layer = (ARRAY['semantic', 'durable', 'working'])[1 + @n % 3];
UPDATE memwarden_data.layer SET external_types = ARRAY['t@n']
    WHERE layer = (ARRAY['semantic', 'durable', 'working'])[1 + @n % 3];
UPDATE memwarden_data.layer SET self_reference = self_reference
    WHERE layer = (ARRAY['semantic', 'durable', 'working'])[1 + @n % 3];
UPDATE memwarden_data.layer SET extend_validity = NOT extend_validity
    WHERE layer = (ARRAY['semantic', 'durable', 'working'])[1 + @n % 3];
UPDATE memwarden_data.layer SET conflict = (ARRAY['accumulate', 'review', 'coexist'])[1 + @n % 3]
    WHERE layer = (ARRAY['semantic', 'durable', 'working'])[1 + @n % 3];
UPDATE memwarden_data.layer SET default_confidence = 0.@n
    WHERE layer = (ARRAY['semantic', 'durable', 'working'])[1 + @n % 3];
UPDATE memwarden_data.layer SET topic_similarity = 0.@n
    WHERE layer = (ARRAY['semantic', 'durable', 'working'])[1 + @n % 3];
UPDATE memwarden_data.layer SET contradiction_score = 0.@n
    WHERE layer = (ARRAY['semantic', 'durable', 'working'])[1 + @n % 3];
UPDATE memwarden_data.layer SET conflict_gap = 0.@n
    WHERE layer = (ARRAY['semantic', 'durable', 'working'])[1 + @n % 3];
UPDATE memwarden_data.layer SET fact_threshold = 0.@n
    WHERE layer = (ARRAY['semantic', 'durable', 'working'])[1 + @n % 3];
UPDATE memwarden_data.layer SET unclear = (ARRAY['store', 'ask', 'refuse'])[1 + @n % 3]
    WHERE layer = (ARRAY['semantic', 'durable', 'working'])[1 + @n % 3];
UPDATE memwarden_data.layer SET no_evidence = (ARRAY['store', 'ask', 'refuse'])[1 + @n % 3]
    WHERE layer = (ARRAY['semantic', 'durable', 'working'])[1 + @n % 3];
UPDATE memwarden_data.layer SET min_authority = 0.@n
    WHERE layer = (ARRAY['semantic', 'durable', 'working'])[1 + @n % 3];
UPDATE memwarden_data.layer SET duplicate_similarity = 0.5 + 0.0@n
    WHERE layer = (ARRAY['semantic', 'durable', 'working'])[1 + @n % 3];
UPDATE memwarden_data.layer SET rate_limit = @n
    WHERE layer = (ARRAY['semantic', 'durable', 'working'])[1 + @n % 3];
UPDATE memwarden_data.layer SET max_content_bytes = @n
    WHERE layer = (ARRAY['semantic', 'durable', 'working'])[1 + @n % 3];
UPDATE memwarden_data.layer SET max_text_length = @n
    WHERE layer = (ARRAY['semantic', 'durable', 'working'])[1 + @n % 3];
UPDATE memwarden_data.layer SET max_pending = @n
    WHERE layer = (ARRAY['semantic', 'durable', 'working'])[1 + @n % 3];
UPDATE memwarden_data.layer SET min_external = @n
    WHERE layer = (ARRAY['semantic', 'durable', 'working'])[1 + @n % 3];
UPDATE memwarden_data.layer SET default_ttl = '@n hours'
    WHERE layer = (ARRAY['semantic', 'durable', 'working'])[1 + @n % 3];
UPDATE memwarden_data.layer SET max_ttl = '@n hours'
    WHERE layer = (ARRAY['semantic', 'durable', 'working'])[1 + @n % 3];
UPDATE memwarden_data.layer SET idempotency_window = '@n hours'
    WHERE layer = (ARRAY['semantic', 'durable', 'working'])[1 + @n % 3];
UPDATE memwarden_data.layer SET rate_window = '@n hours'
    WHERE layer = (ARRAY['semantic', 'durable', 'working'])[1 + @n % 3];
UPDATE memwarden_data.layer SET evidence_half_life = '@n hours'
    WHERE layer = (ARRAY['semantic', 'durable', 'working'])[1 + @n % 3];
INSERT INTO memwarden_data.tightening
    SELECT o.org_id, (ARRAY['semantic', 'durable', 'working'])[1 + @n % 3], 0.05 * (1 + @n % 4), now(), gen_random_uuid()
      FROM memwarden_data.organisation AS o WHERE o.name = '@org'
    ON CONFLICT (org_id, layer) DO UPDATE SET raised_by = excluded.raised_by;
DELETE FROM memwarden_data.tightening;
UPDATE memwarden_data.approval_policy SET auto_below = @n / 20.0, weights = '{0.5,0.1,0.1,0.1,0.1,0.1}', layer_risk = @n / 10.0;
UPDATE memwarden_data.approval_policy SET agent = 'a@n' WHERE class = '*' AND layer = 'episodic';
UPDATE memwarden_data.layer SET shared = NOT shared WHERE layer = 'episodic';
UPDATE memwarden_data.role_permission SET reach = (ARRAY['own', 'all'])[1 + @n % 2]
    WHERE role_id = shipped.role_of('@org') AND operation = 'READ';
UPDATE memwarden_data.embedding_model SET name = name || '@n' WHERE name <> 'lexical';
INSERT INTO memwarden_data.vocabulary (org_id, synonyms)
    SELECT shipped.number_of('@org'), '{"word@n": "other"}'
    ON CONFLICT (org_id) DO UPDATE SET synonyms = EXCLUDED.synonyms;
UPDATE memwarden_data.sensitivity_ruleset SET layer = 'l@n' WHERE layer <> '*';
UPDATE memwarden_data.content_schema SET text_template = 'n@n' WHERE kind = 'annotation';
INSERT INTO memwarden_data.label (org_id, layer, scope_kind, classification, domains, attributes, first_used_by)
    SELECT shipped.either('@org', @n), 'semantic', 'user', @n % 3, '{}', '{"a": @n}', 1;
UPDATE memwarden_data.label SET shared = NOT shared WHERE org_id = shipped.number_of('@org');
UPDATE memwarden_data.label SET classification = @n % 4 WHERE org_id = shipped.number_of('@org');
UPDATE memwarden_data.label SET domains = ARRAY['d@n'] WHERE org_id = shipped.number_of('@org');
UPDATE memwarden_data.label SET layer = 'durable' WHERE org_id = shipped.number_of('@org');
DELETE FROM memwarden_data.label WHERE label_id % 10 = @n;
INSERT INTO memwarden_data.role_permission (role_id, operation, layer, kind, reach)
    SELECT shipped.role_of('@org'), (ARRAY['READ', 'ADMIN'])[1 + @n % 2], (ARRAY['*', 'episodic'])[1 + @n % 2], NULL, 'all'
    ON CONFLICT DO NOTHING;
UPDATE memwarden_data.role_permission SET kind = 'k@n' WHERE role_id = shipped.role_of('@org') AND layer = 'episodic';
DELETE FROM memwarden_data.role_permission WHERE role_id = shipped.role_of('@org') AND operation = 'READ';
UPDATE memwarden_data.layer SET shared = NOT shared WHERE layer = (ARRAY['semantic', 'durable', 'working'])[1 + @n % 3];
INSERT INTO memwarden_data.hedge
    SELECT shipped.either('@org', @n), (ARRAY['en', 'de'])[1 + @n % 2], 'disputed', 'it is said @n times that'
    ON CONFLICT ON CONSTRAINT hedge_pkey DO UPDATE SET phrase = excluded.phrase;
UPDATE memwarden_data.hedge SET phrase = '@n' WHERE standing = 'reported';
DELETE FROM memwarden_data.hedge WHERE org_id = shipped.number_of('@org');
UPDATE memwarden_data.pack_use SET rules_since = CASE WHEN rules_since IS NULL THEN now() END WHERE org_id = shipped.number_of('@org');
UPDATE memwarden_data.embedding_model SET vector_weight = 0.@n WHERE name <> 'lexical';
UPDATE memwarden_data.embedding_model SET languages = NULLIF('{l@n}', '{l5}')::text[];
UPDATE memwarden_data.layer SET weights = NULLIF('{"vector": @n}', '{"vector": 5}')::jsonb
    WHERE layer = (ARRAY['semantic', 'durable', 'working'])[1 + @n % 3];
UPDATE memwarden_data.layer SET recall_weight = @n
    WHERE layer = (ARRAY['semantic', 'durable', 'working'])[1 + @n % 3];
UPDATE memwarden_data.layer SET relevance_threshold = 0.@n
    WHERE layer = (ARRAY['semantic', 'durable', 'working'])[1 + @n % 3];
UPDATE memwarden_data.layer SET recency_half_life = '@n days'
    WHERE layer = (ARRAY['semantic', 'durable', 'working'])[1 + @n % 3];
UPDATE memwarden_data.layer SET soft_ttl = '@n days', decay = 'validity'
    WHERE layer = (ARRAY['semantic', 'durable', 'working'])[1 + @n % 3];
UPDATE memwarden_data.layer SET decay = 'exempt', counted_from = (ARRAY['creation', 'update'])[1 + @n % 2]
    WHERE layer = (ARRAY['semantic', 'durable', 'working'])[1 + @n % 3];
UPDATE memwarden_data.layer SET neighbour_weight = 0.@n
    WHERE layer = (ARRAY['semantic', 'durable', 'working'])[1 + @n % 3];
UPDATE memwarden_data.layer SET time_weight = 0.@n
    WHERE layer = (ARRAY['semantic', 'durable', 'working'])[1 + @n % 3];
