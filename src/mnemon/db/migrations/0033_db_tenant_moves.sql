-- Tenants that are on their way between databases, or have left this one: whose transactions are refused here, and
-- where they are. A tenant that was never moved has no row.
CREATE TABLE mnemon.tenant_moves (
    tenant_id  uuid PRIMARY KEY,
    slug       text NOT NULL,
    -- leaving: copied while it is used here; closed: the last part is copied; moved: it is elsewhere;
    -- arriving: a copy that is not yet in use.
    state      text NOT NULL CHECK (state IN ('leaving', 'closed', 'moved', 'arriving')),
    -- Where its requests are answered from now on.
    url        text NOT NULL,
    -- An arriving tenant's partitions, by legal entity: numbers are drawn anew in each database.
    partitions jsonb NOT NULL DEFAULT '{}',
    -- Digests of its access tokens, so that whoever comes with one is told where to go.
    tokens     bytea[] NOT NULL DEFAULT '{}',
    changed_at timestamptz NOT NULL DEFAULT now()
);
CALL mnemon.isolate_by_tenant('mnemon.tenant_moves');
