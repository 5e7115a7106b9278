-- Lets an erasure go on from requested to declined or completed, and refuses every other change of it.
CREATE OR REPLACE FUNCTION mnemon.keep_erasures() RETURNS trigger
    LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'UPDATE' AND (OLD.status, NEW.status) IN (
        ('requested', 'declined'), ('requested', 'key_destroyed'), ('key_destroyed', 'key_destroyed'),
        ('key_destroyed', 'completed')) THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION '% of an erasure is refused: it only goes on from requested to completed', TG_OP
        USING ERRCODE = 'insufficient_privilege';
END $$;
