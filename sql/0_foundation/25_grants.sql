-- An update keeps what was granted on the functions that it replaces. The files below grant anew, so
-- that a right which this release no longer gives ends with the update.
REVOKE ALL ON ALL ROUTINES IN SCHEMA memwarden, memwarden_internal
    FROM PUBLIC, memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor, memwarden_admin, memwarden_broker,
        memwarden_jobs, memwarden_worker, memwarden_embedder, memwarden_monitor;
