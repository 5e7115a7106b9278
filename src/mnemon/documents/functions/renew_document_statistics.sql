-- The planner keeps samples of what stands in a table; after a purge they are drawn anew, in every table that says of
-- which document its rows are, whichever room it belongs to.
CREATE OR REPLACE FUNCTION mnemon.renew_document_statistics() RETURNS void
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = mnemon, public, pg_temp AS $$
DECLARE
    relation text;
BEGIN
    FOR relation IN
        SELECT DISTINCT c.relname FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
         WHERE c.relnamespace = 'mnemon'::regnamespace AND c.relkind = 'r'
           AND (a.attname IN ('doc_id', 'doc_version_id') OR c.relname = 'jobs')
    LOOP
        EXECUTE format('ANALYZE mnemon.%I', relation);
    END LOOP;
END $$;
REVOKE EXECUTE ON FUNCTION mnemon.renew_document_statistics FROM PUBLIC;
GRANT EXECUTE ON FUNCTION mnemon.renew_document_statistics TO mnemon_app;
