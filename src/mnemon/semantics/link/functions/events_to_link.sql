-- Earlier or later events that may be tied to new ones: their subject has a word of the new ones' quotes, or their text
-- has a word of the new ones' subjects. A link never tells the readers of one event about another's.
CREATE OR REPLACE FUNCTION mnemon.events_to_link(
    subjects text, quotes text, document uuid, own_revision uuid, own_readers text[], most integer)
    RETURNS SETOF text
    LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = mnemon, public, pg_temp SET enable_seqscan = off AS $$
DECLARE
    tenant uuid := current_tenant();
    keys   bigint[] := ARRAY(SELECT term_key(tenant, 'subject ' || lexeme)
                               FROM unnest(tsvector_to_array(to_tsvector('english', quotes))) AS lexeme)
                    || term_keys(tenant, to_tsvector('english', subjects));
BEGIN
    RETURN QUERY
        (SELECT e.event_id FROM semantic_events e
          WHERE e.tenant_id = tenant AND e.active AND e.doc_version_id <> own_revision
            AND event_search_keys(e.tenant_id, e.lookup, e.category, e.status) && keys
            AND e.category IN ('Decision', 'Commitment', 'Execution', 'Change', 'Collaboration', 'Stakeholder')
            AND e.readers IS NOT DISTINCT FROM own_readers AND e.status <> 'dismissed'
          LIMIT most)
        UNION
        (SELECT e.event_id FROM semantic_events e
          WHERE e.tenant_id = tenant AND e.doc_id = document AND e.doc_version_id <> own_revision
            AND e.category IN ('Decision', 'Commitment', 'Execution', 'Change', 'Collaboration', 'Stakeholder')
            AND e.status <> 'dismissed'
          LIMIT most);
END $$;
REVOKE EXECUTE ON FUNCTION mnemon.events_to_link FROM PUBLIC;
GRANT EXECUTE ON FUNCTION mnemon.events_to_link TO mnemon_app;
