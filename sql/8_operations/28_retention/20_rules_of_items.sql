-- Which rules apply to a memory, until when each permits and wants it to be kept, and what follows from all of them.
CREATE OR REPLACE FUNCTION memwarden_internal.retention_rules(p_org_id bigint)
RETURNS TABLE (applies_to text, name text, keep_at_most interval, keep_at_least interval, afterwards text, counted_from text,
               org_id bigint)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER ROWS 10
AS $function$
BEGIN
    RETURN QUERY
    SELECT DISTINCT ON (r.applies_to, r.name)
           r.applies_to, r.name, r.keep_at_most, r.keep_at_least, r.afterwards, r.counted_from, r.org_id
      FROM memwarden_data.retention_rule AS r WHERE r.org_id IN (0, p_org_id) ORDER BY r.applies_to, r.name, r.org_id DESC;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.retention_rules IS
    'The rules of an organisation: its own, and those of all of which it has none of its own.';

CREATE OR REPLACE FUNCTION memwarden_internal.retention_facts(p_org_id bigint, p_item_ids uuid[], p_now timestamptz)
RETURNS TABLE (item_id uuid, status text, layer text, created_at timestamptz, updated_at timestamptz, confidentiality text,
               classes text[], purposes text[], kinds text[], consented_until timestamptz, withdrawn_at timestamptz)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER ROWS 100
SET plan_cache_mode = force_custom_plan
AS $function$
BEGIN
    RETURN QUERY
    WITH said AS (
        SELECT i.item_id, i.status, i.layer, i.created_at, lower(c.recorded_during) AS updated_at,
               memwarden_internal.form_of_subject(i.subject_form, i.subject) AS subject_form,
               CASE l.classification WHEN 0 THEN 'public' WHEN 1 THEN 'general' ELSE 'business' END AS confidentiality,
               -- A correction of what was personal is personal.
               ARRAY(SELECT DISTINCT v.class FROM memwarden_data.version AS v
                      WHERE v.org_id = i.org_id AND v.item_id = i.item_id AND v.class IS NOT NULL ORDER BY v.class) AS classes
          FROM memwarden_data.item AS i
          JOIN memwarden_data.label AS l ON l.label_id = i.label_id
          JOIN memwarden_data.version AS c ON c.org_id = i.org_id AND c.version_id = i.version_id
         WHERE i.org_id = p_org_id AND i.item_id = ANY (p_item_ids)
    ), purpose AS (
        SELECT c.class, c.consent_purpose AS purpose FROM memwarden_data.write_class AS c
         WHERE c.org_id IN (0, p_org_id) AND c.consent_purpose IS NOT NULL
         UNION
        SELECT e.key, e.value ->> 'purpose' FROM memwarden_data.pack AS k CROSS JOIN LATERAL jsonb_each(k.definition -> 'consent') AS e
         WHERE k.org_id IN (0, p_org_id)
    ), consent AS (
        SELECT s.item_id, array_agg(DISTINCT u.purpose ORDER BY u.purpose) AS purposes,
               min(CASE WHEN t.state = 'granted' AND coalesce(lower(t.valid_during) <= p_now, true)
                        THEN coalesce(upper(t.valid_during), 'infinity') ELSE '-infinity' END) AS consented_until,
               min(c.recorded_at) FILTER (WHERE t.state = 'withdrawn') AS withdrawn_at
          FROM said AS s
          JOIN purpose AS u ON u.class = ANY (s.classes)
          LEFT JOIN memwarden_data.consent_state AS t
            ON t.org_id = p_org_id AND t.subject_form = s.subject_form AND t.purpose = u.purpose
          LEFT JOIN memwarden_data.consent AS c ON c.org_id = t.org_id AND c.consent_id = t.consent_id
         GROUP BY s.item_id
    )
    SELECT s.item_id, s.status::text, s.layer, s.created_at, s.updated_at, s.confidentiality, s.classes, c.purposes, p.kinds,
           c.consented_until, c.withdrawn_at
      FROM said AS s
      LEFT JOIN consent AS c ON c.item_id = s.item_id
      LEFT JOIN memwarden_data.personal_item AS p ON p.org_id = p_org_id AND p.item_id = s.item_id;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.retention_facts IS
    'What rules of retention ask of memories. confidentiality: public, general or business, by the classification of the '
    'label. purposes: what their classes need consent to; kinds: of personal data that was found; one of the two makes '
    'them personal. consented_until: until when all of these consents hold, -infinity where one is missing; '
    'withdrawn_at: when one was withdrawn.';

CREATE OR REPLACE FUNCTION memwarden_internal.rules_of_items(p_org_id bigint, p_item_ids uuid[], p_now timestamptz)
RETURNS TABLE (item_id uuid, status text, applies_to text, name text, org_id bigint, keep_at_most interval, keep_at_least interval,
               counted_at timestamptz, permitted_until timestamptz, required_until timestamptz, afterwards text,
               because jsonb)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER ROWS 200
SET plan_cache_mode = force_custom_plan
AS $function$
BEGIN
    RETURN QUERY
    SELECT f.item_id, f.status, r.applies_to, r.name, r.org_id, r.keep_at_most, r.keep_at_least, t.counted_at,
           CASE WHEN r.applies_to <> 'classification' OR r.name <> 'personal' THEN t.counted_at + r.keep_at_most
                -- Consent extends the permission, and its withdrawal ends it.
                WHEN f.withdrawn_at IS NOT NULL THEN least(t.counted_at + r.keep_at_most, f.withdrawn_at)
                WHEN r.keep_at_most IS NULL THEN NULL
                ELSE nullif(greatest(t.counted_at + r.keep_at_most, f.consented_until), 'infinity') END,
           t.counted_at + r.keep_at_least, r.afterwards, a.because
      FROM memwarden_internal.retention_facts(p_org_id, p_item_ids, p_now) AS f
     CROSS JOIN LATERAL (
           SELECT 'classification', f.confidentiality, jsonb_build_object('label', f.confidentiality)
            UNION ALL
           SELECT 'classification', 'personal', jsonb_strip_nulls(jsonb_build_object(
                      'found', f.kinds, 'purposes', f.purposes, 'withdrawn_at', f.withdrawn_at,
                      'consented_until', CASE WHEN f.consented_until = 'infinity' THEN '"without end"'
                                              WHEN f.consented_until > '-infinity' THEN to_jsonb(f.consented_until) END))
            WHERE f.kinds IS NOT NULL OR f.purposes IS NOT NULL
            UNION ALL
           SELECT 'layer', f.layer, jsonb_build_object('layer', f.layer)
            UNION ALL
           SELECT 'class', c.class, jsonb_build_object('class', c.class) FROM unnest(f.classes) AS c (class)
           ) AS a (applies_to, name, because)
      JOIN memwarden_internal.retention_rules(p_org_id) AS r ON r.applies_to = a.applies_to AND r.name = a.name
     CROSS JOIN LATERAL (SELECT CASE r.counted_from WHEN 'creation' THEN f.created_at ELSE f.updated_at END AS counted_at) AS t;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.rules_of_items IS
    'Each rule of retention that applies to each of these memories: a row a rule. permitted_until: null where it may be '
    'kept for ever. required_until: null where nothing wants it to be kept.';

CREATE OR REPLACE FUNCTION memwarden_internal.retention_of(p_org_id bigint, p_item_ids uuid[], p_now timestamptz DEFAULT NULL)
RETURNS TABLE (item_id uuid, ends_at timestamptz, required_until timestamptz, action text, due_since timestamptz, rule text)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER ROWS 100
AS $function$
DECLARE
    v_now timestamptz := coalesce(p_now, clock_timestamp());
BEGIN
    RETURN QUERY
    WITH rule AS (
        SELECT r.item_id, r.status, r.applies_to || ' ' || r.name AS rule, r.permitted_until, r.afterwards,
               max(r.required_until) OVER (PARTITION BY r.item_id) AS required_until,
               array_position('{delete,cold,archive}', r.afterwards) AS mildness
          FROM memwarden_internal.rules_of_items(p_org_id, p_item_ids, v_now) AS r
    ), over AS (
        -- What has ended already stays where it is for the milder rules.
        SELECT DISTINCT ON (r.item_id) r.item_id, r.afterwards, greatest(r.permitted_until, r.required_until) AS due_since, r.rule
          FROM rule AS r
         WHERE greatest(r.permitted_until, r.required_until) <= v_now AND r.permitted_until IS NOT NULL
           AND (r.afterwards = 'delete' OR r.status IN ('ACTIVE', 'DRAFT'))
         ORDER BY r.item_id, r.mildness, r.permitted_until, r.rule
    ), first AS (
        SELECT r.item_id, min(r.permitted_until) AS permitted_until, min(r.required_until) AS required_until
          FROM rule AS r GROUP BY r.item_id
    )
    SELECT f.item_id, CASE WHEN f.permitted_until IS NOT NULL THEN greatest(f.permitted_until, f.required_until) END, f.required_until,
           o.afterwards, o.due_since, o.rule
      FROM first AS f
      LEFT JOIN over AS o ON o.item_id = f.item_id;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.retention_of IS
    'What the rules of retention make of memories, a row each. The longest duty wins: nothing ends before required_until, '
    'the latest of all duties. Among permissions the shortest decides: ends_at, null for never. A rule acts when its own '
    'time is over; action is the strongest that is due now (delete before cold before archive), null where nothing is; '
    'rule says whose, due_since since when. Legal holds are not in it: reasons_to_keep(). p_now: the moment, now by '
    'default. Source: chapter 12.10.4.';

CREATE OR REPLACE FUNCTION memwarden_internal.duties_among(p_org_id bigint, p_item_ids uuid[], p_now timestamptz DEFAULT NULL)
RETURNS SETOF uuid
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER ROWS 10
AS $function$
DECLARE
    v_now timestamptz := coalesce(p_now, clock_timestamp());
BEGIN
    -- Most organisations have no duty, and then nothing is asked of any memory.
    IF p_item_ids <> '{}' AND EXISTS (SELECT FROM memwarden_internal.retention_rules(p_org_id) AS r WHERE r.keep_at_least IS NOT NULL) THEN
        RETURN QUERY
        SELECT r.item_id FROM memwarden_internal.retention_of(p_org_id, p_item_ids, v_now) AS r WHERE r.required_until > v_now;
    END IF;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.duties_among IS
    'Those of the items of an organisation that a rule of retention still wants kept (keep_at_least). Collection neither expires nor '
    'deletes them. p_now: the moment, now by default. Source: chapter 12.10.4.';
