-- Where a layer is judged by a model's vectors, what brings none waits until the worker has made it: what a gate did not compare is not
-- compared afterwards. Behind the look for secrets, since what waits is kept and shown to the worker; before the gates that compare.
CREATE OR REPLACE FUNCTION memwarden_internal.gate_embedding()
RETURNS trigger
LANGUAGE plpgsql VOLATILE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_started timestamptz := clock_timestamp();
    v_asked   record;
    v_model   text := memwarden_internal.active_model(NEW.org_id);
BEGIN
    IF NEW.subject_key_id IS NOT NULL THEN
        -- What is encrypted has no vector, and no worker sees its words for one.
        NEW.trail := NEW.trail || memwarden_internal.gate_entry(TG_NAME, NEW.outcome, NEW.reason, v_started);
        RETURN NEW;
    END IF;
    v_asked := memwarden_internal.ask_embedder(NEW.org_id, NEW.request_id, NEW.search_text);
    IF v_asked.state = 'waiting' THEN
        NEW.outcome := 'DEFERRED';
        NEW.reason := 'AWAITING_EMBEDDING';
        NEW.detail := jsonb_strip_nulls(jsonb_build_object(
            'model', v_model, 'warning', CASE WHEN NOT memwarden_internal.has_embedder(v_model) THEN 'NO_EMBEDDER' END));
        NEW.retry_at := least(v_asked.retry_at, NEW.deadline);
    ELSIF v_asked.state = 'timed_out' THEN
        NEW.outcome := 'REJECTED';
        NEW.reason := 'EMBEDDING_TIMEOUT';
    END IF;
    NEW.trail := NEW.trail || memwarden_internal.gate_entry(TG_NAME, NEW.outcome, NEW.reason, v_started);
    RETURN NEW;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.gate_embedding IS
    'Trigger gate_34_embedding: defers a write that has no vector of a model, in a layer whose embedding is worker, '
    'until the worker has made one; the gates behind it judge with that. Source: chapter 12.2.4, Z6.';
