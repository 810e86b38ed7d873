-- Kept free for a change that lands before the next one.
SELECT;
