CREATE OR REPLACE FUNCTION memwarden_internal.require_holder(p_org text)
RETURNS bigint
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_principal_id bigint := memwarden_internal.current_principal();
    v_org_id       bigint;
BEGIN
    IF v_principal_id IS NULL AND NOT memwarden_internal.is_database_admin() THEN
        PERFORM memwarden_internal.raise_not_identified();
    ELSIF v_principal_id IS NULL AND p_org IS NULL THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'org: name the organisation');
    END IF;
    SELECT o.org_id INTO v_org_id FROM memwarden_data.organisation AS o
     WHERE CASE WHEN p_org IS NOT NULL THEN o.name = p_org
                ELSE o.org_id = (SELECT p.org_id FROM memwarden_data.principal AS p WHERE p.principal_id = v_principal_id) END;
    IF v_principal_id IS NOT NULL AND NOT EXISTS (
        SELECT FROM memwarden_data.principal AS p
          JOIN memwarden_data.role_permission AS r ON r.role_id = p.role_id
         WHERE p.principal_id = v_principal_id AND p.org_id = v_org_id AND r.operation = 'HOLD') THEN
        PERFORM memwarden_internal.raise_error('not_permitted', 'HOLD');
    ELSIF v_org_id IS NULL THEN
        PERFORM memwarden_internal.raise_error('unknown_object', format('organisation %L', p_org));
    END IF;
    RETURN v_org_id;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.require_holder IS
    'The organisation in which the caller may set and lift holds: its own, where its role permits HOLD; any that it names, for '
    'members of memwarden_admin. Raises 42501 without the right, 28000 without an identity, 22023 where an administrator names '
    'none, 42704 for an unknown one.';

CREATE OR REPLACE FUNCTION memwarden.hold(
    reason text, item_id uuid DEFAULT NULL, subject text DEFAULT NULL, scope text DEFAULT NULL, texts text[] DEFAULT NULL,
    layers text[] DEFAULT NULL, written_during tstzrange DEFAULT NULL, four_eyes boolean DEFAULT NULL, org text DEFAULT NULL)
RETURNS TABLE (hold_id uuid, items bigint)
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_org_id bigint := memwarden_internal.require_holder(hold.org);
    v_scopes bigint[];
BEGIN
    PERFORM memwarden_internal.check_hold(hold.reason, hold.subject, hold.texts, hold.layers, hold.written_during);
    IF num_nonnulls(hold.item_id, hold.subject, hold.scope, hold.texts, hold.layers, hold.written_during) = 0 THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'name what to hold: item_id, subject, scope, texts, layers '
            'or written_during; for all of an organisation, its scope');
    END IF;
    IF hold.scope IS NOT NULL THEN
        v_scopes := ARRAY(SELECT s.scope_id FROM memwarden_data.scope AS s WHERE s.org_id = v_org_id AND s.path = hold.scope);
        IF v_scopes = '{}' THEN
            PERFORM memwarden_internal.raise_error('unknown_object', format('scope %L', hold.scope));
        END IF;
    END IF;
    -- Waits for deletions that have looked for holds, and keeps others from looking: move_scope() too.
    PERFORM memwarden_internal.hold_organisation(v_org_id);
    IF hold.item_id IS NOT NULL AND NOT EXISTS (
        SELECT FROM memwarden_data.item AS i WHERE i.org_id = v_org_id AND i.item_id = hold.item_id) THEN
        PERFORM memwarden_internal.raise_error('unknown_object', format('item %s', hold.item_id));
    END IF;
    hold_id := memwarden_internal.uuid7();
    INSERT INTO memwarden_data.legal_hold (org_id, hold_id, reason, item_id, subject, scope_ids, texts, layers, written_during,
        four_eyes, set_at, set_by, set_login)
    VALUES (v_org_id, hold.hold_id, hold.reason, hold.item_id, hold.subject, v_scopes, hold.texts, hold.layers, hold.written_during,
            coalesce(hold.four_eyes, memwarden_internal.lifts_by_two(v_org_id)), clock_timestamp(),
            memwarden_internal.current_principal(), session_user);
    PERFORM memwarden_internal.record_access_change(v_org_id, 'hold', jsonb_build_object('hold_id', hold.hold_id));
    items := cardinality(memwarden_internal.held_items(v_org_id, hold.hold_id));
    RETURN NEXT;
END
$function$;
COMMENT ON FUNCTION memwarden.hold IS
    'Sets a legal hold and returns its number, and how many memories it holds now. A held memory survives collection, retention '
    'and erasure: erase_subject() waits with status BLOCKED as long as one memory of the person is held, or a hold names the person. '
    'A hold prevents loss, not change: agents and people may still correct, retract, expire and roll back a held memory, because its '
    'history keeps every version, which history() and held_items() show. The arguments say what is held; a memory is held if one of '
    'its versions, present or past, is all that they ask for. They are asked whenever something is to be deleted, never only '
    'once: what is written later and fits is held, and what was held and is corrected since still is. item_id: this memory. '
    'subject: memories with this subject, compared as keys are, about the entity of that name, or that name an identifier that '
    'register_subject() registered of it. scope: memories of this scope '
    'and all beneath it, also of those that move away from there. texts: memories that name one of 1 to 100 texts, found as '
    'erase_subject() finds identifiers: literally, whatever the case, never as part of a longer word; and memories that this server '
    'cannot read, because a key is missing. layers: memories of these '
    'layers. written_during: versions that were written in that time. reason: 1 to 1,000 characters. four_eyes: whether two persons '
    'lift it; by default as set_hold_policy() says. org: the organisation, for members of memwarden_admin; others hold in their '
    'own. The caller''s role must permit HOLD. Raises 42501 without the right; 28000 without an identity; 42704 for an unknown '
    'item, scope, layer or organisation; 22023 for arguments out of range; 25001 at an isolation level other than READ COMMITTED; '
    '55000 before setup(). '
    'Raises 55P03 when others hold it up for longer than 30 seconds, or lock_timeout. '
    'Source: Z5.';
GRANT EXECUTE ON FUNCTION memwarden.hold TO memwarden_reviewer, memwarden_curator, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden_internal.check_hold(
    p_reason text, p_subject text, p_texts text[], p_layers text[], p_written_during tstzrange)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_layer text;
BEGIN
    IF p_reason IS NULL OR p_reason !~ E'\\S' OR length(p_reason) > 1000 THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'reason: 1 to 1,000 characters, not blank');
    ELSIF p_subject !~ E'\\S' OR length(p_subject) > 1000 THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'subject: 1 to 1,000 characters, not blank');
    ELSIF cardinality(p_texts) NOT BETWEEN 1 AND 100 OR NOT memwarden_internal.is_list(p_texts) OR EXISTS (
        SELECT FROM unnest(p_texts) AS t (said) WHERE length(t.said) > 1000
            OR length(coalesce((memwarden_internal.search_terms(ARRAY[t.said]))[1], '')) < 2) THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'texts: 1 to 100, each of 2 to 1,000 characters');
    ELSIF p_layers = '{}' OR isempty(p_written_during) THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'layers, written_during: not empty');
    END IF;
    SELECT l.name INTO v_layer FROM unnest(p_layers) AS l (name)
     WHERE NOT EXISTS (SELECT FROM memwarden_data.layer AS k WHERE k.layer = l.name) LIMIT 1;
    IF FOUND THEN
        PERFORM memwarden_internal.raise_error('unknown_object', format('layer %L', v_layer));
    END IF;
    IF memwarden_internal.current_principal() IS NOT NULL THEN
        PERFORM memwarden_internal.require_harmless(memwarden_internal.current_principal(), jsonb_build_object('reason', p_reason));
    END IF;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.check_hold IS
    'Raises 22023 for arguments of hold() out of range, 42704 for an unknown layer.';

CREATE OR REPLACE FUNCTION memwarden_internal.held_items(p_org_id bigint, p_hold_id uuid)
RETURNS uuid[]
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN ARRAY(
        SELECT memwarden_internal.held_among(p_org_id, p_hold_id, ARRAY(
            SELECT i.item_id FROM memwarden_data.item AS i
              JOIN memwarden_data.legal_hold AS h ON h.org_id = i.org_id AND h.hold_id = p_hold_id
             WHERE i.org_id = p_org_id AND (h.item_id IS NULL OR i.item_id = h.item_id))));
END
$function$;
COMMENT ON FUNCTION memwarden_internal.held_items IS 'All items that a hold keeps.';

CREATE OR REPLACE FUNCTION memwarden.set_hold_policy(four_eyes boolean, org text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_org_id bigint := memwarden_internal.administered_org(set_hold_policy.org, 'full');
BEGIN
    IF set_hold_policy.four_eyes IS NULL THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'four_eyes: true or false');
    END IF;
    INSERT INTO memwarden_data.hold_policy AS p (org_id, four_eyes) VALUES (v_org_id, set_hold_policy.four_eyes)
    ON CONFLICT ON CONSTRAINT hold_policy_pkey DO UPDATE SET four_eyes = excluded.four_eyes;
    PERFORM memwarden_internal.record_access_change(v_org_id, 'set_hold_policy', jsonb_build_object('four_eyes',
        set_hold_policy.four_eyes));
END
$function$;
COMMENT ON FUNCTION memwarden.set_hold_policy IS
    'Says whether two persons lift the legal holds of an organisation that are set from now on. Holds that are set keep what '
    'they have, because who may change the policy could lift them alone. As shipped, one person lifts a hold. four_eyes: true asks '
    'a second person, in review_queue(). org: the organisation; by default the caller''s, and for members of memwarden_admin all '
    'that say nothing of their own. Raises 22023 for NULL, 42501 without ADMIN (full), 42704 for an unknown organisation, 25001 at an '
    'isolation level other than READ COMMITTED. Source: Z5.';
GRANT EXECUTE ON FUNCTION memwarden.set_hold_policy TO memwarden_curator, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden_internal.lifts_by_two(p_org_id bigint)
RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN coalesce((SELECT p.four_eyes FROM memwarden_data.hold_policy AS p WHERE p.org_id IN (0, p_org_id)
                      ORDER BY p.org_id DESC LIMIT 1), false);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.lifts_by_two IS 'Whether two persons lift the holds that an organisation sets.';
