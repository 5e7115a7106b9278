-- What a run of a long file has come to so far: what was read, and the vectors of its first chunks. Work state of the
-- run's job, written only by who holds its lease, and gone when the run ends.

CREATE TABLE mnemon.run_readings (
    tenant_id uuid NOT NULL,
    run_id    uuid NOT NULL,
    reading   bytea NOT NULL,
    PRIMARY KEY (tenant_id, run_id),
    FOREIGN KEY (tenant_id, run_id) REFERENCES mnemon.ingestion_runs ON DELETE CASCADE
);
CREATE TABLE mnemon.run_vectors (
    tenant_id uuid NOT NULL,
    run_id    uuid NOT NULL,
    -- The ordinal of the chunk that the first of these vectors belongs to.
    first     integer NOT NULL CHECK (first >= 0),
    model_id  text NOT NULL,
    dimension integer NOT NULL CHECK (dimension > 0),
    vectors   bytea NOT NULL CHECK (length(vectors) % (4 * dimension) = 0),
    seconds   real NOT NULL,
    PRIMARY KEY (tenant_id, run_id, model_id, first),
    FOREIGN KEY (tenant_id, run_id) REFERENCES mnemon.ingestion_runs ON DELETE CASCADE
);
-- Compressed already, or not compressible.
ALTER TABLE mnemon.run_readings ALTER COLUMN reading SET STORAGE EXTERNAL;
ALTER TABLE mnemon.run_vectors ALTER COLUMN vectors SET STORAGE EXTERNAL;
CALL mnemon.isolate_by_tenant('mnemon.run_readings');
CALL mnemon.isolate_by_tenant('mnemon.run_vectors');
GRANT SELECT, INSERT, DELETE ON mnemon.run_readings, mnemon.run_vectors TO mnemon_app;
