-- The pipeline as it is shipped: setup() makes the triggers that are missing, status() names them.
CREATE OR REPLACE FUNCTION memwarden_internal.built_in_gates()
RETURNS TABLE (ordinal integer, name text, condition text)
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
AS $function$
VALUES
    (0, 'reset', NULL),
    (5, 'act', 'NEW.act IS NOT NULL'),
    (5, 'identity', 'NEW.act IS NULL AND NEW.outcome IS NULL'),
    (6, 'access', 'NEW.outcome IS NULL'),
    (6, 'trial', 'NEW.outcome IS NULL AND (NEW.terms).observed <> '''' AND NEW.scope_locked AND NEW.attempt = 1'),
    (7, 'capture', 'NEW.outcome IS NULL AND NEW.evidence::text ~ ''memwarden:(capture|evidence|item)/'''),
    (7, 'mask', 'NEW.outcome IS NULL AND (NEW.terms).has_entities'),
    (8, 'canonical', 'NEW.outcome IS NULL'),
    (10, 'idempotency', 'NEW.outcome IS NULL'),
    (15, 'deadline', 'NEW.outcome IS NULL AND NEW.deadline IS NOT NULL'),
    (20, 'admission', 'NEW.outcome IS NULL'),
    (25, 'schema', 'NEW.outcome IS NULL'),
    (28, 'entity', 'NEW.outcome IS NULL AND ((NEW.terms).has_entities OR NEW.origin ?| ''{decision,workflow}'')'),
    (29, 'consent', 'NEW.outcome IS NULL AND NEW.class IS NOT NULL'),
    (30, 'sensitivity', 'NEW.outcome IS NULL'),
    (31, 'allowance', 'NEW.outcome IS NULL AND NEW.admitted IS FALSE'),
    (32, 'scope_lock', 'NEW.outcome IS NULL AND NEW.scope_locked IS NOT TRUE'),
    (34, 'embedding', 'NEW.outcome IS NULL AND (NEW.terms).embedding = ''worker'' AND (NEW.embedding IS NULL OR NEW.embedding_model '
        '= ''lexical'')'),
    (35, 'reference', 'NEW.outcome IS NULL AND NEW.admission = ''full'' AND (NEW.terms).has_sources'),
    (36, 'noise', 'NEW.outcome IS NULL AND NEW.admission = ''full'' AND (NEW.terms).has_noise'),
    (37, 'durability', 'NEW.outcome IS NULL AND NEW.admission = ''full'' AND (NEW.terms).durability IS NOT NULL'),
    (38, 'known', 'NEW.outcome IS NULL AND NEW.admission = ''full'''),
    (39, 'constraint', 'NEW.outcome IS NULL AND NEW.admission = ''full'' AND NEW.kind IS DISTINCT FROM ''annotation'' AND '
        '((NEW.terms).has_rules OR NEW.keys IS NOT NULL OR NEW.key_hash IS NOT NULL AND ((NEW.terms).has_relations OR '
        'num_nonnulls(NEW.valid_from, NEW.valid_to) > 0))'),
    (40, 'evidence', 'NEW.outcome IS NULL AND NEW.admission = ''full'''),
    (45, 'external', 'NEW.outcome IS NULL AND NEW.admission = ''full'' AND (NEW.terms).has_plugins'),
    (48, 'correction', 'NEW.outcome IS NULL AND NEW.corrects IS NOT NULL'),
    (50, 'duplicate', 'NEW.outcome IS NULL AND NEW.admission = ''full'' AND NEW.kind IS DISTINCT FROM ''annotation'''),
    (52, 'merge', 'NEW.outcome IS NULL AND NEW.admission = ''full'' AND (NEW.terms).merge_policy IS NOT NULL AND NEW.corrects IS NULL'),
    (60, 'contradiction', 'NEW.outcome IS NULL AND NEW.admission = ''full'' AND NEW.kind IS DISTINCT FROM ''annotation'''),
    (65, 'revision', 'NEW.outcome IS NULL AND (NEW.corrects IS NOT NULL OR NEW.origin ->> ''trigger'' = ''consolidation'')'),
    (70, 'provenance', 'NEW.outcome IS NULL'),
    (78, 'pack', 'NEW.outcome IS NULL AND NEW.admission = ''full'' AND (NEW.terms).pack IS NOT NULL'),
    (80, 'approval', 'NEW.outcome IS NULL AND ((NEW.terms).asks_approval OR NEW.review_asked IS NOT NULL OR NEW.attempt > 1)'),
    (88, 'budget', 'NEW.outcome IS NULL AND NEW.session_id IS NOT NULL'),
    (90, 'answer', '(NEW.terms).observed = '''''),
    (90, 'commit', 'NEW.outcome IS NULL'),
    (99, 'store', 'NEW.trail IS NOT NULL')
$function$;
COMMENT ON FUNCTION memwarden_internal.built_in_gates IS
    'The gates of this release: where each stands at first, and when it is asked (always, where condition is NULL).';
