-- Reports that never reached the webhook are a fact for the log too.
DROP TRIGGER leaves_its_failure ON mnemon.jobs;
CREATE TRIGGER leaves_its_failure AFTER UPDATE OF status ON mnemon.jobs
    FOR EACH ROW
    WHEN (NEW.status = 'FAILED' AND OLD.status IS DISTINCT FROM NEW.status
          AND NEW.kind IN ('mail.passages', 'reports.orchestrate', 'reports.summarize', 'reports.digest',
                           'reports.webhook'))
    EXECUTE FUNCTION mnemon.leave_failure_to_record();
