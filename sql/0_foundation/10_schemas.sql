-- The two schemas of the logic layer. Storage lives in memwarden_data, which setup() creates outside
-- the extension so that pg_dump treats it as the user's data.
CREATE SCHEMA IF NOT EXISTS memwarden;
CREATE SCHEMA IF NOT EXISTS memwarden_internal;

COMMENT ON SCHEMA memwarden IS 'Public API of memwarden: functions and views.';
COMMENT ON SCHEMA memwarden_internal IS 'Functions of memwarden that no caller names. Not an API.';
