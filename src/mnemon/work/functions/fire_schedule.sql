-- Fires a schedule: of all workers that saw it due, the one that moves its next time enqueues the jobs, in the same
-- transaction. The system's job, or one for every tenant; none where the last one is still unfinished.
CREATE OR REPLACE FUNCTION mnemon.fire_schedule(
    schedule text, seen timestamptz, next_fire timestamptz, every_tenant boolean, job_payload jsonb,
    attempts_limit integer, time_limit double precision, backoff double precision, backoff_cap double precision)
    RETURNS integer
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = mnemon, public, pg_temp AS $$
DECLARE
    fired mnemon.schedules;
    added integer;
BEGIN
    UPDATE mnemon.schedules s SET last_fire_at = s.next_fire_at, next_fire_at = next_fire
     WHERE s.name = schedule AND s.next_fire_at = seen AND s.next_fire_at <= now()
    RETURNING s.* INTO fired;
    IF fired.name IS NULL THEN
        RETURN NULL;
    END IF;
    INSERT INTO mnemon.jobs (tenant_id, job_id, kind, payload, dedupe_key, max_attempts, time_limit_seconds,
                             backoff_seconds, backoff_cap_seconds)
    SELECT owner.tenant_id, mnemon.time_ordered_uuid(), fired.kind, job_payload,
           'schedule/' || schedule, attempts_limit,
           time_limit, backoff, backoff_cap
      FROM (SELECT t.tenant_id FROM mnemon.tenants t WHERE every_tenant
             UNION ALL
            SELECT '00000000-0000-0000-0000-000000000000'::uuid WHERE NOT every_tenant) AS owner
        ON CONFLICT (tenant_id, kind, dedupe_key)
           WHERE dedupe_key IS NOT NULL AND status IN ('PENDING', 'PROCESSING') DO NOTHING;
    GET DIAGNOSTICS added = ROW_COUNT;
    PERFORM pg_notify('mnemon_jobs', fired.kind);
    RETURN added;
END $$;
REVOKE EXECUTE ON FUNCTION mnemon.fire_schedule FROM PUBLIC;
GRANT EXECUTE ON FUNCTION mnemon.fire_schedule TO mnemon_app;
