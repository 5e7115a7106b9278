-- Deletes finished jobs and silent workers that are older than asked, some at a time.
CREATE OR REPLACE FUNCTION mnemon.delete_finished_jobs(done_before timestamptz, failed_before timestamptz, most integer)
    RETURNS integer
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = mnemon, public, pg_temp AS $$
DECLARE
    deleted integer;
BEGIN
    DELETE FROM mnemon.jobs j USING (
        SELECT f.tenant_id, f.job_id FROM mnemon.jobs f
         WHERE (f.status = 'DONE' AND f.finished_at < done_before)
            OR (f.status = 'FAILED' AND f.finished_at < failed_before)
           FOR UPDATE SKIP LOCKED LIMIT most) AS old
     WHERE j.tenant_id = old.tenant_id AND j.job_id = old.job_id;
    GET DIAGNOSTICS deleted = ROW_COUNT;
    DELETE FROM mnemon.workers w WHERE w.heartbeat_at < least(done_before, failed_before);
    RETURN deleted;
END $$;
REVOKE EXECUTE ON FUNCTION mnemon.delete_finished_jobs FROM PUBLIC;
GRANT EXECUTE ON FUNCTION mnemon.delete_finished_jobs TO mnemon_app;
