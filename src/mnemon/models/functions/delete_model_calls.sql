-- Deletes the audit of calls to language models that are older than asked, some at a time.
CREATE OR REPLACE FUNCTION mnemon.delete_model_calls(called_before timestamptz, most integer) RETURNS integer
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = mnemon, public, pg_temp AS $$
DECLARE
    deleted integer;
BEGIN
    DELETE FROM mnemon.model_calls c
     WHERE c.ctid = ANY (ARRAY(
           SELECT old.ctid FROM mnemon.model_calls old WHERE old.called_at < called_before LIMIT most));
    GET DIAGNOSTICS deleted = ROW_COUNT;
    RETURN deleted;
END $$;
REVOKE EXECUTE ON FUNCTION mnemon.delete_model_calls FROM PUBLIC;
GRANT EXECUTE ON FUNCTION mnemon.delete_model_calls TO mnemon_app;
