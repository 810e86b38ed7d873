-- Every exception that memwarden raises passes through here, so that each carries DETAIL and HINT
-- and so that the SQLSTATEs stay in one table. A refused write is a result, never an exception.
CREATE OR REPLACE FUNCTION memwarden_internal.raise_error(
    p_name text, p_detail text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL RESTRICTED SECURITY INVOKER
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
COMMENT ON FUNCTION memwarden_internal.raise_error IS
    'Raises the error of that name from memwarden_internal.errors(). The detail carries identifiers, never content.';

CREATE OR REPLACE FUNCTION memwarden_internal.errors()
RETURNS TABLE (name text, sqlstate_code text, message text, hint text)
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
AS $function$
VALUES
    ('not_identified', '28000', 'this session is not bound to a memwarden principal',
     'Connect as the login of an agent: memwarden init makes assistant. An administrator binds another login with '
     'memwarden.register_agent(..., login_role => ...) or memwarden.bind_login(). A login that several agents share calls '
     'memwarden.authenticate() in each transaction.'),
    ('invalid_token', '28000', 'the token is not accepted',
     'Ask the broker for a new token: memwarden.issue_token().'),
    ('token_exposed', '28000', 'the token is written into the query',
     'Query texts are visible in pg_stat_activity and in logs. Pass the token as a bind parameter: SELECT '
     'memwarden.authenticate($1).'),
    ('already_identified', '28000', 'this session or transaction has an identity already',
     'A login acts for one principal only, and a transaction for one token only.'),
    ('no_master_key', '55000', 'the server has no master key',
     'Set MEMWARDEN_MASTER_KEY_FILE in the environment of the server. Tokens are signed under this key.'),
    ('subject_key_unavailable', 'F0000', 'the key of the subject does not open here',
     'Another server, or an earlier generation of subject keys, wrapped it. Bring the generation back, or import the newest keys with '
     'memwarden.import_subject_keys().'),
    ('no_subject_keys', '55000', 'the server has no generation of subject keys',
     'Write a line such as "1 " and 64 hexadecimal digits into the file that is named as MEMWARDEN_MASTER_KEY_FILE, with .subjects.'),
    ('nothing_matched', '42704', 'nothing matched, and nothing was erased',
     'Give the name as memories bear it, and every identifier. dry_run => true counts without erasing.'),
    ('not_permitted', '42501', 'this principal is not permitted to do that',
     'The detail names what is missing. memwarden.whoami() shows what the caller may do.'),
    ('scope_closed', '55000', 'the scope is closed',
     'Nothing can be written or created in a closed scope.'),
    ('session_over', '55000', 'the session is over',
     'The session was closed, or had no call for longer than its ttl. resume_session() continues its task.'),
    ('on_standby', '25006', 'sessions continue on the primary only',
     'Working memory is not kept on a standby. recall(), context(), push() and search_session() work here.'),
    ('not_resident', '55000', 'nothing of this organisation may lie in the region of this server',
     'Write to a server in a region that the detail allows. The views residency and regions show the rules.'),
    ('no_copies', '55000', 'what would be removed is no copy',
     'remove_copies() runs on the subscriber only. Memories end with retract(), expire() or erase_subject().'),
    ('scope_busy', '55P03', 'another writer holds the scope',
     'Try again.'),
    ('partitions_held', '55P03', 'another session holds pg_partman''s lock',
     'The detail names the process of that session. Its transaction must end first.'),
    ('changed_since', '40001', 'the item or the proposals have changed since they were read',
     'Look at history() or preview_decisions() again, then decide anew.'),
    ('too_late', '55000', 'the item can no longer be recovered',
     'The recovery_window of the layer is over.'),
    ('invalid_condition', '42601', 'the condition cannot be accepted',
     E'The detail gives the position and the reason; \\df+ memwarden.set_policy shows what a condition may contain.'),
    ('not_set_up', '55000', 'the storage of memwarden is missing, or its version differs from that of the functions',
     'A superuser runs: SELECT memwarden.setup();'),
    ('storage_newer', '55000', 'memwarden''s storage is newer than its functions',
     'Install the release that made the storage, then run: ALTER EXTENSION memwarden UPDATE;'),
    ('storage_unknown', '55000', 'memwarden''s storage was made by a build that was no release',
     'No migration starts from that storage. Go back to the functions that made it.'),
    ('view_in_use', '2BP01', 'a view that this release shows with other columns has foreign views on it',
     'Keep the definition of what the detail names and drop it. Then run memwarden.setup() again, and create it anew.'),
    ('store_busy', '55P03', 'the tables are being changed or locked',
     'Nothing was done. Try again.'),
    ('wrong_isolation', '25001', 'memory and rights can change only at isolation level READ COMMITTED',
     'At other levels a transaction does not see what others committed meanwhile. Use BEGIN ISOLATION LEVEL READ COMMITTED.'),
    ('wait_before_commit', '25001', 'nobody decides while this transaction is open',
     'It has written, so others do not see its request yet, or wait for what it has locked. COMMIT, then call await_decision() again.'),
    ('superuser_only', '42501', 'setup() needs a superuser',
     'Only a superuser can create the storage and hand it to memwarden_owner.'),
    ('not_superuser', '42501', 'only a superuser may do that',
     'This call changes what no other role may write.'),
    ('log_broken', 'XX001', 'the log and the versions do not match',
     'Both must come from one backup. memwarden.verify_log() shows which entries have changed.'),
    ('heads_differ', '55000', 'the stored rows differ from what the log says',
     'The detail says how many differ. memwarden.verify_log() shows whether the log can be trusted. If it can: SELECT * FROM '
     'memwarden.rebuild_heads(replace => true);'),
    ('inside_extension_script', '55000', 'setup() cannot run inside CREATE or ALTER EXTENSION',
     'Tables created there would become members of the extension and be missing from dumps. Run SELECT memwarden.setup(); by itself.'),
    ('invalid_argument', '22023', 'an argument is outside what this function accepts',
     E'The detail names the argument; \\df+ shows what it accepts.'),
    ('not_expected', '22023', 'the change reaches more than was confirmed',
     'Nothing was changed. Look at what the detail counts, then pass that number as expected.'),
    ('merge_conflict', '22023', 'the merge policy of the kind has no rule for two different values',
     'The detail names the fields. Give them a rule with define_schema(merge_policy => ...), or write what holds and retract the '
     'other memory.'),
    ('merge_invalid', '22023', 'the result of merging the two memories may not be stored',
     'The detail names the rule and the field. Write what is to stay, and retract the other memory.'),
    ('sensitive_argument', '22023', 'an argument contains something that may not be stored',
     'Leave it out. memwarden.scan_text() shows what the rules find.'),
    ('invalid_json', '22P02', 'the text is not JSON',
     'Pass one JSON text in UTF-8.'),
    ('not_canonical', '22023', 'the JSON cannot be put in canonical form',
     'RFC 8785 carries IEEE doubles, unique names and well-formed Unicode. It has no integer beyond 2^53 - 1, no NaN, no infinity, '
     'no lone surrogate and no repeated name.'),
    ('unknown_object', '42704', 'no such memwarden object',
     'The detail names the object. Names are case-sensitive.'),
    ('already_exists', '42710', 'a memwarden object of that name exists already',
     'Choose another name, or change the existing object.'),
    ('protected_gate', '55006', 'this gate cannot be moved, disabled or removed',
     'The pipeline depends on its gates for identity, access, canonical form, schema, sensitivity, scope lock, commit and storing.'),
    ('unsafe_gate', '42501', 'that function cannot serve as a gate',
     'A gate is SECURITY DEFINER, takes (request jsonb) and returns (decision text, reason text, detail jsonb, retry_at '
     'timestamptz). Its owner is neither a superuser, nor memwarden_owner, nor a member of memwarden_owner.'),
    ('unsafe_extractor', '42501', 'that function cannot serve as an extractor',
     'An extractor is SECURITY DEFINER, takes (capture jsonb) and returns SETOF jsonb. Its owner is neither a superuser, nor '
     'memwarden_owner, nor a member of memwarden_owner.'),
    ('append_only', '55006', 'history is append-only',
     'Each change is a new version, which write() makes.'),
    ('not_sealed', '55000', 'the log is not sealed that far yet',
     'The job memwarden.seal_log() seals complete entries. memwarden.status() shows what the job waits for.'),
    ('broken_chain', '55000', 'the chain of log segments is broken',
     'Segments were removed or cut short. For details: SELECT * FROM memwarden.verify_log();'),
    ('more_than_expected', '55000', 'more memories would go than was said',
     'Look at the dry run. Then pass the number that it gives as expected.'),
    ('erasure_incomplete', 'XX000', 'the erasure would leave something behind',
     'Nothing was erased. The detail says where the rest is.'),
    ('model_not_ready', '55000', 'the embedding model is not ready to become active',
     'The detail says what is missing. memwarden.embedding_models shows the progress of reembed(). allow_partial => true switches '
     'without the missing vectors.'),
    ('model_in_use', '55000', 'the embedding model is in use',
     'Switch to another model first: switch_embedding_model().'),
    ('erasure_untrusted', '55000', 'this server did not sign the list of erasures',
     'The detail says why. trust => true accepts a list that another master key signed; nothing accepts a forged list.'),
    ('illegal_transition', '55006', 'a version cannot change to that status',
     'Allowed changes: DRAFT to ACTIVE; ACTIVE to SUPERSEDED, RETRACTED or EXPIRED.'),
    ('trial_over', 'MW001', 'the trial of a request is over',
     'Nobody sees this: gate 06 of the write path awaits it. See memwarden.observe_profile().')
$function$;
COMMENT ON FUNCTION memwarden_internal.errors IS 'Every exception memwarden raises on purpose: its SQLSTATE, message and hint.';
