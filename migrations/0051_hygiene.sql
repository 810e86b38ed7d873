-- A job looks for what pollutes the store: layers say whether it also ends it.
ALTER TABLE memwarden_data.layer
    ADD COLUMN hygiene text NOT NULL DEFAULT 'report' CHECK (hygiene IN ('off', 'report', 'clean'));
ALTER TABLE memwarden_data.kept_layer
    ADD COLUMN hygiene text NOT NULL DEFAULT 'report' CONSTRAINT layer_hygiene_check CHECK (hygiene IN ('off', 'report', 'clean'));
ALTER TABLE memwarden_data.kept_layer ALTER COLUMN hygiene DROP DEFAULT;
COMMENT ON COLUMN memwarden_data.layer.hygiene IS
    'What the weekly job clean_layers() does about duplicates and contradictions of the layer. off: it does not look; report: it counts '
    'them; clean: it ends what is surely worse than what stands beside it.';
ALTER TABLE memwarden_data.collection ADD COLUMN hygiene jsonb, ADD COLUMN cleaned_at timestamptz;
