-- A capture as evidence: which one a reference names, who may cite it, and what is said in it.
CREATE OR REPLACE FUNCTION memwarden_internal.cited_capture_id(p_uri text)
RETURNS uuid
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
RETURN CASE WHEN p_uri ~ '^memwarden:capture/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$'
    THEN substr(p_uri, 19)::uuid END;
COMMENT ON FUNCTION memwarden_internal.cited_capture_id IS
    'The capture that a reference memwarden:capture/<uuid> names; NULL for any other.';

CREATE OR REPLACE FUNCTION memwarden_internal.percent_decoded(p_text text)
RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN (SELECT convert_from(string_agg(
                       CASE WHEN m.part[1] ~ '^%..$' THEN decode(substr(m.part[1], 2), 'hex') ELSE convert_to(m.part[1], 'UTF8') END,
                       '' ORDER BY m.place), 'UTF8')
              FROM regexp_matches(p_text, '%[0-9A-Fa-f]{2}|[^%]+|%', 'g') WITH ORDINALITY AS m (part, place));
EXCEPTION WHEN character_not_in_repertoire OR untranslatable_character THEN
    RETURN NULL;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.percent_decoded IS
    'A part of a uri in clear: %20 is a blank. NULL for what is no UTF-8.';

CREATE OR REPLACE FUNCTION memwarden_internal.capture_named(p_org_id bigint, p_uri text)
RETURNS uuid
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_parts text[] := regexp_match(p_uri, '^memwarden:capture/([^/]+)/([^/]+)/(.+)$');
BEGIN
    RETURN (SELECT k.capture_id
              FROM memwarden_data.principal AS p
              JOIN memwarden_data.capture_key AS k
                ON k.org_id = p.org_id AND k.principal_id = p.principal_id AND k.source = v_parts[2]
               AND k.key_hash = sha256(convert_to(memwarden_internal.percent_decoded(v_parts[3]), 'UTF8'))
             WHERE p.org_id = p_org_id AND p.name = memwarden_internal.percent_decoded(v_parts[1]));
END
$function$;
COMMENT ON FUNCTION memwarden_internal.capture_named IS
    'The capture that a reference memwarden:capture/RECORDER/SOURCE/EXTERNAL_ID names, whoever asks; NULL where there is none.';

-- Every statement runs whether the capture is there or not, and whether the principal may cite it or not: an answer takes
-- as long as any other.
CREATE OR REPLACE FUNCTION memwarden_internal.citable_capture(
    p_principal_id bigint, p_org_id bigint, p_uri text, OUT capture_id uuid, OUT level smallint, OUT domains text[],
    OUT scope_kind text, OUT recorder_id bigint)
RETURNS record
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_id    uuid := coalesce(memwarden_internal.cited_capture_id(p_uri), memwarden_internal.capture_named(p_org_id, p_uri),
        -- Where it names none, one of this moment is looked up, which is not there.
        (lpad(to_hex(floor(extract(epoch FROM now()) * 1000)::bigint), 12, '0') || '70008000000000000000')::uuid);
    v_who   record;
    v_found record;
    v_terms record;
    v_reads boolean;
    v_right boolean;
BEGIN
    SELECT p.clearance, p.domains, p.home_scope_id, s.kind INTO v_who
      FROM memwarden_data.principal AS p JOIN memwarden_data.scope AS s ON s.scope_id = p.home_scope_id
     WHERE p.principal_id = p_principal_id;
    SELECT c.capture_id, c.principal_id, c.scope_id, c.source, c.captured_for, r.clearance, r.home_scope_id, c.domains,
           c.classification INTO v_found
      FROM memwarden_data.capture AS c JOIN memwarden_data.principal AS r ON r.principal_id = c.principal_id
     WHERE c.org_id = p_org_id AND c.capture_id = v_id;
    SELECT s.kind, coalesce((SELECT k.level FROM memwarden_data.classification AS k WHERE k.name = v_found.classification),
               -- As a memory of its recorder that says no more.
               least(1, v_found.clearance)::smallint)
      INTO scope_kind, level
      FROM memwarden_data.scope AS s WHERE s.scope_id = coalesce(v_found.scope_id, v_who.home_scope_id);
    domains := coalesce(v_found.domains, ARRAY[]::text[]);
    recorder_id := coalesce(v_found.principal_id, p_principal_id);
    v_terms := memwarden_internal.capture_terms(p_org_id, coalesce(v_found.source, '*'));
    v_reads := memwarden_internal.may_read(p_principal_id, coalesce(v_found.scope_id, v_who.home_scope_id));
    v_right := CASE WHEN v_terms.citable_by IS NOT NULL THEN v_terms.citable_by && ARRAY[0, p_principal_id]
        WHEN v_found.captured_for IS NOT NULL THEN p_principal_id = ANY (v_found.captured_for)
        -- What somebody captures at home, it captures for itself.
        ELSE v_found.scope_id = v_who.home_scope_id AND v_found.scope_id <> v_found.home_scope_id END;
    IF v_reads AND (v_right OR recorder_id = p_principal_id) AND level <= v_who.clearance AND domains <@ v_who.domains THEN
        capture_id := v_found.capture_id;
    END IF;
    IF capture_id IS NULL THEN
        level := 0::smallint;
        domains := ARRAY[]::text[];
        scope_kind := v_who.kind;
        recorder_id := p_principal_id;
    END IF;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.citable_capture IS
    'The capture that a reference names, where the principal may cite it: it reads its scope, classification and '
    'domains, and recorded it or has the right of its source. Otherwise capture_id is NULL. level, domains, scope_kind, '
    'recorder_id: those of the capture; of no secret of the principal''s own otherwise. Policies are asked apart.';

CREATE OR REPLACE FUNCTION memwarden_internal.said_in(p_content jsonb)
RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
AS $function$
BEGIN
    RETURN CASE jsonb_typeof(p_content)
        WHEN 'string' THEN p_content #>> '{}'
        WHEN 'array' THEN (SELECT string_agg(memwarden_internal.said_in(e.element), E'\n' ORDER BY e.place)
                             FROM jsonb_array_elements(p_content) WITH ORDINALITY AS e (element, place))
        WHEN 'object' THEN
            CASE WHEN p_content ? 'text' THEN memwarden_internal.said_in(p_content -> 'text')
                 WHEN p_content ? 'messages' THEN memwarden_internal.said_in(p_content -> 'messages')
                 WHEN p_content ? 'role' AND p_content ? 'content' THEN memwarden_internal.said_in(p_content -> 'content')
                 ELSE (SELECT string_agg(f.key || ': ' || memwarden_internal.said_in(f.value), E'\n' ORDER BY f.key)
                     FROM jsonb_each(p_content) AS f) END
        ELSE p_content #>> '{}' END;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.said_in IS
    'What a captured content says, as text: of turns what was said, of other objects their names and values.';

CREATE OR REPLACE FUNCTION memwarden_internal.speaker_in(p_message text)
RETURNS text
LANGUAGE plpython3u STABLE STRICT PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
if "memwarden:@python_hash@" not in GD: plpy.execute("SELECT memwarden_internal.load_python()")
return GD["memwarden:@python_hash@"].speaker_in(p_message)
$function$;
COMMENT ON FUNCTION memwarden_internal.speaker_in IS
    'The person who says a captured message (JSON text), by name and id as its program keeps them; NULL where it names nobody. '
    'Extraction reads the speaker in the same way.';

CREATE OR REPLACE FUNCTION memwarden_internal.turns_in(p_content text)
RETURNS jsonb
LANGUAGE plpython3u STABLE STRICT PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
if "memwarden:@python_hash@" not in GD: plpy.execute("SELECT memwarden_internal.load_python()")
return GD["memwarden:@python_hash@"].turns_in(p_content)
$function$;
COMMENT ON FUNCTION memwarden_internal.turns_in IS
    'A captured conversation (JSON text), in whatever shape a program keeps it, as a list of plain messages; NULL for what is none.';

CREATE OR REPLACE FUNCTION memwarden_internal.turns_of(p_content jsonb)
RETURNS TABLE (turn bigint, speaker text, role text, said text)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER ROWS 1
AS $function$
DECLARE
    -- What is no plain message is read as an export of some program.
    v_content jsonb := coalesce(CASE
        WHEN jsonb_typeof(p_content -> 'text') = 'string' AND p_content ->> 'text' <> '' OR jsonb_typeof(p_content -> 'content') = 'string'
             OR p_content ? 'tool' THEN NULL
        WHEN jsonb_typeof(p_content) IN ('array', 'object') OR p_content #>> '{}' ~ E'^[\\s\uFEFF]*[\\[{]'
        THEN memwarden_internal.turns_in(p_content::text) END, p_content);
BEGIN
    RETURN QUERY
    WITH RECURSIVE part (content, path) AS (
        SELECT v_content, ARRAY[]::bigint[]
         UNION ALL
        SELECT e.element, p.path || e.place
          FROM part AS p
         CROSS JOIN LATERAL jsonb_array_elements(CASE
               WHEN jsonb_typeof(p.content) = 'array' THEN p.content
               WHEN jsonb_typeof(p.content -> 'messages') = 'array' AND NOT p.content ? 'text' THEN p.content -> 'messages'
               ELSE '[]' END) WITH ORDINALITY AS e (element, place)
    )
    SELECT row_number() OVER (ORDER BY p.path), w.speaker,
           lower(coalesce(p.content ->> 'role', CASE WHEN p.content ? 'tool' THEN 'tool' WHEN p.content ?& '{url,text}' THEN 'page' END)),
           -- Who is named as the speaker says all of it, in as many lines as it has.
           CASE WHEN w.speaker IS NULL THEN t.said ELSE regexp_replace(t.said, E'\\s*\n\\s*', ' ', 'g') END
      FROM part AS p
     CROSS JOIN LATERAL (SELECT coalesce(memwarden_internal.said_in(p.content), '') AS said) AS t
     CROSS JOIN LATERAL (SELECT left(coalesce(memwarden_internal.speaker_in(p.content::text), NULLIF(btrim(CASE
               WHEN NOT (p.content ? 'text' OR p.content ?& '{role,content}') THEN NULL
               WHEN jsonb_typeof(p.content -> 'speaker') = 'string' THEN p.content ->> 'speaker'
               WHEN jsonb_typeof(p.content -> 'name') = 'string' THEN p.content ->> 'name' END), '')), 200) AS speaker) AS w
     WHERE jsonb_typeof(p.content) <> 'array'
       AND NOT (jsonb_typeof(p.content -> 'messages') IS NOT DISTINCT FROM 'array' AND NOT p.content ? 'text');
END
$function$;
COMMENT ON FUNCTION memwarden_internal.turns_of IS
    'The turns of a captured content, in order: who speaks and in which role, as far as it was recorded, and what is '
    'said. A content that is no conversation is one turn.';

CREATE OR REPLACE FUNCTION memwarden_internal.bearing_sentence(
    p_subject text, p_predicate text, p_content text, p_turns text[], p_speakers text[], p_excerpt text,
    OUT turn integer, OUT sentence text)
RETURNS record
LANGUAGE plpython3u STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
if "memwarden:@python_hash@" not in GD: plpy.execute("SELECT memwarden_internal.load_python()")
return GD["memwarden:@python_hash@"].bearing_sentence(p_subject, p_predicate, p_content, p_turns, p_speakers, p_excerpt)
$function$;
COMMENT ON FUNCTION memwarden_internal.bearing_sentence IS
    'Of what was said in turns the sentence that bears a claim out best, at most 1 kB, and its turn, from 1. Where the '
    'excerpt stands in a turn, only turns with it are looked at, and it is the answer where no sentence bears the claim out.';

CREATE OR REPLACE FUNCTION memwarden_internal.whose_words(p_role text, p_speaker text, p_source_type text)
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
RETURN CASE
    WHEN p_role IN ('assistant', 'ai', 'bot', 'agent') THEN 'assistant'
    WHEN p_role IN ('system', 'developer', 'model') THEN 'model'
    WHEN p_role IN ('tool', 'function') THEN 'tool'
    WHEN p_role = 'page' THEN 'page'
    -- What its source says it is outweighs that somebody is called a user there.
    WHEN p_source_type = 'agent_reasoning' THEN 'model'
    WHEN p_source_type IN ('tool_output', 'api_response', 'code_execution') THEN 'tool'
    WHEN p_role IN ('user', 'human', 'person') THEN 'person'
    WHEN p_role IS NULL AND p_source_type = 'human_input' THEN 'person'
    WHEN p_role IS NULL AND p_speaker IS NULL AND p_source_type = 'document' THEN 'document' END;
COMMENT ON FUNCTION memwarden_internal.whose_words IS
    'Whose words a turn of a capture is: person, document, assistant, model, tool or page, by the recorded role and speaker '
    'and the type of its registered source; NULL where neither tells.';

-- What gate 07 has found stands in the reference as "recorded": no writer can put it there.
CREATE OR REPLACE FUNCTION memwarden_internal.cited_capture(p_principal_id bigint, p_org_id bigint, p_reference jsonb)
RETURNS TABLE (capture_id uuid, uri text, excerpt text, issuer_id bigint, speaker text, role text, at timestamptz)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER ROWS 1
AS $function$
DECLARE
    v_recorded jsonb := p_reference -> 'recorded';
    v_uri      text := p_reference ->> 'uri';
    v_said     text;
BEGIN
    IF v_recorded IS NULL THEN
        RETURN;
    ELSIF v_recorded -> 'citer_id' = to_jsonb(p_principal_id) THEN
        -- Who cited it, and still may, is judged by all that was said, anybody else by what is kept.
        v_said := (SELECT substr(t.said, greatest(1, strpos(t.said, p_reference ->> 'excerpt') - 1000), 3000)
                     FROM memwarden_internal.citable_capture(p_principal_id, p_org_id, v_uri) AS f
                     JOIN memwarden_data.said_capture AS c ON c.org_id = p_org_id AND c.capture_id = f.capture_id
                    CROSS JOIN LATERAL memwarden_internal.turns_of(c.content) AS t
                    WHERE t.turn = (v_recorded ->> 'turn')::bigint AND coalesce(strpos(t.said, p_reference ->> 'excerpt'), 1) > 0);
    END IF;
    RETURN QUERY
    SELECT i.id, 'capture:' || (v_recorded ->> 'source') || '/' || i.id, coalesce(v_said, p_reference ->> 'excerpt'),
           (v_recorded ->> 'issuer_id')::bigint, v_recorded ->> 'speaker', v_recorded ->> 'role', (v_recorded ->> 'at')::timestamptz
      FROM (SELECT memwarden_internal.cited_capture_id(v_uri) AS id) AS i;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.cited_capture IS
    'The capture that a reference rests on: its uri among the registered sources (capture:SOURCE/ID), 3,000 characters of '
    'the turn around the sentence that is kept, or that sentence alone, who recorded it, who spoke in which role, and when.';
