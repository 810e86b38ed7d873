-- What setup() called to hang policies and views on tables of references.
DROP FUNCTION memwarden_internal.bind_references();
DROP FUNCTION memwarden_internal.bind_reference_view(integer);
DROP FUNCTION memwarden_internal.apply_bound();
-- The compiled Python lies in a table now.
DROP FUNCTION memwarden_internal.compiled_python();
DROP FUNCTION memwarden_internal.python_to_keep();
-- A recall asks for all that telling depends on at once, and its model by organisation.
DROP FUNCTION memwarden_internal.standing_rules(bigint);
DROP FUNCTION memwarden_internal.hedges(bigint, text);
DROP FUNCTION memwarden_internal.recall_model(text, real[]);
DROP FUNCTION memwarden_internal.texts(jsonb);
-- A deletion for good has a cause.
DROP FUNCTION memwarden_internal.erasure_statement(bigint, uuid, timestamptz, text, bigint, bytea, bytea, integer, integer, integer,
    integer, integer, text[], text);
DROP FUNCTION memwarden_internal.record_erasure(bigint, uuid, timestamptz, text, bytea, memwarden_internal.erasure_extent);
DROP FUNCTION memwarden_internal.record_erased_items(bigint[], uuid, uuid[]);
DROP FUNCTION memwarden_internal.erase_items(bigint[], uuid[]);
-- The report of an outcome names the action that rests on what was used.
DROP FUNCTION memwarden.report_outcome(uuid, uuid[], text, jsonb);
-- The log of recalls says what was withheld.
DROP FUNCTION memwarden_internal.log_recall(bigint, text, text, jsonb, memwarden_internal.recalled_item[], text, uuid);
-- A class of writes has a soft lifetime and a decay.
DROP FUNCTION memwarden.define_write_class(text, text, text[], interval, interval, text, text, text, text[], integer, boolean, text);
-- A certificate counts by place, and becomes final.
DROP FUNCTION memwarden.erase_subject(text, text, text[], text, boolean);
-- A scope may promote what is important when it closes.
DROP FUNCTION memwarden.create_scope(text, interval);
DROP FUNCTION memwarden.close_scope(text, uuid[], text);
DROP FUNCTION memwarden_internal.add_scope(bigint, bigint, bigint[], timestamptz, text, text, interval);
DROP FUNCTION memwarden_internal.hold_promoted(bigint, bigint, bigint[], uuid[], text);
-- A worker's part of a write is found in the trace of the write.
DROP FUNCTION memwarden.claim_jobs(text, text[], integer, interval);
-- A hold on a scope keeps evidence, too.
DROP FUNCTION memwarden_internal.blocking_holds(bigint[], uuid[], text, text[], text);
-- The parts of names are found in the same pass.
DROP FUNCTION memwarden_internal.examine(text, text, text, text, text, text, text, integer, boolean, text, text);
-- A write is compared with what tells of the same attribute, and a mark says whether it is a dispute or a newer value.
DROP FUNCTION memwarden_internal.neighbours(bigint, bigint, text, bigint, integer, smallint, @extschema:vector@.halfvec, bytea,
    double precision, timestamptz);
DROP FUNCTION memwarden_internal.look_around(bigint, bigint, text, bigint, integer, smallint, real[], bytea, double precision,
    timestamptz, text, text, text, text, timestamptz, timestamptz);
DROP FUNCTION memwarden_internal.contradicting(bigint, uuid, bytea, bigint, integer[]);
DROP FUNCTION memwarden_internal.examine_merged(bigint, bigint, text, text, text, boolean);
-- Recency counts from when a memory was said or true.
DROP FUNCTION memwarden_internal.recency(timestamptz, timestamptz, double precision);
-- Standing follows from the last record of a version, and is no setting.
DROP VIEW IF EXISTS memwarden.standings;
DROP FUNCTION memwarden_internal.list_standings();
DROP FUNCTION memwarden.set_standing_rule(text, double precision, double precision, integer, text);
DROP FUNCTION memwarden_internal.standing(jsonb, boolean, boolean, text, integer, double precision, double precision);
DROP FUNCTION memwarden_internal.trust_of_version(bigint, uuid);
DROP FUNCTION memwarden_internal.cited_memory(bigint, bigint, uuid, text, timestamptz);
-- A predicate may end what another says.
DROP FUNCTION memwarden.define_predicate(text, text, text, text, text[], jsonb, jsonb);
-- A capture names the agents that may cite it, and its source may say who else.
DROP FUNCTION memwarden.capture(text, jsonb, text, text, text, text, timestamptz, text, text[]);
DROP FUNCTION memwarden.define_capture_source(text, interval, interval, integer, text);
DROP FUNCTION memwarden_internal.append_capture(bigint, bigint, bigint, text, jsonb, text, text, text, timestamptz, text, text[]);
DROP FUNCTION memwarden_internal.capture_terms(bigint, text);
DROP FUNCTION memwarden_internal.cited_capture(bigint, bigint, uuid, text);
-- A worker is asked about what is stored, too.
DROP FUNCTION memwarden_internal.hold_job(uuid, text);
-- A mark is a dispute or a newer value.
DROP FUNCTION memwarden_internal.is_disputed(bigint, uuid, bytea, bigint, integer[]);
-- Settings belong to the server, an organisation or an agent.
DROP FUNCTION memwarden.configure_layer(text, jsonb);
DROP FUNCTION memwarden_internal.layer_risk(text);
DROP FUNCTION memwarden_internal.newer_first(memwarden_internal.recalled_item[], jsonb);
DROP FUNCTION memwarden_internal.most_items(text);
DROP FUNCTION memwarden_internal.session_ttl(interval);
DROP FUNCTION memwarden_internal.approval_terms(bigint, text, text, text, bigint);
DROP FUNCTION memwarden_internal.request_risk(bigint, bigint, text, text, text, bigint, boolean, jsonb, jsonb, jsonb);
DROP FUNCTION memwarden_internal.assess_risk(bigint, text, bigint, double precision[], double precision, boolean, jsonb, double precision,
    jsonb);
-- Whoever asks who it is learns what is asked of its writes.
DROP FUNCTION memwarden.whoami();
