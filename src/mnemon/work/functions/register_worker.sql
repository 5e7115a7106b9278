-- Writes down a worker that starts, or starts again under its name.
CREATE OR REPLACE FUNCTION mnemon.register_worker(
    worker text, host text, process_id integer, slots integer, kinds text[])
    RETURNS void
    LANGUAGE sql SECURITY DEFINER SET search_path = mnemon, public, pg_temp
    BEGIN ATOMIC
        INSERT INTO mnemon.workers (worker_id, host, process_id, slots, kinds)
        VALUES (worker, host, process_id, slots, kinds)
            ON CONFLICT (worker_id) DO UPDATE
           SET host = excluded.host, process_id = excluded.process_id, slots = excluded.slots,
               kinds = excluded.kinds, started_at = now(), heartbeat_at = now(), stopped_at = NULL;
    END;
REVOKE EXECUTE ON FUNCTION mnemon.register_worker FROM PUBLIC;
GRANT EXECUTE ON FUNCTION mnemon.register_worker TO mnemon_app;
