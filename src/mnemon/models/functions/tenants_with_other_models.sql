-- Tenants of which a table of vectors is not wholly at rest with this model.
CREATE OR REPLACE FUNCTION mnemon.tenants_with_other_models(relations text[], model text) RETURNS SETOF uuid
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = mnemon, public, pg_temp
    BEGIN ATOMIC
        SELECT DISTINCT m.tenant_id FROM mnemon.embedding_models m
         WHERE m.relation = ANY (relations) AND (m.model_id, m.state) <> (model, 'active');
    END;
REVOKE EXECUTE ON FUNCTION mnemon.tenants_with_other_models FROM PUBLIC;
GRANT EXECUTE ON FUNCTION mnemon.tenants_with_other_models TO mnemon_app;
