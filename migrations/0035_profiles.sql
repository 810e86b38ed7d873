-- What a store asks of a write is chosen as a whole: a profile. A store that is there keeps what it has, as none of them.
ALTER TABLE memwarden_data.organisation ADD COLUMN profile text CHECK (profile IN ('open', 'balanced', 'strict'));
COMMENT ON COLUMN memwarden_data.organisation.profile IS
    'What is asked of its writes, see use_profile(); as of the server, which is organisation 0, where null. There, null is none.';
ALTER TABLE memwarden_data.approval_policy
    ADD COLUMN profile text,
    DROP CONSTRAINT approval_policy_org_id_layer_class_agent_key,
    ADD CONSTRAINT approval_policy_key UNIQUE NULLS NOT DISTINCT (org_id, layer, class, agent, profile);
COMMENT ON COLUMN memwarden_data.approval_policy.profile IS
    'Which profile brought it; null where somebody set it by hand, which holds before it.';
-- What is as it was shipped, nobody set by hand.
UPDATE memwarden_data.approval_policy AS a SET profile = 'strict'
 WHERE a.org_id = 0 AND a.class = '*' AND a.agent IS NULL
   AND (a.layer, a.approval, a.auto_below, coalesce(a.layer_risk, -1)) IN (
           ('episodic', 'by_risk', 0.5, 0.3), ('semantic', 'always', 0.3, 0.8), ('procedural', 'always', 0.3, 1),
           ('durable', 'always', 0.3, -1))
   AND (a.sync_from, a.weights, a.sla, a.max_wait_sync, a.expires_after, a.max_queue, a.needed, a.needed_sync, a.four_eyes)
       = (0.7, '{0.25,0.20,0.15,0.15,0.15,0.10}', '48 hours', '15 minutes', '14 days', 1000, 1, 1, true);
ALTER TABLE memwarden_data.write_request ADD COLUMN likeness double precision;
ALTER TYPE memwarden_data.write_terms ADD ATTRIBUTE approval_policies jsonb;
ALTER TABLE memwarden_data.layer
    DROP CONSTRAINT layer_conflict_check,
    ADD CONSTRAINT layer_conflict_check
        CHECK (conflict IN ('accumulate', 'review', 'auto_resolve', 'latest_wins', 'coexist', 'mark', 'ask_firmer'));
ALTER TABLE memwarden_data.kept_layer
    DROP CONSTRAINT layer_conflict_check,
    ADD CONSTRAINT layer_conflict_check
        CHECK (conflict IN ('accumulate', 'review', 'auto_resolve', 'latest_wins', 'coexist', 'mark', 'ask_firmer'));
COMMENT ON COLUMN memwarden_data.layer.conflict IS
    'A memory that contradicts others. accumulate: both stand. review: a more confident one waits for a human, any '
    'other is refused. auto_resolve: one more confident by conflict_gap takes their place, one that is merely more '
    'confident waits, any other is refused. latest_wins: it takes their place. coexist: one more confident by '
    'conflict_gap takes their place; otherwise all stand, marked contradicted. mark: all stand, marked. ask_firmer: one that '
    'contradicts what stands firmer waits for a human; otherwise all stand, marked.';
