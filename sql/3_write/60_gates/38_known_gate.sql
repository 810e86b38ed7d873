-- The same again? Tiers 1 and 2 are one look-up: contents of equal hash have an equal fingerprint. Only what
-- the writer may see counts: an answer that names, or implies, a hidden item would tell of it.
CREATE OR REPLACE FUNCTION memwarden_internal.known_item(
    p_org_id bigint, p_scope_id bigint, p_layer text, p_principal_id bigint, p_label_id integer, p_fingerprint bytea,
    p_content_hash bytea, p_subject text, p_predicate text, p_valid_from timestamptz, p_valid_to timestamptz, p_now timestamptz,
    OUT item_id uuid, OUT version_id uuid, OUT principal_id bigint, OUT is_exact boolean)
RETURNS record
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
SET plan_cache_mode = force_generic_plan
AS $function$
BEGIN
    SELECT k.item_id, k.version_id, k.principal_id, k.is_exact INTO item_id, version_id, principal_id, is_exact
      FROM memwarden_data.principal AS p
      -- Asked whatever is there, nothing or something hidden: how long the gate takes must not tell. Most writers read
      -- whatever they are cleared for: readable_among() for those, written out below.
     CROSS JOIN LATERAL (
           SELECT CASE WHEN NOT EXISTS (SELECT FROM memwarden_data.role_permission AS r
                                         WHERE r.role_id = p.role_id AND r.operation = 'READ' AND r.layer = '*' AND r.kind IS NULL
                                             AND r.reach = 'all')
                         OR EXISTS (SELECT FROM memwarden_data.policy_set AS s WHERE s.org_id IN (0, p.org_id)
                             AND 'READ' = ANY (s.operations))
                         OR EXISTS (SELECT FROM memwarden_data.kept_layer AS y
                                     WHERE y.org_id = p_org_id AND y.principal_id = 0 AND y.layer = p_layer AND NOT y.shared)
                       THEN memwarden_internal.readable_among(p_principal_id, p_label_id || ARRAY(
                                SELECT i.label_id FROM memwarden_data.item AS i
                                 WHERE i.org_id = p_org_id AND i.scope_id = p_scope_id AND i.layer = p_layer
                                   AND substr(i.fingerprint, 1, 4) = substr(p_fingerprint, 1, 4) AND i.fingerprint = p_fingerprint
                                   AND i.status = 'ACTIVE')) END AS labels
           OFFSET 0) AS w
     CROSS JOIN LATERAL (
           SELECT i.item_id, i.version_id, i.principal_id, i.content_hash = p_content_hash
                  AND i.subject IS NOT DISTINCT FROM p_subject
                  AND i.predicate IS NOT DISTINCT FROM p_predicate AS is_exact
             FROM memwarden_data.item AS i
            WHERE i.org_id = p_org_id AND i.scope_id = p_scope_id AND i.layer = p_layer
              AND substr(i.fingerprint, 1, 4) = substr(p_fingerprint, 1, 4) AND i.fingerprint = p_fingerprint AND i.status = 'ACTIVE'
              AND (i.expires_at IS NULL OR i.expires_at > p_now)
              -- The same value at another time is news: since when, or again.
              AND CASE WHEN NOT i.exclusive THEN true
                       WHEN p_valid_from IS NULL AND p_valid_to IS NULL THEN i.valid_during @> greatest(p_now, i.updated_at)
                       ELSE memwarden_internal.holds_throughout(
                                i.org_id, i.item_id, i.content_hash, tstzrange(coalesce(p_valid_from, least(p_now, p_valid_to)),
                                    p_valid_to)) END
              AND CASE WHEN w.labels IS NULL
                       THEN EXISTS (SELECT FROM memwarden_data.label AS l
                                     WHERE l.label_id = i.label_id AND l.org_id IN (0, p.org_id)
                                       AND l.classification <= p.clearance AND l.domains <@ p.domains)
                       ELSE (CASE WHEN i.principal_id = p_principal_id THEN -i.label_id ELSE i.label_id END) = ANY (w.labels) END
            ORDER BY is_exact DESC, i.item_id
            LIMIT 1) AS k
     WHERE p.principal_id = p_principal_id AND p.disabled_at IS NULL;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.known_item IS
    'Of what a scope and layer hold with a fingerprint, and the principal reads, one that says the same of the same '
    'time, if possible to the letter; nulls where there is none.';

-- A bare value that the memory of its key has under a name, as "Lisbon" where {"city": "Lisbon"} stands: it says the same, and less.
CREATE OR REPLACE FUNCTION memwarden_internal.named_value(
    p_org_id bigint, p_item_id uuid, p_value jsonb, p_subject text, p_predicate text, p_subject_key_id uuid, p_now timestamptz,
    OUT item_id uuid, OUT version_id uuid, OUT principal_id bigint, OUT is_exact boolean)
RETURNS record
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    -- Nothing of that key yet: an unknown number would still be looked for beside every version.
    IF p_item_id IS NULL THEN
        RETURN;
    END IF;
    SELECT i.item_id, i.version_id, i.principal_id, false INTO item_id, version_id, principal_id, is_exact
      FROM memwarden_data.item AS i
      JOIN memwarden_data.said_version AS v ON v.org_id = i.org_id AND v.version_id = i.version_id AND v.tier = 'hot'
     CROSS JOIN LATERAL (
           SELECT min(k.name) AS name
             FROM jsonb_object_keys(CASE jsonb_typeof(v.content) WHEN 'object' THEN v.content ELSE '{}' END) AS k (name)
           HAVING count(*) = 1) AS f
     WHERE i.org_id = p_org_id AND i.item_id = p_item_id AND i.valid_during @> p_now
       AND i.fingerprint = memwarden_internal.indexed_hash((memwarden_internal.examine(
               jsonb_build_object(f.name, p_value)::text, p_subject, p_predicate, NULL, NULL, NULL,
               (SELECT y.synonyms::text FROM memwarden_data.vocabulary AS y WHERE y.org_id = p_org_id), 2097152, false, NULL,
               NULL)).fingerprint, p_subject_key_id);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.named_value IS
    'The memory, where its content is one member with that value, compared as fingerprints are; nulls where it is not.';

CREATE OR REPLACE FUNCTION memwarden_internal.gate_known()
RETURNS trigger
LANGUAGE plpgsql VOLATILE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_started timestamptz := clock_timestamp();
    v_terms   memwarden_data.write_terms := NEW.terms;
    v_known   record := memwarden_internal.known_item(
        NEW.org_id, NEW.scope_id, NEW.layer, NEW.principal_id, NEW.label_id, NEW.fingerprint,
        NEW.content_hash, NEW.subject, NEW.predicate, NEW.valid_from, NEW.valid_to, v_started);
    v_found   record;
BEGIN
    IF v_known.item_id IS NULL AND NEW.key_hash IS NOT NULL AND NEW.valid_from IS NULL AND NEW.valid_to IS NULL
       AND left(NEW.canonical, 1) NOT IN ('{', '[') THEN
        v_known := memwarden_internal.named_value(
            NEW.org_id,
            memwarden_internal.merge_target(
                NEW.org_id, NEW.scope_id, NEW.layer, NEW.principal_id, NEW.label_id, NEW.key_hash, NEW.predicate, v_terms.same_key,
                v_terms.writers, NULL, NEW.classification IS NOT NULL, NEW.attributes IS NOT NULL),
            NEW.canonical::jsonb, NEW.subject, NEW.predicate, NEW.subject_key_id, v_started);
    END IF;
    IF v_known.item_id IS NOT NULL THEN
        NEW.outcome := 'REJECTED';
        NEW.reason := CASE WHEN v_known.is_exact THEN 'EXACT_DUPLICATE' ELSE 'STRUCTURAL_DUPLICATE' END;
        NEW.item_id := v_known.item_id;
        NEW.version_id := v_known.version_id;
        -- An agent that repeats itself is believed no more for it: its evidence is not looked at.
        IF coalesce(NEW.evidence, '[]') <> '[]' AND v_known.principal_id <> NEW.principal_id THEN
            v_found := memwarden_internal.weigh(
                NEW.subject, NEW.predicate, NEW.canonical, NEW.evidence,
                memwarden_internal.evidence_sources(NEW.principal_id, NEW.org_id, NEW.evidence, v_started), NEW.principal_id,
                (SELECT k.evidence_type FROM memwarden_data.origin_kind AS k WHERE k.kind = NEW.origin ->> 'kind'),
                v_terms.external_types, extract(epoch FROM v_terms.evidence_half_life)::double precision,
                memwarden_internal.utc_text(v_started), false);
            NEW.grounds := v_found.grounds;
            NEW.authority := v_found.authority;
            NEW.trust_ceiling := v_found.trust_ceiling;
            NEW.fact_score := v_found.fact_score;
        END IF;
        PERFORM memwarden_internal.record_sighting(
            NEW.org_id, NEW.item_id, NEW.version_id, NEW.principal_id, NEW.label_id, NEW.evidence, NEW.grounds,
            v_terms.fact_threshold > 0 OR v_terms.min_external > 0,
            memwarden_internal.adjusted_confidence(
                v_terms.confidence_weights, memwarden_internal.said_confidence(NEW.confidence, NEW.origin, v_terms.default_confidence),
                NEW.fact_score, coalesce(NEW.authority, 0), NEW.trust_ceiling),
            coalesce(NEW.authority, 0), v_started);
        NEW.version_id := memwarden_internal.extend_validity(
            NEW.org_id, NEW.item_id, NEW.version_id, NEW.principal_id, v_terms.writers, NEW.request_id,
            CASE WHEN v_terms.extend_validity THEN coalesce(NEW.ttl, v_terms.default_ttl) END, v_started);
    END IF;
    NEW.trail := NEW.trail || memwarden_internal.gate_entry(TG_NAME, NEW.outcome, NEW.reason, v_started);
    RETURN NEW;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.gate_known IS
    'Trigger gate_38_known: rejects what the scope and layer already hold, by content hash or by normalised '
    'fingerprint, and names the item. Source: chapter 12.3.2, tiers 1 and 2.';
