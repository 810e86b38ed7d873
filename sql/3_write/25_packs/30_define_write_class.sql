CREATE OR REPLACE FUNCTION memwarden.define_write_class(
    class text, description text DEFAULT '', layers text[] DEFAULT NULL, default_ttl interval DEFAULT NULL, max_ttl interval DEFAULT NULL,
    classification text DEFAULT NULL, consent_purpose text DEFAULT NULL, consent_missing text DEFAULT 'refuse', roles text[] DEFAULT NULL,
    precedence integer DEFAULT 0, signals boolean DEFAULT false, org text DEFAULT NULL, soft_ttl interval DEFAULT NULL,
    decay text DEFAULT NULL, encrypted boolean DEFAULT false)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_org_id bigint := memwarden_internal.administered_org(define_write_class.org, 'full');
    v_level  smallint;
BEGIN
    PERFORM memwarden_internal.require_layers(define_write_class.layers);
    IF define_write_class.class IS NULL OR define_write_class.class !~ '^[a-z][a-z0-9_]{0,62}$' OR define_write_class.description IS NULL
       OR num_nulls(define_write_class.signals, define_write_class.consent_missing, define_write_class.encrypted) > 0
       OR define_write_class.consent_missing NOT IN ('refuse', 'review') OR define_write_class.consent_purpose !~ '^[a-z][a-z0-9_]{0,62}$'
       OR coalesce(define_write_class.precedence, -1) NOT BETWEEN 0 AND 1000 OR define_write_class.layers = '{}'
           OR define_write_class.roles = '{}'
       OR NOT memwarden_internal.is_list(define_write_class.roles)
       OR NOT coalesce(define_write_class.default_ttl > interval '0', true) OR NOT coalesce(define_write_class.max_ttl > interval '0', true)
       OR define_write_class.default_ttl > define_write_class.max_ttl OR NOT coalesce(define_write_class.soft_ttl > interval '0', true)
       OR interval '1000 years' < ANY (ARRAY[define_write_class.default_ttl, define_write_class.max_ttl, define_write_class.soft_ttl])
       OR define_write_class.decay NOT IN ('forcing', 'validity', 'exempt') THEN
        PERFORM memwarden_internal.raise_error('invalid_argument',
            'class, consent_purpose: lower-case letters, digits and _; consent_missing: refuse or review; precedence: 0 to '
            '1,000; intervals: longer than nothing and at most 1,000 years, default_ttl at most max_ttl; decay: forcing, validity '
            'or exempt');
    END IF;
    IF define_write_class.classification IS NOT NULL THEN
        v_level := (SELECT k.level FROM memwarden_data.classification AS k WHERE k.name = define_write_class.classification);
        IF v_level IS NULL THEN
            PERFORM memwarden_internal.raise_error('unknown_object', format('classification %L', define_write_class.classification));
        END IF;
    END IF;
    IF define_write_class.encrypted AND memwarden_internal.subject_key_generations() = '{}' THEN
        PERFORM memwarden_internal.raise_error('no_subject_keys', format('class %s', define_write_class.class));
    END IF;
    INSERT INTO memwarden_data.write_class (
        org_id, class, description, layers, default_ttl, max_ttl, classification, consent_purpose, consent_missing, roles,
            precedence, signals, soft_ttl, decay, encrypted)
    VALUES (v_org_id, define_write_class.class, define_write_class.description, define_write_class.layers, define_write_class.default_ttl,
            define_write_class.max_ttl, v_level, define_write_class.consent_purpose, define_write_class.consent_missing,
                define_write_class.roles,
            define_write_class.precedence, define_write_class.signals, define_write_class.soft_ttl, define_write_class.decay,
            define_write_class.encrypted)
    ON CONFLICT ON CONSTRAINT write_class_pkey DO UPDATE
       SET description = excluded.description, layers = excluded.layers, default_ttl = excluded.default_ttl, max_ttl = excluded.max_ttl,
           classification = excluded.classification, consent_purpose = excluded.consent_purpose, consent_missing = excluded.consent_missing,
           roles = excluded.roles, precedence = excluded.precedence, signals = excluded.signals,
           soft_ttl = excluded.soft_ttl, decay = excluded.decay, encrypted = excluded.encrypted;
    PERFORM memwarden_internal.record_access_change(v_org_id, 'define_write_class', jsonb_build_object(
        'class', class, 'layers', layers, 'default_ttl', default_ttl, 'max_ttl', max_ttl, 'classification', classification,
        'consent_purpose', consent_purpose, 'consent_missing', consent_missing, 'roles', roles, 'precedence', precedence,
        'signals', signals, 'soft_ttl', soft_ttl, 'decay', decay, 'encrypted', encrypted));
END
$function$;
COMMENT ON FUNCTION memwarden.define_write_class IS
    'Defines a class of writes, or redefines it for writes from now on. A class of an organisation precedes the common class of that '
    'name. class: the name of the class. description: what the class is for. layers: where it may be written; all layers by default. '
    'default_ttl, max_ttl: how long such a memory lasts, by default and at most; never longer than its layer allows. classification: '
    'the least classification of such a memory. consent_purpose: the purpose to which the subject must have consented, see '
    'record_consent(). consent_missing: what happens without consent, refuse (the default) or review. roles: the names of the roles '
    'that may write it; by default every role that may write the layer. precedence: 0 (the default) to 1,000; of one key the higher '
    'takes the place of the lower, whatever their confidence. signals: true shows in learning_signals when such a write takes the '
    'place of another; false by default. org: the organisation; by default the caller''s, and for members of memwarden_admin all '
    'organisations. soft_ttl: after this time such a memory counts half in recall and asks for a review. decay: forcing, validity or '
    'exempt; an exempt memory keeps its weight and only asks for the review. Both take the place of what its layer '
    'says. encrypted: true keeps memories written from now on encrypted under a key of their subject, which '
    'each must name and which erase_subject() destroys; false by default. Raises 22023 for malformed arguments, 42704 for an unknown '
    'layer, classification or organisation, 42501 without the right, 55000 for encrypted without a generation of subject keys, 25001 '
    'at an isolation level other than READ COMMITTED. Source: memory fabric.';
GRANT EXECUTE ON FUNCTION memwarden.define_write_class TO memwarden_curator, memwarden_admin;

-- Asked by the gate for access, of writes that name a class.
CREATE OR REPLACE FUNCTION memwarden_internal.class_refusal(p_class jsonb, p_pack jsonb, p_layer text, p_role_id bigint)
RETURNS text
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN CASE
        WHEN p_class IS NULL THEN 'UNKNOWN_CLASS'
        WHEN p_class ->> 'roles' IS NOT NULL AND NOT EXISTS (
                 SELECT FROM memwarden_data.access_role AS r WHERE r.role_id = p_role_id AND p_class -> 'roles' ? r.name)
                     THEN 'CLASS_NOT_PERMITTED'
        WHEN NOT p_pack #> '{definition,write_classes_allowed}' ? (p_class ->> 'class') THEN 'CLASS_NOT_IN_PACK'
        WHEN p_class ->> 'layers' IS NOT NULL AND NOT p_class -> 'layers' ? p_layer THEN 'CLASS_NOT_HERE' END;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.class_refusal IS
    'Why a write of a class is refused, by what the class and the pack in force ask; NULL where it is not.';

CREATE OR REPLACE FUNCTION memwarden_internal.class_ttl(p_class jsonb, p_max_ttl interval, p_default_ttl interval)
RETURNS jsonb
LANGUAGE sql STABLE PARALLEL SAFE SECURITY INVOKER
AS $function$
SELECT jsonb_build_object('max_ttl', m.max_ttl, 'default_ttl', least(coalesce((p_class ->> 'default_ttl')::interval,
    p_default_ttl), m.max_ttl))
  FROM (SELECT least(p_max_ttl, (p_class ->> 'max_ttl')::interval) AS max_ttl) AS m
$function$;
COMMENT ON FUNCTION memwarden_internal.class_ttl IS
    'How long a memory of a class lasts at most, and by default, where its layer says that: the shorter of both.';

CREATE OR REPLACE FUNCTION memwarden_internal.list_write_classes()
RETURNS TABLE (org text, class text, description text, layers text[], default_ttl interval, max_ttl interval, classification text,
               consent_purpose text, consent_missing text, roles text[], precedence integer, signals boolean)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
DECLARE
    v_orgs bigint[] := memwarden_internal.visible_orgs();
    v_all  boolean := memwarden_internal.is_database_admin();
BEGIN
    RETURN QUERY
    SELECT o.name, c.class, c.description, c.layers, c.default_ttl, c.max_ttl, k.name, c.consent_purpose, c.consent_missing, c.roles,
           c.precedence::integer, c.signals
      FROM memwarden_data.write_class AS c
      JOIN memwarden_data.organisation AS o ON o.org_id = c.org_id
      LEFT JOIN memwarden_data.classification AS k ON k.level = c.classification
     WHERE v_all OR c.org_id = ANY (v_orgs);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.list_write_classes IS 'The rows of memwarden.write_classes.';
GRANT EXECUTE ON FUNCTION memwarden_internal.list_write_classes
    TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor, memwarden_admin;

-- Beside list_write_classes(): what a view calls keeps its columns from one release to the next.
CREATE OR REPLACE FUNCTION memwarden_internal.list_class_lifetimes()
RETURNS TABLE (org text, class text, soft_ttl interval, decay text, encrypted boolean)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
DECLARE
    v_orgs bigint[] := memwarden_internal.visible_orgs();
    v_all  boolean := memwarden_internal.is_database_admin();
BEGIN
    RETURN QUERY
    SELECT o.name, c.class, c.soft_ttl, c.decay, c.encrypted
      FROM memwarden_data.write_class AS c
      JOIN memwarden_data.organisation AS o ON o.org_id = c.org_id
     WHERE v_all OR c.org_id = ANY (v_orgs);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.list_class_lifetimes IS
    'How memories of a class age, and whether they are encrypted, for memwarden.write_classes.';
GRANT EXECUTE ON FUNCTION memwarden_internal.list_class_lifetimes
    TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor, memwarden_admin;
