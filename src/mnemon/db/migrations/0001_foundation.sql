-- What every later step uses: the tenant of the current transaction, and what the application role may touch.

GRANT USAGE ON SCHEMA mnemon TO mnemon_app;
GRANT SELECT ON mnemon.migrations TO mnemon_app;

-- NULL when no tenant is set, and NULL equals nothing: a policy that compares with it shows no row.
CREATE FUNCTION mnemon.current_tenant() RETURNS uuid
    LANGUAGE sql STABLE PARALLEL SAFE
    RETURN nullif(current_setting('mnemon.tenant', true), '')::uuid;

-- Gives a table its row-level security: one policy, the same everywhere. `tenant_id` is the only column it needs.
CREATE PROCEDURE mnemon.isolate_by_tenant(relation regclass)
    LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY', relation);
    EXECUTE format(
        'CREATE POLICY tenant_only ON %s USING (tenant_id = mnemon.current_tenant()) '
        'WITH CHECK (tenant_id = mnemon.current_tenant())', relation);
END $$;

CREATE TABLE mnemon.tenants (
    tenant_id  uuid PRIMARY KEY,
    slug       text NOT NULL UNIQUE CHECK (slug ~ '^[a-z0-9]([a-z0-9-]{0,62}[a-z0-9])?$'),
    name       text NOT NULL CHECK (length(name) BETWEEN 1 AND 200),
    created_at timestamptz NOT NULL DEFAULT now()
);
CALL mnemon.isolate_by_tenant('mnemon.tenants');
GRANT SELECT ON mnemon.tenants TO mnemon_app;
