-- How firmly a memory may be said: one sentence for each level, and nothing but the last record of its version is asked. So the
-- statement that stores, a rebuild and the job that weighs again say the same.
CREATE OR REPLACE FUNCTION memwarden_internal.standing_of(p_record jsonb)
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
RETURN CASE
    WHEN p_record ? 'lowered' THEN 'disputed'
    -- Words that two memories made together nobody has approved, and no evidence is about them.
    WHEN p_record ? 'merged' THEN CASE WHEN p_record -> 'evidence' = '[]' THEN 'inferred' ELSE 'reported' END
    WHEN p_record ->> 'approval_state' = 'APPROVED' THEN 'verified'
    WHEN p_record @? '$.verified_by[*] ? (@.looked == true && @.score >= 0.8)' THEN 'verified'
    WHEN p_record -> 'evidence' = '[]' THEN 'inferred'
    -- Most cite words that only they have seen.
    WHEN NOT p_record @? '$.evidence[*] ? (@.held == true)' THEN CASE WHEN p_record ? 'evidence' THEN 'reported' ELSE 'inferred' END
    WHEN p_record @? ('$.evidence[*] ? (@.held == true && @.support >= 0.8 && !exists(@.contradicts) && !exists(@.believed)'
        ' && !exists(@.restated) && !(@.by_rules < 0.8) && @.independent == true && @.registered == true && @.authority >= 0.9'
        ' && (@.words_of == "document" || @.words_of == "person" && @.about_self == true))') THEN 'verified'
    WHEN p_record @? ('$.evidence[*] ? (@.held == true && @.support >= 0.8 && !exists(@.contradicts) && !exists(@.believed)'
        ' && !exists(@.restated) && @.words_of != "assistant" && @.words_of != "model"'
        ' && (@.words_of == "memory" && @.independent == true && (@.standing == "verified" || @.standing == "supported")'
        ' || @.words_of != "memory" && (@.independent == true || @.declared == true)))') THEN 'supported'
    ELSE 'reported' END;
COMMENT ON FUNCTION memwarden_internal.standing_of IS
    'The standing of a version by its last record of provenance. verified: a person approved it, a verifier that looks at the source '
    'itself confirmed it, or words that the store holds bear it out, which somebody independent of the writer recorded of a source '
    'with registered authority 0.9, a document''s or a person''s about itself. supported: words that the store holds bear it out, '
    'which somebody independent or a declared recorder recorded; or a memory of somebody else that is supported itself. reported: '
    'something is cited. inferred: nothing is. disputed: something lowered it. Source: N7, V2.';

CREATE OR REPLACE FUNCTION memwarden_internal.firmness(p_standing text)
RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
RETURN CASE p_standing WHEN 'verified' THEN 4 WHEN 'supported' THEN 3 WHEN 'reported' THEN 2 WHEN 'inferred' THEN 1 ELSE 0 END;
COMMENT ON FUNCTION memwarden_internal.firmness IS
    'How firmly a memory of a standing may be said, as a number: verified 4, supported 3, reported 2, inferred 1, disputed 0.';
