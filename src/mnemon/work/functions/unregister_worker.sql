-- Writes down that a worker stopped of its own accord.
CREATE OR REPLACE FUNCTION mnemon.unregister_worker(worker text) RETURNS void
    LANGUAGE sql SECURITY DEFINER SET search_path = mnemon, public, pg_temp
    BEGIN ATOMIC
        UPDATE mnemon.workers SET stopped_at = now(), heartbeat_at = now() WHERE worker_id = worker;
    END;
REVOKE EXECUTE ON FUNCTION mnemon.unregister_worker FROM PUBLIC;
GRANT EXECUTE ON FUNCTION mnemon.unregister_worker TO mnemon_app;
