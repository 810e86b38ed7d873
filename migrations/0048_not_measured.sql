-- What was never set up, or of which nothing happened, is told apart from what should have a value and has none.
ALTER TABLE memwarden_data.metric_point DROP CONSTRAINT metric_point_state_check;
ALTER TABLE memwarden_data.metric_point ADD CONSTRAINT metric_point_state_check
    CHECK (state IN ('OK', 'WARNING', 'ALERT', 'MISSING_METRIC', 'NOT_MEASURED'));
