-- What is declared of predicates is looked up as write() compares predicates. Of two that are one now the one that was so stays.
DELETE FROM memwarden_data.predicate AS p
 USING memwarden_data.predicate AS o
 WHERE o.org_id = p.org_id AND o.predicate <> p.predicate
   AND memwarden_internal.predicate_name(o.predicate) = memwarden_internal.predicate_name(p.predicate)
   AND p.predicate <> memwarden_internal.predicate_name(p.predicate)
   AND (o.predicate = memwarden_internal.predicate_name(o.predicate) OR o.predicate < p.predicate);
UPDATE memwarden_data.predicate AS p
   SET predicate = memwarden_internal.predicate_name(p.predicate),
       inverse = memwarden_internal.predicate_name(p.inverse),
       disjoint = ARRAY(SELECT DISTINCT memwarden_internal.predicate_name(d.name) FROM unnest(p.disjoint) AS d (name) ORDER BY 1),
       ends = ARRAY(SELECT DISTINCT memwarden_internal.predicate_name(d.name) FROM unnest(p.ends) AS d (name) ORDER BY 1)
 WHERE (p.predicate || coalesce(p.inverse, '') || p.disjoint::text || p.ends::text) ~ '[^A-Za-z0-9 {},"]';
UPDATE memwarden_data.integrity_rule AS r
   SET predicate = memwarden_internal.predicate_name(r.predicate), against = memwarden_internal.predicate_name(r.against)
 WHERE concat(r.predicate, r.against) ~ '[^A-Za-z0-9 ]';
ALTER TABLE memwarden_data.ontology DISABLE TRIGGER append_only;
UPDATE memwarden_data.ontology AS o
   SET document = jsonb_set(o.document, '{relation_types}', (
           SELECT jsonb_object_agg(memwarden_internal.predicate_name(r.key), r.value)
             FROM jsonb_each(o.document -> 'relation_types') AS r))
 WHERE EXISTS (SELECT FROM jsonb_object_keys(o.document -> 'relation_types') AS k WHERE k <> memwarden_internal.predicate_name(k));
ALTER TABLE memwarden_data.ontology ENABLE TRIGGER append_only;
