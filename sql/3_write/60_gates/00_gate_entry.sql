-- What a gate leaves behind of its passing: W7. A line of few bytes: every write keeps some fourteen of them, and names of
-- fields would be most of what its request takes on disk. In PL/pgSQL: in SQL, each gate of a new connection would plan it anew.
CREATE OR REPLACE FUNCTION memwarden_internal.gate_entry(
    p_gate text, p_outcome text, p_reason text, p_started timestamptz)
RETURNS text
LANGUAGE plpgsql VOLATILE PARALLEL SAFE SECURITY INVOKER
AS $function$
BEGIN
    RETURN E'\n' || substr(p_gate, 6) || ' ' || (date_part('epoch', clock_timestamp() - p_started) * 1000000)::integer
        || CASE p_outcome WHEN 'DEFERRED' THEN ' D' WHEN 'REJECTED' THEN ' R' WHEN 'DEADLINE_EXCEEDED' THEN ' R'
                          ELSE CASE WHEN p_reason IS NULL THEN '' ELSE ' A' END END
        || coalesce(' ' || to_json(p_reason), '');
END
$function$;
COMMENT ON FUNCTION memwarden_internal.gate_entry IS
    'One line of write_request.gates, behind a line feed: the gate (from its trigger''s name), its time in microseconds, '
    'R where it rejected and D where it deferred, A where it accepted with a reason; the reason as JSON.';

-- The gates of a plain write, where they stand at first, go by their numbers. A number never means another gate: what
-- is stored is read by every later release. A gate of another name or place keeps its name.
CREATE OR REPLACE FUNCTION memwarden_internal.short_gates(p_trail text)
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
RETURN replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(p_trail,
    E'\n05_identity ', E'\n05 '), E'\n06_access ', E'\n06 '),
    E'\n08_canonical ', E'\n08 '), E'\n10_idempotency ', E'\n10 '),
    E'\n20_admission ', E'\n20 '), E'\n25_schema ', E'\n25 '),
    E'\n30_sensitivity ', E'\n30 '), E'\n38_known ', E'\n38 '),
    E'\n40_evidence ', E'\n40 '), E'\n50_duplicate ', E'\n50 '),
    E'\n60_contradiction ', E'\n60 '), E'\n70_provenance ', E'\n70 '),
    E'\n80_approval ', E'\n80 '), E'\n90_commit ', E'\n90 ');
COMMENT ON FUNCTION memwarden_internal.short_gates IS
    'The lines of gate_entry(), each behind a line feed, with numbers for the names that nearly every write has.';

-- The gates of a plain write that was decided at once are always the same, but for two: the stored line says which, and four times.
-- None of these gates has run, and what was not timed by itself has no time: 0 would be a measurement.
CREATE OR REPLACE FUNCTION memwarden_internal.every_gate(p_gates text)
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
RETURN CASE WHEN left(p_gates, 1) IN ('=', '+') THEN
    '05 ' || substr(split_part(p_gates, ' ', 1), 2) || E' S\n06 - S\n08 ' || split_part(p_gates, ' ', 2)
    || E' S\n10 - S\n20 - S\n25 - S\n30 - S'
    || CASE WHEN strpos(p_gates, ' l') > 0 THEN E'\n37_durability - S' ELSE '' END
    || E'\n38 - S\n40 ' || split_part(p_gates, ' ', 3) || ' S'
    || CASE WHEN strpos(p_gates, ' u') > 0 THEN ' "EVIDENCE_UNCLEAR"' ELSE '' END
    || E'\n50 ' || split_part(p_gates, ' ', 4) || E' S\n60 - S\n70 - S'
    || CASE WHEN strpos(p_gates, ' a') > 0 THEN E'\n80 - S' ELSE '' END || E'\n90 - S'
    ELSE p_gates END;
COMMENT ON FUNCTION memwarden_internal.every_gate IS
    'A line for each gate, as gate_entry() makes them, of what is stored in write_request.gates: those lines, or of a plain '
    'write the line of plain_trail(), of which every gate has S, decided as a set, and - for a time that nobody took.';

CREATE OR REPLACE FUNCTION memwarden_internal.gates_of(p_gates text)
RETURNS jsonb
LANGUAGE sql IMMUTABLE PARALLEL SAFE STRICT SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
RETURN (
    SELECT coalesce(jsonb_agg(jsonb_build_object(
               'gate', CASE split_part(g.line, ' ', 1)
                   WHEN '05' THEN '05_identity' WHEN '06' THEN '06_access' WHEN '08' THEN '08_canonical'
                   WHEN '10' THEN '10_idempotency' WHEN '20' THEN '20_admission' WHEN '25' THEN '25_schema'
                   WHEN '30' THEN '30_sensitivity' WHEN '38' THEN '38_known' WHEN '40' THEN '40_evidence'
                   WHEN '50' THEN '50_duplicate' WHEN '60' THEN '60_contradiction' WHEN '70' THEN '70_provenance'
                   WHEN '80' THEN '80_approval' WHEN '90' THEN '90_commit'
                   ELSE split_part(g.line, ' ', 1) END,
               'decision', CASE split_part(g.line, ' ', 3)
                   WHEN 'R' THEN 'REJECT' WHEN 'D' THEN 'DEFER' WHEN 'S' THEN 'DECIDED_AS_SET' ELSE 'ACCEPT' END,
               'us', nullif(split_part(g.line, ' ', 2), '-')::integer,
               'reason', substring(g.line FROM '^\S+ \S+ \S+ (.*)$')::jsonb) ORDER BY g.place), '[]')
      FROM string_to_table(memwarden_internal.every_gate(p_gates), E'\n') WITH ORDINALITY AS g (line, place));
COMMENT ON FUNCTION memwarden_internal.gates_of IS
    'The lines of write_request.gates as everybody is shown them: an array of objects with gate, decision, us and reason. decision: '
    'ACCEPT, REJECT, DEFER, or DECIDED_AS_SET of a plain write, for which no gate ran. us: microseconds; null where nothing was timed.';

CREATE OR REPLACE FUNCTION memwarden_internal.gates_text(p_gates jsonb)
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE STRICT SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
RETURN (
    SELECT coalesce(substr(memwarden_internal.short_gates(string_agg(E'\n' || concat_ws(' ',
               g.entry ->> 'gate', coalesce(g.entry ->> 'us', '-'),
               CASE g.entry ->> 'decision' WHEN 'REJECT' THEN 'R' WHEN 'DEFER' THEN 'D' WHEN 'DECIDED_AS_SET' THEN 'S'
                   ELSE CASE WHEN g.entry ->> 'reason' IS NOT NULL THEN 'A' END END,
               CASE WHEN g.entry ->> 'reason' IS NOT NULL THEN g.entry -> 'reason' END), '' ORDER BY g.place)), 2), '')
      FROM jsonb_array_elements(p_gates) WITH ORDINALITY AS g (entry, place));
COMMENT ON FUNCTION memwarden_internal.gates_text IS 'The lines of write_request.gates, from what gates_of() makes of them.';
