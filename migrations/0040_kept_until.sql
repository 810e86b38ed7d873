-- A head knows until when retention lets it be read. The next run of enforce_retention() says it of what is there.
ALTER TABLE memwarden_data.item ADD COLUMN kept_until timestamptz;
COMMENT ON COLUMN memwarden_data.item.kept_until IS
    'Until when the rules of retention let it be read. Set for what has personal data, and for what ends within two days.';
