-- What the rows of every write hold. A CHECK of a table is parsed and planned anew by each statement that writes
-- to it, which costs a small INSERT most of its time; that of a domain is prepared once a connection.
CREATE DOMAIN memwarden_data.unit_interval AS double precision CHECK (VALUE BETWEEN 0 AND 1);
CREATE DOMAIN memwarden_data.counter AS integer CHECK (VALUE > 0);
CREATE DOMAIN memwarden_data.sha256 AS bytea CHECK (octet_length(VALUE) = 32);
CREATE DOMAIN memwarden_data.item_status AS text CHECK (VALUE IN ('DRAFT', 'ACTIVE', 'SUPERSEDED', 'RETRACTED', 'EXPIRED'));
CREATE DOMAIN memwarden_data.sensitivity_level AS text CHECK (VALUE IN ('none', 'suspicious', 'high'));
CREATE DOMAIN memwarden_data.log_operation AS text CHECK (VALUE IN ('INSERT', 'UPDATE', 'SUPERSEDE', 'RETRACT', 'EXPIRE',
    'RESTORE', 'ERASE'));
CREATE DOMAIN memwarden_data.provenance_event AS text CHECK (VALUE IN ('WRITE', 'RESTATE', 'APPROVAL', 'STANDING'));
CREATE DOMAIN memwarden_data.standing AS text CHECK (VALUE IN ('verified', 'supported', 'reported', 'inferred', 'disputed'));
CREATE DOMAIN memwarden_data.request_outcome AS text
    CHECK (VALUE IN ('COMMITTED', 'MERGED', 'ALREADY_COMMITTED', 'REJECTED', 'DEFERRED', 'DEADLINE_EXCEEDED'));
