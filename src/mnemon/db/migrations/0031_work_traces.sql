-- Which span of a trace left a job behind, while traces are sent; a job of an untraced request has no row.
CREATE TABLE mnemon.job_traces (
    tenant_id   uuid NOT NULL,
    job_id      uuid NOT NULL,
    traceparent text NOT NULL CHECK (length(traceparent) <= 100),
    PRIMARY KEY (tenant_id, job_id),
    FOREIGN KEY (tenant_id, job_id) REFERENCES mnemon.jobs ON DELETE CASCADE
);
CALL mnemon.isolate_by_tenant('mnemon.job_traces');
GRANT SELECT, INSERT ON mnemon.job_traces TO mnemon_app;
