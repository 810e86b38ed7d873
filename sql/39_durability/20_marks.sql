-- By what a text gives itself away, where its writer does not say what it is. Few marks and plain ones: what is refused
-- for looking like a thought is lost, and a thought that is kept is one row too many.
CREATE OR REPLACE FUNCTION memwarden_internal.lines_of(p_canonical text)
RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $function$
DECLARE
    v_content jsonb := p_canonical::jsonb;
BEGIN
    IF jsonb_typeof(v_content) = 'string' THEN
        RETURN v_content #>> '{}';
    END IF;
    RETURN (SELECT string_agg(t.e #>> '{}', chr(10)) FROM jsonb_path_query(v_content, 'strict $.** ? (@.type() == "string")') AS t (e));
END
$function$;
COMMENT ON FUNCTION memwarden_internal.lines_of(text) IS 'The texts of a content with their line breaks, one under the other.';
REVOKE ALL ON FUNCTION memwarden_internal.lines_of(text) FROM PUBLIC;

CREATE OR REPLACE FUNCTION memwarden_internal.reasoning_mark(p_canonical text)
RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $function$
DECLARE
    -- A thought says so at once, and is not searched for far into a document.
    v_lines text := left(memwarden_internal.lines_of(p_canonical), 4000);
BEGIN
    RETURN CASE
        WHEN left(p_canonical, 1) = '{' AND p_canonical::jsonb ?| '{thought,thoughts,chain_of_thought,scratchpad,reasoning_steps}' THEN 'field'
        WHEN v_lines ~* E'</?(think|thinking|scratchpad|reasoning)>' THEN 'tag'
        WHEN v_lines ~* E'(?n)^\\s*(thought|chain[ -]of[ -]thought|scratch ?pad|reasoning)\\s*:' THEN 'thought'
        WHEN v_lines ~* E'(?n)^\\s*action\\s*:' AND v_lines ~* E'(?n)^\\s*(action input|observation)\\s*:' THEN 'action'
        WHEN v_lines ~* E'^\\s*(ok(ay)?[,.]? |hmm+[,.]* |wait[,.]* |so[,.]? )*(let me|let''s|let us) (think|reason|work)( about| through)? (this|it|step)' THEN 'let me think'
        WHEN v_lines ~* E'^\\s*(i should now|now i (should|need to|have to)|my next step (is|will be)|the next step is for me) ' THEN 'plan'
        -- A list of steps begins with the first.
        WHEN v_lines ~* E'^\\s*step\\s+([2-9]|[1-9][0-9])\\s*[:.)]' THEN 'step'
    END;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.reasoning_mark(text) IS
    'By what a content (JSON text) looks like a step of reasoning: field, tag, thought, action, let me think, plan or step; NULL where it does not. Source: four-layer design, 4; D6.';
REVOKE ALL ON FUNCTION memwarden_internal.reasoning_mark(text) FROM PUBLIC;

CREATE OR REPLACE FUNCTION memwarden_internal.output_mark(p_canonical text)
RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $function$
DECLARE
    v_lines text := left(memwarden_internal.lines_of(p_canonical), 4000);
BEGIN
    RETURN CASE
        WHEN left(p_canonical, 1) = '{' AND p_canonical::jsonb ?| '{stdout,stderr,exit_code,returncode,tool_call_id}' THEN 'field'
        WHEN v_lines ~ E'Traceback \\(most recent call last\\):' OR v_lines ~ E'(?n)^\\s*at \\S+ ?\\([^()]*:\\d+(:\\d+)?\\)\\s*$' THEN 'stack trace'
        WHEN v_lines ~* E'(?n)^\\s*((the )?(process|command|program|job) )?((finished|exited|failed|completed) )?(with )?(exit (code|status)|return code)\\s*[:=]?\\s*-?\\d+\\.?\\s*$' THEN 'exit code'
        WHEN v_lines ~ E'\\d{1,3} ?%\\s*[|\\[][-#=>. \u2588\u2589-\u258f]{3,}[|\\]]' OR v_lines ~ E'[|\\[][#=\u2588]{3,}>?[-. ]*[|\\]]\\s*\\d{1,3} ?%' THEN 'progress bar'
        WHEN v_lines ~ E'\u001b\\[[0-9;]*[A-Za-z]' THEN 'terminal codes'
        WHEN v_lines ~ E'(?n)^[-dlbcps]([-r][-w][-xsStT]){3}[.+@]?\\s+\\d+\\s+\\S+\\s+\\S+\\s' THEN 'listing'
        WHEN v_lines ~ E'(?n)^\\s*[\\w.-]+@[\\w.-]+:[~/]\\S*[$#]( |$)' THEN 'prompt'
        WHEN v_lines ~ E'(?n)^HTTP/\\d(\\.\\d)? \\d{3}\\M' THEN 'response'
        WHEN v_lines ~ E'(?n)^\\[?\\d{4}-\\d\\d-\\d\\d[T ]\\d\\d:\\d\\d:\\d\\d\\S*\\s+\\[?(TRACE|DEBUG|INFO|WARN|WARNING|ERROR|FATAL)\\M' THEN 'log line'
        WHEN v_lines ~ E'(?n)^@@ -\\d+(,\\d+)? \\+\\d+(,\\d+)? @@' THEN 'patch'
    END;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.output_mark(text) IS
    'By what a content (JSON text) looks like what a tool printed: field, stack trace, exit code, progress bar, terminal codes, listing, prompt, response, log line or patch; NULL where it does not. Source: four-layer design, 4; D6.';
REVOKE ALL ON FUNCTION memwarden_internal.output_mark(text) FROM PUBLIC;
