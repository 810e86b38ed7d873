-- Every exception that memwarden raises passes through here, so that each carries DETAIL and HINT
-- and so that the SQLSTATEs stay in one table. A refused write is a result, never an exception.
CREATE OR REPLACE FUNCTION memwarden_internal.raise_error(
    p_name text, p_detail text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL RESTRICTED SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $function$
DECLARE
    v_error record;
BEGIN
    SELECT e.sqlstate_code, e.message, e.hint INTO v_error
      FROM memwarden_internal.errors() AS e
     WHERE e.name = p_name;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'memwarden raised an error it does not define: %', p_name
            USING ERRCODE = 'internal_error';
    END IF;
    RAISE EXCEPTION '%', v_error.message
        USING ERRCODE = v_error.sqlstate_code,
              DETAIL = coalesce(p_detail, ''),
              HINT = v_error.hint;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.raise_error(text, text) IS
    'Raises the error of that name from memwarden_internal.errors(). The detail carries identifiers, never content.';
REVOKE ALL ON FUNCTION memwarden_internal.raise_error(text, text) FROM PUBLIC;

CREATE OR REPLACE FUNCTION memwarden_internal.errors()
RETURNS TABLE (name text, sqlstate_code text, message text, hint text)
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $function$
VALUES
    ('not_identified', '28000', 'this session is not bound to a memwarden principal',
     'An administrator binds a login role with memwarden.register_agent(..., login_role => ...) or memwarden.bind_login(); a '
     'login that several share calls memwarden.authenticate() in each transaction.'),
    ('invalid_token', '28000', 'the token is not accepted',
     'Ask the broker for a new one: memwarden.issue_token().'),
    ('token_exposed', '28000', 'the token is written into the query',
     'A query text is seen in pg_stat_activity and in logs. Pass the token as a bind parameter: SELECT memwarden.authenticate($1).'),
    ('already_identified', '28000', 'this session or transaction has an identity already',
     'One login acts for one principal, or one transaction for one token.'),
    ('no_master_key', '55000', 'the server has no master key',
     'Tokens are signed under it: set MEMWARDEN_MASTER_KEY_FILE in the environment of the server.'),
    ('not_permitted', '42501', 'that is not permitted to this principal',
     'The detail names what was missing. memwarden.whoami() tells what the caller may.'),
    ('scope_closed', '55000', 'the scope was closed',
     'Nothing is written or created in a closed scope.'),
    ('session_over', '55000', 'the session is over',
     'It was closed, or nobody called for longer than its ttl. resume_session() goes on with its task.'),
    ('on_standby', '25006', 'sessions go on on the primary alone',
     'Working memory is not kept on a standby. recall(), context(), push() and search_session() answer here.'),
    ('scope_busy', '55P03', 'another writer holds the scope',
     'Try again.'),
    ('partitions_held', '55P03', 'another session holds the lock under which pg_partman works',
     'The detail names its process. Its transaction has to end.'),
    ('changed_since', '40001', 'the item has changed since',
     'Look at its history() again, then decide anew.'),
    ('too_late', '55000', 'the item can no longer be recovered',
     'The layer''s recovery_window is over.'),
    ('invalid_condition', '42601', 'the condition of the policy cannot be accepted',
     E'The detail says where and why; \\df+ memwarden.set_policy shows what a condition may hold.'),
    ('not_set_up', '55000', 'memwarden''s storage is missing or of another version than its functions',
     'A superuser runs: SELECT memwarden.setup();'),
    ('storage_newer', '55000', 'memwarden''s storage is newer than its functions',
     'Install the release that the storage comes from, then: ALTER EXTENSION memwarden UPDATE;'),
    ('storage_unknown', '55000', 'memwarden''s storage was made by a build that was no release',
     'No migration leads on from it. Go back to the functions that it was made with.'),
    ('store_busy', '55P03', 'the tables are being changed or locked',
     'Nothing was done. Try again.'),
    ('wrong_isolation', '25001', 'memory and rights change at READ COMMITTED only',
     'At other isolation levels nobody sees what another committed first. Use BEGIN ISOLATION LEVEL READ COMMITTED.'),
    ('superuser_only', '42501', 'setup() needs a superuser',
     'Only a superuser can create the storage and hand it to memwarden_owner.'),
    ('not_superuser', '42501', 'only a superuser may do that',
     'It changes what nobody else may write.'),
    ('log_broken', 'XX001', 'log and versions do not belong together',
     'Both come from one backup. memwarden.verify_log() says which entries are not what they were.'),
    ('heads_differ', '55000', 'what is there is not what the log says',
     'The detail says how much. memwarden.verify_log() says whether the log can be trusted; if so: SELECT * FROM '
     'memwarden.rebuild_heads(replace => true);'),
    ('inside_extension_script', '55000', 'setup() cannot run inside CREATE or ALTER EXTENSION',
     'Tables created there would become members of the extension and be lost from dumps. Run SELECT memwarden.setup(); by itself.'),
    ('invalid_argument', '22023', 'an argument is outside what this function accepts',
     E'The detail names the argument; \\df+ shows what it takes.'),
    ('merge_conflict', '22023', 'the merge policy of their kind does not say what becomes of two different values',
     'The detail names the fields. Give them a rule with define_schema(merge_policy => ...), or write what holds and retract the other.'),
    ('merge_invalid', '22023', 'what two memories would make together may not be kept',
     'The detail names the rule and the field. Write what is to stay, and retract the other.'),
    ('sensitive_argument', '22023', 'an argument holds something that may not be kept',
     'Say it without; memwarden.scan_text() tells what the rules find.'),
    ('invalid_json', '22P02', 'the text is not JSON',
     'Pass one JSON text in UTF-8.'),
    ('not_canonical', '22023', 'the JSON cannot be put in canonical form',
     'RFC 8785 carries IEEE doubles, unique names and well-formed Unicode: no integer beyond 2^53 - 1, no NaN, no infinity, '
     'no lone surrogate, no repeated name.'),
    ('unknown_object', '42704', 'no such memwarden object',
     'The detail names it. Names are case-sensitive.'),
    ('already_exists', '42710', 'a memwarden object of that name exists',
     'Choose another name, or change the one that is there.'),
    ('protected_gate', '55006', 'this gate cannot be moved, disabled or removed',
     'Identity, access, canonical form, schema, sensitivity, scope lock, commit and storing hold the pipeline together.'),
    ('unsafe_gate', '42501', 'that function cannot serve as a gate',
     'A gate is SECURITY DEFINER, takes (request jsonb), returns (decision text, reason text, detail jsonb, retry_at timestamptz), '
     'and is owned neither by a superuser nor by memwarden_owner or a member of it.'),
    ('unsafe_extractor', '42501', 'that function cannot serve as an extractor',
     'An extractor is SECURITY DEFINER, takes (capture jsonb), returns SETOF jsonb, and is owned neither by a superuser nor '
     'by memwarden_owner or a member of it.'),
    ('append_only', '55006', 'history is append-only',
     'Changes are new versions; write() makes them.'),
    ('not_sealed', '55000', 'the log is not sealed so far yet',
     'The job memwarden.seal_log() seals what is complete; memwarden.status() says what it waits for.'),
    ('broken_chain', '55000', 'the chain of log segments is broken',
     'Segments were removed or cut short: SELECT * FROM memwarden.verify_log() says more.'),
    ('erasure_incomplete', 'XX000', 'something would be left of what was to be erased',
     'Nothing was erased. The detail says where it is.'),
    ('model_not_ready', '55000', 'the embedding model cannot take over yet',
     'The detail says what is missing; memwarden.embedding_models tells how far reembed() is. allow_partial => true goes over without it.'),
    ('model_in_use', '55000', 'the embedding model is in use',
     'switch_embedding_model() to another one first.'),
    ('erasure_untrusted', '55000', 'the list of erasures is not one that this server signed',
     'The detail says why. A list that another master key signed is taken with trust => true; a forged one never.'),
    ('illegal_transition', '55006', 'a version cannot change to that status',
     'Legal: DRAFT to ACTIVE; ACTIVE to SUPERSEDED, RETRACTED or EXPIRED.')
$function$;
COMMENT ON FUNCTION memwarden_internal.errors() IS
    'Every exception memwarden raises on purpose: its SQLSTATE, message and hint.';
REVOKE ALL ON FUNCTION memwarden_internal.errors() FROM PUBLIC;
