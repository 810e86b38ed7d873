-- An erasure destroys keys: what is encrypted under them is gone in every copy of the store that has lost their generation.
CREATE OR REPLACE FUNCTION memwarden_internal.sealed_sources(p_orgs bigint[], p_keys uuid[])
RETURNS TABLE (org_id bigint, subject_key_id uuid, source_id uuid)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN QUERY
    SELECT e.org_id, e.subject_key_id, e.evidence_id FROM memwarden_data.evidence AS e
     WHERE e.org_id = ANY (p_orgs) AND e.subject_key_id = ANY (p_keys)
     UNION ALL
    SELECT c.org_id, c.subject_key_id, c.capture_id FROM memwarden_data.capture AS c
     WHERE c.org_id = ANY (p_orgs) AND c.subject_key_id = ANY (p_keys);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.sealed_sources IS 'Recorded evidence and captures that are encrypted under some keys.';

CREATE OR REPLACE FUNCTION memwarden_internal.sources_under_key(p_org_id bigint, p_subject text, p_found uuid[])
RETURNS uuid[]
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    -- The key says whose words they are: their rows name nobody.
    RETURN ARRAY(SELECT s.source_id FROM memwarden_internal.sealed_sources(ARRAY[p_org_id], ARRAY(
        SELECT k.subject_key_id FROM memwarden_data.subject_key AS k
         WHERE k.org_id = p_org_id AND k.subject_hash = memwarden_internal.subject_hash(p_org_id, p_subject))) AS s
                  WHERE s.source_id <> ALL (p_found));
END
$function$;
COMMENT ON FUNCTION memwarden_internal.sources_under_key IS
    'Recorded evidence and captures that are encrypted under the key of a subject, beside those found.';

CREATE OR REPLACE FUNCTION memwarden_internal.doomed_keys(
    p_orgs bigint[], p_subject_hash bytea, p_item_ids uuid[], p_source_ids uuid[] DEFAULT '{}',
    p_registered bytea[] DEFAULT '{}')
RETURNS uuid[]
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN ARRAY(
        SELECT k.subject_key_id FROM memwarden_data.subject_key AS k WHERE k.org_id = ANY (p_orgs) AND k.subject_hash = p_subject_hash
         UNION
        -- Of somebody of whom nothing else is remembered: the same person under another name, as far as anybody can tell.
        SELECT u.subject_key_id
          FROM (SELECT DISTINCT v.org_id, v.subject_key_id FROM memwarden_data.version AS v
                 WHERE v.org_id = ANY (p_orgs) AND v.item_id = ANY (p_item_ids) AND v.subject_key_id IS NOT NULL
                 UNION
                SELECT e.org_id, e.subject_key_id FROM memwarden_data.evidence AS e
                 WHERE e.org_id = ANY (p_orgs) AND e.evidence_id = ANY (p_source_ids) AND e.subject_key_id IS NOT NULL
                 UNION
                SELECT c.org_id, c.subject_key_id FROM memwarden_data.capture AS c
                 WHERE c.org_id = ANY (p_orgs) AND c.capture_id = ANY (p_source_ids) AND c.subject_key_id IS NOT NULL
                 UNION
                SELECT r.org_id, r.subject_key_id FROM memwarden_data.registered_subject AS r
                 WHERE r.org_id = ANY (p_orgs) AND r.subject_hash = ANY (p_registered) AND r.subject_key_id IS NOT NULL) AS u
         WHERE NOT EXISTS (SELECT FROM memwarden_data.item AS o
                            WHERE o.org_id = u.org_id AND o.subject_key_id = u.subject_key_id AND o.item_id <> ALL (p_item_ids))
           -- Who was called otherwise once has versions under that name's key.
           AND NOT EXISTS (SELECT FROM memwarden_data.item AS o
                             JOIN memwarden_data.version AS p
                               ON p.org_id = o.org_id AND p.item_id = o.item_id AND p.subject_key_id = u.subject_key_id
                            WHERE o.org_id = u.org_id AND o.subject_key_id IS NOT NULL AND o.item_id <> ALL (p_item_ids))
           AND NOT EXISTS (SELECT FROM memwarden_internal.sealed_sources(ARRAY[u.org_id], ARRAY[u.subject_key_id]) AS s
                            WHERE s.source_id <> ALL (p_source_ids))
           AND NOT EXISTS (SELECT FROM memwarden_data.working_memory AS w
                            WHERE w.org_id = u.org_id AND w.subject_key_id = u.subject_key_id)
           AND NOT EXISTS (SELECT FROM memwarden_data.write_request AS r
                            WHERE r.org_id = u.org_id AND r.subject_key_id = u.subject_key_id AND r.outcome = 'DEFERRED')
           AND NOT EXISTS (SELECT FROM memwarden_data.registered_subject AS r
                            WHERE r.org_id = u.org_id AND r.subject_key_id = u.subject_key_id AND r.subject_hash <> ALL (p_registered)));
END
$function$;
COMMENT ON FUNCTION memwarden_internal.doomed_keys IS
    'The keys that an erasure destroys: that of the subject, and those under which nothing is left without the items, the recorded '
    'evidence, the captures and p_registered, rows of the register.';

-- A write holds the key that it encrypts under: it leaves something under it, and nobody waits for it.
CREATE OR REPLACE FUNCTION memwarden_internal.hold_last_keys(p_org_id bigint, p_item_ids uuid[])
RETURNS uuid[]
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_held uuid[] := ARRAY(
        SELECT k.subject_key_id FROM memwarden_data.subject_key AS k
         WHERE k.org_id = p_org_id AND k.subject_key_id IN (
                   SELECT v.subject_key_id FROM memwarden_data.version AS v WHERE v.org_id = p_org_id AND v.item_id = ANY (p_item_ids))
         ORDER BY k.subject_key_id FOR UPDATE SKIP LOCKED);
BEGIN
    IF v_held = '{}' THEN
        RETURN v_held;
    END IF;
    RETURN ARRAY(SELECT d.id FROM unnest(memwarden_internal.doomed_keys(ARRAY[p_org_id], NULL, p_item_ids)) AS d (id)
                  WHERE d.id = ANY (v_held));
END
$function$;
COMMENT ON FUNCTION memwarden_internal.hold_last_keys IS
    'Locks and returns the keys of subjects under which nothing is left without the items. Not a key that a write holds just now.';

CREATE OR REPLACE FUNCTION memwarden_internal.destroy_keys(p_orgs bigint[], p_erasure_id uuid, p_keys uuid[])
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
BEGIN
    WITH gone AS (
        DELETE FROM memwarden_data.subject_key AS k WHERE k.org_id = ANY (p_orgs) AND k.subject_key_id = ANY (p_keys)
        RETURNING k.org_id, k.subject_key_id, k.generation
    )
    INSERT INTO memwarden_data.destroyed_key (org_id, subject_key_id, erasure_id, generation)
    SELECT g.org_id, g.subject_key_id, p_erasure_id, g.generation FROM gone AS g
    ON CONFLICT (org_id, subject_key_id) DO NOTHING;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.destroy_keys IS
    'Deletes keys of subjects in the name of an erasure or another deletion, and records which they were.';

CREATE OR REPLACE FUNCTION memwarden_internal.destroy_listed_keys(
    p_org_id bigint, p_erasure_id uuid, p_keys jsonb, p_item_ids uuid[] DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_keys jsonb;
BEGIN
    -- Of whom something was written in this copy since, the key is needed: it was merely old what went.
    SELECT coalesce(jsonb_agg(k.entry), '[]') INTO v_keys
      FROM jsonb_array_elements(coalesce(p_keys, '[]')) AS k (entry)
     WHERE p_item_ids IS NULL
        OR NOT EXISTS (SELECT FROM memwarden_data.item AS o
                        WHERE o.org_id = p_org_id AND o.subject_key_id = (k.entry ->> 'id')::uuid AND o.item_id <> ALL (p_item_ids))
       AND NOT EXISTS (SELECT FROM memwarden_internal.sealed_sources(ARRAY[p_org_id], ARRAY[(k.entry ->> 'id')::uuid]))
       AND NOT EXISTS (SELECT FROM memwarden_data.registered_subject AS r
                        WHERE r.org_id = p_org_id AND r.subject_key_id = (k.entry ->> 'id')::uuid);
    INSERT INTO memwarden_data.destroyed_key (org_id, subject_key_id, erasure_id, generation)
    SELECT p_org_id, k.id, p_erasure_id, k.generation FROM jsonb_to_recordset(v_keys) AS k (id uuid, generation integer)
    ON CONFLICT (org_id, subject_key_id) DO NOTHING;
    DELETE FROM memwarden_data.subject_key AS s
     USING jsonb_to_recordset(v_keys) AS k (id uuid, generation integer)
     WHERE s.subject_key_id = k.id;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.destroy_listed_keys IS
    'Deletes the keys that an erasure of a list destroyed, as far as this copy of the store has them, and records them. p_item_ids: '
    'where it was no erasure, what goes with it; a key that encrypts another item here stays. NULL: all keys go.';
