-- Names as write() compares them: case, blanks, punctuation, an organisation's synonyms, and in predicates hyphens and underscores do not
-- matter. A head keeps the form of a name where that is not simply its small letters, so that a recall looks names up by an index.
CREATE OR REPLACE FUNCTION memwarden_internal.name_forms(
    p_subject text, p_predicate text, p_synonyms text, OUT subject_form text, OUT predicate_form text)
RETURNS record
LANGUAGE plpython3u IMMUTABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
if "memwarden:@python_hash@" not in GD: plpy.execute("SELECT memwarden_internal.load_python()")
return GD["memwarden:@python_hash@"].name_forms(p_subject, p_predicate, p_synonyms)
$function$;
COMMENT ON FUNCTION memwarden_internal.name_forms IS
    'A subject and a predicate as the key of an item has them, under the synonyms of a JSON object; NULL for a blank one.';

-- Written out where the index of items has it.
CREATE OR REPLACE FUNCTION memwarden_internal.form_of_subject(p_form text, p_subject text)
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
RETURN coalesce(p_form, lower(p_subject COLLATE "C") COLLATE "default");
COMMENT ON FUNCTION memwarden_internal.form_of_subject IS
    'The form of a subject that an item keeps, otherwise its small letters.';

CREATE OR REPLACE FUNCTION memwarden_internal.form_of_predicate(p_form text, p_predicate text)
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
RETURN coalesce(p_form, translate(lower(p_predicate COLLATE "C") COLLATE "default", '_-', '  '));
COMMENT ON FUNCTION memwarden_internal.form_of_predicate IS
    'The form of a predicate that an item keeps, otherwise its small letters, with a blank for each hyphen and underscore.';

CREATE OR REPLACE FUNCTION memwarden_internal.kept_name_forms(
    p_subject text, p_predicate text, p_synonyms text, OUT subject_form text, OUT predicate_form text)
RETURNS record
LANGUAGE plpgsql IMMUTABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    -- Of plain words, and of an annotation's subject, which is an identifier, small letters are the form.
    v_plain boolean := coalesce(p_subject ~ '^([A-Za-z0-9]+( [A-Za-z0-9]+)*|memwarden:item/[0-9a-f-]{36})$', true);
    v_plain_too boolean := coalesce(p_predicate ~ '^[A-Za-z0-9]+([ _-][A-Za-z0-9]+)*$', true);
BEGIN
    IF v_plain AND v_plain_too AND coalesce(p_synonyms, '{}') = '{}' THEN
        RETURN;
    END IF;
    SELECT CASE WHEN NOT v_plain OR n.subject_form <> lower(p_subject COLLATE "C") AND NOT starts_with(p_subject, 'memwarden:item/')
                THEN coalesce(n.subject_form, '') END,
           CASE WHEN NOT v_plain_too OR n.predicate_form <> memwarden_internal.form_of_predicate(NULL, p_predicate)
                THEN coalesce(n.predicate_form, '') END
      INTO subject_form, predicate_form
      FROM memwarden_internal.name_forms(p_subject, p_predicate, coalesce(p_synonyms, '{}')) AS n;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.kept_name_forms IS
    'The forms of a subject and a predicate that an item keeps: NULL where small letters say the same.';

CREATE OR REPLACE FUNCTION memwarden_internal.current_form(p_org_id bigint, p_subject text)
RETURNS text
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN (SELECT memwarden_internal.form_of_subject(k.subject_form, p_subject)
              FROM memwarden_internal.kept_name_forms(p_subject, NULL, (
                   SELECT y.synonyms::text FROM memwarden_data.vocabulary AS y WHERE y.org_id = p_org_id)) AS k);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.current_form IS 'The form of a subject that an item of an organisation would have now.';

CREATE OR REPLACE FUNCTION memwarden_internal.keep_name_forms()
RETURNS trigger
LANGUAGE plpgsql VOLATILE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    SELECT k.subject_form, k.predicate_form INTO NEW.subject_form, NEW.predicate_form
      FROM memwarden_internal.kept_name_forms(NEW.subject, NEW.predicate, (
           SELECT y.synonyms::text FROM memwarden_data.vocabulary AS y WHERE y.org_id = NEW.org_id)) AS k;
    RETURN NEW;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.keep_name_forms IS
    'Triggers keep_name_forms and keep_new_name_forms: set the forms of the names of an item that is new or bears another name.';

CREATE OR REPLACE FUNCTION memwarden_internal.asked_names(
    p_orgs bigint[], p_subject text, p_predicate text, OUT subjects text[], OUT predicates text[])
RETURNS record
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    IF num_nonnulls(p_subject, p_predicate) = 0 THEN
        RETURN;
    END IF;
    -- Each organisation's memories by its own synonyms.
    SELECT CASE WHEN p_subject IS NOT NULL THEN array_agg(DISTINCT coalesce(n.subject_form, '')) END,
           CASE WHEN p_predicate IS NOT NULL THEN coalesce(array_agg(DISTINCT n.predicate_form), '{}') END
      INTO subjects, predicates
      FROM unnest(p_orgs) AS o (org_id)
      LEFT JOIN memwarden_data.vocabulary AS y ON y.org_id = o.org_id
     CROSS JOIN LATERAL memwarden_internal.name_forms(
           left(p_subject, 1001), left(p_predicate, 1001), coalesce(y.synonyms::text, '{}')) AS n;
    IF starts_with(p_subject, 'memwarden:item/') THEN
        -- An identifier was kept as it is.
        subjects := ARRAY[lower(p_subject COLLATE "C")];
    END IF;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.asked_names IS
    'The forms under which some organisations have a subject and a predicate that is asked for; NULL for what is not asked for.';
