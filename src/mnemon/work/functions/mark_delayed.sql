-- Marks a job that is put off as it comes in: whoever enqueues need not think of it. Not on updates: a trigger there
-- would fetch each row that is claimed twice.
CREATE OR REPLACE FUNCTION mnemon.mark_delayed() RETURNS trigger
    LANGUAGE plpgsql SET search_path = mnemon, public, pg_temp AS $$
BEGIN
    NEW.delayed := true;
    RETURN NEW;
END $$;
