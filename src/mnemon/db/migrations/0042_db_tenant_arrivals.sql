-- Which move brought a tenant to this database, until whoever moved it has taken note: where a move broke off while the
-- tenant was opened, the next attempt knows by it that this is the database, and whether the tenant opened here.
CREATE TABLE mnemon.tenant_arrivals (
    tenant_id  uuid NOT NULL,
    move_id    uuid NOT NULL,
    arrived    boolean NOT NULL DEFAULT false,
    changed_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, move_id)
);
CALL mnemon.isolate_by_tenant('mnemon.tenant_arrivals');
-- Drawn anew by every attempt. One that an earlier version left in doubt has none.
ALTER TABLE mnemon.tenant_moves ADD COLUMN move_id uuid;
