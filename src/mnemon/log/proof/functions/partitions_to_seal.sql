-- The partitions of all tenants with events that no checkpoint or seal covers. It tells a process where to look, and
-- nothing of what is there.
CREATE OR REPLACE FUNCTION mnemon.partitions_to_seal() RETURNS TABLE (tenant_id uuid, legal_entity text)
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = mnemon, public, pg_temp AS $$
    SELECT p.tenant_id, p.legal_entity
      FROM mnemon.partitions p
      LEFT JOIN mnemon.seals s ON s.tenant_id = p.tenant_id AND s.legal_entity = p.legal_entity
     WHERE p.sequence > coalesce(s.sequence, 0)
     ORDER BY p.partition_id
$$;
REVOKE EXECUTE ON FUNCTION mnemon.partitions_to_seal FROM PUBLIC;
GRANT EXECUTE ON FUNCTION mnemon.partitions_to_seal TO mnemon_app;
