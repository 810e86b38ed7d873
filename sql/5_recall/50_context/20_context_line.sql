-- What agents and tools wrote stands in what a model reads. As a line of JSON it cannot end the line it stands on; and
-- what could look like the end of a block, a tag or a turn, or cannot be seen at all, is written as an escape.
CREATE OR REPLACE FUNCTION memwarden_internal.quoted_line(p_document jsonb)
RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SECURITY INVOKER
AS $function$
DECLARE
    v_line text := p_document::text;
    v_sign text;
BEGIN
    -- Tags, fences and the marks of a chat's turns. Outside its strings JSON has none of these.
    v_line := replace(replace(replace(replace(replace(v_line, '<', E'\\u003c'), '>', E'\\u003e'), '`', E'\\u0060'), '|',
        E'\\u007c'), '#', E'\\u0023');
    -- Most lines are plain ASCII: there is nothing more to look for.
    IF octet_length(v_line) = length(v_line) AND strpos(v_line, E'\x7f') = 0 THEN
        RETURN v_line;
    END IF;
    -- Line ends that JSON lets pass, what has no width, what turns the direction of writing, and tags that nobody sees.
    FOR v_sign IN
        SELECT DISTINCT f.found[1]
          FROM regexp_matches(v_line,
              E'([\\u007f-\\u009f\\u00ad\\u061c\\u180e\\u200b-\\u200f\\u2028-\\u202e\\u2060-\\u206f'
               || E'\\ufe00-\\ufe0f\\ufeff\\ufff9-\\ufffb\\U000e0000-\\U000e01ef])', 'g') AS f (found)
    LOOP
        v_line := replace(v_line, v_sign, CASE WHEN ascii(v_sign) < 65536
            THEN E'\\u' || lpad(to_hex(ascii(v_sign)), 4, '0')
            ELSE E'\\u' || to_hex(55296 + (ascii(v_sign) - 65536) / 1024) || E'\\u' || to_hex(56320 + (ascii(v_sign) - 65536) % 1024) END);
    END LOOP;
    RETURN v_line;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.quoted_line IS
    'A document as one line of JSON without tags, fences, headings, line ends or signs that cannot be seen: those are '
    'escapes, and whoever parses it has them back.';

CREATE OR REPLACE FUNCTION memwarden_internal.context_line(p_position integer, p_record memwarden_internal.context_record,
    p_contradicts integer[])
RETURNS text
LANGUAGE plpgsql STABLE PARALLEL SAFE SECURITY INVOKER
AS $function$
DECLARE
    -- Where there are no words in it, the values are the text.
    v_text text := coalesce(nullif(btrim(p_record.text), ''), p_record.content #>> '{}');
BEGIN
    RETURN memwarden_internal.quoted_line(jsonb_strip_nulls(jsonb_build_object(
               'n', p_position, 'layer', p_record.layer, 'kind', p_record.kind,
               -- What the text says already is not told twice.
               'subject', CASE WHEN position(lower(p_record.subject) IN lower(v_text)) = 0 THEN p_record.subject END,
               'predicate', CASE WHEN position(lower(p_record.predicate) IN lower(v_text)) = 0 THEN p_record.predicate END,
               'standing', p_record.standing, 'confidence', round(p_record.confidence::numeric, 2),
               CASE WHEN p_record.valid_from > clock_timestamp() THEN 'begins' ELSE 'since' END,
               memwarden_internal.utc_date(p_record.valid_from), 'until', memwarden_internal.utc_date(p_record.valid_to),
               'agent', p_record.agent,
               'sources', (SELECT NULLIF(jsonb_agg(e.reference -> 'uri' ORDER BY e.ordinal), '[]')
                             FROM jsonb_array_elements(coalesce(p_record.evidence, '[]')) WITH ORDINALITY AS e (reference, ordinal)
                                 WHERE e.ordinal <= 3),
               'low_confidence', NULLIF(p_record.low_confidence, false), 'stale', NULLIF(p_record.stale, false),
               'suspicious', NULLIF(p_record.sensitivity <> 'none' OR p_record.suspicious IS NOT NULL, false),
               'contradicted', NULLIF(p_record.contradicted, false), 'contradicts', to_jsonb(NULLIF(p_contradicts, '{}')),
               'text', v_text)));
END
$function$;
COMMENT ON FUNCTION memwarden_internal.context_line IS
    'A memory as a line of a context: its text as recall() has it, how far it is to be believed, when it is true, and the '
    'positions of those that contradict it. since: when it began, or begins: where that is yet to come; until: when it ends. '
    'Days in UTC, none where there is no such bound.';
