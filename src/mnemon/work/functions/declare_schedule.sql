-- Declares a schedule; one that is already known keeps its next time unless its rule changed, or the clock went back:
-- then its next time is further off than its rule allows.
CREATE OR REPLACE FUNCTION mnemon.declare_schedule(
    schedule text, kind_of_job text, rule text, zone text, first_fire timestamptz)
    RETURNS void
    LANGUAGE sql SECURITY DEFINER SET search_path = mnemon, public, pg_temp
    BEGIN ATOMIC
        INSERT INTO mnemon.schedules (name, kind, cron, timezone, next_fire_at)
        VALUES (schedule, kind_of_job, rule, zone, first_fire)
            ON CONFLICT (name) DO UPDATE
           SET kind = excluded.kind, cron = excluded.cron, timezone = excluded.timezone,
               next_fire_at = CASE WHEN (schedules.cron, schedules.timezone) = (excluded.cron, excluded.timezone)
                                   THEN least(schedules.next_fire_at, excluded.next_fire_at)
                                   ELSE excluded.next_fire_at END;
    END;
REVOKE EXECUTE ON FUNCTION mnemon.declare_schedule FROM PUBLIC;
GRANT EXECUTE ON FUNCTION mnemon.declare_schedule TO mnemon_app;
