-- A uri as sources are looked up by it. Scheme and host in lower case; what tries to be another path than it reads is none.
CREATE OR REPLACE FUNCTION memwarden_internal.source_uri(p_uri text)
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
RETURN CASE
    WHEN length(p_uri) > 2000 OR p_uri ~ E'[[:cntrl:][:space:]\\\\]' THEN NULL
    -- Without a slash there are neither segments nor a host.
    WHEN p_uri !~ '[/%]' THEN p_uri
    WHEN p_uri ~* E'(/|%2f)(\\.|%2e){1,2}(/|%2f|[?#]|$)' THEN NULL
    WHEN p_uri ~ '^[A-Za-z][A-Za-z0-9+.-]*://[^/?#]*@' THEN NULL
    WHEN p_uri ~ '^[A-Za-z][A-Za-z0-9+.-]*://'
    THEN lower(substring(p_uri FROM '^[A-Za-z][A-Za-z0-9+.-]*://[^/?#]*')) || substring(p_uri
        FROM '^[A-Za-z][A-Za-z0-9+.-]*://[^/?#]*(.*)$')
    ELSE p_uri END;
COMMENT ON FUNCTION memwarden_internal.source_uri IS
    'A uri as it is compared with sources: scheme and host in lower case. NULL for one that no source matches: with dot '
    'segments, user information, backslashes, blanks or control characters, or longer than 2,000 characters.';

CREATE OR REPLACE FUNCTION memwarden_internal.uri_like(p_pattern text)
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
RETURN replace(replace(replace(replace(p_pattern, E'\\', E'\\\\'), '%', E'\\%'), '_', E'\\_'), '*', '%');
COMMENT ON FUNCTION memwarden_internal.uri_like IS 'The pattern for LIKE of a pattern with *.';

CREATE OR REPLACE FUNCTION memwarden_internal.check_uri_pattern(p_pattern text)
RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_uri text := memwarden_internal.source_uri(p_pattern);
BEGIN
    IF v_uri IS NULL OR length(p_pattern) > 1000 OR v_uri !~ '^[A-Za-z][A-Za-z0-9+.-]*:.'
       OR v_uri ~* '^(https?|ftps?|wss?):(/?[*]|//([/*]|$))' THEN
        PERFORM memwarden_internal.raise_error('invalid_argument',
            'uri_pattern: a scheme, a colon, and the host where there is one; at most 1,000 characters, no blanks, dot segments '
            'or user information');
    ELSIF v_uri ~ '^[A-Za-z][A-Za-z0-9+.-]*://[^/?#]*[*]' THEN
        -- https://docs.example.org* would also be https://docs.example.org.evil.example/.
        PERFORM memwarden_internal.raise_error('invalid_argument', 'uri_pattern: the host is written out, * stands behind the '
            'first slash after it');
    ELSIF length(v_uri) - length(replace(v_uri, '*', '')) > 4 THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'uri_pattern: at most four *');
    ELSIF v_uri ~* '^memwarden:' THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'uri_pattern: memwarden: is what the store itself holds');
    END IF;
    RETURN v_uri;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.check_uri_pattern IS
    'A pattern of a source as it is stored. Raises 22023 for one that matches more than it seems to, or nothing.';

CREATE OR REPLACE FUNCTION memwarden_internal.source_of(
    p_org_id bigint, p_uri text, OUT source_type text, OUT issuer_id bigint, OUT authority double precision,
        OUT half_life interval, OUT weight double precision)
RETURNS record
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_uri text := memwarden_internal.source_uri(p_uri);
BEGIN
    SELECT s.type, s.issuer_id, s.authority, s.half_life, s.weight
      INTO source_type, issuer_id, authority, half_life, weight
      FROM memwarden_data.source AS s
     WHERE s.org_id IN (0, p_org_id) AND v_uri LIKE s.uri_like
     ORDER BY s.specificity DESC, s.org_id DESC
     LIMIT 1;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.source_of IS
    'The source that speaks for a uri: the pattern with the most characters that are not *, an organisation''s own '
    'before the same of all. Nulls where there is none.';
