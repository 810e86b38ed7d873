-- Names as write() compares them, so that a recall looks them up as that.
ALTER TABLE memwarden_data.item ADD COLUMN subject_form text, ADD COLUMN predicate_form text;
DROP INDEX memwarden_data.item_subject;
CREATE INDEX item_subject ON memwarden_data.item (org_id, hashtextextended(
    coalesce(subject_form, lower(subject COLLATE "C") COLLATE "default"), 0))
    WHERE status = 'ACTIVE' AND subject IS NOT NULL;
UPDATE memwarden_data.item AS i SET subject_form = k.subject_form, predicate_form = k.predicate_form
  FROM memwarden_data.item AS n
  LEFT JOIN memwarden_data.vocabulary AS y ON y.org_id = n.org_id
 CROSS JOIN LATERAL memwarden_internal.kept_name_forms(n.subject, n.predicate, y.synonyms::text) AS k
 WHERE i.org_id = n.org_id AND i.item_id = n.item_id AND num_nonnulls(k.subject_form, k.predicate_form) > 0;
