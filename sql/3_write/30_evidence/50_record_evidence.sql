CREATE OR REPLACE FUNCTION memwarden.record_evidence(
    uri text, excerpt text, source_version text DEFAULT NULL, accessed_at timestamptz DEFAULT NULL,
    scope text DEFAULT NULL, type text DEFAULT NULL, subject text DEFAULT NULL, class text DEFAULT NULL)
RETURNS text
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_principal_id bigint := memwarden_internal.require_principal();
    v_now          timestamptz := clock_timestamp();
    v_id           uuid := memwarden_internal.uuid7();
    v_at           timestamptz := coalesce(record_evidence.accessed_at, v_now);
    v_source       record;
    v_type         text;
    v_who          record;
    v_key_id       uuid;
    v_sealed       bytea;
BEGIN
    SELECT p.org_id, s.scope_id, s.closed_at, memwarden_internal.may_write(p.principal_id, s.scope_id, s.lineage) AS may_write
      INTO v_who
      FROM memwarden_data.principal AS p
      JOIN memwarden_data.scope AS home ON home.scope_id = p.home_scope_id
      LEFT JOIN memwarden_data.scope AS s ON s.path = coalesce(record_evidence.scope, home.path)
     WHERE p.principal_id = v_principal_id AND p.disabled_at IS NULL;
    IF v_who.scope_id IS NULL OR NOT v_who.may_write THEN
        -- One that the caller does not write and one that does not exist answer alike.
        PERFORM memwarden_internal.raise_error('unknown_object', format('scope %L that the caller writes', record_evidence.scope));
    ELSIF v_who.closed_at IS NOT NULL THEN
        PERFORM memwarden_internal.raise_error('scope_closed', format('scope %L', record_evidence.scope));
    ELSIF record_evidence.uri IS NULL OR memwarden_internal.source_uri(record_evidence.uri) IS NULL THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'uri: at most 2,000 characters, without blanks, dot segments '
            'or user information');
    ELSIF record_evidence.excerpt IS NULL OR record_evidence.excerpt !~ E'\\S' OR octet_length(record_evidence.excerpt) > 8192 THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'excerpt: not blank, at most 8 KiB');
    ELSIF length(record_evidence.source_version) NOT BETWEEN 1 AND 200 THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'source_version: 1 to 200 characters');
    ELSIF v_at > v_now + interval '5 minutes' OR v_at < timestamptz '1970-01-01 00:00:00+00' THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'accessed_at: since 1970, not in the future');
    END IF;
    PERFORM memwarden_internal.require_harmless(v_principal_id, jsonb_strip_nulls(jsonb_build_object(
        'uri', record_evidence.uri, 'excerpt', record_evidence.excerpt, 'source_version', record_evidence.source_version)));
    v_source := memwarden_internal.source_of(v_who.org_id, record_evidence.uri);
    IF v_source.issuer_id IS DISTINCT FROM v_principal_id THEN
        PERFORM memwarden_internal.raise_error('not_permitted', 'the caller is not the issuer of the source of that uri');
    END IF;
    -- The issuer may say that it was less than the source is good for, never more.
    SELECT t.type INTO v_type
      FROM memwarden_data.source_type AS t JOIN memwarden_data.source_type AS s ON s.type = v_source.source_type
     WHERE t.type = coalesce(record_evidence.type, v_source.source_type) AND t.authority <= s.authority AND t.type <> 'memory_item';
    IF v_type IS NULL THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', format('type: %s, or one of no more authority', v_source.source_type));
    END IF;

    v_key_id := memwarden_internal.demanded_key(v_who.org_id, record_evidence.class, record_evidence.subject);
    v_sealed := CASE WHEN v_key_id IS NOT NULL
        THEN memwarden_internal.seal(v_key_id, jsonb_build_object('said', record_evidence.excerpt)) END;
    INSERT INTO memwarden_data.evidence (
        org_id, evidence_id, scope_id, uri, type, version, accessed_at, excerpt, excerpt_hash, seal, issuer_id, recorded_at,
        subject_key_id, sealed)
    VALUES (v_who.org_id, v_id, v_who.scope_id, record_evidence.uri, v_type, record_evidence.source_version, least(v_at, v_now),
            CASE WHEN v_sealed IS NULL THEN record_evidence.excerpt ELSE '' END,
            memwarden_internal.indexed_hash(sha256(convert_to(record_evidence.excerpt, 'UTF8')), v_key_id),
            memwarden_internal.evidence_seal(v_who.org_id, v_id, v_who.scope_id, record_evidence.uri, v_type,
                record_evidence.source_version, least(v_at, v_now), coalesce(v_key_id || encode(v_sealed, 'hex'), record_evidence.excerpt),
                v_principal_id, v_now), v_principal_id, v_now, v_key_id, v_sealed);
    RETURN 'memwarden:evidence/' || v_id;
END
$function$;
COMMENT ON FUNCTION memwarden.record_evidence IS
    'Keeps an excerpt that the issuer of a source has seen, and returns the uri to cite it by. Others cite it as '
    'evidence under that uri, memwarden:evidence/UUID. The caller must be the issuer of the source. uri: where the '
    'caller saw it. excerpt: its words, at most 8 KiB, without secrets and personal data (see scan_text()). '
    'source_version: which edition, at most 200 characters. accessed_at: when the caller saw it; default now. scope: '
    'the readers of this scope may read and cite it; default the caller''s home. type: the type of the source, or one '
    'of less authority; default that of the source. class, subject: a class of writes; where it is encrypted, the excerpt is kept '
    'under the key of the subject, whom it is about, and so is what is written on it. Raises 42501 when the caller is not the '
    'issuer of the source that '
    'speaks for the uri; 42704 for a scope that the caller does not write, or an unknown class; 55000 for a closed scope, or without '
    'a generation of subject keys; 22023 for '
    'arguments out of range; 28000 without an identity. Source: chapter 12.4.3, 12.10.2.';
GRANT EXECUTE ON FUNCTION memwarden.record_evidence TO memwarden_agent, memwarden_curator;

CREATE OR REPLACE FUNCTION memwarden_internal.evidence_seal(
    p_org_id bigint, p_evidence_id uuid, p_scope_id bigint, p_uri text, p_type text, p_version text, p_accessed_at timestamptz,
    p_excerpt text, p_issuer_id bigint, p_recorded_at timestamptz)
RETURNS bytea
LANGUAGE sql STABLE PARALLEL RESTRICTED SECURITY INVOKER
RETURN memwarden_internal.keyed_hash('recorded evidence', convert_to(jsonb_build_array(
    p_org_id, p_evidence_id, p_scope_id, p_uri, p_type, p_version, memwarden_internal.utc_text(p_accessed_at),
    p_excerpt, p_issuer_id, memwarden_internal.utc_text(p_recorded_at))::text, 'UTF8'));
COMMENT ON FUNCTION memwarden_internal.evidence_seal IS
    'What only the server can say of a recorded piece of evidence: HMAC-SHA256 over all of it. NULL without a master key.';

-- Row types of tables cannot be arguments here: tables are made after the functions.
CREATE OR REPLACE FUNCTION memwarden_internal.is_as_recorded(p_org_id bigint, p_evidence_id uuid)
RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    -- Of an encrypted one the seal says all: nobody need read it for that.
    RETURN (SELECT (e.sealed IS NOT NULL OR e.excerpt_hash = sha256(convert_to(e.excerpt, 'UTF8')))
                   -- Without a key nobody can tell; with one, what bears no seal was not recorded under it.
                   AND (s.seal IS NULL OR s.seal IS NOT DISTINCT FROM e.seal)
              FROM memwarden_data.evidence AS e
             CROSS JOIN LATERAL memwarden_internal.evidence_seal(
                   e.org_id, e.evidence_id, e.scope_id, e.uri, e.type, e.version, e.accessed_at,
                   coalesce(e.subject_key_id || encode(e.sealed, 'hex'), e.excerpt), e.issuer_id, e.recorded_at) AS s (seal)
             WHERE e.org_id = p_org_id AND e.evidence_id = p_evidence_id);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.is_as_recorded IS
    'Whether recorded evidence is what was recorded: its hash fits and, where the server has its key, its seal. NULL '
    'for what is not there.';

CREATE OR REPLACE FUNCTION memwarden.verify_evidence()
RETURNS TABLE (finding text, evidence text, scope text, recorded_at timestamptz)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
BEGIN
    RETURN QUERY
    SELECT CASE WHEN e.seal IS NULL AND e.excerpt_hash = sha256(convert_to(e.excerpt, 'UTF8')) THEN 'UNSEALED' ELSE 'ALTERED' END,
           'memwarden:evidence/' || e.evidence_id, s.path, e.recorded_at
      FROM memwarden_data.evidence AS e
      LEFT JOIN memwarden_data.scope AS s ON s.scope_id = e.scope_id
     WHERE e.seal IS NULL OR NOT memwarden_internal.is_as_recorded(e.org_id, e.evidence_id);
END
$function$;
COMMENT ON FUNCTION memwarden.verify_evidence IS
    'Compares all recorded evidence with its hash and its seal, and returns the evidence that does not fit. No row means that all '
    'evidence is intact. Where the server has a master key, evidence with a finding is not believed when it is cited. The caller is '
    'an administrator, since the function looks at every organisation. finding: ALTERED, or UNSEALED (recorded while the server had '
    'no master key). Source: chapter 12.4.3.';
GRANT EXECUTE ON FUNCTION memwarden.verify_evidence TO memwarden_admin;
