-- Hash trees as RFC 6962 has them. See plpython/memwarden_core/merkle.py.
CREATE OR REPLACE FUNCTION memwarden_internal.merkle_root(p_leaves bytea)
RETURNS bytea
LANGUAGE plpython3u IMMUTABLE STRICT PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
if "memwarden:@python_hash@" not in GD: plpy.execute("SELECT memwarden_internal.load_python()")
return GD["memwarden:@python_hash@"].merkle_root(p_leaves)
$function$;
COMMENT ON FUNCTION memwarden_internal.merkle_root IS 'The root of the tree over leaf hashes, 32 bytes each.';

CREATE OR REPLACE FUNCTION memwarden_internal.merkle_path(p_leaves bytea, p_index bigint)
RETURNS bytea
LANGUAGE plpython3u IMMUTABLE STRICT PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
if "memwarden:@python_hash@" not in GD: plpy.execute("SELECT memwarden_internal.load_python()")
return GD["memwarden:@python_hash@"].merkle_path(p_leaves, p_index)
$function$;
COMMENT ON FUNCTION memwarden_internal.merkle_path IS
    'The hashes that lead from a leaf (the first is 0) to the root, lowest first.';

CREATE OR REPLACE FUNCTION memwarden_internal.append_to_chain(
    p_segment_no bigint, p_record text, OUT nodes bytea, OUT head_hash bytea)
RETURNS record
LANGUAGE plpython3u STABLE STRICT PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
if "memwarden:@python_hash@" not in GD: plpy.execute("SELECT memwarden_internal.load_python()")
stored = plpy.prepare("SELECT memwarden_internal.chain_node($1, $2) AS node", ["integer", "bigint"])
return GD["memwarden:@python_hash@"].append_segment(
    p_segment_no - 1, p_record, lambda level, position: plpy.execute(stored, [level, position])[0]["node"])
$function$;
COMMENT ON FUNCTION memwarden_internal.append_to_chain IS
    'What the tree over segments stores for a new segment with that record, and the head that it makes.';

CREATE OR REPLACE FUNCTION memwarden_internal.chain_path(p_segment_no bigint, p_head_no bigint)
RETURNS bytea
LANGUAGE plpython3u STABLE STRICT PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
if "memwarden:@python_hash@" not in GD: plpy.execute("SELECT memwarden_internal.load_python()")
stored = plpy.prepare("SELECT memwarden_internal.chain_node($1, $2) AS node", ["integer", "bigint"])
return GD["memwarden:@python_hash@"].segment_path(
    p_segment_no - 1, p_head_no, lambda level, position: plpy.execute(stored, [level, position])[0]["node"])
$function$;
COMMENT ON FUNCTION memwarden_internal.chain_path IS
    'The hashes that lead from the record of a segment to the head of another, lowest first.';

CREATE OR REPLACE FUNCTION memwarden_internal.chain_node(p_level integer, p_position bigint)
RETURNS bytea
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_segment_no bigint := (p_position + 1) << p_level;
    v_node       bytea;
BEGIN
    SELECT substring(s.nodes FROM 32 * p_level + 1 FOR 32) INTO v_node
      FROM memwarden_data.log_segment AS s WHERE s.segment_no = v_segment_no;
    IF v_node IS NULL OR octet_length(v_node) <> 32 THEN
        PERFORM memwarden_internal.raise_error('broken_chain', format('segment %s', v_segment_no));
    END IF;
    RETURN v_node;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.chain_node IS
    'A perfect subtree of the tree over segments: over 2^level of them, the position counted from 0. It is stored with '
    'the segment that completed it. Raises 55000 where that is missing.';
