-- Gives a table its row-level security: one policy, the same everywhere. `tenant_id` is the only column it needs.
CREATE OR REPLACE PROCEDURE mnemon.isolate_by_tenant(relation regclass)
    LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY', relation);
    EXECUTE format(
        'CREATE POLICY tenant_only ON %s USING (tenant_id = mnemon.current_tenant()) '
        'WITH CHECK (tenant_id = mnemon.current_tenant())', relation);
END $$;
