-- What people say about semantic events. It stands above what was read: `as_read` keeps the reading of an event that
-- somebody corrected, `stood` what a person said became of it.
ALTER TABLE mnemon.semantic_events
    ADD COLUMN as_read      jsonb,
    -- How often something was said about it, or taken back.
    ADD COLUMN version      integer NOT NULL DEFAULT 0,
    ADD COLUMN stood        text CHECK (stood IN ('open', 'done', 'dismissed')),
    ADD COLUMN stood_since  timestamptz,
    -- What a person changed, who did last, and when.
    ADD COLUMN correction   text[] NOT NULL DEFAULT '{}',
    ADD COLUMN corrected_by text,
    ADD COLUMN corrected_at timestamptz,
    -- Of events that are one: the one that is shown.
    ADD COLUMN merged_into  text,
    -- No engine reads it, or none reads it any more: it is here since a person vouches for it.
    ADD COLUMN vouched_for  boolean NOT NULL DEFAULT false;
ALTER TABLE mnemon.semantic_events DROP CONSTRAINT semantic_events_status_check;
ALTER TABLE mnemon.semantic_events ADD CONSTRAINT semantic_events_status_check
    CHECK (status IN ('open', 'superseded', 'done', 'dismissed'));

-- Quotes that came from an event that was merged into this one.
ALTER TABLE mnemon.event_evidence ADD COLUMN merged_from text;

-- Links that a person drew, and those of an engine that a person dismissed.
ALTER TABLE mnemon.event_links
    ADD COLUMN by_person boolean NOT NULL DEFAULT false,
    ADD COLUMN dismissed boolean NOT NULL DEFAULT false,
    ADD COLUMN said_by   text;
ALTER TABLE mnemon.event_links DROP CONSTRAINT event_links_pkey;
ALTER TABLE mnemon.event_links ADD PRIMARY KEY (tenant_id, earlier, later, doc_version_id, by_person);

-- Everything that was said about events that are there, with what was taken back. A new reading of a revision leads it
-- on to the event that says the same; a new revision gets a copy.
CREATE TABLE mnemon.event_corrections (
    tenant_id      uuid NOT NULL,
    event_id       text NOT NULL,
    correction_id  text NOT NULL,
    sequence       bigint NOT NULL,
    doc_id         uuid NOT NULL,
    doc_version_id uuid NOT NULL,
    action         text NOT NULL,
    -- What was changed, in the words of whoever did.
    said           jsonb NOT NULL,
    -- The other event of a link, a merging or a split.
    other_id       text,
    said_by        text NOT NULL,
    said_at        timestamptz NOT NULL,
    undone_by      text,
    undone_at      timestamptz,
    PRIMARY KEY (tenant_id, event_id, correction_id)
);
CREATE INDEX event_corrections_of ON mnemon.event_corrections (tenant_id, doc_version_id);
CREATE INDEX event_corrections_of_document ON mnemon.event_corrections (tenant_id, doc_id);
CREATE INDEX event_corrections_to ON mnemon.event_corrections (tenant_id, other_id) WHERE other_id IS NOT NULL;
CREATE INDEX event_corrections_by ON mnemon.event_corrections (tenant_id, said_by);
CREATE INDEX event_corrections_in_order ON mnemon.event_corrections (tenant_id, sequence, event_id);
CALL mnemon.isolate_by_tenant('mnemon.event_corrections');
GRANT SELECT, INSERT, UPDATE, DELETE ON mnemon.event_corrections TO mnemon_app;

-- The weights of the reader that were fitted to a tenant's corrections; without a row the shipped ones hold.
CREATE TABLE mnemon.learned_readers (
    tenant_id  uuid PRIMARY KEY,
    adapter    text NOT NULL,
    weights    jsonb NOT NULL,
    labels     integer NOT NULL,
    before     jsonb NOT NULL,
    after      jsonb NOT NULL,
    learned_at timestamptz NOT NULL
);
CALL mnemon.isolate_by_tenant('mnemon.learned_readers');
GRANT SELECT, INSERT, UPDATE, DELETE ON mnemon.learned_readers TO mnemon_app;
