-- What every later step uses: the schema as the application role may see it, and the tenants.

GRANT USAGE ON SCHEMA mnemon TO mnemon_app;
GRANT SELECT ON mnemon.migrations, mnemon.functions TO mnemon_app;

CREATE TABLE mnemon.tenants (
    tenant_id  uuid PRIMARY KEY,
    slug       text NOT NULL UNIQUE CHECK (slug ~ '^[a-z0-9]([a-z0-9-]{0,62}[a-z0-9])?$'),
    name       text NOT NULL CHECK (length(name) BETWEEN 1 AND 200),
    created_at timestamptz NOT NULL DEFAULT now()
);
CALL mnemon.isolate_by_tenant('mnemon.tenants');
GRANT SELECT ON mnemon.tenants TO mnemon_app;
