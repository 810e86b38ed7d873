-- Memories that were good when they were written, looked at again with what is known today.
CREATE TABLE memwarden_data.revalidation (
    org_id       bigint NOT NULL,
    sweep_id     uuid NOT NULL,
    layer        text NOT NULL,
    begun_at     timestamptz NOT NULL,
    finished_at  timestamptz,
    population   bigint NOT NULL,
    sampled      integer NOT NULL,
    verified     integer,
    found_false  integer,
    uncertain    integer,
    -- About how many verifiers were asked again, and about how many they have answered.
    asked        integer NOT NULL DEFAULT 0,
    answered     integer NOT NULL DEFAULT 0,
    PRIMARY KEY (org_id, sweep_id)
);
CREATE UNIQUE INDEX revalidation_open ON memwarden_data.revalidation (org_id, layer) WHERE finished_at IS NULL;
CREATE INDEX revalidation_latest ON memwarden_data.revalidation (org_id, layer, begun_at);
COMMENT ON TABLE memwarden_data.revalidation IS
    'Each sweep over a sample of the memories of an organisation in a layer: how many, and what came of it.';

CREATE TABLE memwarden_data.revalidated (
    org_id      bigint NOT NULL,
    sweep_id    uuid NOT NULL,
    item_id     uuid NOT NULL,
    version_id  uuid NOT NULL,
    verdict     text CHECK (verdict IN ('VERIFIED', 'FALSE', 'UNCERTAIN', 'GONE')),
    reason      text,
    checked_at  timestamptz,
    asked_at    timestamptz,
    answered_at timestamptz,
    PRIMARY KEY (org_id, sweep_id, item_id),
    FOREIGN KEY (org_id, sweep_id) REFERENCES memwarden_data.revalidation ON DELETE CASCADE
);
CREATE INDEX revalidated_due ON memwarden_data.revalidated (org_id, sweep_id) WHERE verdict IS NULL;
CREATE INDEX revalidated_item ON memwarden_data.revalidated (org_id, item_id);
COMMENT ON TABLE memwarden_data.revalidated IS
    'The memories of each sample, by number, and what was found. GONE: it has ended since it was drawn. '
    'asked_at: verifiers were asked about it again; answered_at: when it was judged with the first of their answers.';

CREATE TABLE memwarden_data.tightening (
    org_id     bigint NOT NULL,
    layer      text NOT NULL,
    raised_by  double precision NOT NULL CHECK (raised_by > 0 AND raised_by <= 0.5),
    since      timestamptz NOT NULL,
    sweep_id   uuid NOT NULL,
    PRIMARY KEY (org_id, layer)
);
COMMENT ON TABLE memwarden_data.tightening IS
    'By how much the factual threshold of a layer is higher for an organisation, because too many of its memories were found false.';
