-- Another profile is tried beside the one that decides: which, and what it would have said of each request.
ALTER TABLE memwarden_data.organisation
    ADD COLUMN observed text CHECK (observed IN ('open', 'balanced', 'strict')),
    ADD COLUMN observed_since timestamptz;
COMMENT ON COLUMN memwarden_data.organisation.observed IS
    'The profile that is tried on its writes beside the one that decides, see observe_profile(). That of organisation 0 is tried on '
    'the writes of those that have neither a profile of their own nor this.';
COMMENT ON COLUMN memwarden_data.organisation.observed_since IS 'When that was chosen last.';
ALTER TABLE memwarden_data.write_request ADD COLUMN trial jsonb;
ALTER TYPE memwarden_data.write_terms ADD ATTRIBUTE observed text;
