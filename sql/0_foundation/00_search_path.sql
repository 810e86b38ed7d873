-- CREATE EXTENSION puts the user's schema on the path. Names in DO blocks and in SQL-standard function
-- bodies are resolved while this script runs: an overload there must not be the better match.
SET LOCAL search_path = pg_catalog, pg_temp;
