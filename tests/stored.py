"""What must be true of the tables of memory beside one another, whatever happened, as questions.

Each finds rows that break a rule; none may find any.
"""

from __future__ import annotations

from psycopg import Connection
from psycopg.rows import DictRow

REPEATED = (
    "item_id",
    "scope_id",
    "layer",
    "kind",
    "subject",
    "predicate",
    "exclusive",
    "principal_id",
    "request_id",
)
WORDS = ("schema_id", "content", "search_text", "content_hash")
"""What a version that says something again has from the version whose words it repeats."""

RULES = {
    "one version of an item is current at a time": (
        "SELECT item_id FROM memwarden_data.version WHERE status IN ('DRAFT', 'ACTIVE')"
        " GROUP BY item_id HAVING count(*) > 1"
    ),
    "versions of an item follow one another": (
        "SELECT item_id FROM ("
        "  SELECT item_id, recorded_during, lead(recorded_during) OVER ("
        "           PARTITION BY item_id ORDER BY version) AS next"
        "    FROM memwarden_data.version) AS v"
        " WHERE recorded_during && next OR lower(recorded_during) >= lower(next)"
    ),
    "an entry vouches for its version": (
        "SELECT l.log_seq FROM memwarden_data.log AS l"
        "  JOIN memwarden_data.version AS v USING (org_id, version_id)"
        " WHERE l.snapshot_hash <> memwarden_internal.snapshot_hash("
        "  v.version_id, v.item_id, v.version, v.previous_version_id, v.restores_version_id,"
        "  v.absorbed_version_id, v.scope_id, v.layer, v.kind, v.subject, v.predicate,"
        "  v.content_hash, v.confidence, v.importance, v.evidence, v.principal_id, v.label_id,"
        "  v.request_id, lower(v.recorded_during), v.valid_during, v.expires_at, v.class,"
        "  v.subject_key_id, v.sealed)"
    ),
    "what is said again is said in the same words": (
        "SELECT v.version_id FROM memwarden_data.version AS v"
        "  JOIN memwarden_data.version AS s"
        "    ON s.org_id = v.org_id AND s.version_id = v.restores_version_id"
        "  JOIN memwarden_data.version AS p"
        "    ON p.org_id = v.org_id AND p.version_id = v.previous_version_id"
        f" WHERE ({', '.join(f'v.{name}' for name in REPEATED)}, v.label_id)"
        f"   IS DISTINCT FROM ({', '.join(f's.{name}' for name in REPEATED)}, p.label_id)"
        "    OR v.absorbed_version_id IS NULL AND (v.confidence, v.importance, v.evidence)"
        "                           IS DISTINCT FROM (s.confidence, s.importance, s.evidence)"
        "    OR (v.absorbed_version_id IS NULL OR EXISTS (SELECT FROM memwarden_data.log AS l"
        "          WHERE l.version_id = v.version_id AND l.operation = 'RESTORE'))"
        f"      AND ({', '.join(f'v.{name}' for name in WORDS)})"
        f"          IS DISTINCT FROM ({', '.join(f's.{name}' for name in WORDS)})"
    ),
    "what absorbs another says what the merge policy of its schema makes of both, else its own": (
        "SELECT v.version_id FROM memwarden_data.version AS v"
        "  JOIN memwarden_data.log AS l USING (org_id, version_id)"
        "  JOIN memwarden_data.version AS s"
        "    ON s.org_id = v.org_id AND s.version_id = v.restores_version_id"
        "  JOIN memwarden_data.version AS a"
        "    ON a.org_id = v.org_id AND a.version_id = v.absorbed_version_id"
        "  LEFT JOIN memwarden_data.content_schema AS c ON c.schema_id = v.schema_id"
        "  LEFT JOIN memwarden_data.vocabulary AS y ON y.org_id = v.org_id"
        " CROSS JOIN LATERAL (SELECT (lower(s.recorded_during), s.version_id)"
        "        <= (lower(a.recorded_during), a.version_id) AS first) AS o"
        " CROSS JOIN LATERAL memwarden_internal.merge_contents("
        "         CASE WHEN o.first THEN s.content ELSE a.content END::text,"
        "         CASE WHEN o.first THEN a.content ELSE s.content END::text,"
        '         coalesce(c.merge_policy, \'{"*": "keep"}\')::text, y.synonyms::text, false) AS m'
        " WHERE l.operation = 'UPDATE' AND CASE"
        "       WHEN c.merge_policy IS NULL OR m.content IS NULL THEN v.content <> s.content"
        "       ELSE v.content <> m.content::jsonb OR m.conflicts <> '{}' END"
    ),
    "the hash of a version is of its content": (
        "SELECT v.version_id FROM memwarden_data.version AS v"
        " WHERE v.absorbed_version_id IS NOT NULL"
        "   AND v.content_hash <> sha256(convert_to("
        "       memwarden.canonical_json(v.content::text), 'UTF8'))"
    ),
    "what is said again of a time, or with more evidence, lives no longer, but by its layer": (
        "SELECT v.version_id FROM memwarden_data.version AS v"
        "  JOIN memwarden_data.log AS l USING (org_id, item_id, version_id)"
        "  JOIN memwarden_data.version AS s"
        "    ON s.org_id = v.org_id AND s.version_id = v.restores_version_id"
        " WHERE l.operation = 'UPDATE' AND v.expires_at IS DISTINCT FROM s.expires_at"
        "   AND NOT (v.expires_at > s.expires_at AND l.reason = 'said again, and lives on')"
    ),
    "what absorbs another has the best of both": (
        "SELECT v.version_id FROM memwarden_data.version AS v"
        "  JOIN memwarden_data.version AS s"
        "    ON s.org_id = v.org_id AND s.version_id = v.restores_version_id"
        "  LEFT JOIN memwarden_data.version AS a"
        "    ON a.org_id = v.org_id AND a.version_id = v.absorbed_version_id"
        " WHERE v.absorbed_version_id IS NOT NULL AND ("
        "       a.version_id IS NULL OR a.item_id = v.item_id OR a.status <> 'SUPERSEDED'"
        "    OR upper(a.recorded_during) > lower(v.recorded_during)"
        "    OR v.confidence <> greatest(s.confidence, a.confidence)"
        "    OR v.importance <> greatest(s.importance, a.importance)"
        "    OR NOT v.evidence @> (s.evidence || a.evidence)"
        "    OR NOT (s.evidence || a.evidence) @> v.evidence"
        "    OR jsonb_array_length(v.evidence)"
        "       <> (SELECT count(DISTINCT e) FROM jsonb_array_elements(v.evidence) AS e))"
    ),
    "what is said again rests on the same memories": (
        "SELECT v.version_id FROM memwarden_data.version AS v"
        " WHERE v.restores_version_id IS NOT NULL"
        "   AND ARRAY(SELECT d.source_version_id FROM memwarden_data.derivation AS d"
        "              WHERE d.org_id = v.org_id AND d.version_id = v.version_id ORDER BY 1)"
        "       <> ARRAY(SELECT DISTINCT d.source_version_id FROM memwarden_data.derivation AS d"
        "              WHERE d.org_id = v.org_id AND d.source_item_id <> v.item_id"
        "                AND d.version_id IN (v.restores_version_id, v.absorbed_version_id)"
        "              ORDER BY 1)"
    ),
    "derivations are of versions, from versions of other items": (
        "SELECT d.version_id FROM memwarden_data.derivation AS d"
        "  LEFT JOIN memwarden_data.version AS v USING (org_id, scope_id, item_id, version_id)"
        "  LEFT JOIN memwarden_data.version AS s"
        "    ON s.org_id = d.source_org_id AND s.item_id = d.source_item_id"
        "   AND s.version_id = d.source_version_id"
        " WHERE v.version_id IS NULL OR s.version_id IS NULL OR s.item_id = v.item_id"
    ),
    "what is current is compared and found by its words": (
        "SELECT i.item_id FROM memwarden_data.item AS i"
        "  JOIN memwarden_data.version AS v USING (org_id, version_id)"
        "  JOIN memwarden_data.layer AS l ON l.layer = i.layer"
        "  JOIN memwarden_data.scope AS s ON s.scope_id = i.scope_id"
        "  LEFT JOIN memwarden_data.vocabulary AS y ON y.org_id = i.org_id,"
        " LATERAL memwarden_internal.fingerprints("
        "           v.content::text, v.subject, v.predicate, coalesce(y.synonyms::text, '{}')) AS f"
        " WHERE i.status = 'ACTIVE' AND i.subject_key_id IS NULL"
        "   AND (i.fingerprint <> f.fingerprint OR i.key_hash IS DISTINCT FROM f.key_hash"
        "       AND i.key_hash <> memwarden_internal.unclaimed_key(i.item_id)"
        "    OR i.search_vector <> memwarden_internal.words_of("
        "       coalesce(s.text_search_config, l.text_search_config), v.search_text)"
        "       AND s.reindexed_to IS NULL)"
    ),
    "every active item whose text has words has a vector in its scope": (
        "SELECT i.item_id FROM memwarden_data.item AS i"
        "  JOIN memwarden_data.version AS v USING (org_id, version_id)"
        "  LEFT JOIN memwarden_data.embedding AS e"
        "    ON e.org_id = i.org_id AND e.scope_id = i.scope_id AND e.item_id = i.item_id"
        " WHERE e.item_id IS NULL AND i.status = 'ACTIVE'"
        "   AND memwarden.lexical_embedding(v.search_text) IS NOT NULL"
    ),
    "what has ended has no vector": (
        "SELECT e.item_id FROM memwarden_data.embedding AS e"
        "  LEFT JOIN memwarden_data.item AS i"
        "    ON i.org_id = e.org_id AND i.scope_id = e.scope_id AND i.item_id = e.item_id"
        # Of a copy the job takes away what has ended.
        " WHERE i.status IS DISTINCT FROM 'ACTIVE' AND e.shelf >= 0"
    ),
    "a lexical vector is that of the words": (
        # What is joined goes before: the vector of every version for every vector is no question.
        "SELECT w.item_id FROM ("
        "  SELECT e.item_id, e.embedding, v.search_text"
        "    FROM memwarden_data.embedding AS e"
        "    JOIN memwarden_data.embedding_model AS m ON m.model_id = e.model_id"
        "    JOIN memwarden_data.item AS i ON i.org_id = e.org_id AND i.item_id = e.item_id"
        "    JOIN memwarden_data.version AS v"
        "      ON v.org_id = i.org_id AND v.version_id = i.version_id"
        "   WHERE m.name = 'lexical' OFFSET 0) AS w"
        " WHERE w.embedding <> memwarden.lexical_embedding(w.search_text)::halfvec"
    ),
    "vectors are set aside of versions that are over, where words cannot give them back": (
        "SELECT p.version_id FROM memwarden_data.past_embedding AS p"
        "  JOIN memwarden_data.embedding_model AS m ON m.model_id = p.model_id"
        "  LEFT JOIN memwarden_data.version AS v USING (org_id, scope_id, item_id, version_id)"
        " WHERE v.version_id IS NULL OR v.status = 'ACTIVE' OR m.name = 'lexical'"
    ),
    "with the words of a version its vectors come back": (
        "SELECT p.version_id FROM memwarden_data.past_embedding AS p"
        "  JOIN memwarden_data.version AS v"
        "    ON v.org_id = p.org_id AND v.restores_version_id = p.version_id"
        "  LEFT JOIN LATERAL ("
        "    SELECT x.embedding FROM ("
        "      SELECT b.org_id, b.version_id, b.model_id, b.embedding"
        "        FROM memwarden_data.past_embedding AS b UNION ALL"
        "      SELECT i.org_id, i.version_id, e.model_id, e.embedding"
        "        FROM memwarden_data.embedding AS e"
        "        JOIN memwarden_data.item AS i USING (org_id, scope_id, item_id)) AS x"
        "     WHERE x.org_id = v.org_id AND x.version_id = v.version_id"
        "       AND x.model_id = p.model_id) AS n ON true"
        " WHERE n.embedding IS DISTINCT FROM p.embedding"
    ),
    "a version was asked for by a request that committed or merged, and the other way round": (
        "SELECT coalesce(v.request_id, r.request_id) AS request_id FROM"
        "  (SELECT request_id, version_id FROM memwarden_data.version"
        "    WHERE restores_version_id IS NULL) AS v"
        "  FULL JOIN (SELECT request_id, version_id FROM memwarden_data.write_request"
        "              WHERE outcome IN ('COMMITTED', 'MERGED') AND item_id NOT IN"
        "                    (SELECT item_id FROM memwarden_data.erased_item))"
        "    AS r USING (request_id, version_id)"
        " WHERE v.version_id IS NULL OR r.version_id IS NULL"
    ),
}
"""By what they say: queries for rows of which it is not true."""


def check(connection: Connection[DictRow]) -> None:
    """Ask every one, as superuser."""
    # No statistics know of rows this young: a plan for a handful takes minutes for thousands.
    connection.execute("SET enable_nestloop = off")
    for rule, query in RULES.items():
        broken = connection.execute(query).fetchmany(5)
        assert broken == [], f"not true: {rule}"
    connection.execute("RESET enable_nestloop")
