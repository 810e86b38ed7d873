-- No tokenizer is at hand, and each model has its own. Counting the pieces into which tokenizers cut texts errs on the side
-- of too many: a context that is shorter than it might be still fits. docs/context.md says how far off it is.
CREATE OR REPLACE FUNCTION memwarden.estimate_tokens("text" text)
RETURNS integer
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE SECURITY INVOKER
RETURN (regexp_count(estimate_tokens."text" COLLATE "C", E'[A-Za-z]{1,7}')
        -- Letters at random, as in keys and encoded data, make many short pieces.
        + regexp_count(estimate_tokens."text" COLLATE "C", E'[a-zA-Z][A-Z]')
        + regexp_count(estimate_tokens."text" COLLATE "C", E'[0-9]{1,3}')
        + regexp_count(estimate_tokens."text" COLLATE "C", E'[!-/:-@[-`{-~]{1,2}')
        + regexp_count(estimate_tokens."text" COLLATE "C", E'[\\n\\r\\t]+')
        + regexp_count(estimate_tokens."text" COLLATE "C", E'[^\\x01-\\x7f]'))::integer;
COMMENT ON FUNCTION memwarden.estimate_tokens IS
    'Estimates how many tokens a text takes, rather too many than too few. It counts one token for each of these: (1) '
    'seven letters of a word; (2) a capital within a word; (3) three digits; (4) two signs; (5) a run of line breaks; '
    '(6) a character beyond ASCII. Source: memory fabric, read-side context assembly.';
GRANT EXECUTE ON FUNCTION memwarden.estimate_tokens
    TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor, memwarden_admin;
