-- By what a text gives itself away, where its writer does not say what it is. Few marks and plain ones: what is refused
-- for looking like a thought is lost, and a thought that is kept is one row too many.
CREATE OR REPLACE FUNCTION memwarden_internal.lines_of(p_canonical text)
RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
AS $function$
DECLARE
    v_content jsonb := p_canonical::jsonb;
BEGIN
    IF jsonb_typeof(v_content) = 'string' THEN
        RETURN left(v_content #>> '{}', 4000);
    END IF;
    RETURN (SELECT left(string_agg(t.e #>> '{}', chr(10)), 4000) FROM jsonb_path_query(v_content,
        'strict $.** ? (@.type() == "string")') AS t (e));
END
$function$;
COMMENT ON FUNCTION memwarden_internal.lines_of IS
    'The texts of a content with their line breaks, one under the other, as far as marks are looked for: what passes '
    'says so at once.';

CREATE OR REPLACE FUNCTION memwarden_internal.is_plain(p_canonical text, p_lines text)
RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
-- LIKE costs a tenth of what a regular expression of these words does.
RETURN NOT lower(p_lines) LIKE ANY ('{%think%,%thought%,%scratch%,%reason%,%action%,%step%,%should now%,%now i '
    '%,%traceback%,%exit%,%return code%}')
   AND p_lines !~ E'(?n)^\\s*at \\S|\\d ?%|\u001b|^[-dlbcps][-r][-w]|@\\S+:[~/]|^HTTP/|^\\[?\\d{4}-\\d\\d-\\d\\d|^@@ '
   AND p_canonical !~ E'^\\{.*"(thoughts?|chain_of_thought|scratchpad|reasoning_steps|stdout|stderr|exit_code|returncode|tool_call_id)":';
COMMENT ON FUNCTION memwarden_internal.is_plain IS
    'Whether a content (JSON text, and its lines_of()) can bear none of the marks below: true of nearly every one, and '
    'asked of each. Where it is false they are looked for.';

CREATE OR REPLACE FUNCTION memwarden_internal.reasoning_mark(p_canonical text, p_lines text)
RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
AS $function$
BEGIN
    RETURN CASE
        WHEN left(p_canonical, 1) = '{' AND p_canonical::jsonb ?| '{thought,thoughts,chain_of_thought,scratchpad,reasoning_steps}'
            THEN 'field'
        WHEN p_lines ~* E'</?(think|thinking|scratchpad|reasoning)>' THEN 'tag'
        WHEN p_lines ~* E'(?n)^\\s*(thought|chain[ -]of[ -]thought|scratch ?pad|reasoning)\\s*:' THEN 'thought'
        WHEN p_lines ~* E'(?n)^\\s*action\\s*:' AND p_lines ~* E'(?n)^\\s*(action input|observation)\\s*:' THEN 'action'
        WHEN p_lines ~* E'^\\s*(ok(ay)?[,.]? |hmm+[,.]* |wait[,.]* |so[,.]? )*(let me|let''s|let us) (think|reason)( about| '
            'through)? (this|it|step)' THEN 'let me think'
        WHEN p_lines ~* E'^\\s*(i should now|now i (should|need to|have to)|my next step (is|will be)|the next step is for me) ' THEN 'plan'
        -- A list of steps begins with the first.
        WHEN p_lines ~* E'^\\s*step\\s+([2-9]|[1-9][0-9])\\s*[:.)]' THEN 'step'
    END;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.reasoning_mark IS
    'By what a content (JSON text, and its lines_of()) looks like a step of reasoning: field, tag, thought, action, let '
    'me think, plan or step; NULL where it does not. Source: four-layer design, 4; D6.';

CREATE OR REPLACE FUNCTION memwarden_internal.output_mark(p_canonical text, p_lines text)
RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
AS $function$
BEGIN
    RETURN CASE
        WHEN left(p_canonical, 1) = '{' AND p_canonical::jsonb ?| '{stdout,stderr,exit_code,returncode,tool_call_id}' THEN 'field'
        WHEN p_lines ~ E'Traceback \\(most recent call last\\):' OR p_lines ~ E'(?n)^\\s*at \\S+ ?\\([^()]*:\\d+(:\\d+)?\\)\\s*$'
            THEN 'stack trace'
        WHEN p_lines ~* (E'(?n)^\\s*((the )?(process|command|program|job) )?((finished|exited|failed|completed) )?(with )?'
            || E'(exit (code|status)|return code)\\s*[:=]?\\s*-?\\d+\\.?\\s*$') THEN 'exit code'
        WHEN p_lines ~ E'\\d{1,3} ?%\\s*[|\\[][-#=>. \u2588\u2589-\u258f]{3,}[|\\]]'
            OR p_lines ~ E'[|\\[][#=\u2588]{3,}>?[-. ]*[|\\]]\\s*\\d{1,3} ?%' THEN 'progress bar'
        -- A colour that is put back: one alone may be what the text is about.
        WHEN p_lines ~ E'\u001b\\[[0-9;]*[A-Za-z].*\u001b\\[0?m' THEN 'terminal codes'
        WHEN p_lines ~ E'(?n)^[-dlbcps]([-r][-w][-xsStT]){3}[.+@]?\\s+\\d+\\s+\\S+\\s+\\S+\\s' THEN 'listing'
        WHEN p_lines ~ E'(?n)^\\s*[\\w.-]+@[\\w.-]+:[~/]\\S*[$#]( |$)' THEN 'prompt'
        WHEN p_lines ~ E'(?n)^HTTP/\\d(\\.\\d)? \\d{3}\\M' THEN 'response'
        WHEN p_lines ~ (E'(?n)^\\[?\\d{4}-\\d\\d-\\d\\d[T ]\\d\\d:\\d\\d:\\d\\d\\S*\\s+'
            || E'\\[?(TRACE|DEBUG|INFO|WARN|WARNING|ERROR|FATAL)\\M') THEN 'log line'
        WHEN p_lines ~ E'(?n)^@@ -\\d+(,\\d+)? \\+\\d+(,\\d+)? @@' THEN 'patch'
    END;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.output_mark IS
    'By what a content (JSON text, and its lines_of()) looks like what a tool printed: field, stack trace, exit code, '
    'progress bar, terminal codes, listing, prompt, response, log line or patch; NULL where it does not. Source: '
    'four-layer design, 4; D6.';
