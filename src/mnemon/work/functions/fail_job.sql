-- Ends an attempt that did not succeed: another try after a delay, or the end of the job with its reason.
CREATE OR REPLACE FUNCTION mnemon.fail_job(
    tenant uuid, job uuid, token uuid, code text, message text, permanent boolean, delay interval DEFAULT NULL)
    RETURNS text
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = mnemon, public, pg_temp AS $$
DECLARE
    outcome text;
BEGIN
    UPDATE mnemon.jobs j
       SET status = CASE WHEN permanent OR j.attempts >= j.max_attempts THEN 'FAILED' ELSE 'PENDING' END,
           next_run_at = CASE WHEN permanent OR j.attempts >= j.max_attempts THEN NULL
               ELSE clock_timestamp() + coalesce(
                   delay, mnemon.job_backoff(j.attempts, j.backoff_seconds, j.backoff_cap_seconds)) END,
           finished_at = CASE WHEN permanent OR j.attempts >= j.max_attempts THEN clock_timestamp() END,
           last_error_code = CASE WHEN NOT permanent AND j.attempts >= j.max_attempts
               THEN 'MAX_ATTEMPTS_EXCEEDED' ELSE code END,
           last_error_message = CASE WHEN NOT permanent AND j.attempts >= j.max_attempts
               THEN format('%s: %s (attempt %s of %s)', code, message, j.attempts, j.max_attempts) ELSE message END,
           errors = CASE WHEN jsonb_array_length(j.errors) < 20 THEN j.errors ELSE j.errors - 0 END
               || jsonb_build_object('attempt', j.attempts, 'at', clock_timestamp(), 'worker', j.locked_by,
                                     'code', code, 'message', message),
           delayed = true, lease_token = NULL, lease_until = NULL, updated_at = clock_timestamp()
     WHERE j.tenant_id = tenant AND j.job_id = job AND j.lease_token = token
    RETURNING j.status INTO outcome;
    RETURN outcome;
END $$;
REVOKE EXECUTE ON FUNCTION mnemon.fail_job FROM PUBLIC;
GRANT EXECUTE ON FUNCTION mnemon.fail_job TO mnemon_app;
