CREATE OR REPLACE FUNCTION memwarden_internal.as_judged(p_subject text, p_predicate text, p_text text, p_content jsonb,
    p_valid_during tstzrange)
RETURNS jsonb
LANGUAGE sql STABLE PARALLEL SAFE SECURITY INVOKER
-- The judge reads so much of a text; of a longer content it is told nothing. Nothing volatile: what asks for it takes it in.
RETURN jsonb_build_object('subject', p_subject, 'predicate', p_predicate, 'text', left(p_text, 4001),
                          'content', CASE WHEN pg_column_size(p_content) <= 8192 THEN p_content END,
                          'valid_from', CASE WHEN NOT lower_inf(p_valid_during) THEN extract(epoch FROM lower(p_valid_during)) END,
                          'valid_to', CASE WHEN NOT upper_inf(p_valid_during) THEN extract(epoch FROM upper(p_valid_during)) END,
                          'over', coalesce(upper(p_valid_during) <= statement_timestamp(), false));
COMMENT ON FUNCTION memwarden_internal.as_judged IS 'What the judge is told of a memory that is there.';

-- The judge of two memories: rules about language, no model (plpython/memwarden_core/verdict/judge.py). One call for all
-- neighbours of a write: its own text is read once.
CREATE OR REPLACE FUNCTION memwarden_internal.judge(
    p_subject text, p_predicate text, p_content text, p_text text, p_valid_from double precision, p_valid_to double precision,
    p_neighbours jsonb)
RETURNS jsonb
LANGUAGE plpython3u STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
if "memwarden:@python_hash@" not in GD: plpy.execute("SELECT memwarden_internal.load_python()")
def look_up(words):
    # Asked only where two texts differ in a few words: most calls pay nothing.
    if "look_up" not in SD:
        SD["look_up"] = plpy.prepare(
            "SELECT l.language, l.word, l.rank, l.sense, l.part, l.file, l.above, l.steps, l.against "
            "FROM memwarden_internal.look_up($1) AS l", ["text[]"])
    return SD["look_up"].execute([words])
return GD["memwarden:@python_hash@"].judge(
    p_subject, p_predicate, p_content, p_text, p_valid_from, p_valid_to, p_neighbours, look_up)
$function$;
COMMENT ON FUNCTION memwarden_internal.judge IS
    'What a new memory is to each of p_neighbours (as neighbours() returns them): an array, in their order, without '
    'their words, of item_id, version_id, similarity, confidence, mine, same_key and the verdict: relation (same, '
    'alike: probably the same; narrower: it says all that the other says, and more; wider, contradicts, updates, '
    'precedes: it is an earlier value; unrelated), score 0 to 1, '
    'method, judge and version. Source: chapter 12.2.4, V7, V10.';

CREATE OR REPLACE FUNCTION memwarden_internal.judged(p_neighbours jsonb)
RETURNS jsonb
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
RETURN coalesce(jsonb_path_query_array(p_neighbours, '$[*] ? (@.relation != "unrelated")'), '[]');
COMMENT ON FUNCTION memwarden_internal.judged IS 'The verdicts that say something: what a record of provenance and a report keep.';
