-- A dead job starts over with all its attempts; the history of its errors stays. A waiting one starts now.
CREATE OR REPLACE FUNCTION mnemon.retry_job(job uuid) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = mnemon, public, pg_temp AS $$
DECLARE
    woken text;
BEGIN
    UPDATE mnemon.jobs j
       SET status = 'PENDING', attempts = CASE j.status WHEN 'FAILED' THEN 0 ELSE j.attempts END,
           next_run_at = clock_timestamp(), delayed = false, finished_at = NULL, updated_at = clock_timestamp()
     WHERE j.tenant_id = mnemon.current_tenant() AND j.job_id = job AND j.status IN ('FAILED', 'PENDING')
    RETURNING j.kind INTO woken;
    IF woken IS NOT NULL THEN
        PERFORM pg_notify('mnemon_jobs', woken);
    END IF;
    RETURN woken IS NOT NULL;
END $$;
REVOKE EXECUTE ON FUNCTION mnemon.retry_job FROM PUBLIC;
GRANT EXECUTE ON FUNCTION mnemon.retry_job TO mnemon_app;
