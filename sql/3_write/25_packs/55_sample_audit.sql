-- A share of what passed by itself is looked at afterwards: drawn by the request's number, so that nobody chooses and
-- everybody can check.
CREATE OR REPLACE FUNCTION memwarden_internal.sample_for_audit(
    p_org_id bigint, p_request_id uuid, p_item_id uuid, p_version_id uuid, p_scope_id bigint, p_label_id integer, p_principal_id bigint,
    p_pack jsonb, p_class text, p_now timestamptz)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
BEGIN
    INSERT INTO memwarden_data.audit_sample (
        org_id, request_id, item_id, version_id, scope_id, label_id, principal_id, pack, pack_version, class, sampled_at)
    SELECT p_org_id, p_request_id, p_item_id, p_version_id, p_scope_id, p_label_id, p_principal_id,
           p_pack ->> 'name', (p_pack ->> 'version')::integer, coalesce(p_class, '*'), p_now
     WHERE memwarden_internal.sample_position(p_request_id) < coalesce((p_pack #>> '{definition,sample_audit,rate}')::double precision, 0);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.sample_for_audit IS
    'Puts what has just passed by itself before the auditors, where the pack''s rate draws it.';

CREATE OR REPLACE FUNCTION memwarden_internal.sample_position(p_request_id uuid)
RETURNS double precision
LANGUAGE sql STABLE PARALLEL RESTRICTED SECURITY INVOKER
-- Keyed: a writer who chooses its request's number must not choose whether anybody looks.
RETURN ('x' || encode(substring(coalesce(memwarden_internal.keyed_hash('sample audit', uuid_send(p_request_id)),
    sha256(uuid_send(p_request_id))) FROM 1 FOR 4), 'hex'))::bit(32)::bigint / 4294967296.0;
COMMENT ON FUNCTION memwarden_internal.sample_position IS
    'Where a request lies between 0 and 1; drawn where that is below the rate. The same for ever.';

CREATE OR REPLACE FUNCTION memwarden.record_audit(request_id uuid, was_right boolean, note text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_principal_id bigint := memwarden_internal.require_principal();
    v_sample       record;
BEGIN
    IF record_audit.was_right IS NULL OR record_audit.note = '' OR length(record_audit.note) > 1000 THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'was_right: true or false; note: at most 1,000 characters');
    END IF;
    PERFORM memwarden_internal.require_harmless(v_principal_id, jsonb_build_object('note', record_audit.note));
    SELECT a.org_id, a.pack, a.pack_version, a.class, a.principal_id, a.verdict INTO v_sample
      FROM memwarden_data.audit_sample AS a
     WHERE a.org_id = ANY (memwarden_internal.visible_orgs()) AND a.request_id = record_audit.request_id
       AND memwarden_internal.may_read(v_principal_id, a.scope_id)
       AND a.label_id = ANY (memwarden_internal.labels_to_approve(v_principal_id))
       FOR NO KEY UPDATE;
    IF v_sample.org_id IS NULL THEN
        PERFORM memwarden_internal.raise_error('unknown_object', format('sample %s', record_audit.request_id));
    ELSIF v_sample.principal_id = v_principal_id OR EXISTS (
              SELECT FROM memwarden_data.principal AS p WHERE p.principal_id = v_sample.principal_id AND p.owner_id = v_principal_id) THEN
        PERFORM memwarden_internal.raise_error('not_permitted', 'FOUR_EYES: it is the caller''s own, or of an agent of the caller''s');
    ELSIF v_sample.verdict IS NOT NULL THEN
        PERFORM memwarden_internal.raise_error('already_exists', format('a verdict on sample %s', record_audit.request_id));
    END IF;
    -- One after the other: each counts those before it.
    PERFORM FROM memwarden_data.pack AS k
      WHERE k.org_id = v_sample.org_id AND k.name = v_sample.pack AND k.version = v_sample.pack_version FOR NO KEY UPDATE;
    UPDATE memwarden_data.audit_sample AS a
       SET verdict = CASE WHEN record_audit.was_right THEN 'right' ELSE 'wrong' END, note = record_audit.note, decided_by = v_principal_id,
           login = session_user, decided_at = clock_timestamp()
     WHERE a.org_id = v_sample.org_id AND a.request_id = record_audit.request_id;
    PERFORM memwarden_internal.judge_auto_promotion(v_sample.org_id, v_sample.pack, v_sample.pack_version, v_sample.class);
END
$function$;
COMMENT ON FUNCTION memwarden.record_audit IS
    'Records whether something that passed without review was right. The view audit_queue lists the samples. The last '
    '"window" verdicts on a class count, once there are at least min_sample. Where more than max_failure_rate of them '
    'are wrong, the pack no longer lets that class pass by itself: see auto_promotion, and set_auto_promotion(). A '
    'wrong memory stays: retract() it or correct it. The caller must be permitted to approve the sample, and the '
    'sample must not be its own. request_id: the request of the sample. was_right: the verdict. note: at most 1,000 '
    'characters. Raises 42704 for a sample that the caller does not see; 42710 where there is a verdict already; '
    '42501 for the caller''s own; 22023 for malformed arguments or a secret in the note; 28000 without an identity; '
    '25001 at an isolation level other than READ COMMITTED; 55000 before setup(). Source: memory fabric.';
GRANT EXECUTE ON FUNCTION memwarden.record_audit TO memwarden_reviewer, memwarden_curator;

CREATE OR REPLACE FUNCTION memwarden_internal.judge_auto_promotion(p_org_id bigint, p_pack text, p_version integer, p_class text)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_limits jsonb;
    v_seen   record;
BEGIN
    SELECT k.definition -> 'sample_audit' INTO v_limits FROM memwarden_data.pack AS k
     WHERE k.org_id IN (0, p_org_id) AND k.name = p_pack AND k.version = p_version ORDER BY k.org_id DESC LIMIT 1;
    SELECT count(*) AS verdicts, count(*) FILTER (WHERE w.verdict = 'wrong') AS wrong INTO v_seen
      FROM (SELECT a.verdict FROM memwarden_data.audit_sample AS a
             WHERE a.org_id = p_org_id AND a.pack = p_pack AND a.class = p_class AND a.verdict IS NOT NULL
               -- What led to its being switched before is settled.
               AND a.decided_at > coalesce((SELECT s.changed_at FROM memwarden_data.auto_promotion AS s
                                             WHERE s.org_id = p_org_id AND s.pack = p_pack AND s.class = p_class), '-infinity')
             ORDER BY a.decided_at DESC LIMIT coalesce((v_limits ->> 'window')::integer, 100)) AS w;
    IF v_limits ->> 'max_failure_rate' IS NULL OR v_seen.verdicts < coalesce((v_limits ->> 'min_sample')::integer, 10)
       OR v_seen.wrong::double precision / v_seen.verdicts <= (v_limits ->> 'max_failure_rate')::double precision THEN
        RETURN;
    END IF;
    INSERT INTO memwarden_data.auto_promotion AS s (org_id, pack, class, enabled, reason, changed_by, changed_at)
    VALUES (p_org_id, p_pack, p_class, false, format('%s of %s audited were wrong', v_seen.wrong, v_seen.verdicts), 'sample audit',
        clock_timestamp())
    ON CONFLICT ON CONSTRAINT auto_promotion_pkey DO UPDATE
       SET enabled = false, reason = excluded.reason, changed_by = excluded.changed_by, changed_at = excluded.changed_at WHERE s.enabled;
    IF FOUND THEN
        PERFORM memwarden_internal.record_access_change(p_org_id, 'auto_promotion_off', jsonb_build_object(
            'pack', p_pack, 'class', p_class, 'wrong', v_seen.wrong, 'verdicts', v_seen.verdicts));
        PERFORM pg_notify('memwarden_alert', jsonb_build_object('event', 'AUTO_PROMOTION_OFF', 'pack', p_pack, 'class', p_class)::text);
    END IF;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.judge_auto_promotion IS
    'Switches a class of a pack off where too much of what was looked at was wrong.';

CREATE OR REPLACE FUNCTION memwarden.set_auto_promotion(pack text, class text, enabled boolean, reason text, org text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_org_id bigint := memwarden_internal.administered_org(set_auto_promotion.org, 'full');
BEGIN
    IF set_auto_promotion.enabled IS NULL OR set_auto_promotion.reason IS NULL OR set_auto_promotion.reason !~ E'\\S'
       OR length(set_auto_promotion.reason) > 1000 OR (set_auto_promotion.class ~ E'^(\\*|[a-z][a-z0-9_]{0,62})$') IS NOT TRUE THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'class: a write class, or * for writes without one; enabled: '
            'true or false; reason: 1 to 1,000 characters');
    ELSIF NOT EXISTS (SELECT FROM memwarden_data.pack AS k WHERE k.org_id IN (0, v_org_id) AND k.name = set_auto_promotion.pack) THEN
        PERFORM memwarden_internal.raise_error('unknown_object', format('pack %L', set_auto_promotion.pack));
    END IF;
    INSERT INTO memwarden_data.auto_promotion AS s (org_id, pack, class, enabled, reason, changed_by, changed_at)
    VALUES (v_org_id, set_auto_promotion.pack, set_auto_promotion.class, set_auto_promotion.enabled, set_auto_promotion.reason,
        session_user, clock_timestamp())
    ON CONFLICT ON CONSTRAINT auto_promotion_pkey DO UPDATE
       SET enabled = excluded.enabled, reason = excluded.reason, changed_by = excluded.changed_by, changed_at = excluded.changed_at;
    PERFORM memwarden_internal.record_access_change(v_org_id, 'set_auto_promotion', jsonb_build_object(
        'pack', pack, 'class', class, 'enabled', enabled, 'reason', reason));
END
$function$;
COMMENT ON FUNCTION memwarden.set_auto_promotion IS
    'Switches on or off whether a pack lets a class pass by itself. Counting of audit verdicts starts anew from the call. class: the '
    'class, or * for writes without one. reason: why, as auto_promotion shows it. org: the organisation; by default the caller''s. '
    'Raises 42704 for an unknown pack or organisation, 22023 for malformed arguments, 42501 without ADMIN (full), 25001 at an '
    'isolation level other than READ COMMITTED. Source: memory fabric.';
GRANT EXECUTE ON FUNCTION memwarden.set_auto_promotion TO memwarden_curator, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden_internal.list_audits()
RETURNS TABLE (request_id uuid, item_id uuid, version_id uuid, scope text, layer text, agent text, class text, pack text,
    pack_version integer,
               subject text, predicate text, content jsonb, confidence double precision, evidence jsonb,
               sampled_at timestamptz, verdict text, note text, decided_at timestamptz)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
DECLARE
    v_principal_id bigint := memwarden_internal.current_principal();
    v_orgs         bigint[] := memwarden_internal.visible_orgs();
    v_scopes       bigint[] := memwarden_internal.readable_scopes(v_principal_id);
    v_labels       integer[] := memwarden_internal.labels_to_approve(v_principal_id);
BEGIN
    RETURN QUERY
    SELECT a.request_id, a.item_id, a.version_id, s.path, v.layer, p.name, a.class, a.pack, a.pack_version,
           v.subject, v.predicate, v.content, v.confidence::double precision, v.evidence, a.sampled_at, a.verdict, a.note, a.decided_at
      FROM memwarden_data.audit_sample AS a
      JOIN memwarden_data.scope AS s ON s.scope_id = a.scope_id
      JOIN memwarden_data.principal AS p ON p.principal_id = a.principal_id
      JOIN memwarden_data.item AS i ON i.org_id = a.org_id AND i.item_id = a.item_id
      JOIN memwarden_data.said_version AS v ON v.org_id = a.org_id AND v.version_id = a.version_id
     WHERE a.org_id = ANY (v_orgs) AND a.scope_id = ANY (v_scopes) AND a.label_id = ANY (v_labels) AND i.label_id = ANY (v_labels)
       AND (i.kept_until IS NULL OR i.kept_until > clock_timestamp());
END
$function$;
COMMENT ON FUNCTION memwarden_internal.list_audits IS 'The rows of memwarden.audit_queue.';
GRANT EXECUTE ON FUNCTION memwarden_internal.list_audits TO memwarden_reviewer, memwarden_curator;

CREATE OR REPLACE FUNCTION memwarden_internal.list_auto_promotion()
RETURNS TABLE (org text, pack text, class text, enabled boolean, reason text, changed_by text, changed_at timestamptz,
               sampled bigint, verdicts bigint, wrong bigint)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
DECLARE
    v_orgs bigint[] := memwarden_internal.overseen_orgs();
BEGIN
    RETURN QUERY
    SELECT o.name, t.pack, t.class, coalesce(s.enabled, true), s.reason, s.changed_by, s.changed_at, coalesce(n.sampled, 0),
        coalesce(n.verdicts, 0), coalesce(n.wrong, 0)
      FROM (SELECT a.org_id, a.pack, a.class FROM memwarden_data.audit_sample AS a UNION SELECT s.org_id, s.pack, s.class
          FROM memwarden_data.auto_promotion AS s) AS t
      JOIN memwarden_data.organisation AS o ON o.org_id = t.org_id
      LEFT JOIN memwarden_data.auto_promotion AS s ON s.org_id = t.org_id AND s.pack = t.pack AND s.class = t.class
      LEFT JOIN LATERAL (SELECT count(*) AS sampled, count(a.verdict) AS verdicts, count(*) FILTER (WHERE a.verdict = 'wrong') AS wrong
                           FROM memwarden_data.audit_sample AS a WHERE a.org_id = t.org_id AND a.pack = t.pack
                               AND a.class = t.class) AS n ON true
     WHERE t.org_id = ANY (v_orgs);
END
$function$;
COMMENT ON VIEW memwarden.auto_promotion IS
    'Lists the classes that packs let pass by themselves, and what the audit of samples found. changed_by is who or what last '
    'switched the class.';
GRANT EXECUTE ON FUNCTION memwarden_internal.list_auto_promotion TO memwarden_curator, memwarden_auditor, memwarden_admin;
