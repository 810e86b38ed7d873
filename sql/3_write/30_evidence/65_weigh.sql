-- What references are worth, all of them in one call: for most writes that is less work than one more query.
CREATE OR REPLACE FUNCTION memwarden_internal.weigh(
    p_subject text, p_predicate text, p_content text, p_evidence jsonb, p_known jsonb,
    p_principal_id bigint, p_default_type text, p_external_types text[], p_half_life double precision, p_now text, p_is_asked boolean,
    OUT grounds jsonb, OUT fact_score double precision, OUT authority double precision, OUT least_authority double precision,
    OUT external integer, OUT self_made jsonb, OUT trust_ceiling double precision, OUT item_ids uuid[], OUT version_ids uuid[],
    OUT asked jsonb)
RETURNS record
LANGUAGE plpython3u STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
if "memwarden:@python_hash@" not in GD: plpy.execute("SELECT memwarden_internal.load_python()")
return GD["memwarden:@python_hash@"].weigh(
    p_subject, p_predicate, p_content, p_evidence, p_known,
    p_principal_id, p_default_type, p_external_types, p_half_life, p_now, p_is_asked)
$function$;
COMMENT ON FUNCTION memwarden_internal.weigh IS
    'Weighs references by what evidence_sources() knows of each, and by how far each excerpt bears out what a content '
    '(JSON text) says of its subject: rules about words, numbers, names and negation, no model. p_default_type: what a '
    'reference without a type claims to be, by the kind of the origin. p_half_life: in seconds. p_is_asked: whether '
    'verifiers are to be told of the references (asked). fact_score: the mean of weight x support x authority x '
    'freshness, weights brought to a mean of 1. external: how many different sources are of the external types. '
    'self_made: which references are the writer''s own word. trust_ceiling: the least adjusted confidence of the '
    'memories among them, NULL where there is none or where an external source, recorded by another agent, bears the '
    'claim out (support 0.8 or more). Source: chapter 12.2.3, 12.11.3, Z2.';
