-- Lets a seal go forward, and refuses every other change of it.
CREATE OR REPLACE FUNCTION mnemon.keep_seals() RETURNS trigger
    LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'UPDATE' AND NEW.sequence >= OLD.sequence THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION '% of a seal is refused: it only goes forward', TG_OP USING ERRCODE = 'insufficient_privilege';
END $$;
