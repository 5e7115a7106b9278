-- Which waiting jobs a transport was told of, and when. The job's own row stays the truth: an announcement that is lost
-- is made again, and one too many finds the job taken.
CREATE TABLE mnemon.job_announcements (
    tenant_id    uuid NOT NULL,
    job_id       uuid NOT NULL,
    announced_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (tenant_id, job_id)
);
CALL mnemon.isolate_by_tenant('mnemon.job_announcements');
