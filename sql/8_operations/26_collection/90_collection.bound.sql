CREATE OR REPLACE VIEW memwarden.collections WITH (security_invoker = true) AS
SELECT c.org, c.layer, c.begun_at, c.finished_at, c.looked, c.waiting, c.done, c.held_back, c.hygiene, c.cleaned_at
  FROM memwarden_internal.list_collections() AS c;
COMMENT ON VIEW memwarden.collections IS
    'Shows the collection of each organisation and layer. begun_at: since when a pass runs, null between passes. finished_at: when the '
    'last one ended. looked: at how many memories. waiting: how many of them are still to go. done: how many went, by reason. held_back: '
    'how many wait for run_gc() with a number, by reason, because they are most of the layer. hygiene: what clean_layers() found last, an '
    'array of finding, action, items and done as run_hygiene() returns them; HELD_BACK are more than half of the layer, which wait for '
    'run_hygiene() with a number. cleaned_at: when it had looked.';
GRANT SELECT ON memwarden.collections TO memwarden_curator, memwarden_auditor, memwarden_admin;
