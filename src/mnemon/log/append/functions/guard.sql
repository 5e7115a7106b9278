-- Puts the triggers on a table that keep it from changing. Row triggers reach the partitions by themselves;
-- truncation triggers do not, so each partition gets its own.
CREATE OR REPLACE PROCEDURE mnemon.guard(relation regclass, guardian regproc)
    LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('CREATE TRIGGER only_grows BEFORE UPDATE OR DELETE ON %s FOR EACH ROW EXECUTE FUNCTION %s()',
                   relation, guardian);
    EXECUTE format('CREATE TRIGGER is_never_emptied BEFORE TRUNCATE ON %s EXECUTE FUNCTION mnemon.refuse_change()',
                   relation);
END $$;
REVOKE EXECUTE ON PROCEDURE mnemon.guard FROM PUBLIC;
