-- A profile is rows: what a layer asks of a write, and of whom. What it does not name is as the server has it.
CREATE OR REPLACE FUNCTION memwarden_internal.profile_settings(p_profile text)
RETURNS TABLE (layer text, name text, value jsonb)
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
AS $function$
SELECT s.layer, s.name, to_jsonb(v.value)
  FROM (VALUES
           --                            open         balanced      strict
           ('episodic',   'unclear',     'store',     'store',      'ask'),
           ('semantic',   'unclear',     'store',     'store',      'ask'),
           ('procedural', 'unclear',     'store',     'ask',        'ask'),
           ('durable',    'unclear',     'store',     'store',      'ask'),
           ('episodic',   'no_evidence', 'store',     'store',      'refuse'),
           ('semantic',   'no_evidence', 'store',     'store',      'refuse'),
           ('procedural', 'no_evidence', 'store',     'ask',        'refuse'),
           ('durable',    'no_evidence', 'store',     'store',      'refuse'),
           ('semantic',   'conflict',    'mark',      'ask_firmer', 'review'),
           ('procedural', 'conflict',    'mark',      'latest_wins', 'latest_wins'),
           ('durable',    'conflict',    'mark',      'ask_firmer', 'coexist')
       ) AS s (layer, name, open, balanced, strict)
 CROSS JOIN LATERAL (SELECT CASE p_profile WHEN 'open' THEN s.open WHEN 'balanced' THEN s.balanced WHEN 'strict' THEN s.strict END)
       AS v (value)
 WHERE v.value IS NOT NULL
 UNION ALL
SELECT s.layer, 'rate_limit', to_jsonb(CASE p_profile WHEN 'strict' THEN s.strict ELSE 300000 END)
  FROM (VALUES ('session', 6000), ('episodic', 6000), ('semantic', 600), ('procedural', 600), ('durable', 600)) AS s (layer, strict)
 WHERE p_profile IN ('open', 'balanced', 'strict')
$function$;
COMMENT ON FUNCTION memwarden_internal.profile_settings IS 'The settings of layers that make a profile; none of an unknown one.';

CREATE OR REPLACE FUNCTION memwarden_internal.profile_policies(p_profile text)
RETURNS TABLE (layer text, approval text, auto_below double precision, sync_from double precision, layer_risk double precision)
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
AS $function$
SELECT s.layer, s.approval, s.auto_below, s.sync_from, s.layer_risk
  FROM (VALUES ('open',     'episodic',   'never',   0.5, 0.7, 0.3),
               ('open',     'semantic',   'never',   0.3, 0.7, 0.8),
               ('open',     'procedural', 'never',   0.3, 0.7, 1.0),
               ('open',     'durable',    'never',   0.3, 0.7, NULL),
               ('balanced', 'episodic',   'by_risk', 0.8, 0.9, 0.3),
               ('balanced', 'semantic',   'by_risk', 0.8, 0.9, 0.8),
               ('balanced', 'procedural', 'always',  0.3, 0.9, 1.0),
               ('balanced', 'durable',    'by_risk', 0.8, 0.9, NULL),
               -- An event is always new and seldom disputed: below this it is one that contradicts nothing.
               ('strict',   'episodic',   'by_risk', 0.5, 0.7, 0.3),
               ('strict',   'semantic',   'always',  0.3, 0.7, 0.8),
               ('strict',   'procedural', 'always',  0.3, 0.7, 1.0),
               ('strict',   'durable',    'always',  0.3, 0.7, NULL)) AS s (profile, layer, approval, auto_below, sync_from, layer_risk)
 WHERE s.profile = p_profile
$function$;
COMMENT ON FUNCTION memwarden_internal.profile_policies IS 'The approval policies that make a profile; none of an unknown one.';

CREATE OR REPLACE FUNCTION memwarden_internal.require_profile(p_profile text)
RETURNS void
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
AS $function$
BEGIN
    IF p_profile IS NULL OR p_profile NOT IN ('open', 'balanced', 'strict') THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'profile: open, balanced or strict');
    END IF;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.require_profile IS 'Raises 22023 for what is no profile.';
