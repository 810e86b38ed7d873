-- Said by whoever administers an organisation: when a human is asked.
CREATE OR REPLACE FUNCTION memwarden.set_approval_policy(
    layer text, class text DEFAULT NULL, agent text DEFAULT NULL, approval text DEFAULT NULL,
    auto_below double precision DEFAULT NULL, sync_from double precision DEFAULT NULL, weights double precision[] DEFAULT NULL,
    layer_risk double precision DEFAULT NULL, sla interval DEFAULT NULL, max_wait_sync interval DEFAULT NULL,
    expires_after interval DEFAULT NULL, max_queue integer DEFAULT NULL, needed integer DEFAULT NULL, needed_sync integer DEFAULT NULL,
    four_eyes boolean DEFAULT NULL, org text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_org_id bigint := memwarden_internal.administered_org(set_approval_policy.org, 'full');
    v_policy memwarden_data.approval_policy;
BEGIN
    PERFORM memwarden_internal.require_layers(ARRAY[set_approval_policy.layer]);
    PERFORM memwarden_internal.hold_table('memwarden_data.approval_policy');
    -- What is not named stays; in a new policy it is as in the one that held so far.
    SELECT a.* INTO v_policy
      FROM memwarden_data.approval_policy AS a
     WHERE a.org_id IN (0, v_org_id) AND a.layer = set_approval_policy.layer
       AND (a.class = '*' OR a.class = set_approval_policy.class) AND (a.agent IS NULL OR a.agent = set_approval_policy.agent)
     ORDER BY a.agent IS NULL, a.class = '*', a.org_id DESC, a.profile IS NOT NULL
     LIMIT 1;
    BEGIN
        INSERT INTO memwarden_data.approval_policy AS a (
            org_id, layer, class, agent, approval, auto_below, sync_from, weights, layer_risk, sla, max_wait_sync, expires_after,
            max_queue, needed, needed_sync, four_eyes)
        VALUES (
            v_org_id, set_approval_policy.layer, coalesce(set_approval_policy.class, '*'), set_approval_policy.agent,
            coalesce(set_approval_policy.approval, v_policy.approval, 'always'),
            coalesce(set_approval_policy.auto_below, v_policy.auto_below, 0.3),
                coalesce(set_approval_policy.sync_from, v_policy.sync_from, 0.7),
            coalesce(set_approval_policy.weights, v_policy.weights, '{0.25,0.20,0.15,0.15,0.15,0.10}'),
            coalesce(set_approval_policy.layer_risk, v_policy.layer_risk), coalesce(set_approval_policy.sla, v_policy.sla, '48 hours'),
            coalesce(set_approval_policy.max_wait_sync, v_policy.max_wait_sync, '15 minutes'),
            coalesce(set_approval_policy.expires_after, v_policy.expires_after, '14 days'),
            coalesce(set_approval_policy.max_queue, v_policy.max_queue, 1000), coalesce(set_approval_policy.needed, v_policy.needed, 1),
            coalesce(set_approval_policy.needed_sync, v_policy.needed_sync, 1),
                coalesce(set_approval_policy.four_eyes, v_policy.four_eyes, true))
        ON CONFLICT ON CONSTRAINT approval_policy_key DO UPDATE
           SET approval = excluded.approval, auto_below = excluded.auto_below, sync_from = excluded.sync_from, weights = excluded.weights,
               layer_risk = excluded.layer_risk, sla = excluded.sla, max_wait_sync = excluded.max_wait_sync,
                   expires_after = excluded.expires_after,
               max_queue = excluded.max_queue, needed = excluded.needed, needed_sync = excluded.needed_sync, four_eyes = excluded.four_eyes;
    EXCEPTION WHEN check_violation OR numeric_value_out_of_range THEN
        PERFORM memwarden_internal.raise_error('invalid_argument',
            'class: a name or null; approval: always, by_risk, pack_auto or never; 0 <= auto_below <= sync_from <= 1.01; '
            'weights: six, none negative, with sum 1; '
            'layer_risk: 0 to 1; sla, max_wait_sync, expires_after: more than nothing; max_queue: 1 to 1,000,000; needed, '
            'needed_sync: 1 to 20');
    END;
    PERFORM memwarden_internal.record_access_change(v_org_id, 'set_approval_policy', jsonb_strip_nulls(jsonb_build_object(
        'layer', layer, 'class', class, 'agent', agent, 'approval', approval, 'auto_below', auto_below, 'sync_from', sync_from,
        'weights', weights, 'layer_risk', layer_risk, 'sla', sla, 'max_wait_sync', max_wait_sync, 'expires_after', expires_after,
        'max_queue', max_queue, 'needed', needed, 'needed_sync', needed_sync, 'four_eyes', four_eyes)));
END
$function$;
COMMENT ON FUNCTION memwarden.set_approval_policy IS
    'Sets when a human is asked before a layer remembers a write. The most specific policy holds: that of an agent, else of a class, '
    'else of the layer; among these, that of the organisation precedes that of all organisations. An argument that is left out keeps '
    'the value that held so far. Risk is a sum of six weighted factors: layer, contradiction, evidence, confidence gap, blast radius '
    'and novelty. Proposals that wait already keep their terms, or get the new ones where these are stricter. As many humans must '
    'agree as either asks for, and four eyes decide where either wants them. layer: the layer. class: one write class; all by '
    'default. agent: one agent, by name; all by default. approval: always (ask a human for each write), by_risk (ask from risk '
    'auto_below on), pack_auto (ask where no pack lets the write pass) or never. auto_below: the risk, 0 to 1.01, from which on '
    'by_risk asks; 0.3 in a first policy. sync_from: the risk, auto_below to 1.01, from which on the writer waits for the answer; '
    '0.7 in a first policy. weights: the weights of the six factors in that order, with sum 1. layer_risk: the factor of the layer, '
    '0 to 1. sla: when an answer is due; 48 hours in a first policy. max_wait_sync: how long a writer waits, after which no answer '
    'is a refusal; 15 minutes in a first policy. expires_after: after this time no answer is a refusal; 14 days in a first policy. '
    'max_queue: how many proposals may wait for the layer, after which writes are refused; 1,000 in a first policy. needed, '
    'needed_sync: how many humans must agree, and how many where the writer waits; 1 to 20, 1 in a first policy. four_eyes: true '
    'keeps people from deciding about their own writes and those of their agents; true in a first policy. org: the organisation; by '
    'default the caller''s, and for members of memwarden_admin all organisations. Raises 22023 for malformed arguments, 42704 for an '
    'unknown layer or organisation, 42501 without the right, 25001 at an isolation level other than READ COMMITTED. '
    'Raises 55P03 when others hold it up for longer than 30 seconds, or lock_timeout. '
    'Source: chapter '
    '12.6.2, W3.';
GRANT EXECUTE ON FUNCTION memwarden.set_approval_policy TO memwarden_curator, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden.drop_approval_policy(layer text, class text DEFAULT NULL, agent text DEFAULT NULL,
    org text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_org_id bigint := memwarden_internal.administered_org(drop_approval_policy.org, 'full');
BEGIN
    DELETE FROM memwarden_data.approval_policy AS a
     WHERE a.org_id = v_org_id AND a.layer = drop_approval_policy.layer AND a.class = coalesce(drop_approval_policy.class, '*')
       AND a.agent IS NOT DISTINCT FROM drop_approval_policy.agent AND a.profile IS NULL;
    IF NOT FOUND THEN
        PERFORM memwarden_internal.raise_error('unknown_object', format('approval policy of layer %L', drop_approval_policy.layer));
    END IF;
    PERFORM memwarden_internal.record_access_change(v_org_id, 'drop_approval_policy', jsonb_strip_nulls(jsonb_build_object(
        'layer', drop_approval_policy.layer, 'class', drop_approval_policy.class, 'agent', drop_approval_policy.agent)));
END
$function$;
COMMENT ON FUNCTION memwarden.drop_approval_policy IS
    'Drops an approval policy that was set by hand, so that the next less specific policy holds again, or the profile''s. What a '
    'profile brought ends with it: use_profile(). org: the organisation; by default the caller''s, and for members of memwarden_admin '
    'all organisations. Raises 42704 where there is none, 42501 without the right, 25001 at an isolation level other than READ '
    'COMMITTED.';
GRANT EXECUTE ON FUNCTION memwarden.drop_approval_policy TO memwarden_curator, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden.set_reputation_threshold(threshold double precision, org text)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_org_id bigint := memwarden_internal.administered_org(set_reputation_threshold.org, 'full');
BEGIN
    IF set_reputation_threshold.threshold IS NULL OR set_reputation_threshold.threshold NOT BETWEEN 0 AND 1 THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'threshold: 0 to 1');
    END IF;
    UPDATE memwarden_data.organisation AS o SET reputation_threshold = set_reputation_threshold.threshold WHERE o.org_id = v_org_id;
    PERFORM memwarden_internal.record_access_change(v_org_id, 'set_reputation_threshold', jsonb_build_object('threshold', threshold));
END
$function$;
COMMENT ON FUNCTION memwarden.set_reputation_threshold IS
    'Sets the reputation below which every write of an agent needs a human. Layers that ask nothing of a write are the exception. '
    'change_agent() sets the reputation of an agent. threshold: 0 to 1. org: the organisation. Raises 22023 for another number, '
    '42704 for an unknown organisation, 42501 without the right, 25001 at an isolation level other than READ COMMITTED. Source: X4.';
GRANT EXECUTE ON FUNCTION memwarden.set_reputation_threshold TO memwarden_curator, memwarden_admin;
