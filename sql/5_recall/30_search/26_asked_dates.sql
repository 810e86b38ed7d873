-- A question that names a month or a year is about what happened then, whatever words tell of it.
CREATE OR REPLACE FUNCTION memwarden_internal.asked_dates(p_query text, p_now timestamptz)
RETURNS tstzmultirange
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
AS $function$
DECLARE
    v_query  text := left(p_query, 10000);
    v_months text[] := ARRAY['january', 'february', 'march', 'april', 'may', 'june', 'july', 'august', 'september', 'october',
        'november', 'december'];
    v_dates  tstzmultirange;
BEGIN
    -- Most name none, and pay for this alone.
    IF v_query !~* E'\\m(?:19|20)\\d\\d\\M|(?:uary|march|april|may|june|july|august|ember|october)\\M' THEN
        RETURN NULL;
    END IF;
    WITH named AS (
        SELECT array_position(v_months, lower(m.found[2])) AS month, m.found[4]::integer AS year
          FROM regexp_matches(v_query,
               E'(\\m(?:in|of|since|until|by|during|last|this|next|early|late|mid)[ -]+|\\m\\d{1,2}(?:st|nd|rd|th)?,? (?:of )?)?'
               || E'\\m(' || array_to_string(v_months, '|') || E')\\M'
               || E'( \\d{1,2}(?:st|nd|rd|th)?\\M)?(?:,?(?: of| in)? ((?:19|20)\\d\\d)\\M)?', 'gi') AS m (found)
         -- May and march are words of another sense, too.
         WHERE lower(m.found[2]) NOT IN ('may', 'march') OR num_nonnulls(m.found[1], m.found[3], m.found[4]) > 0
         UNION
        SELECT m.found[2]::integer, m.found[1]::integer
          FROM regexp_matches(v_query, E'\\m((?:19|20)\\d\\d)-(0[1-9]|1[0-2])\\M', 'g') AS m (found)
    )
    SELECT range_agg(tstzrange(make_timestamp(y.year, n.month, 1, 0, 0, 0) AT TIME ZONE 'UTC',
                               (make_timestamp(y.year, n.month, 1, 0, 0, 0) + interval '1 month') AT TIME ZONE 'UTC'))
      INTO v_dates
      FROM named AS n
     CROSS JOIN LATERAL generate_series(coalesce(n.year, 1970), coalesce(n.year, date_part('year', p_now AT TIME ZONE 'UTC')::integer + 1))
                        AS y (year);
    RETURN coalesce(v_dates, (
        SELECT range_agg(tstzrange(make_timestamp(m.found[1]::integer, 1, 1, 0, 0, 0) AT TIME ZONE 'UTC',
                                   make_timestamp(m.found[1]::integer + 1, 1, 1, 0, 0, 0) AT TIME ZONE 'UTC'))
          FROM regexp_matches(v_query, E'\\m((?:19|20)\\d\\d)\\M', 'g') AS m (found)));
END
$function$;
COMMENT ON FUNCTION memwarden_internal.asked_dates IS
    'The months, or else the years, that a question names in English or as 2023-05; a month without a year is that of any year. NULL '
    'for none.';
