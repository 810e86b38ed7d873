-- Installs memwarden into the current database or brings it up to date; harmless when repeated.
-- Beside it what it works with but does not require: jobs by pg_cron, partitions by pg_partman.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS pg_cron;
CREATE SCHEMA IF NOT EXISTS partman;
CREATE EXTENSION IF NOT EXISTS pg_partman SCHEMA partman;
CREATE EXTENSION IF NOT EXISTS memwarden CASCADE;
ALTER EXTENSION memwarden UPDATE;
SELECT memwarden.setup() \g /dev/null
-- Half a minute the first time, and nothing where the files are the same: who is told that the server is ready has the dictionary.
CALL memwarden.load_lexicons();
