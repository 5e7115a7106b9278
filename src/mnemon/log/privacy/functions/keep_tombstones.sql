-- Refuses every change of a destroyed key: it stays destroyed, and no key loses its row.
CREATE OR REPLACE FUNCTION mnemon.keep_tombstones() RETURNS trigger
    LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'UPDATE' AND OLD.destroyed_at IS NULL
       AND (NEW.tenant_id, NEW.subject_id, NEW.generation) = (OLD.tenant_id, OLD.subject_id, OLD.generation) THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION '% on %.% is refused: a destroyed key stays destroyed', TG_OP, TG_TABLE_SCHEMA, TG_TABLE_NAME
        USING ERRCODE = 'insufficient_privilege';
END $$;
