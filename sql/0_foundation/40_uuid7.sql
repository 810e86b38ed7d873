-- PostgreSQL 18 has uuidv7(), 17 does not. Time-ordered keys keep the indexes of the write path
-- warm and are what the partitions of write_request are cut by.
CREATE OR REPLACE FUNCTION memwarden_internal.uuid7()
RETURNS uuid
LANGUAGE sql VOLATILE PARALLEL SAFE SECURITY INVOKER
RETURN encode(
    set_bit(set_bit(
        overlay(uuid_send(gen_random_uuid())
                PLACING substring(int8send((extract(epoch FROM clock_timestamp()) * 1000)::bigint) FROM 3)
                FROM 1 FOR 6),
        52, 1), 53, 1), 'hex')::uuid;
COMMENT ON FUNCTION memwarden_internal.uuid7 IS
    'A new UUID version 7 (RFC 9562): 48 bits of Unix milliseconds, then random bits.';

CREATE OR REPLACE FUNCTION memwarden_internal.uuid7_floor(p_time timestamptz)
RETURNS uuid
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE SECURITY INVOKER
RETURN (substring(encode(int8send(greatest(0, least(281474976710655, extract(epoch FROM p_time) * 1000))::bigint), 'hex')
    FROM 5) || repeat('0', 20))::uuid;
COMMENT ON FUNCTION memwarden_internal.uuid7_floor IS
    'The least UUID version 7 of a time: lets a query on request_id skip older partitions. A time before 1970 counts as '
    '1970, one after the last that a UUID can tell as that one.';
GRANT EXECUTE ON FUNCTION memwarden_internal.uuid7_floor
    TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor;
