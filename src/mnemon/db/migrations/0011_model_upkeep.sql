-- What workers need to know and do about models for all tenants at once.

-- Tenants of which a table of vectors is not wholly at rest with this model.
CREATE FUNCTION mnemon.tenants_with_other_models(relations text[], model text) RETURNS SETOF uuid
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = mnemon, public, pg_temp
    BEGIN ATOMIC
        SELECT DISTINCT m.tenant_id FROM mnemon.embedding_models m
         WHERE m.relation = ANY (relations) AND (m.model_id, m.state) <> (model, 'active');
    END;

-- Deletes the audit of calls to language models that are older than asked, some at a time.
CREATE FUNCTION mnemon.delete_model_calls(called_before timestamptz, most integer) RETURNS integer
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

REVOKE EXECUTE ON FUNCTION mnemon.tenants_with_other_models(text[], text) FROM PUBLIC;
REVOKE EXECUTE ON FUNCTION mnemon.delete_model_calls(timestamptz, integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION mnemon.tenants_with_other_models(text[], text) TO mnemon_app;
GRANT EXECUTE ON FUNCTION mnemon.delete_model_calls(timestamptz, integer) TO mnemon_app;
