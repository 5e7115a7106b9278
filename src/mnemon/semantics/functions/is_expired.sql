-- Whether a document's time is over: a year after its latest revision came, on its date, or once it promised something
-- and nothing that it promised is open any more. As who calls it: the row is an argument, and might name any tenant.
CREATE OR REPLACE FUNCTION mnemon.is_expired(document mnemon.documents) RETURNS boolean
    LANGUAGE sql STABLE SET search_path = mnemon, public, pg_temp AS $$
    SELECT CASE document.retention_policy
        WHEN '1y' THEN coalesce((SELECT max(r.created_at) FROM document_revisions r
                                  WHERE r.tenant_id = document.tenant_id AND r.doc_id = document.doc_id),
                                document.created_at) < now() - interval '1 year'
        WHEN 'custom' THEN document.retain_until < now()
        WHEN 'until_resolved' THEN (
            SELECT count(*) > 0 AND count(*) FILTER (WHERE e.status = 'open') = 0
              FROM semantic_events e
             WHERE e.tenant_id = document.tenant_id AND e.doc_id = document.doc_id
               AND e.active AND e.category = 'Commitment' AND e.status <> 'dismissed')
        ELSE false END
$$;
REVOKE EXECUTE ON FUNCTION mnemon.is_expired FROM PUBLIC;
GRANT EXECUTE ON FUNCTION mnemon.is_expired TO mnemon_app;
