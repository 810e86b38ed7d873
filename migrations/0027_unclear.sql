-- What becomes of a write whose evidence does not tell, and of one without it. Terms that are kept are made anew.
ALTER TABLE memwarden_data.layer
    ADD COLUMN unclear text NOT NULL DEFAULT 'ask' CHECK (unclear IN ('store', 'ask', 'refuse')),
    ADD COLUMN no_evidence text NOT NULL DEFAULT 'refuse' CHECK (no_evidence IN ('store', 'ask', 'refuse'));
COMMENT ON COLUMN memwarden_data.layer.unclear IS
    'What becomes of a write whose evidence neither reaches fact_threshold nor denies the claim. store: it is remembered, with '
    'its low score. ask: a person decides. refuse: it is refused. What evidence denies is refused in any case.';
COMMENT ON COLUMN memwarden_data.layer.no_evidence IS
    'What becomes of a write without the evidence that the layer asks for: with none, with none that can be read, or with less '
    'than min_external, min_authority and self_reference ask. store, ask or refuse.';
DELETE FROM memwarden_data.kept_terms;
ALTER TYPE memwarden_data.write_terms ADD ATTRIBUTE unclear text, ADD ATTRIBUTE no_evidence text;
ALTER TYPE memwarden_data.plain_terms ADD ATTRIBUTE unclear text, ADD ATTRIBUTE no_evidence text;
