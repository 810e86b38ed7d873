CREATE OR REPLACE FUNCTION memwarden_internal.fingerprints(
    p_content text, p_subject text, p_predicate text, p_synonyms text, OUT fingerprint bytea, OUT key_hash bytea)
RETURNS record
LANGUAGE plpython3u IMMUTABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
if "memwarden:@python_hash@" not in GD: plpy.execute("SELECT memwarden_internal.load_python()")
return GD["memwarden:@python_hash@"].fingerprints(p_content, p_subject, p_predicate, p_synonyms)
$function$;
COMMENT ON FUNCTION memwarden_internal.fingerprints IS
    'What content that is stored already is compared by, under other synonyms: its fingerprint of D2 and the hash of its key.';

CREATE OR REPLACE FUNCTION memwarden_internal.attribute_key(p_text text, p_content text, p_subject text, p_predicate text)
RETURNS bytea
LANGUAGE plpython3u STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
if "memwarden:@python_hash@" not in GD: plpy.execute("SELECT memwarden_internal.load_python()")
return GD["memwarden:@python_hash@"].attribute_key(p_text, p_content, p_subject, p_predicate)
$function$;
COMMENT ON FUNCTION memwarden_internal.attribute_key IS
    'By what is found what else was said of the same attribute of the same thing: an HMAC, under a key that derives from the master '
    'key, of the thing and the attribute that stored words tell of. NULL where no rule reads that out of them, and for words with '
    'subject and predicate.';

CREATE OR REPLACE FUNCTION memwarden.set_synonyms(org text, synonyms jsonb)
RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_org_id bigint := memwarden_internal.administered_org(set_synonyms.org, 'layer');
    v_fault  text := memwarden_internal.check_definition(NULL, NULL, NULL, set_synonyms.synonyms::text);
BEGIN
    IF set_synonyms.synonyms IS NULL OR v_fault IS NOT NULL THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', coalesce(v_fault, 'synonyms: a JSON object of texts'));
    END IF;
    -- Writers wait: what they compare with is being worked out anew.
    PERFORM memwarden_internal.hold_writers(ARRAY[v_org_id]);
    RETURN memwarden_internal.compare_by(v_org_id, set_synonyms.synonyms);
END
$function$;
COMMENT ON FUNCTION memwarden.set_synonyms IS
    'Sets the words that an organisation treats as equal when contents, subjects and predicates are compared. The '
    'call computes the fingerprints of its items anew (about 10,000 items a second) and returns how many changed. '
    'Writers wait meanwhile. Administrators of the organisation (layer) may call it. synonyms: {"said": "meant", '
    '...}. Raises 42704 for an unknown organisation; 42501 without the right; 22023 when synonyms is not an object of '
    'texts; 55P03 when a writer is busy for longer than 30 seconds, or the lock_timeout of the session. Source: D2.';
GRANT EXECUTE ON FUNCTION memwarden.set_synonyms TO memwarden_agent, memwarden_curator, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden_internal.compare_by(p_org_id bigint, p_synonyms jsonb)
RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_count        bigint;
    v_items        uuid[];
    v_fingerprints bytea[];
    v_keys         bytea[];
    v_was          text[];
    v_are          text[];
BEGIN
    INSERT INTO memwarden_data.vocabulary AS v (org_id, synonyms) VALUES (p_org_id, p_synonyms)
    ON CONFLICT (org_id) DO UPDATE SET synonyms = excluded.synonyms;

    WITH anew AS (
        SELECT i.item_id, i.fingerprint AS old_fingerprint, i.key_hash AS old_key_hash,
               memwarden_internal.indexed_hash(e.fingerprint, i.subject_key_id) AS fingerprint,
               -- Two facts that have become one key stay two items. Who bore it before, or is older, answers to it.
               CASE WHEN i.exclusive AND row_number() OVER (
                             PARTITION BY i.scope_id, i.layer, i.exclusive, e.key_hash, i.instance
                             ORDER BY e.key_hash = i.key_hash DESC, i.created_at, i.item_id) > 1
                    THEN memwarden_internal.unclaimed_key(i.item_id) ELSE e.key_hash END AS key_hash
          FROM memwarden_data.item AS i
          JOIN memwarden_data.said_version AS v ON v.org_id = i.org_id AND v.version_id = i.version_id AND v.tier = 'hot',
               LATERAL memwarden_internal.fingerprints(v.content::text, i.subject, i.predicate, p_synonyms::text) AS e
         WHERE i.org_id = p_org_id AND i.status = 'ACTIVE'
    )
    SELECT array_agg(n.item_id), array_agg(n.fingerprint), array_agg(n.key_hash) INTO v_items, v_fingerprints, v_keys
      FROM anew AS n
     WHERE n.fingerprint <> n.old_fingerprint OR n.key_hash IS DISTINCT FROM n.old_key_hash;
    -- A key may go from one item to another: for a moment neither has it.
    UPDATE memwarden_data.item AS i SET key_hash = memwarden_internal.unclaimed_key(i.item_id)
     WHERE i.org_id = p_org_id AND i.item_id = ANY (v_items) AND i.exclusive;
    UPDATE memwarden_data.item AS i SET fingerprint = n.fingerprint, key_hash = n.key_hash
      FROM unnest(v_items, v_fingerprints, v_keys) AS n (item_id, fingerprint, key_hash)
     WHERE i.org_id = p_org_id AND i.item_id = n.item_id;
    GET DIAGNOSTICS v_count = ROW_COUNT;
    -- The forms of names follow, and what people have agreed to follows those.
    WITH renamed AS (
        UPDATE memwarden_data.item AS i SET subject_form = k.subject_form, predicate_form = k.predicate_form
          FROM memwarden_data.item AS n
         CROSS JOIN LATERAL memwarden_internal.kept_name_forms(n.subject, n.predicate, p_synonyms::text) AS k
         WHERE n.org_id = p_org_id AND i.org_id = n.org_id AND i.item_id = n.item_id
           AND (k.subject_form, k.predicate_form) IS DISTINCT FROM (n.subject_form, n.predicate_form)
        RETURNING i.class, memwarden_internal.form_of_subject(n.subject_form, n.subject) AS was,
                  memwarden_internal.form_of_subject(i.subject_form, i.subject) AS are
    )
    SELECT array_agg(r.was), array_agg(r.are) INTO v_was, v_are
      FROM (SELECT DISTINCT r.was, r.are FROM renamed AS r WHERE r.class IS NOT NULL AND r.was <> r.are) AS r;
    PERFORM memwarden_internal.carry_consents(p_org_id, coalesce(v_was, '{}'), coalesce(v_are, '{}'));
    PERFORM memwarden_internal.find_inverses(p_org_id);
    RETURN v_count;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.compare_by IS
    'Has an organisation compare by these synonyms and computes the fingerprints and keys of its active items anew. Returns how many '
    'changed. The caller keeps writers away.';

CREATE OR REPLACE FUNCTION memwarden_internal.unclaimed_key(p_item_id uuid)
RETURNS bytea
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
RETURN sha256(convert_to('unclaimed ' || p_item_id, 'UTF8'));
COMMENT ON FUNCTION memwarden_internal.unclaimed_key IS
    'The key hash of an item whose subject and predicate have come to mean another item''s key: no write answers to it.';
