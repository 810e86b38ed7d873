-- The content is parsed once, here: canonical form, hashes, search text, vector, everything that is wrong with
-- its form, and what is sensitive in it. The gates behind it only look.
CREATE OR REPLACE FUNCTION memwarden_internal.examine(
    p_content text, p_subject text, p_predicate text, p_schema text, p_constraints text,
    p_template text, p_synonyms text, p_max_bytes integer, p_want_embedding boolean, p_rules_hash text, p_arguments text,
    OUT canonical text, OUT content_hash bytea, OUT fingerprint bytea, OUT key_hash bytea,
    OUT search_text text, OUT embedding real[], OUT findings jsonb, OUT sensitive jsonb, OUT sensitivity text,
    OUT attribute_key bytea, OUT sought_key bytea)
RETURNS record
LANGUAGE plpython3u STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
if "memwarden:@python_hash@" not in GD: plpy.execute("SELECT memwarden_internal.load_python()")
core = GD["memwarden:@python_hash@"]
if p_rules_hash is not None and not core.has_rules(p_rules_hash):
    plan = plpy.prepare("SELECT t.rules FROM memwarden_data.sensitivity_rules_text AS t WHERE t.rules_hash = $1", ["text"])
    core.keep_rules(p_rules_hash, plan.execute([p_rules_hash])[0]["rules"])
return core.examine(
    p_content, p_subject, p_predicate, p_schema, p_constraints,
    p_template, p_synonyms, p_max_bytes, p_want_embedding, p_rules_hash, p_arguments)
$function$;
COMMENT ON FUNCTION memwarden_internal.examine IS
    'One pass over a content: RFC 8785 form, SHA-256, fingerprint of D2, search text, lexical vector (on demand), '
    'schema findings; and what the rules find in it, in subject, predicate and the other arguments (a JSON object), '
    'with the level of what may stay; and attribute_key(), with '
    'sought_key, the same where the content may end or deny what has that key. Never raises for bad content.';

CREATE OR REPLACE FUNCTION memwarden_internal.gate_canonical()
RETURNS trigger
LANGUAGE plpgsql VOLATILE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_started timestamptz := clock_timestamp();
    v_rules   record;
    v_form    record;
    v_clean   record;
    v_hash    text;
BEGIN
    SELECT s.schema_id, s.schema::text AS schema, s.constraints::text AS constraints,
           s.text_template, s.merge_policy, v.synonyms::text AS synonyms, r.rules_hash
      INTO v_rules
      FROM (SELECT t.rules_hash FROM memwarden_data.sensitivity_ruleset AS t
             WHERE t.org_id IN (0, NEW.org_id) AND t.layer IN ('*', NEW.layer)
             ORDER BY t.org_id DESC, t.layer = '*' LIMIT 1) AS r
      LEFT JOIN (SELECT c.schema_id, c.schema, c.constraints, c.text_template, c.merge_policy
                   FROM memwarden_data.content_schema AS c
                  WHERE NEW.admission <> 'free' AND c.layer = NEW.layer AND c.kind = coalesce(NEW.kind, 'default')
                    AND c.org_id IN (0, NEW.org_id) AND c.current
                  ORDER BY c.org_id DESC LIMIT 1) AS s ON true
      LEFT JOIN memwarden_data.vocabulary AS v ON v.org_id = NEW.org_id;
    IF v_rules.rules_hash IS NULL THEN
        PERFORM memwarden_internal.raise_error('not_set_up', 'there are no sensitivity rules');
    END IF;

    -- A pack's own come on top.
    v_hash := coalesce((NEW.terms).pack #>> ARRAY['rules', NEW.layer], v_rules.rules_hash);
    NEW.schema_id := v_rules.schema_id;
    IF v_rules.merge_policy IS NOT NULL THEN
        NEW.terms := jsonb_populate_record(NEW.terms, jsonb_build_object('merge_policy', v_rules.merge_policy));
    END IF;
    IF NEW.content IS NOT NULL THEN
        v_form := memwarden_internal.examine(
            NEW.content, left(NEW.subject, 1000), left(NEW.predicate, 1000), v_rules.schema, v_rules.constraints,
            v_rules.text_template, v_rules.synonyms, (NEW.terms).max_content_bytes, NEW.embedding IS NULL, v_hash,
            memwarden_internal.screened_arguments(NEW.evidence, NEW.origin, NEW.kind, NEW.idempotency_key, NEW.trace_id,
                NEW.justification)::text);
        IF TG_OP = 'INSERT' AND NEW.asked_hash IS NULL THEN
            NEW.asked_hash := memwarden_internal.asked_hash(
                v_form.content_hash, NEW.layer, NEW.scope_path, NEW.subject, NEW.predicate, NEW.corrects);
        END IF;
        NEW.sensitive := NULLIF(coalesce(NEW.sensitive || v_form.sensitive, v_form.sensitive, NEW.sensitive), '[]');
        NEW.sensitivity := v_form.sensitivity;
        IF v_form.findings IS NULL AND v_form.sensitive @? '$[*] ? (@.action == "redact" || @.action == "encrypt")'
           AND NOT v_form.sensitive @? '$[*] ? (@.action == "block")' THEN
            v_clean := memwarden_internal.clean_request(
                v_form.canonical, jsonb_build_object('subject', NEW.subject, 'predicate', NEW.predicate, 'evidence', NEW.evidence,
                                                     'origin', NEW.origin, 'trace_id', NEW.trace_id, 'justification',
                                                     NEW.justification)::text,
                (SELECT t.rules FROM memwarden_data.sensitivity_rules_text AS t WHERE t.rules_hash = v_hash), NEW.org_id,
                CASE WHEN v_form.sensitive @? '$[*] ? (@.action == "encrypt")' THEN memwarden_internal.sealing_key(NEW.org_id) END);
            IF v_clean.refused IS NOT NULL THEN
                NEW.sensitive := NEW.sensitive || v_clean.refused;
                NEW.sensitivity := 'high';
            ELSE
                -- From here on the request is what is left of it; a vector of the words as they were goes as well.
                NEW.content := v_clean.content;
                NEW.subject := v_clean.arguments ->> 'subject';
                NEW.predicate := v_clean.arguments ->> 'predicate';
                NEW.evidence := NULLIF(v_clean.arguments -> 'evidence', 'null');
                NEW.origin := NULLIF(v_clean.arguments -> 'origin', 'null');
                NEW.trace_id := v_clean.arguments ->> 'trace_id';
                NEW.justification := v_clean.arguments ->> 'justification';
                NEW.sealed := coalesce(NEW.sealed, '{}') || coalesce(v_clean.sealed, '{}');
                NEW.embedding := NULL;
                NEW.embedding_model := NULL;
                v_form := memwarden_internal.examine(
                    NEW.content, left(NEW.subject, 1000), left(NEW.predicate, 1000), v_rules.schema, v_rules.constraints,
                    v_rules.text_template, v_rules.synonyms, (NEW.terms).max_content_bytes, true, NULL, NULL);
            END IF;
        END IF;
        -- In one: a new connection plans each statement.
        SELECT v_form.canonical, v_form.content_hash, v_form.fingerprint, v_form.key_hash, v_form.search_text, v_form.findings,
               v_form.attribute_key
          INTO NEW.canonical, NEW.content_hash, NEW.fingerprint, NEW.key_hash, NEW.search_text, NEW.findings, NEW.attribute_key;
        IF NEW.subject_key_id IS NOT NULL OR (NEW.terms).class IS NOT NULL AND ((NEW.terms).class ->> 'encrypted')::boolean THEN
            -- Whatever is compared from here on is compared under the key of the subject, or of whom it cites.
            NEW.subject_key_id := coalesce(CASE WHEN NEW.subject ~ '[^[:space:]]' AND ((NEW.terms).class ->> 'encrypted')::boolean
                THEN memwarden_internal.subject_key_of(NEW.org_id, left(NEW.subject, 1000)) END, NEW.subject_key_id);
            IF NEW.subject_key_id IS NULL THEN
                NEW.findings := coalesce(NEW.findings, '[]') || memwarden_internal.encryption_fault(NEW.subject);
            ELSE
                NEW.content_hash := memwarden_internal.indexed_hash(NEW.content_hash, NEW.subject_key_id);
                NEW.fingerprint := memwarden_internal.indexed_hash(NEW.fingerprint, NEW.subject_key_id);
                NEW.attribute_key := memwarden_internal.indexed_hash(NEW.attribute_key, NEW.subject_key_id);
            END IF;
        END IF;
        IF NEW.embedding IS NULL AND v_form.embedding IS NOT NULL THEN
            -- A model that does not exist is not replaced in silence: the schema gate names it.
            IF NEW.embedding_model IS NULL
               OR EXISTS (SELECT FROM memwarden_data.embedding_model AS m WHERE m.name = NEW.embedding_model) THEN
                NEW.embedding := v_form.embedding;
                NEW.embedding_model := 'lexical';
            END IF;
        END IF;
    ELSIF NEW.intake_fault IS NULL THEN
        NEW.findings := memwarden_internal.violation('CONTENT_EMPTY', 'content', 'there is none');
    END IF;
    NEW.trail := NEW.trail || memwarden_internal.gate_entry(TG_NAME, NEW.outcome, NEW.reason, v_started);
    RETURN NEW;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.gate_canonical IS
    'Trigger gate_08_canonical: works out what the gates behind it compare, and takes out of the request what is to be '
    'redacted or encrypted. Decides nothing. Source: chapter 12.1.7, 12.3.2; four-layer design, 6.';

CREATE OR REPLACE FUNCTION memwarden_internal.screened_arguments(
    p_evidence jsonb, p_origin jsonb, p_kind text, p_idempotency_key text, p_trace_id text, p_justification text)
RETURNS jsonb
LANGUAGE sql STABLE PARALLEL SAFE SECURITY INVOKER
-- What is longer is refused unseen.
RETURN NULLIF(jsonb_strip_nulls(jsonb_build_object(
    'evidence', CASE WHEN pg_column_size(p_evidence) <= 200000 THEN NULLIF(p_evidence, '[]') END,
    'origin', CASE WHEN pg_column_size(p_origin) <= 65536 THEN p_origin END,
    'kind', left(p_kind, 100), 'idempotency_key', left(p_idempotency_key, 1000), 'trace_id', left(p_trace_id, 200),
    'justification', left(p_justification, 4000))), '{}');
COMMENT ON FUNCTION memwarden_internal.screened_arguments IS
    'The arguments of a request that are kept and hold the caller''s words, beside content, subject and predicate; NULL '
    'for none. Attributes and domains are names from an administrator''s list.';
