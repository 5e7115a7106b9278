-- The next tenants with a job of this kind and priority that may run: those after the one given, then from the
-- first on, itself the last; those of `besides` are passed over. Each is found by one descent of the index, whatever
-- lies between.
-- Called by claim_jobs alone, whose settings hold in it too; its own would cost more than the search.
CREATE OR REPLACE FUNCTION mnemon.tenants_in_turn(
    of_kind text, of_priority smallint, after uuid, most integer, besides uuid[])
    RETURNS uuid[]
    LANGUAGE plpgsql AS $$
DECLARE
    line    uuid[] := '{}';
    turn    uuid := after;
    past    timestamptz := 'infinity';
    wrapped boolean := false;
BEGIN
    WHILE cardinality(line) < most LOOP
        SELECT j.tenant_id INTO turn FROM mnemon.jobs j
         WHERE j.kind = of_kind AND j.priority = of_priority AND j.status = 'PENDING' AND NOT j.delayed
           AND (j.tenant_id, j.next_run_at) > (turn, past)
         ORDER BY j.tenant_id, j.next_run_at LIMIT 1;
        IF FOUND AND NOT (wrapped AND turn > after) THEN
            IF turn <> ALL (besides) THEN
                line := line || turn;
            END IF;
            past := 'infinity';
        ELSE
            EXIT WHEN wrapped;
            wrapped := true;
            turn := '00000000-0000-0000-0000-000000000000';
            past := '-infinity';
        END IF;
    END LOOP;
    RETURN line;
END $$;
REVOKE EXECUTE ON FUNCTION mnemon.tenants_in_turn FROM PUBLIC;
