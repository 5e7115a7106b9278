-- Semantic events: what revisions say, with the words that prove it. One lens writes all of these tables from the log.
-- Whether a revision is served and who may read it is copied to its events, so that a search decides it where it finds.

-- Every extraction that ever succeeded; the events are those of the last one of each revision.
CREATE TABLE mnemon.extractions (
    tenant_id      uuid NOT NULL,
    extraction_id  uuid NOT NULL,
    doc_version_id uuid NOT NULL,
    doc_id         uuid NOT NULL,
    engine         text NOT NULL,
    events         integer NOT NULL,
    unproven       integer NOT NULL,
    model          text,
    extracted_at   timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, extraction_id)
);
CREATE INDEX extractions_of ON mnemon.extractions (tenant_id, doc_version_id, extracted_at);
CALL mnemon.isolate_by_tenant('mnemon.extractions');
GRANT SELECT, INSERT, UPDATE, DELETE ON mnemon.extractions TO mnemon_app;

CREATE TABLE mnemon.semantic_events (
    tenant_id      uuid NOT NULL,
    event_id       text NOT NULL,
    doc_version_id uuid NOT NULL,
    doc_id         uuid NOT NULL,
    extraction_id  uuid NOT NULL,
    position       integer NOT NULL,
    category       text NOT NULL CHECK (category IN ('Commitment', 'Execution', 'Decision', 'Collaboration',
                                                     'QualityRisk', 'Feedback', 'Change', 'Stakeholder')),
    narrative      text NOT NULL,
    subject_type   text NOT NULL,
    subject_ref    text NOT NULL,
    actors         jsonb NOT NULL,
    event_time     timestamptz,
    -- When it happened, or else when it was said.
    happened_at    timestamptz NOT NULL,
    due            date,
    kind           text,
    origin         text NOT NULL CHECK (origin IN ('stated', 'inferred')),
    confidence     double precision NOT NULL CHECK (confidence BETWEEN 0 AND 1),
    status         text NOT NULL DEFAULT 'open' CHECK (status IN ('open', 'superseded', 'done')),
    active         boolean NOT NULL,
    readers        text[],
    -- When its revision was first read.
    known_since    timestamptz NOT NULL,
    -- When its revision was last served, if it is no more.
    known_until    timestamptz,
    -- When the revision that came in its revision's place was written: until then it stood.
    replaced_at    timestamptz,
    created_at     timestamptz NOT NULL,
    terms          tsvector NOT NULL,
    -- Numbers for the words, the names and the subject's words, each kind under keys of its own.
    lookup         bigint[] NOT NULL,
    -- Whether some event is said to have ended it, be that served today or not: what had ended at any time is
    -- among these.
    linked         boolean NOT NULL DEFAULT false,
    PRIMARY KEY (tenant_id, event_id)
);
ALTER TABLE mnemon.semantic_events ALTER COLUMN terms SET STORAGE EXTERNAL;
CREATE INDEX semantic_events_of ON mnemon.semantic_events (tenant_id, doc_version_id, position);
CREATE INDEX semantic_events_of_document ON mnemon.semantic_events (tenant_id, doc_id);
CREATE INDEX semantic_events_by_time ON mnemon.semantic_events (tenant_id, happened_at DESC, event_id DESC)
    WHERE active;
CREATE INDEX semantic_events_by_category ON mnemon.semantic_events
    (tenant_id, category, happened_at DESC, event_id DESC) WHERE active;
CREATE INDEX semantic_events_open ON mnemon.semantic_events
    (tenant_id, category, status, happened_at DESC, event_id DESC) WHERE active;
CREATE INDEX semantic_events_by_past_time ON mnemon.semantic_events (tenant_id, happened_at DESC, event_id DESC)
    WHERE NOT active;
CREATE INDEX semantic_events_foretold ON mnemon.semantic_events (tenant_id, happened_at DESC, event_id DESC)
    WHERE happened_at > known_since;
CREATE INDEX semantic_events_late ON mnemon.semantic_events (tenant_id, happened_at DESC, event_id DESC)
    WHERE active AND due < (happened_at AT TIME ZONE 'UTC')::date;
CREATE INDEX semantic_events_known ON mnemon.semantic_events (tenant_id, known_since);
CREATE INDEX semantic_events_withdrawn ON mnemon.semantic_events (tenant_id, known_until) WHERE NOT active;
CREATE INDEX semantic_events_replaced ON mnemon.semantic_events (tenant_id, replaced_at) WHERE replaced_at IS NOT NULL;
CREATE INDEX semantic_events_linked ON mnemon.semantic_events (tenant_id, active, happened_at DESC, event_id DESC)
    WHERE linked;
-- Open commitments as the view lists them: those with a date first, the most urgent first.
CREATE INDEX semantic_events_due ON mnemon.semantic_events (tenant_id, due, happened_at, event_id)
    WHERE active AND category = 'Commitment' AND status = 'open';
CREATE INDEX semantic_events_today ON mnemon.semantic_events
    USING gin (mnemon.event_search_keys(tenant_id, lookup, category, status)) WITH (fastupdate = off) WHERE active;
CREATE INDEX semantic_events_past ON mnemon.semantic_events
    USING gin (mnemon.event_search_keys(tenant_id, lookup, category, status)) WITH (fastupdate = off) WHERE NOT active;
-- How often each key occurs, which the planner does not learn from the expression of a partial index.
CREATE STATISTICS mnemon.semantic_event_keys
    ON mnemon.event_search_keys(tenant_id, lookup, category, status) FROM mnemon.semantic_events;
CALL mnemon.isolate_by_tenant('mnemon.semantic_events');
GRANT SELECT, INSERT, UPDATE, DELETE ON mnemon.semantic_events TO mnemon_app;

CREATE TABLE mnemon.event_evidence (
    tenant_id      uuid NOT NULL,
    event_id       text NOT NULL,
    evidence_id    text NOT NULL,
    doc_version_id uuid NOT NULL,
    start_char     integer NOT NULL CHECK (start_char >= 0),
    end_char       integer NOT NULL,
    quote          text NOT NULL,
    -- The chunk's number in its revision; NULL where the revision is one piece.
    chunk          integer,
    PRIMARY KEY (tenant_id, event_id, start_char, end_char),
    CONSTRAINT a_quote_is_as_long_as_its_span CHECK (end_char - start_char = length(quote)),
    CONSTRAINT a_quote_has_at_most_25_words CHECK (
        cardinality(regexp_split_to_array(btrim(quote, E' \t\r\n\f\v'), '\s+')) <= 25)
);
CREATE INDEX event_evidence_of ON mnemon.event_evidence (tenant_id, doc_version_id);
CALL mnemon.isolate_by_tenant('mnemon.event_evidence');
GRANT SELECT, INSERT, UPDATE, DELETE ON mnemon.event_evidence TO mnemon_app;

-- A later event ends an earlier one. The revision whose extraction found the link takes it along when it goes.
CREATE TABLE mnemon.event_links (
    tenant_id      uuid NOT NULL,
    later          text NOT NULL,
    earlier        text NOT NULL,
    doc_version_id uuid NOT NULL,
    kind           text NOT NULL CHECK (kind IN ('supersedes', 'fulfils')),
    reason         text NOT NULL,
    linked_at      timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, earlier, later, doc_version_id)
);
CREATE INDEX event_links_by_later ON mnemon.event_links (tenant_id, later);
CREATE INDEX event_links_found_by ON mnemon.event_links (tenant_id, doc_version_id);
CALL mnemon.isolate_by_tenant('mnemon.event_links');
GRANT SELECT, INSERT, UPDATE, DELETE ON mnemon.event_links TO mnemon_app;

-- Not part of the lens: made by a model, and made again when the model changes.
CREATE TABLE mnemon.semantic_event_vectors (
    tenant_id uuid NOT NULL REFERENCES mnemon.tenants ON DELETE CASCADE,
    event_id  text NOT NULL,
    model_id  text NOT NULL,
    embedding vector NOT NULL,
    PRIMARY KEY (tenant_id, model_id, event_id)
);
CALL mnemon.isolate_by_tenant('mnemon.semantic_event_vectors');
GRANT SELECT, INSERT, UPDATE, DELETE ON mnemon.semantic_event_vectors TO mnemon_app;
CREATE INDEX semantic_event_vectors_near_c76aa13391 ON mnemon.semantic_event_vectors
    USING hnsw ((embedding::halfvec(384)) halfvec_cosine_ops) WHERE model_id = 'all-MiniLM-L6-v2@1';

-- The job of a revision, also after its end.
CREATE INDEX jobs_of_extractions ON mnemon.jobs (tenant_id, dedupe_key, created_at DESC)
    WHERE kind = 'semantics.extract';
