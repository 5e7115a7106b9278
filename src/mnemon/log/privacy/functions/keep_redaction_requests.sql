-- Lets a redaction go on from requested to declined or completed, and refuses every other change of it.
CREATE OR REPLACE FUNCTION mnemon.keep_redaction_requests() RETURNS trigger
    LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'UPDATE' AND (OLD.status, NEW.status) IN (
        ('requested', 'declined'), ('requested', 'redacted'), ('redacted', 'redacted'), ('redacted', 'completed')) THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION '% of a redaction is refused: it only goes on from requested to completed', TG_OP
        USING ERRCODE = 'insufficient_privilege';
END $$;
