-- The planner keeps samples of what stands in a table; after a purge they are drawn anew.
CREATE OR REPLACE FUNCTION mnemon.renew_document_statistics() RETURNS void
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = mnemon, public, pg_temp AS $$
DECLARE
    relation text;
BEGIN
    FOREACH relation IN ARRAY ARRAY['documents', 'document_versions', 'revision_texts', 'ingestion_runs', 'jobs',
                                    'chunks', 'chunk_terms', 'artifacts', 'artifact_revisions', 'extractions',
                                    'semantic_events', 'event_evidence', 'event_links'] LOOP
        IF to_regclass('mnemon.' || relation) IS NOT NULL THEN
            EXECUTE format('ANALYZE mnemon.%I', relation);
        END IF;
    END LOOP;
END $$;
REVOKE EXECUTE ON FUNCTION mnemon.renew_document_statistics FROM PUBLIC;
GRANT EXECUTE ON FUNCTION mnemon.renew_document_statistics TO mnemon_app;
