-- What is registered of entities as sensitive does not pass into contents that more people read: masked before anything is
-- made of the words.
CREATE OR REPLACE FUNCTION memwarden_internal.masked(p_document text, p_values text[])
RETURNS text
LANGUAGE plpython3u IMMUTABLE STRICT PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
if "memwarden:@python_hash@" not in GD: plpy.execute("SELECT memwarden_internal.load_python()")
return GD["memwarden:@python_hash@"].mask(p_document, p_values)
$function$;
COMMENT ON FUNCTION memwarden_internal.masked IS
    'A JSON document without some values; NULL where it has none of them, or is no JSON.';

CREATE OR REPLACE FUNCTION memwarden_internal.gate_mask()
RETURNS trigger
LANGUAGE plpgsql VOLATILE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_started   timestamptz := clock_timestamp();
    v_values    text[] := ARRAY(
        SELECT a.value #>> '{}'
          FROM memwarden_data.entity AS e
          JOIN memwarden_data.entity_attribute AS a ON a.org_id = e.org_id AND a.entity_id = e.entity_id
         WHERE e.org_id IN (0, NEW.org_id)
           AND e.scope_id = ANY ((SELECT s.lineage FROM memwarden_data.scope AS s WHERE s.scope_id = NEW.scope_id)::bigint[])
           AND a.sensitive AND length(a.value #>> '{}') >= 4
           AND a.classification > (SELECT l.classification FROM memwarden_data.label AS l WHERE l.label_id = NEW.label_id));
    v_content   text;
    v_arguments jsonb;
BEGIN
    IF v_values <> '{}' THEN
        v_content := memwarden_internal.masked(NEW.content, v_values);
        v_arguments := memwarden_internal.masked(
            jsonb_build_object('subject', NEW.subject, 'predicate', NEW.predicate, 'evidence', NEW.evidence, 'origin',
                NEW.origin, 'trace_id', NEW.trace_id)::text,
            v_values)::jsonb;
        IF TG_OP = 'INSERT' AND coalesce(v_content, v_arguments::text) IS NOT NULL THEN
            -- Who repeats the request repeats it as it was.
            NEW.asked_hash := memwarden_internal.veiled_hash(memwarden_internal.asked_hash_of(
                NEW.content, NEW.layer, NEW.scope_path, NEW.subject, NEW.predicate, NEW.corrects));
        END IF;
        NEW.content := coalesce(v_content, NEW.content);
        IF v_arguments IS NOT NULL THEN
            NEW.subject := v_arguments ->> 'subject';
            NEW.predicate := v_arguments ->> 'predicate';
            NEW.evidence := NULLIF(v_arguments -> 'evidence', 'null');
            NEW.origin := NULLIF(v_arguments -> 'origin', 'null');
            NEW.trace_id := v_arguments ->> 'trace_id';
        END IF;
        IF num_nonnulls(v_content, v_arguments) > 0 THEN
            -- A vector of the words as they were goes as well.
            NEW.embedding := NULL;
            NEW.embedding_model := NULL;
            NEW.sensitive := coalesce(NEW.sensitive, '[]') || jsonb_build_object(
                'rule', 'entity.attribute', 'kind', 'entity.attribute', 'level', 'suspicious', 'action', 'redact',
                'path', '', 'part', 'value', 'start', 0, 'length', 0, 'score', 1);
        END IF;
    END IF;
    NEW.trail := NEW.trail || memwarden_internal.gate_entry(TG_NAME, NEW.outcome, NEW.reason, v_started);
    RETURN NEW;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.gate_mask IS
    'Trigger gate_07_mask: takes the values of sensitive attributes of entities out of what is written at a lower '
    'classification, where its scope is theirs or below. Decides nothing. Source: memory fabric, redaction.';
