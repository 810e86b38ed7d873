-- Every gate has accepted. The item is written here, before the request row itself, so that the next
-- row of the same statement already meets it.
CREATE OR REPLACE FUNCTION memwarden_internal.gate_commit()
RETURNS trigger
LANGUAGE plpgsql VOLATILE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_started   timestamptz := clock_timestamp();
    v_now       timestamptz := v_started;
    v_terms     memwarden_data.write_terms := NEW.terms;
    v_exclusive boolean := false;
    v_said      record;
    v_head      memwarden_data.item;
    v_held      integer;
    v_labels    integer[];
    v_succeeds  record;
    v_expires   timestamptz;
    v_ends      timestamptz;
    v_fresh     timestamptz;
    v_valid     tstzrange;
    v_left      tstzmultirange;
    v_ended     jsonb := '[]'::jsonb;
    v_instance  integer;
    v_words     tsvector;
    v_trust     double precision;
    v_grows     boolean;
    v_sealed    bytea;
    v_content   jsonb := NEW.canonical::jsonb;
    v_text      text := NEW.search_text;
BEGIN
    IF NEW.key_hash IS NOT NULL THEN
        v_said := memwarden_internal.predicate_of(NEW.org_id, memwarden_internal.predicate_name(NEW.predicate));
        v_exclusive := 'new_version' = coalesce(v_said.same_key, v_terms.same_key);
        IF v_said.inverse IS NOT NULL AND NOT v_terms.has_relations THEN
            -- Defined while this write waited for the scope, behind the gate that would have looked.
            NEW.outcome := 'DEFERRED';
            NEW.reason := 'SCOPE_BUSY';
            NEW.trail := NEW.trail || memwarden_internal.gate_entry(TG_NAME, NEW.outcome, NEW.reason, v_started);
            RETURN NEW;
        END IF;
    END IF;
    IF v_exclusive THEN
        -- Asked whatever is there: how long it takes must not tell.
        v_labels := memwarden_internal.readable_among(NEW.principal_id, NEW.label_id || ARRAY(
            SELECT i.label_id FROM memwarden_data.item AS i
             WHERE i.org_id = NEW.org_id AND i.scope_id = NEW.scope_id AND i.layer = NEW.layer
               AND i.key_hash = NEW.key_hash AND i.status = 'ACTIVE' AND i.exclusive));
        SELECT i.* INTO v_head
          FROM memwarden_data.item AS i
         WHERE i.org_id = NEW.org_id AND i.scope_id = NEW.scope_id AND i.layer = NEW.layer
           AND i.key_hash = NEW.key_hash AND i.status = 'ACTIVE' AND i.exclusive
           -- What retention lets nobody read is over; a new value is another memory.
           AND (i.kept_until IS NULL OR i.kept_until > v_now)
           AND (CASE WHEN i.principal_id = NEW.principal_id THEN -i.label_id ELSE i.label_id END) = ANY (v_labels)
           -- What it contradicts and stands beside is not what it renews.
           AND (NEW.disputes IS NULL OR i.item_id <> ALL (NEW.disputes))
         ORDER BY i.item_id IS DISTINCT FROM NEW.corrects, v_terms.writers = 'owner' AND i.principal_id <> NEW.principal_id,
             i.label_id <> NEW.label_id,
                  i.principal_id <> NEW.principal_id, i.instance
         LIMIT 1;
        IF FOUND THEN
            v_succeeds := memwarden_internal.label_of_successor(
                NEW.principal_id, NEW.label_id, v_head.label_id, v_head.principal_id,
                NEW.classification IS NOT NULL, NEW.attributes IS NOT NULL);
            IF v_succeeds.refusal IS NOT NULL THEN
                NEW.outcome := 'REJECTED';
                NEW.reason := v_succeeds.refusal;
                NEW.trail := NEW.trail || memwarden_internal.gate_entry(TG_NAME, NEW.outcome, NEW.reason, v_started);
                RETURN NEW;
            END IF;
            NEW.label_id := v_succeeds.label_id;
        ELSE
            SELECT max(i.instance) INTO v_held
              FROM memwarden_data.item AS i
             WHERE i.org_id = NEW.org_id AND i.scope_id = NEW.scope_id AND i.layer = NEW.layer
               AND i.key_hash = NEW.key_hash AND i.status = 'ACTIVE' AND i.exclusive;
            -- The item that held the key before ended before this one begins, whatever the clock says.
            v_now := greatest(v_now, (
                SELECT max(i.updated_at) FROM memwarden_data.item AS i
                 WHERE i.org_id = NEW.org_id AND i.scope_id = NEW.scope_id AND i.layer = NEW.layer
                   AND i.key_hash = NEW.key_hash AND i.status <> 'ACTIVE' AND i.exclusive));
        END IF;
        -- The clock may step back; the versions of an item do not.
        v_now := greatest(v_now, v_head.updated_at + interval '1 microsecond');
    ELSIF NEW.becomes IS NOT NULL THEN
        SELECT i.* INTO v_head
          FROM memwarden_data.item AS i
         WHERE i.org_id = NEW.org_id AND i.item_id = NEW.becomes AND i.status = 'ACTIVE' AND NOT i.exclusive
           AND (v_terms.writers <> 'owner' OR i.principal_id = NEW.principal_id);
        v_succeeds := memwarden_internal.label_of_successor(
            NEW.principal_id, NEW.label_id, v_head.label_id, v_head.principal_id,
            NEW.classification IS NOT NULL, NEW.attributes IS NOT NULL);
        IF v_head.item_id IS NULL OR v_succeeds.refusal IS NOT NULL THEN
            -- Not this writer's to change: a memory of its own.
            v_head := NULL;
            NEW.reason := CASE WHEN NEW.corrects IS NOT NULL THEN v_succeeds.refusal END;
        ELSE
            NEW.label_id := v_succeeds.label_id;
            v_now := greatest(v_now, v_head.updated_at + interval '1 microsecond');
        END IF;
    END IF;
    IF NEW.corrects IS NOT NULL AND v_head.item_id IS DISTINCT FROM NEW.corrects THEN
        -- Of its key another value holds by now, or its predicate was defined anew: a correction becomes no other memory.
        NEW.outcome := 'REJECTED';
        NEW.reason := coalesce(NEW.reason, 'CHANGED_SINCE');
        NEW.trail := NEW.trail || memwarden_internal.gate_entry(TG_NAME, NEW.outcome, NEW.reason, v_started);
        RETURN NEW;
    END IF;
    IF v_head.class IS NOT NULL AND v_head.class IS DISTINCT FROM NEW.class THEN
        -- Of a class that stands there: outranked, or of that class from now on.
        SELECT s.class, s.refusal, s.detail INTO NEW.class, NEW.reason, NEW.detail
          FROM memwarden_internal.succeed_class(NEW.org_id, v_head.item_id, v_head.class, v_terms.class, NEW.subject, NEW.provenance) AS s;
        IF NEW.reason IS NOT NULL THEN
            NEW.outcome := 'REJECTED';
            NEW.trail := NEW.trail || memwarden_internal.gate_entry(TG_NAME, NEW.outcome, NEW.reason, v_started);
            RETURN NEW;
        END IF;
    END IF;
    v_grows := coalesce(NEW.merges AND v_head.item_id = NEW.becomes, false);
    IF v_grows THEN
        NEW.confidence := greatest(NEW.confidence, v_head.confidence);
        NEW.importance := greatest(NEW.importance, v_head.importance);
        NEW.evidence := memwarden_internal.evidence_union(
            (SELECT memwarden_internal.said_evidence(v.evidence, v.subject_key_id, v.sealed)
               FROM memwarden_data.version AS v WHERE v.org_id = NEW.org_id AND v.version_id = v_head.version_id),
            coalesce(NEW.evidence, '[]'));
        NEW.provenance := memwarden_internal.merged_record(NEW.org_id, v_head.version_id, NEW.provenance);
    END IF;
    IF NEW.replaces IS NOT NULL THEN
        v_ended := memwarden_internal.replaced_items(NEW.org_id, array_remove(NEW.replaces, v_head.item_id));
        PERFORM memwarden_internal.end_items(
            NEW.org_id, array_remove(NEW.replaces, v_head.item_id), 'SUPERSEDED', 'SUPERSEDE', 'contradicted by a newer memory',
            NEW.principal_id, NEW.request_id);
    END IF;

    v_words := memwarden_internal.words_of(v_terms.text_search_config, NEW.search_text);
    IF NEW.subject_key_id IS NULL AND v_head.subject_key_id IS NOT NULL THEN
        -- What renews an encrypted memory is encrypted as well, whatever its own class is.
        NEW.subject_key_id := v_head.subject_key_id;
        NEW.content_hash := memwarden_internal.indexed_hash(NEW.content_hash, NEW.subject_key_id);
        NEW.fingerprint := memwarden_internal.indexed_hash(NEW.fingerprint, NEW.subject_key_id);
        NEW.attribute_key := memwarden_internal.indexed_hash(NEW.attribute_key, NEW.subject_key_id);
        NEW.provenance := memwarden_internal.without_words(NEW.provenance, NEW.content_hash);
    END IF;
    IF NEW.subject_key_id IS NOT NULL THEN
        v_sealed := memwarden_internal.seal(NEW.subject_key_id, jsonb_build_object(
            'content', v_content, 'text', v_text, 'evidence', coalesce(NEW.evidence, '[]')));
        IF v_sealed IS NULL THEN
            -- An erasure destroyed the key meanwhile: the next attempt finds another.
            NEW.outcome := 'DEFERRED';
            NEW.reason := 'SCOPE_BUSY';
            NEW.trail := NEW.trail || memwarden_internal.gate_entry(TG_NAME, NEW.outcome, NEW.reason, v_started);
            RETURN NEW;
        END IF;
        v_content := '{"encrypted": true}';
        v_text := '';
        v_words := memwarden_internal.blind_words(NEW.subject_key_id, v_words);
        NEW.evidence := memwarden_internal.cited_only(NEW.evidence);
        NEW.embedding := NULL;
        NEW.inverse_key_hash := NULL;
    END IF;

    NEW.item_id := coalesce(v_head.item_id, memwarden_internal.uuid7());
    NEW.version_id := memwarden_internal.uuid7();
    NEW.importance := coalesce(NEW.importance, 0.5);
    IF NEW.valid_from IS NULL THEN
        -- The clock has moved on since valid_to was looked at. What continues a memory begins no earlier than that did.
        NEW.valid_from := least(v_now, NEW.valid_to - interval '1 microsecond', memwarden_internal.words_said_at(
            NEW.org_id, NEW.grounds, CASE WHEN v_grows OR NEW.corrects IS NOT NULL THEN lower(v_head.valid_during) END));
    END IF;
    v_expires := v_now + coalesce(NEW.ttl, v_terms.default_ttl);
    v_valid := tstzrange(NEW.valid_from, NEW.valid_to);
    v_ends := v_head.expires_at;
    IF v_head.kept_until IS NOT NULL THEN
        v_ends := memwarden_internal.own_end(NEW.org_id, v_head.version_id, v_head.expires_at, v_head.kept_until);
    END IF;
    IF v_head.item_id IS NOT NULL AND v_expires IS NOT NULL THEN
        v_expires := memwarden_internal.end_of_lifetime(
            NEW.org_id, NEW.layer, NEW.principal_id, v_head.created_at, v_ends, coalesce(NEW.ttl, v_terms.default_ttl), v_now);
        v_expires := memwarden_internal.no_sooner_than_others(NEW.principal_id, NEW.org_id, v_head.item_id, v_expires);
    END IF;
    IF NEW.class IS NOT NULL OR v_terms.has_lifetimes THEN
        v_fresh := memwarden_internal.fresh_until(
            NEW.org_id, NEW.layer, NEW.class, NEW.principal_id, coalesce(v_head.created_at, v_now), v_now);
    END IF;
    IF v_grows THEN
        -- It lives as long as the longer of the two, and holds for as long as either did.
        v_expires := CASE WHEN v_ends IS NOT NULL THEN greatest(v_expires, v_ends) END;
        -- Of a key one value holds at a time: what it says now it says from now on.
        v_valid := CASE WHEN v_exclusive THEN v_valid ELSE range_merge(v_valid, v_head.valid_during) END;
    END IF;
    IF v_exclusive AND v_head.item_id IS NOT NULL THEN
        -- A version says what it holds. Where values that began later stand within, other versions say the rest.
        v_left := memwarden_internal.period_left(NEW.org_id, v_head.item_id, v_valid, v_now);
        v_valid := (SELECT u.period FROM unnest(v_left) AS u (period) ORDER BY u.period LIMIT 1);
        IF NEW.corrects IS NULL AND NOT v_grows THEN
            v_ended := memwarden_internal.replaced_values(NEW.org_id, v_head.item_id, NEW.fingerprint, v_left, v_now) || v_ended;
        END IF;
        v_left := v_left - tstzmultirange(v_valid);
    ELSIF NEW.detail ? 'updates' AND v_head.item_id = NEW.becomes THEN
        v_ended := memwarden_internal.replaced_items(NEW.org_id, ARRAY[v_head.item_id]) || v_ended;
    END IF;
    v_instance := coalesce(v_head.instance, v_held + 1, 0);

    IF v_head.item_id IS NOT NULL THEN
        UPDATE memwarden_data.version AS v
           SET status = 'SUPERSEDED', recorded_during = tstzrange(lower(v.recorded_during), v_now)
         WHERE v.org_id = NEW.org_id AND v.version_id = v_head.version_id AND v.tier = 'hot';
        PERFORM memwarden_internal.set_vectors_aside(NEW.org_id, NEW.scope_id, ARRAY[NEW.item_id]);
    END IF;
    INSERT INTO memwarden_data.version (
        org_id, version_id, item_id, version, previous_version_id, status, scope_id, layer, kind, schema_id,
        subject, predicate, exclusive, instance, content, search_text, content_hash, confidence, importance, evidence,
        principal_id, label_id, request_id, recorded_during, valid_during, expires_at, class, subject_key_id, sealed)
    VALUES (
        NEW.org_id, NEW.version_id, NEW.item_id, coalesce(v_head.version, 0) + 1, v_head.version_id, 'ACTIVE',
        NEW.scope_id, NEW.layer, NEW.kind, NEW.schema_id, NEW.subject, NEW.predicate, v_exclusive, v_instance,
        v_content, v_text, NEW.content_hash, NEW.confidence, NEW.importance, coalesce(NEW.evidence, '[]'),
        NEW.principal_id, NEW.label_id, NEW.request_id, tstzrange(v_now, NULL), v_valid, v_expires, NEW.class, NEW.subject_key_id,
        v_sealed);
    INSERT INTO memwarden_data.log (
        recorded_at, transaction_id, system_identifier, org_id, operation, item_id, version_id,
        previous_version_id, scope_id, layer, principal_id, request_id, reason, snapshot_hash)
    VALUES (
        v_now, pg_current_xact_id(), memwarden_internal.system_identifier(), NEW.org_id,
        CASE WHEN v_head.item_id IS NULL THEN 'INSERT' ELSE 'UPDATE' END, NEW.item_id, NEW.version_id,
        v_head.version_id, NEW.scope_id, NEW.layer, NEW.principal_id, NEW.request_id,
        CASE WHEN v_head.item_id IS NULL THEN 'new item' WHEN v_head.item_id = NEW.corrects THEN 'corrected by its writer'
            WHEN v_grows THEN 'says more than it did'
             WHEN v_head.item_id = NEW.becomes THEN 'newer value of the same thing' ELSE 'new value for the same subject and predicate' END,
        memwarden_internal.snapshot_hash(
            NEW.version_id, NEW.item_id, coalesce(v_head.version, 0) + 1, v_head.version_id, NULL, NULL, NEW.scope_id, NEW.layer, NEW.kind,
            NEW.subject, NEW.predicate, NEW.content_hash, NEW.confidence, NEW.importance, coalesce(NEW.evidence, '[]'),
            NEW.principal_id, NEW.label_id, NEW.request_id, v_now, v_valid, v_expires, NEW.class,
            NEW.subject_key_id, v_sealed));
    v_trust := (NEW.provenance ->> 'adjusted_confidence')::double precision;
    IF v_head.item_id IS NULL THEN
        INSERT INTO memwarden_data.item (
            org_id, item_id, scope_id, layer, kind, subject, predicate, status, version_id, version, exclusive, instance,
            confidence, importance, adjusted_confidence, authority, sensitivity, principal_id, label_id, created_at, updated_at,
            expires_at, valid_during, content_hash, fingerprint, key_hash, inverse_key_hash, search_vector, class,
            subject_key_id, fresh_until, conversation, attribute_key, standing)
        VALUES (
            NEW.org_id, NEW.item_id, NEW.scope_id, NEW.layer, NEW.kind, NEW.subject, NEW.predicate, 'ACTIVE', NEW.version_id, 1,
            v_exclusive, v_instance, NEW.confidence, NEW.importance, v_trust, NEW.authority, coalesce(NEW.sensitivity, 'none'),
            NEW.principal_id, NEW.label_id, v_now, v_now, v_expires, v_valid, NEW.content_hash, NEW.fingerprint, NEW.key_hash,
            NEW.inverse_key_hash, v_words, NEW.class, NEW.subject_key_id, v_fresh,
            memwarden_internal.conversation_of(NEW.origin, NEW.scope_id),
            NEW.attribute_key, memwarden_internal.standing_of(NEW.provenance));
    ELSE
        UPDATE memwarden_data.item AS i
           SET kind = NEW.kind, subject = NEW.subject, predicate = NEW.predicate, version_id = NEW.version_id, version = v_head.version + 1,
               confidence = NEW.confidence, importance = NEW.importance, adjusted_confidence = v_trust, authority = NEW.authority,
               standing = memwarden_internal.standing_of(NEW.provenance), sensitivity = coalesce(NEW.sensitivity, 'none'),
               principal_id = NEW.principal_id, label_id = NEW.label_id,
                   updated_at = v_now,
               expires_at = v_expires, valid_during = v_valid, content_hash = NEW.content_hash, fingerprint = NEW.fingerprint,
               key_hash = NEW.key_hash, inverse_key_hash = NEW.inverse_key_hash, search_vector = v_words, class = NEW.class,
               subject_key_id = NEW.subject_key_id, attribute_key = NEW.attribute_key,
               -- What is pinned stays so.
               fresh_until = CASE WHEN i.fresh_until = 'infinity' AND i.class IS NOT DISTINCT FROM NEW.class THEN i.fresh_until
                                  ELSE v_fresh END
         WHERE i.org_id = NEW.org_id AND i.item_id = NEW.item_id;
    END IF;
    PERFORM memwarden_internal.record_provenance(
        NEW.org_id, NEW.scope_id, NEW.item_id, NEW.version_id, v_head.version_id, 'WRITE', NEW.provenance, v_now);
    IF NEW.kind = 'annotation' THEN
        PERFORM memwarden_internal.settle_standing(NEW.org_id, memwarden_internal.cited_item(NEW.subject));
    END IF;
    IF NEW.embedding IS NOT NULL THEN
        -- Straight to the shared shelf, nearly always: finding the partition takes longer than asking whether there is one.
        INSERT INTO memwarden_data.embedding_shared (org_id, scope_id, model_id, item_id, embedding)
        SELECT NEW.org_id, NEW.scope_id, NEW.model_id, NEW.item_id, NEW.embedding::@extschema:vector@.halfvec
         WHERE NOT EXISTS (SELECT FROM memwarden_data.shelf AS s
                            WHERE s.org_id = NEW.org_id AND s.scope_id = NEW.scope_id AND s.layer = NEW.layer AND s.vacated_at IS NULL);
        IF NOT FOUND THEN
            INSERT INTO memwarden_data.embedding (org_id, scope_id, model_id, item_id, embedding, shelf, words)
            SELECT NEW.org_id, NEW.scope_id, NEW.model_id, NEW.item_id, NEW.embedding::@extschema:vector@.halfvec, s.shelf, v_words
              FROM memwarden_data.shelf AS s
             WHERE s.org_id = NEW.org_id AND s.scope_id = NEW.scope_id AND s.layer = NEW.layer AND s.vacated_at IS NULL;
        END IF;
    END IF;
    IF NEW.evidence @? '$[*].uri ? (@ starts with "memwarden:item/")' THEN
        PERFORM memwarden_internal.record_derivation(NEW.principal_id, NEW.org_id, NEW.scope_id, NEW.item_id, NEW.version_id, NEW.evidence);
    END IF;
    IF v_exclusive AND v_head.item_id IS NULL THEN
        INSERT INTO memwarden_data.timeline (org_id, scope_id, item_id, version_id, valid_during, recorded_during)
        VALUES (NEW.org_id, NEW.scope_id, NEW.item_id, NEW.version_id, v_valid, tstzrange(v_now, NULL));
    ELSIF v_exclusive THEN
        PERFORM memwarden_internal.assert_value(NEW.org_id, NEW.scope_id, NEW.item_id, NEW.version_id, v_valid, v_now);
        IF NOT isempty(v_left) THEN
            v_now := memwarden_internal.hold_again(
                NEW.org_id, NEW.item_id, NEW.version_id, v_left, NEW.principal_id, NEW.request_id, v_now);
        END IF;
        IF NOT (isempty(v_left) AND v_valid @> v_now) THEN
            -- Of the past, of the time to come, or of several: the item says what holds now.
            PERFORM memwarden_internal.settle_head(NEW.org_id, NEW.item_id, NEW.principal_id, NEW.request_id, v_now);
        END IF;
    END IF;

    IF NEW.sensitive IS NOT NULL THEN
        PERFORM memwarden_internal.note_personal(NEW.org_id, NEW.item_id, memwarden_internal.personal_kinds(NEW.sensitive));
    END IF;
    IF NEW.class IS NOT NULL OR v_head.kept_until IS NOT NULL THEN
        PERFORM memwarden_internal.settle_kept_until(NEW.org_id, ARRAY[NEW.item_id]);
    END IF;
    IF NEW.disputes IS NOT NULL THEN
        PERFORM memwarden_internal.record_disputes(NEW.org_id, NEW.scope_id, NEW.item_id, NEW.disputes);
    END IF;
    IF NEW.outdates IS NOT NULL THEN
        PERFORM memwarden_internal.record_outdated(NEW.org_id, NEW.scope_id, NEW.item_id, NEW.outdates);
    END IF;

    NEW.verdict := memwarden_internal.verdict(v_head.item_id IS NOT NULL OR NEW.replaces IS NOT NULL, NEW.disputes IS NOT NULL);
    IF (v_terms.class ->> 'signals')::boolean AND NEW.verdict = 'superseded' THEN
        PERFORM memwarden_internal.emit_signals(
            NEW.org_id, NEW.class, NEW.scope_id, NEW.layer, NEW.label_id, NEW.item_id, NEW.version_id, NEW.principal_id,
            v_head.version_id, v_head.principal_id, NEW.replaces, v_now);
    END IF;
    IF NEW.auto_eligible AND NEW.review ? 'auto' THEN
        PERFORM memwarden_internal.sample_for_audit(
            NEW.org_id, NEW.request_id, NEW.item_id, NEW.version_id, NEW.scope_id, NEW.label_id, NEW.principal_id, v_terms.pack,
                NEW.class, v_now);
    END IF;
    NEW.outcome := CASE WHEN v_grows THEN 'MERGED' ELSE 'COMMITTED' END;
    IF v_ended <> '[]' AND NOT v_grows THEN
        NEW.reason := 'REPLACED';
        NEW.detail := coalesce(NEW.detail, '{}') || jsonb_build_object('replaced', v_ended);
    END IF;
    NEW.trail := NEW.trail || memwarden_internal.gate_entry(TG_NAME, NEW.outcome, NEW.reason, v_started);
    RETURN NEW;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.gate_commit IS
    'Trigger gate_90_commit: appends version and log entry and moves the item''s head. A second value for the same '
    'subject and predicate becomes a new version of that item where the layer says so. Source: chapter 12.5, D5.';

CREATE OR REPLACE FUNCTION memwarden_internal.system_identifier()
RETURNS bigint
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    -- As an expression, which PL/pgSQL evaluates without a statement.
    RETURN (pg_control_system()).system_identifier;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.system_identifier IS
    'The identifier of this database cluster: transaction ids compare within one cluster only.';
