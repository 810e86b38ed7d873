CREATE OR REPLACE FUNCTION memwarden_internal.predicate_name(p_predicate text)
RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    -- Several values: recommends[] is another name for the declarations than for the key.
    v_several text := CASE WHEN right(rtrim(p_predicate), 2) = '[]' THEN '[]' ELSE '' END;
    v_form    record;
BEGIN
    IF p_predicate IS NULL OR p_predicate ~ '^[A-Za-z0-9]+([ _-][A-Za-z0-9]+)*$' THEN
        RETURN memwarden_internal.form_of_predicate(NULL, p_predicate);
    END IF;
    v_form := memwarden_internal.name_forms(NULL, p_predicate, '{}');
    RETURN coalesce(v_form.predicate_form, '') || v_several;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.predicate_name IS
    'A predicate as it is declared and looked up: as write() compares it, but without synonyms and with the [] of several values.';


CREATE OR REPLACE FUNCTION memwarden.define_predicate(
    predicate text, same_key text DEFAULT NULL, org text DEFAULT NULL, inverse text DEFAULT NULL, disjoint text[] DEFAULT '{}',
    subject_schema jsonb DEFAULT NULL, object_schema jsonb DEFAULT NULL, ends text[] DEFAULT '{}')
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_org_id   bigint := memwarden_internal.administered_org(define_predicate.org, 'layer');
    v_name     text := memwarden_internal.predicate_name(define_predicate.predicate);
    v_inverse  text := memwarden_internal.predicate_name(define_predicate.inverse);
    v_disjoint text[] := ARRAY(SELECT DISTINCT memwarden_internal.predicate_name(d) FROM unnest(define_predicate.disjoint) AS d ORDER BY 1);
    v_ends     text[] := ARRAY(SELECT DISTINCT memwarden_internal.predicate_name(e) FROM unnest(define_predicate.ends) AS e ORDER BY 1);
    v_before   text;
    v_fault    text;
BEGIN
    IF EXISTS (SELECT FROM unnest(ARRAY[define_predicate.predicate, coalesce(define_predicate.inverse, 'none')]
        || define_predicate.disjoint || define_predicate.ends) AS n
                WHERE n IS NULL OR length(n) > 1000 OR memwarden_internal.predicate_name(n) = '') THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'predicate, inverse, disjoint, ends: 1 to 1,000 characters, not blank');
    ELSIF define_predicate.same_key NOT IN ('new_version', 'accumulate') THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'same_key: new_version or accumulate');
    ELSIF v_name = ANY (v_disjoint || v_ends) THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'disjoint, ends: other predicates');
    END IF;
    v_fault := coalesce(memwarden_internal.check_definition(define_predicate.subject_schema::text, NULL, NULL, NULL),
                        memwarden_internal.check_definition(define_predicate.object_schema::text, NULL, NULL, NULL));
    IF v_fault IS NOT NULL THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', v_fault);
    END IF;
    -- Two definitions at once take turns here.
    PERFORM memwarden_internal.hold_organisation(v_org_id);
    v_before := (SELECT p.inverse FROM memwarden_data.predicate AS p WHERE p.org_id = v_org_id AND p.predicate = v_name);
    INSERT INTO memwarden_data.predicate AS p (org_id, predicate, same_key, inverse, disjoint, subject_schema, object_schema, ends)
    VALUES (v_org_id, v_name, define_predicate.same_key, v_inverse, v_disjoint, define_predicate.subject_schema,
        define_predicate.object_schema, v_ends)
    ON CONFLICT ON CONSTRAINT predicate_pkey
    DO UPDATE SET same_key = excluded.same_key, inverse = excluded.inverse, disjoint = excluded.disjoint,
                  subject_schema = excluded.subject_schema, object_schema = excluded.object_schema, ends = excluded.ends;
    PERFORM memwarden_internal.relate_predicates(v_org_id, v_name, v_inverse, v_disjoint);
    IF v_inverse IS DISTINCT FROM v_before THEN
        PERFORM memwarden_internal.find_inverses(v_org_id);
    END IF;
END
$function$;
COMMENT ON FUNCTION memwarden.define_predicate IS
    'Defines what a predicate means in every layer, for writes from now on. It replaces the earlier definition of the '
    'predicate. Memories that exist stay as they are. A new inverse is computed for all of them, and writers wait '
    'meanwhile. The definitions of inverse and disjoint also hold for the other predicates that they name. same_key: '
    'what a second value for the same subject is; accumulate makes it an item of its own (Ana speaks several '
    'languages); new_version makes it the next version of the fact (Ana lives in one place); by default what is '
    'defined for all organisations, else the layer, decides. inverse: the predicate that says the same from the '
    'other side (manager of, managed by; the contents are '
    'then names); a symmetric predicate is its own inverse. disjoint: predicates that cannot hold for the same '
    'subject and content. subject_schema, object_schema: JSON Schema 2020-12 of the subject (a string) and of the '
    'content. ends: predicates that this one denies (no longer likes ends likes); a write with either ends what the '
    'other says of the same subject with the same value. org: the organisation that the definition is '
    'for; by default the caller''s, and for members of '
    'memwarden_admin all. Raises 42704 for an unknown organisation; 42501 without the right; 22023 for arguments out '
    'of range or a broken schema. '
    'Raises 55P03 when others hold it up for longer than 30 seconds, or lock_timeout. '
    'Source: chapter 12.2.4, D5.';
GRANT EXECUTE ON FUNCTION memwarden.define_predicate TO memwarden_agent, memwarden_curator, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden_internal.relate_predicates(p_org_id bigint, p_name text, p_inverse text, p_disjoint text[])
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
BEGIN
    -- Who is named keeps what is said of it for all organisations.
    INSERT INTO memwarden_data.predicate AS p (org_id, predicate, same_key, inverse, disjoint, subject_schema, object_schema, ends)
    SELECT p_org_id, n.name, g.same_key, g.inverse, coalesce(g.disjoint, '{}'), g.subject_schema, g.object_schema,
           coalesce(g.ends, '{}')
      FROM (SELECT DISTINCT u.name FROM unnest(p_inverse || p_disjoint) AS u (name) WHERE u.name IS NOT NULL) AS n
      LEFT JOIN memwarden_data.predicate AS g ON g.org_id = 0 AND g.predicate = n.name
    ON CONFLICT ON CONSTRAINT predicate_pkey DO NOTHING;
    UPDATE memwarden_data.predicate AS p
       SET inverse = CASE WHEN p.predicate = p_inverse THEN p_name WHEN p.inverse IN (p_name, p_inverse) THEN NULL ELSE p.inverse END,
           disjoint = CASE WHEN p.predicate = ANY (p_disjoint) THEN array_append(array_remove(p.disjoint, p_name), p_name)
                           ELSE array_remove(p.disjoint, p_name) END
     WHERE p.org_id = p_org_id AND p.predicate <> p_name
       AND (p.predicate = p_inverse OR p.inverse IN (p_name, p_inverse) OR p.predicate = ANY (p_disjoint) OR p_name = ANY (p.disjoint));
END
$function$;
COMMENT ON FUNCTION memwarden_internal.relate_predicates IS
    'Makes what a predicate says of others hold for those: they name it as their inverse or as disjoint, and nobody else does.';

CREATE OR REPLACE FUNCTION memwarden_internal.predicate_of(
    p_org_id bigint, p_name text,
    OUT same_key text, OUT inverse text, OUT disjoint text[], OUT subject_schema jsonb, OUT object_schema jsonb)
RETURNS record
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    SELECT coalesce(d.same_key, g.same_key), d.inverse, d.disjoint, d.subject_schema, d.object_schema
      INTO same_key, inverse, disjoint, subject_schema, object_schema
      FROM memwarden_data.predicate AS d
      LEFT JOIN memwarden_data.predicate AS g ON g.org_id = 0 AND g.predicate = d.predicate
     WHERE d.org_id IN (0, p_org_id) AND d.predicate = p_name
     ORDER BY d.org_id DESC
     LIMIT 1;
    -- Whoever writes recommends[] says that there are several.
    IF same_key IS NULL AND right(p_name, 2) = '[]' THEN
        same_key := 'accumulate';
    END IF;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.predicate_of IS
    'What an organisation says of a predicate (named as predicate_name() does), or what is said for all; also whether it '
    'holds several values, where the organisation leaves that open: a name that ends in [] does.';

-- A fact said from the other side: whoever looks for it finds it by this key.
CREATE OR REPLACE FUNCTION memwarden_internal.inverse_key(p_org_id bigint, p_predicate text, p_content jsonb)
RETURNS bytea
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_inverse text := (memwarden_internal.predicate_of(p_org_id, memwarden_internal.predicate_name(p_predicate))).inverse;
BEGIN
    IF v_inverse IS NULL OR jsonb_typeof(p_content) <> 'string' THEN
        RETURN NULL;
    END IF;
    RETURN memwarden_internal.key_of(p_org_id, p_content #>> '{}', v_inverse);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.inverse_key IS
    'The hash of content and inverse predicate, where the predicate has an inverse and the content is a name; NULL otherwise.';

CREATE OR REPLACE FUNCTION memwarden_internal.key_of(p_org_id bigint, p_subject text, p_predicate text)
RETURNS bytea
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN (memwarden_internal.fingerprints('null', p_subject, p_predicate, coalesce(
        (SELECT y.synonyms::text FROM memwarden_data.vocabulary AS y WHERE y.org_id = p_org_id), '{}'))).key_hash;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.key_of IS
    'The hash by which an organisation finds what is said of a subject with a predicate.';

CREATE OR REPLACE FUNCTION memwarden_internal.find_inverses(p_org_id bigint)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
BEGIN
    -- Writers wait, as for set_synonyms(): who read the old definition must not commit after this.
    PERFORM memwarden_internal.hold_writers(memwarden_internal.orgs_of(p_org_id));
    UPDATE memwarden_data.item AS i SET inverse_key_hash = n.inverse_key
      FROM (SELECT h.org_id, h.item_id, memwarden_internal.inverse_key(h.org_id, h.predicate, v.content) AS inverse_key
              FROM memwarden_data.item AS h
              JOIN memwarden_data.version AS v ON v.org_id = h.org_id AND v.version_id = h.version_id AND v.tier = 'hot'
             WHERE p_org_id IN (0, h.org_id) AND h.status = 'ACTIVE' AND h.key_hash IS NOT NULL
               AND h.subject_key_id IS NULL) AS n
     WHERE i.org_id = n.org_id AND i.item_id = n.item_id AND i.inverse_key_hash IS DISTINCT FROM n.inverse_key;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.find_inverses IS
    'Works out for every active fact of an organisation (of all, for 0) the key that it has from the other side.';
