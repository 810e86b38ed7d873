-- Said by whoever administers an organisation: when a human is asked.
CREATE OR REPLACE FUNCTION memwarden.set_approval_policy(
    layer text, class text DEFAULT NULL, agent text DEFAULT NULL, approval text DEFAULT NULL,
    auto_below double precision DEFAULT NULL, sync_from double precision DEFAULT NULL, weights double precision[] DEFAULT NULL,
    layer_risk double precision DEFAULT NULL, sla interval DEFAULT NULL, max_wait_sync interval DEFAULT NULL,
    expires_after interval DEFAULT NULL, max_queue integer DEFAULT NULL, needed integer DEFAULT NULL, needed_sync integer DEFAULT NULL,
    four_eyes boolean DEFAULT NULL, org text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $function$
DECLARE
    v_org_id bigint := memwarden_internal.administered_org(set_approval_policy.org, 'full');
    v_policy memwarden_data.approval_policy;
BEGIN
    PERFORM memwarden_internal.require_layers(ARRAY[set_approval_policy.layer]);
    LOCK TABLE memwarden_data.approval_policy IN SHARE ROW EXCLUSIVE MODE;
    -- What is not named stays; in a new policy it is as in the one that held so far.
    SELECT a.* INTO v_policy
      FROM memwarden_data.approval_policy AS a
     WHERE a.org_id IN (0, v_org_id) AND a.layer = set_approval_policy.layer
       AND (a.class = '*' OR a.class = set_approval_policy.class) AND (a.agent IS NULL OR a.agent = set_approval_policy.agent)
     ORDER BY a.agent IS NULL, a.class = '*', a.org_id DESC
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
        ON CONFLICT ON CONSTRAINT approval_policy_org_id_layer_class_agent_key DO UPDATE
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
COMMENT ON FUNCTION memwarden.set_approval_policy(text, text, text, text, double precision, double precision, double precision[],
    double precision, interval, interval, interval, integer, integer, integer, boolean, text) IS
    'Says when a human is asked before something is remembered in a layer; for one write class or one agent (by name) '
    'only, where named. The most specific policy holds: of an agent, else of a class, else of the layer; of the '
    'organisation before that of all. What is left out stays as it held. approval: always; by_risk (from risk '
    'auto_below on); pack_auto (where no pack lets it pass); never. sync_from: from this risk on the writer waits, at '
    'most max_wait_sync, and no answer is a no. Risk is the sum of six factors by weights: layer (layer_risk), '
    'contradiction, evidence, confidence gap, blast radius, novelty. sla: when an answer is due; expires_after: when '
    'none is a no. max_queue: so many wait for a layer, then writes are refused. needed, needed_sync: how many humans '
    'must agree. four_eyes: nobody decides about its own writes, or those of its agents. Proposals that wait already '
    'keep their terms, or get these where they are stricter: as many must agree as either asks for, and four eyes '
    'decide where either wants them. org: by default the caller''s, and for members of memwarden_admin all. Raises '
    '22023 for malformed arguments, 42704 for an unknown layer or organisation, 42501 without the right, 25001 at an '
    'isolation other than READ COMMITTED. Source: chapter 12.6.2, W3.';
REVOKE ALL ON FUNCTION memwarden.set_approval_policy(text, text, text, text, double precision, double precision,
    double precision[], double precision, interval, interval, interval, integer, integer, integer, boolean, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION memwarden.set_approval_policy(text, text, text, text, double precision, double precision,
    double precision[], double precision, interval, interval, interval, integer, integer, integer, boolean,
    text) TO memwarden_curator, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden.drop_approval_policy(layer text, class text DEFAULT NULL, agent text DEFAULT NULL,
    org text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $function$
DECLARE
    v_org_id bigint := memwarden_internal.administered_org(drop_approval_policy.org, 'full');
BEGIN
    DELETE FROM memwarden_data.approval_policy AS a
     WHERE a.org_id = v_org_id AND a.layer = drop_approval_policy.layer AND a.class = coalesce(drop_approval_policy.class, '*')
       AND a.agent IS NOT DISTINCT FROM drop_approval_policy.agent;
    IF NOT FOUND THEN
        PERFORM memwarden_internal.raise_error('unknown_object', format('approval policy of layer %L', drop_approval_policy.layer));
    END IF;
    PERFORM memwarden_internal.record_access_change(v_org_id, 'drop_approval_policy', jsonb_strip_nulls(jsonb_build_object(
        'layer', drop_approval_policy.layer, 'class', drop_approval_policy.class, 'agent', drop_approval_policy.agent)));
END
$function$;
COMMENT ON FUNCTION memwarden.drop_approval_policy(text, text, text, text) IS
    'Drops an approval policy: the next less specific holds again. org: by default the caller''s, and for members of memwarden_admin all. '
    'Raises 42704 where there is none, 42501 without the right, 25001 at an isolation other than READ COMMITTED.';
REVOKE ALL ON FUNCTION memwarden.drop_approval_policy(text, text, text, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION memwarden.drop_approval_policy(text, text, text, text) TO memwarden_curator, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden.set_reputation_threshold(threshold double precision, org text)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
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
COMMENT ON FUNCTION memwarden.set_reputation_threshold(double precision, text) IS
    'Says below which reputation (0 to 1; see change_agent()) every write of an agent needs a human, but for layers '
    'that ask nothing of a write. org: the organisation. Raises 22023 for another number, 42704 for an unknown '
    'organisation, 42501 without the right, 25001 at an isolation other than READ COMMITTED. Source: X4.';
REVOKE ALL ON FUNCTION memwarden.set_reputation_threshold(double precision, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION memwarden.set_reputation_threshold(double precision, text) TO memwarden_curator, memwarden_admin;
