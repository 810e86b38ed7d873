-- Rules change; what was stored before is looked at again, and marked for its readers. Nothing of it changes.
CREATE OR REPLACE FUNCTION memwarden_internal.rescan_batch(
    p_org_id bigint, p_item_id uuid, p_count integer, p_scanned bigint, p_marked bigint,
    OUT org_id bigint, OUT item_id uuid, OUT scanned bigint, OUT marked bigint, OUT is_over boolean)
RETURNS record
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_item  record;
    v_level text;
BEGIN
    IF (p_count BETWEEN 1 AND 100000) IS NOT TRUE THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'batch: 1 to 100,000');
    END IF;
    scanned := p_scanned;
    marked := p_marked;
    is_over := true;
    FOR v_item IN
        SELECT i.org_id, i.item_id, i.version_id, i.sensitivity, v.is_unread,
               (SELECT jsonb_agg(f) FROM jsonb_array_elements(s.sensitive) AS f
                 WHERE NOT EXISTS (SELECT FROM memwarden_data.write_request AS r
                                    WHERE r.request_id = v.request_id
                                        AND r.sensitive @> jsonb_build_array(jsonb_build_object('rule', f -> 'rule')))) AS found
          FROM (SELECT n.org_id, n.item_id, n.version_id, n.layer, n.sensitivity, n.principal_id, n.scope_id
                  FROM memwarden_data.item AS n
                 WHERE (n.org_id, n.item_id) > (p_org_id, p_item_id) AND n.status = 'ACTIVE'
                 ORDER BY n.org_id, n.item_id LIMIT p_count) AS i
          JOIN memwarden_data.said_version AS v ON v.org_id = i.org_id AND v.version_id = i.version_id
         CROSS JOIN LATERAL memwarden_internal.screen_request(
                   jsonb_strip_nulls(jsonb_build_object('content', v.content, 'subject', v.subject, 'predicate', v.predicate,
                       'evidence', v.evidence))::text,
                   memwarden_internal.rules_of_item(i.org_id, i.principal_id, i.scope_id, i.layer)) AS s
         ORDER BY i.org_id, i.item_id
    LOOP
        scanned := scanned + 1;
        org_id := v_item.org_id;
        item_id := v_item.item_id;
        is_over := false;
        -- What nobody can read now keeps what was found in it.
        CONTINUE WHEN v_item.is_unread;
        -- What would be taken out of a write today is still there.
        v_level := CASE WHEN v_item.found @? '$[*] ? (@.action == "block" || @.level == "high")' THEN 'high'
                        WHEN v_item.found @? '$[*] ? (@.level == "suspicious")' THEN 'suspicious' ELSE 'none' END;
        DELETE FROM memwarden_data.sensitivity_scan AS s WHERE s.org_id = v_item.org_id AND s.item_id = v_item.item_id;
        IF v_item.found IS NOT NULL THEN
            marked := marked + 1;
            INSERT INTO memwarden_data.sensitivity_scan (org_id, item_id, version_id, sensitivity, findings, scanned_at)
            VALUES (v_item.org_id, v_item.item_id, v_item.version_id, v_level, v_item.found, clock_timestamp());
            PERFORM memwarden_internal.note_personal(v_item.org_id, v_item.item_id,
                memwarden_internal.personal_kinds(v_item.found));
        END IF;
        UPDATE memwarden_data.item AS i SET sensitivity = t.sensitivity
          FROM memwarden_internal.trust_of_version(v_item.org_id, v_item.version_id) AS t
         WHERE i.org_id = v_item.org_id AND i.item_id = v_item.item_id AND i.version_id = v_item.version_id
           AND i.sensitivity <> t.sensitivity;
    END LOOP;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.rescan_batch IS
    'Looks at the current versions of the next p_count items with the rules of today, those of packs among them; '
    'returns the last of them, how many have been looked at with those before, in how many something was found that was '
    'not found when they were written, and whether there were none. Raises 22023 for a p_count outside 1 to 100,000, '
    '55000 before setup().';
GRANT EXECUTE ON FUNCTION memwarden_internal.rescan_batch TO memwarden_jobs, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden_internal.conclude_rescan(p_begun timestamptz)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
BEGIN
    -- What could not be read was not scanned: it is screened when it is recalled.
    IF EXISTS (SELECT FROM memwarden_data.item AS i
                 JOIN memwarden_data.said_version AS v ON v.org_id = i.org_id AND v.version_id = i.version_id
                WHERE i.subject_key_id IS NOT NULL AND i.status = 'ACTIVE' AND v.is_unread) THEN
        RETURN;
    END IF;
    UPDATE memwarden_data.sensitivity_ruleset AS s SET swept_at = p_begun
     WHERE s.since < p_begun;
    UPDATE memwarden_data.pack_use AS u SET swept_at = p_begun
     WHERE u.rules_since < p_begun;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.conclude_rescan IS
    'Notes that a look at everything, begun then, is over: what it left unmarked need not be screened when it is '
    'recalled, as far as the rules are older. Notes nothing where an active memory could not be read.';
GRANT EXECUTE ON FUNCTION memwarden_internal.conclude_rescan TO memwarden_jobs, memwarden_admin;

CREATE OR REPLACE PROCEDURE memwarden.rescan_sensitivity(batch integer DEFAULT 1000, INOUT scanned bigint DEFAULT 0,
    INOUT marked bigint DEFAULT 0)
LANGUAGE plpgsql SECURITY INVOKER
AS $procedure$
DECLARE
    v_begun timestamptz := pg_catalog.clock_timestamp();
    v_done  record;
BEGIN
    v_done := memwarden_internal.rescan_batch(-1, '00000000-0000-0000-0000-000000000000', rescan_sensitivity.batch, 0, 0);
    WHILE NOT v_done.is_over LOOP
        COMMIT;
        v_done := memwarden_internal.rescan_batch(
            v_done.org_id, v_done.item_id, rescan_sensitivity.batch, v_done.scanned, v_done.marked);
    END LOOP;
    PERFORM memwarden_internal.conclude_rescan(v_begun);
    scanned := v_done.scanned;
    marked := v_done.marked;
END
$procedure$;
COMMENT ON PROCEDURE memwarden.rescan_sensitivity IS
    'Scans every active memory with today''s sensitivity rules, as a job. The rules of packs in force are among them. A finding in '
    'an older memory is marked for its readers (provenance ->> ''sensitivity'') and listed in sensitivity_findings. The contents '
    'stay as they are. Running it again does no harm. It commits after each batch of memories, so it cannot run inside a '
    'transaction. batch: memories per batch, 1 to 100,000; 1,000 by default. scanned, marked: take no value, and return how many '
    'memories were scanned and marked. Raises 22023 for another batch, 55000 before setup(). Source: four-layer design, 6.';
GRANT EXECUTE ON PROCEDURE memwarden.rescan_sensitivity TO memwarden_jobs, memwarden_admin;
