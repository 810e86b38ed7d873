-- What find_items() looks up.
CREATE INDEX item_subject ON memwarden_data.item (org_id, hashtextextended(lower(subject), 0)) WHERE status = 'ACTIVE'
    AND subject IS NOT NULL;
