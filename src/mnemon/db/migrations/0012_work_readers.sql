-- Who may know of a job, where it is about something that not everyone of the tenant may see; NULL: all of them.
ALTER TABLE mnemon.jobs ADD COLUMN readers text[];
GRANT INSERT (readers) ON mnemon.jobs TO mnemon_app;
