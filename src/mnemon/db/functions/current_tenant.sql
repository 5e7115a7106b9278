-- The tenant of the transaction. NULL when no tenant is set, and NULL equals nothing: a policy that compares with it
-- shows no row.
CREATE OR REPLACE FUNCTION mnemon.current_tenant() RETURNS uuid
    LANGUAGE sql STABLE PARALLEL SAFE
    RETURN nullif(current_setting('mnemon.tenant', true), '')::uuid;
