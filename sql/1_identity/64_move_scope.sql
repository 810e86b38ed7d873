CREATE OR REPLACE FUNCTION memwarden.move_scope(path text, new_parent text)
RETURNS text
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_scope    record := memwarden_internal.require_scope(move_scope.path);
    v_parent   record;
    v_old      text := move_scope.path;
    v_new      text;
    v_scopes   bigint[];
BEGIN
    PERFORM memwarden_internal.require_administration(v_scope.org_id, 'full');
    -- One move at a time in an organisation: two could each put its scope below the other's.
    PERFORM memwarden_internal.hold_organisation(v_scope.org_id);
    v_scope := memwarden_internal.require_scope(move_scope.path);
    v_parent := memwarden_internal.require_scope(move_scope.new_parent);
    IF v_scope.parent_id IS NULL OR v_scope.parent_id = 0 OR v_parent.org_id <> v_scope.org_id
        OR v_scope.scope_id = ANY (v_parent.lineage) THEN
        PERFORM memwarden_internal.raise_error('invalid_argument',
            'new_parent: a scope of the same organisation, outside what is moved; /global and organisations stay where they are');
    END IF;
    v_scopes := memwarden_internal.hold_scopes(v_scope.scope_id, v_parent.scope_id);
    v_new := move_scope.new_parent || '/' || v_scope.kind || '/' || substring(v_old FROM '[^/]+$');
    IF EXISTS (SELECT FROM memwarden_data.scope AS s WHERE s.scope_id = v_parent.scope_id AND s.closed_at IS NOT NULL) THEN
        PERFORM memwarden_internal.raise_error('scope_closed', format('scope %L', move_scope.new_parent));
    ELSIF EXISTS (SELECT FROM memwarden_data.scope AS s WHERE s.path = v_new AND s.scope_id <> v_scope.scope_id) THEN
        PERFORM memwarden_internal.raise_error('already_exists', format('scope %L', v_new));
    ELSIF (SELECT max(length(s.path)) FROM memwarden_data.scope AS s WHERE s.scope_id = ANY (v_scopes))
          - length(v_old) + length(v_new) > 1000 THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'new_parent: no path may have more than 1,000 characters');
    END IF;
    UPDATE memwarden_data.scope AS s
       SET path = v_new || substr(s.path, length(v_old) + 1),
           lineage = v_parent.lineage || s.lineage[cardinality(v_scope.lineage):],
           parent_id = CASE WHEN s.scope_id = v_scope.scope_id THEN v_parent.scope_id ELSE s.parent_id END
     WHERE s.scope_id = ANY (v_scopes);
    -- What was held for lying beneath a scope is held wherever it goes.
    UPDATE memwarden_data.legal_hold AS h SET scope_ids = h.scope_ids || v_scope.scope_id
     WHERE h.org_id = v_scope.org_id AND h.lifted_at IS NULL AND h.scope_ids && v_scope.lineage
       AND NOT h.scope_ids && v_parent.lineage AND v_scope.scope_id <> ALL (h.scope_ids);
    -- The nearest pack is that of the deepest scope, and another may be that now.
    UPDATE memwarden_data.pack_use AS u SET depth = cardinality(s.lineage)
      FROM memwarden_data.scope AS s WHERE s.scope_id = u.scope_id AND u.scope_id = ANY (v_scopes);
    PERFORM memwarden_internal.renew_pack_rules(v_scope.org_id);
    PERFORM memwarden_internal.record_access_change(v_scope.org_id, 'move_scope',
        jsonb_build_object('scope_id', v_scope.scope_id, 'from', v_old, 'to', v_new));
    RETURN v_new;
EXCEPTION WHEN unique_violation THEN
    PERFORM memwarden_internal.raise_error('already_exists', format('a scope on the path of %L', v_new));
END
$function$;
COMMENT ON FUNCTION memwarden.move_scope IS
    'Moves a scope, with everything below it, under another scope of its organisation and returns the new path. The memories stay in '
    'the scope, and so do grants on it. At once the new place decides who reads the scope from above or below, and what it inherits. '
    'The caller administers the organisation. path: the scope to move. new_parent: the scope under which it is put. Raises 42704 for '
    'an unknown scope, 42710 when the place is taken, 22023 for a place inside the moved scope, in another organisation or too deep, '
    '42501 without the right, 55000 below a closed scope, 25001 at an isolation level other than READ COMMITTED. '
    'Raises 55P03 when others hold it up for longer than 30 seconds, or lock_timeout.';
GRANT EXECUTE ON FUNCTION memwarden.move_scope TO memwarden_curator, memwarden_admin;
