-- The content is parsed once, here: canonical form, hashes, search text, vector and everything that is
-- wrong with its form. The gates behind it only look.
CREATE OR REPLACE FUNCTION memwarden_internal.examine(
    p_content text, p_subject text, p_predicate text, p_schema text, p_constraints text,
    p_template text, p_synonyms text, p_max_bytes integer, p_want_embedding boolean,
    OUT canonical text, OUT content_hash bytea, OUT fingerprint bytea, OUT key_hash bytea,
    OUT search_text text, OUT embedding real[], OUT findings jsonb)
RETURNS record
LANGUAGE plpython3u STABLE PARALLEL RESTRICTED SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $function$
if "memwarden:@python_hash@" not in GD: plpy.execute("SELECT memwarden_internal.load_python()")
return GD["memwarden:@python_hash@"].examine(
    p_content, p_subject, p_predicate, p_schema, p_constraints,
    p_template, p_synonyms, p_max_bytes, p_want_embedding)
$function$;
COMMENT ON FUNCTION memwarden_internal.examine(text, text, text, text, text, text, text, integer, boolean) IS
    'One pass over a content: RFC 8785 form, SHA-256, fingerprint of D2, search text, lexical vector (on demand), schema findings. Never raises for bad content.';
REVOKE ALL ON FUNCTION memwarden_internal.examine(text, text, text, text, text, text, text, integer, boolean) FROM PUBLIC;

CREATE OR REPLACE FUNCTION memwarden_internal.gate_canonical()
RETURNS trigger
LANGUAGE plpgsql VOLATILE PARALLEL RESTRICTED SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $function$
DECLARE
    v_started timestamptz := clock_timestamp();
    v_rules   record;
    v_form    record;
BEGIN
    SELECT l.max_content_bytes, s.schema_id, s.schema::text AS schema, s.constraints::text AS constraints,
           s.text_template, v.synonyms::text AS synonyms
      INTO v_rules
      FROM memwarden_data.layer AS l
      LEFT JOIN LATERAL (SELECT c.schema_id, c.schema, c.constraints, c.text_template
                           FROM memwarden_data.content_schema AS c
                          WHERE l.admission <> 'free' AND c.layer = l.layer AND c.kind = coalesce(NEW.kind, 'default')
                            AND c.org_id IN (0, NEW.org_id) AND c.current
                          ORDER BY c.org_id DESC LIMIT 1) AS s ON true
      LEFT JOIN memwarden_data.vocabulary AS v ON v.org_id = NEW.org_id
     WHERE l.layer = NEW.layer;

    NEW.schema_id := v_rules.schema_id;
    IF NEW.content IS NOT NULL THEN
        v_form := memwarden_internal.examine(
            NEW.content, left(NEW.subject, 1000), left(NEW.predicate, 1000), v_rules.schema, v_rules.constraints,
            v_rules.text_template, v_rules.synonyms, v_rules.max_content_bytes, NEW.embedding IS NULL);
        NEW.canonical := v_form.canonical;
        NEW.content_hash := v_form.content_hash;
        NEW.fingerprint := v_form.fingerprint;
        NEW.key_hash := v_form.key_hash;
        NEW.search_text := v_form.search_text;
        NEW.findings := v_form.findings;
        -- A model that does not exist is not replaced in silence: the schema gate names it.
        IF NEW.embedding IS NULL AND v_form.embedding IS NOT NULL
           AND (NEW.embedding_model IS NULL
                OR EXISTS (SELECT FROM memwarden_data.embedding_model AS m WHERE m.name = NEW.embedding_model)) THEN
            NEW.embedding := v_form.embedding;
            NEW.embedding_model := 'lexical';
        END IF;
    ELSIF NEW.intake_fault IS NULL THEN
        NEW.findings := memwarden_internal.violation('CONTENT_EMPTY', 'content', 'there is none');
    END IF;

    NEW.gates := NEW.gates || memwarden_internal.gate_entry(TG_NAME, NEW.outcome, NEW.reason, v_started);
    RETURN NEW;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.gate_canonical() IS
    'Trigger gate_08_canonical: works out what the gates behind it compare. Decides nothing. Source: chapter 12.1.7, 12.3.2.';
REVOKE ALL ON FUNCTION memwarden_internal.gate_canonical() FROM PUBLIC;
