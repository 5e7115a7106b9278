-- Summaries and reports on mailing lists. The lens `mail_summaries` writes both from the log. What they say stands in
-- their events, as places in messages: no words and no names are kept here.

CREATE TABLE mnemon.mail_summaries (
    tenant_id       uuid NOT NULL,
    summary_id      uuid NOT NULL,
    summary_type    text NOT NULL CHECK (summary_type IN ('thread', 'weekly', 'consensus', 'draft-focused')),
    list_name       text,
    draft           text,
    since           timestamptz,
    until           timestamptz,
    -- The event of the reading that a summary of one thread was made from: another one makes it old.
    based_on        text,
    thread_keys     text[] NOT NULL,
    message_keys    text[] NOT NULL,
    consensus_types text[] NOT NULL,
    line_count      integer NOT NULL CHECK (line_count >= 0),
    dropped         integer NOT NULL CHECK (dropped >= 0),
    generated_by    text NOT NULL,
    generated_at    timestamptz NOT NULL,
    event_id        text NOT NULL,
    PRIMARY KEY (tenant_id, summary_id)
);
CREATE INDEX mail_summaries_by_time ON mnemon.mail_summaries (tenant_id, generated_at DESC, summary_id);
CREATE INDEX mail_summaries_by_reading ON mnemon.mail_summaries (tenant_id, based_on) WHERE based_on IS NOT NULL;
CALL mnemon.isolate_by_tenant('mnemon.mail_summaries');
GRANT SELECT, INSERT, UPDATE, DELETE ON mnemon.mail_summaries TO mnemon_app;

CREATE TABLE mnemon.mail_reports (
    tenant_id         uuid NOT NULL,
    report_id         text NOT NULL,
    summary_id        uuid NOT NULL,
    delivery_channels text[] NOT NULL,
    published_at      timestamptz NOT NULL,
    event_id          text NOT NULL,
    PRIMARY KEY (tenant_id, report_id)
);
CREATE INDEX mail_reports_by_time ON mnemon.mail_reports (tenant_id, published_at DESC, report_id);
CREATE INDEX mail_reports_by_summary ON mnemon.mail_reports (tenant_id, summary_id);
CALL mnemon.isolate_by_tenant('mnemon.mail_reports');
GRANT SELECT, INSERT, UPDATE, DELETE ON mnemon.mail_reports TO mnemon_app;

CREATE TRIGGER leaves_its_failure AFTER UPDATE OF status ON mnemon.jobs
    FOR EACH ROW
    WHEN (NEW.status = 'FAILED' AND OLD.status IS DISTINCT FROM NEW.status
          AND NEW.kind IN ('mail.passages', 'reports.orchestrate', 'reports.summarize', 'reports.digest'))
    EXECUTE FUNCTION mnemon.leave_failure_to_record();
