-- How long a failed job waits: 30 s, 60 s, 120 s … up to the cap, and up to a tenth more so that a crowd does not
-- return together.
CREATE OR REPLACE FUNCTION mnemon.job_backoff(attempts integer, base double precision, cap double precision)
    RETURNS interval
    LANGUAGE sql VOLATILE
    RETURN make_interval(secs => least(base * 2 ^ least(attempts - 1, 30), cap) * (1 + random() / 10));
