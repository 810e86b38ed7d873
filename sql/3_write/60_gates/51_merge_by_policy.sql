-- What a write and a memory become together, where the schema of their kind has a merge policy.
CREATE OR REPLACE FUNCTION memwarden_internal.merge_contents(
    p_old text, p_new text, p_policy text, p_synonyms text, p_newer_wins boolean, OUT content text, OUT told jsonb, OUT conflicts text[])
RETURNS record
LANGUAGE plpython3u STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
if "memwarden:@python_hash@" not in GD: plpy.execute("SELECT memwarden_internal.load_python()")
return GD["memwarden:@python_hash@"].merge_contents(p_old, p_new, p_policy, p_synonyms, p_newer_wins)
$function$;
COMMENT ON FUNCTION memwarden_internal.merge_contents IS
    'Two contents (JSON texts) as one, by a merge policy: content; told, by field what was done; conflicts, the fields '
    'that the policy does not settle. p_newer_wins: the newer content settles those. Nulls where one has no fields. '
    'Source: chapter 12.3.4, D4.';

-- The memory that gate 90 would make a new version of, if this writer may do that.
CREATE OR REPLACE FUNCTION memwarden_internal.merge_target(
    p_org_id bigint, p_scope_id bigint, p_layer text, p_principal_id bigint, p_label_id integer, p_key_hash bytea, p_predicate text,
    p_same_key text, p_writers text, p_becomes uuid, p_names_classification boolean, p_names_attributes boolean)
RETURNS uuid
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_head record;
BEGIN
    IF p_key_hash IS NULL THEN
        SELECT i.item_id, i.label_id, i.principal_id INTO v_head
          FROM memwarden_data.item AS i WHERE i.org_id = p_org_id AND i.item_id = p_becomes AND i.status = 'ACTIVE' AND NOT i.exclusive;
    ELSIF 'new_version' = coalesce(
              (memwarden_internal.predicate_of(p_org_id, memwarden_internal.predicate_name(p_predicate))).same_key, p_same_key) THEN
        SELECT i.item_id, i.label_id, i.principal_id INTO v_head
          FROM memwarden_data.item AS i
         WHERE i.org_id = p_org_id AND i.scope_id = p_scope_id AND i.layer = p_layer
           AND i.key_hash = p_key_hash AND i.status = 'ACTIVE' AND i.exclusive
           AND memwarden_internal.refusal(p_principal_id, 'READ', i.label_id, i.principal_id) IS NULL
         ORDER BY p_writers = 'owner' AND i.principal_id <> p_principal_id, i.label_id <> p_label_id, i.instance
         LIMIT 1;
    ELSE
        -- Of such a key every value is a memory of its own.
        RETURN NULL;
    END IF;
    IF v_head.item_id IS NULL OR p_writers = 'owner' AND v_head.principal_id <> p_principal_id
       OR (memwarden_internal.label_of_successor(
               p_principal_id, p_label_id, v_head.label_id, v_head.principal_id, p_names_classification,
                   p_names_attributes)).refusal IS NOT NULL THEN
        RETURN NULL;
    END IF;
    RETURN v_head.item_id;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.merge_target IS
    'The memory that a write would become a version of: the one that holds its key, or p_becomes for a write without a '
    'key. NULL for none, and for one that the writer may not change: it keeps its words.';

CREATE OR REPLACE FUNCTION memwarden_internal.examine_merged(
    p_org_id bigint, p_schema_id bigint, p_content text, p_subject text, p_predicate text, p_embeds boolean, p_principal_id bigint,
        p_scope_id bigint,
    OUT canonical text, OUT content_hash bytea, OUT fingerprint bytea, OUT search_text text, OUT embedding real[],
        OUT sensitivity text, OUT sensitive jsonb, OUT faults jsonb, OUT attribute_key bytea)
RETURNS record
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_rules record;
    v_form  record;
BEGIN
    SELECT s.schema::text AS schema, s.constraints::text AS constraints, s.text_template, y.synonyms::text AS synonyms,
           memwarden_internal.rules_hash_for(
               p_org_id, p_principal_id, (SELECT c.lineage FROM memwarden_data.scope AS c WHERE c.scope_id = p_scope_id),
                   s.layer) AS rules_hash,
           l.max_content_bytes, l.max_text_length
      INTO v_rules
      FROM memwarden_data.content_schema AS s
     CROSS JOIN LATERAL (SELECT k.* FROM memwarden_data.kept_layer AS k
                          WHERE k.org_id = p_org_id AND k.layer = s.layer AND k.principal_id IN (0, p_principal_id)
                          ORDER BY k.principal_id DESC LIMIT 1) AS l
      LEFT JOIN memwarden_data.vocabulary AS y ON y.org_id = p_org_id
     WHERE s.schema_id = p_schema_id;
    v_form := memwarden_internal.examine(
        p_content, p_subject, p_predicate, v_rules.schema, v_rules.constraints, v_rules.text_template, v_rules.synonyms,
        v_rules.max_content_bytes, p_embeds, v_rules.rules_hash, NULL);
    canonical := v_form.canonical;
    content_hash := v_form.content_hash;
    fingerprint := v_form.fingerprint;
    search_text := v_form.search_text;
    embedding := v_form.embedding;
    attribute_key := v_form.attribute_key;
    sensitivity := v_form.sensitivity;
    sensitive := v_form.sensitive;
    IF v_form.findings IS NOT NULL OR length(v_form.search_text) > v_rules.max_text_length
       OR v_form.sensitive @? '$[*] ? (@.action == "block" || @.action == "redact" || @.action == "encrypt")' THEN
        faults := jsonb_build_object('errors', coalesce(v_form.findings, '[]'), 'sensitive', coalesce(v_form.sensitive, '[]'));
    END IF;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.examine_merged IS
    'A merged content in every form that a write has, by the schema of its kind and the rules that a write of the '
    'principal in that scope would be asked by, those of the pack in force among them; faults: what is wrong with it, '
    'in form or for what is sensitive in it, NULL where nothing is. What two contents make together passes what each of '
    'them has passed.';

CREATE OR REPLACE FUNCTION memwarden_internal.settle_fields(
    p_org_id bigint, p_item_id uuid, p_kind text, p_canonical text, p_confidence double precision, p_policy jsonb, p_conflict text,
        p_gap double precision,
    OUT version_id uuid, OUT content_hash bytea, OUT trust double precision, OUT content text, OUT told jsonb, OUT outcome text,
        OUT reason text, OUT detail jsonb)
RETURNS record
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_old      record;
    v_synonyms text := (SELECT y.synonyms::text FROM memwarden_data.vocabulary AS y WHERE y.org_id = p_org_id);
    v_merged   record;
    v_solved   record;
BEGIN
    SELECT v.version_id, v.content::text AS content, v.content_hash, v.confidence, i.adjusted_confidence INTO v_old
      FROM memwarden_data.item AS i
      JOIN memwarden_data.said_version AS v ON v.org_id = i.org_id AND v.version_id = i.version_id AND v.tier = 'hot'
     WHERE i.org_id = p_org_id AND i.item_id = p_item_id AND i.kind IS NOT DISTINCT FROM p_kind;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    v_merged := memwarden_internal.merge_contents(v_old.content, p_canonical, p_policy::text, v_synonyms, false);
    IF v_merged.content IS NULL THEN
        RETURN;
    ELSIF v_merged.conflicts <> '{}' THEN
        -- As for any contradiction; but two values of one field cannot both stand.
        v_solved := memwarden_internal.resolve_conflict(
            CASE WHEN p_conflict IN ('accumulate', 'coexist') THEN 'review' ELSE p_conflict END, p_gap, p_confidence,
            jsonb_build_array(jsonb_build_object(
                'item_id', p_item_id, 'version_id', v_old.version_id, 'confidence', v_old.confidence, 'relation', 'contradicts',
                'method', 'merge_policy', 'fields', to_jsonb(v_merged.conflicts))));
        outcome := v_solved.outcome;
        reason := v_solved.reason;
        detail := v_solved.detail;
        v_merged := memwarden_internal.merge_contents(v_old.content, p_canonical, p_policy::text, v_synonyms, true);
    END IF;
    version_id := v_old.version_id;
    content_hash := v_old.content_hash;
    trust := v_old.adjusted_confidence;
    content := v_merged.content;
    told := v_merged.told;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.settle_fields IS
    'What a write and a memory make together by a merge policy: the memory''s version, what that is worth, the merged '
    'content, and what was done with each field; outcome, reason and report where a field is in conflict and the '
    'conflict policy does not let the write win. Nulls where the memory is of another kind or one of them has no '
    'fields. Source: chapter 12.3.3, 12.3.4.';
