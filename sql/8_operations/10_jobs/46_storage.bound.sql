CREATE OR REPLACE VIEW memwarden.storage WITH (security_invoker = true) AS
SELECT s.table_name, s.org, s.layer, s.bytes, s.growth_per_day, s.next_run_frees FROM memwarden_internal.list_storage() AS s;
COMMENT ON VIEW memwarden.storage IS
    'Lists how many bytes each table takes up, indexes included, by organisation and layer. Sums over a table are exact. Shares of '
    'organisations and layers are estimated, from about 200 pages of each table, so a look costs the same in a large store. '
    'growth_per_day is the mean of the last week, NULL in the first days. next_run_frees estimates what the next '
    'delete_old_records() or maintain() deletes by age, and collect() with memories whose recovery_window is over (those that something '
    'keeps included). An administrator of the database sees everything, one of an organisation its own rows.';
GRANT SELECT ON memwarden.storage TO memwarden_agent, memwarden_curator, memwarden_admin;
CREATE OR REPLACE VIEW memwarden.record_retention WITH (security_invoker = true) AS
SELECT r.kind, r.keep, r.deleted_by, r.changed_at, r.changed_by FROM memwarden_internal.list_record_retention() AS r;
COMMENT ON VIEW memwarden.record_retention IS
    'Lists how long each kind of record is kept, and the job that deletes it. set_record_retention() changes it.';
GRANT SELECT ON memwarden.record_retention TO memwarden_auditor, memwarden_admin;
