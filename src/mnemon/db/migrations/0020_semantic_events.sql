-- Semantic events: what revisions say, with the words that prove it. One lens writes all of these tables from the log.
-- Who may read an artifact is copied to its revisions and events, so that a search decides it where it finds them.

-- Who asks, for the transaction. Without a name only what everyone of the tenant may read is shown.
CREATE FUNCTION mnemon.current_reader() RETURNS text
    LANGUAGE sql STABLE PARALLEL SAFE
    RETURN nullif(current_setting('mnemon.reader', true), '');

-- NULL readers: everyone of the tenant.
CREATE FUNCTION mnemon.may_read(readers text[]) RETURNS boolean
    LANGUAGE sql STABLE PARALLEL SAFE
    RETURN readers IS NULL OR coalesce(mnemon.current_reader() = ANY (readers), false);

CREATE TABLE mnemon.artifacts (
    tenant_id        uuid NOT NULL,
    doc_id           uuid NOT NULL,
    artifact_uid     text NOT NULL,
    artifact_type    text NOT NULL CHECK (artifact_type IN ('email', 'doc', 'chat', 'transcript', 'note')),
    source_system    text NOT NULL,
    source_id        text,
    source_url       text,
    title            text NOT NULL DEFAULT '',
    sensitivity      text NOT NULL DEFAULT 'normal'
                     CHECK (sensitivity IN ('normal', 'sensitive', 'highly_sensitive')),
    visibility_scope text NOT NULL DEFAULT 'org' CHECK (visibility_scope IN ('me', 'team', 'org', 'custom')),
    owner            text NOT NULL,
    readers          text[],
    retention_policy text NOT NULL DEFAULT 'forever'
                     CHECK (retention_policy IN ('forever', '1y', 'until_resolved', 'custom')),
    retain_until     timestamptz,
    created_at       timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, doc_id),
    CONSTRAINT a_custom_retention_has_a_date CHECK ((retention_policy = 'custom') = (retain_until IS NOT NULL)),
    CONSTRAINT the_owner_reads CHECK (readers IS NULL OR owner = ANY (readers))
);
CREATE UNIQUE INDEX artifacts_by_uid ON mnemon.artifacts (tenant_id, artifact_uid);
CREATE INDEX artifacts_to_expire ON mnemon.artifacts (tenant_id, retention_policy) WHERE retention_policy <> 'forever';
CALL mnemon.isolate_by_tenant('mnemon.artifacts');
GRANT SELECT, INSERT, UPDATE, DELETE ON mnemon.artifacts TO mnemon_app;

CREATE TABLE mnemon.artifact_revisions (
    tenant_id      uuid NOT NULL,
    doc_version_id uuid NOT NULL,
    doc_id         uuid NOT NULL,
    revision_id    text NOT NULL,
    version_number integer NOT NULL,
    source_ts      timestamptz,
    -- NULL until the run that makes the chunks of a long text has counted them.
    token_count    bigint,
    chunk_count    integer,
    is_latest      boolean NOT NULL,
    served         tstzmultirange NOT NULL,
    readers        text[],
    ingested_at    timestamptz NOT NULL,
    extracted_at   timestamptz,
    PRIMARY KEY (tenant_id, doc_version_id)
);
CREATE INDEX artifact_revisions_of ON mnemon.artifact_revisions (tenant_id, doc_id, revision_id);
CREATE INDEX artifact_revisions_private ON mnemon.artifact_revisions (tenant_id, doc_version_id) WHERE readers IS NOT NULL;
CALL mnemon.isolate_by_tenant('mnemon.artifact_revisions');
GRANT SELECT, INSERT, UPDATE, DELETE ON mnemon.artifact_revisions TO mnemon_app;

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
    created_at     timestamptz NOT NULL,
    terms          tsvector NOT NULL,
    -- Numbers for the words, the names and the subject's words, each kind under keys of its own.
    lookup         bigint[] NOT NULL,
    PRIMARY KEY (tenant_id, event_id)
);
ALTER TABLE mnemon.semantic_events ALTER COLUMN terms SET STORAGE EXTERNAL;
CREATE INDEX semantic_events_of ON mnemon.semantic_events (tenant_id, doc_version_id, position);
CREATE INDEX semantic_events_of_document ON mnemon.semantic_events (tenant_id, doc_id);
CREATE INDEX semantic_events_by_time ON mnemon.semantic_events (tenant_id, happened_at DESC, event_id DESC) WHERE active;
CREATE INDEX semantic_events_by_category ON mnemon.semantic_events
    (tenant_id, category, happened_at DESC, event_id DESC) WHERE active;
CREATE INDEX semantic_events_open ON mnemon.semantic_events (tenant_id, category, status, happened_at DESC, event_id DESC)
    WHERE active;
CREATE INDEX semantic_events_today ON mnemon.semantic_events USING gin (lookup) WITH (fastupdate = off) WHERE active;
CREATE INDEX semantic_events_past ON mnemon.semantic_events USING gin (lookup) WITH (fastupdate = off) WHERE NOT active;
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
CREATE INDEX jobs_of_extractions ON mnemon.jobs (tenant_id, dedupe_key, created_at DESC) WHERE kind = 'semantics.extract';

-- The keys under which an event is found by the words of its text, by a name, and by a word of its subject.
CREATE FUNCTION mnemon.event_lookup(tenant_id uuid, terms tsvector, names text[], subject tsvector) RETURNS bigint[]
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN mnemon.term_keys(tenant_id, terms)
        || ARRAY(SELECT mnemon.term_key(event_lookup.tenant_id, 'actor ' || name) FROM unnest(names) AS name)
        || ARRAY(SELECT mnemon.term_key(event_lookup.tenant_id, 'subject ' || lexeme)
                   FROM unnest(tsvector_to_array(subject)) AS lexeme);

-- The events that fit, best or latest first, with their number up to a bound. Whatever is left out is not asked for.
-- `any_word` takes events with some of the words. With the question's vector, events about the same matter are found too.
CREATE FUNCTION mnemon.find_semantic_events(wanted jsonb, question vector, bound integer)
    RETURNS TABLE (event_id text, happened_at timestamptz, score float8, total bigint)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path = mnemon, public, pg_temp SET enable_seqscan = off
    SET hnsw.iterative_scan = 'relaxed_order' SET hnsw.ef_search = 100 AS $$
DECLARE
    tenant  uuid := current_tenant();
    near    text := 'SELECT NULL::text AS event_id, NULL::timestamptz AS happened_at, NULL::float8 AS similarity WHERE false';
    model   record;
    keys    bigint[] := ARRAY(SELECT term_key(tenant, lexeme)
                                FROM unnest(tsvector_to_array(to_tsvector('english', wanted ->> 'query'))) AS lexeme);
    must    bigint[] := ARRAY(SELECT term_key(tenant, 'actor ' || lower(wanted ->> 'actor')) WHERE wanted ? 'actor')
                     || ARRAY(SELECT term_key(tenant, 'subject ' || lexeme)
                                FROM unnest(tsvector_to_array(to_tsvector('english', wanted ->> 'subject'))) AS lexeme);
    asked   tsquery;
    scope   text := 'e.tenant_id = $1 AND may_read(e.readers)';
    words   text := '';
    source  text := 'semantic_events e';
    scoring text := '0::float8';
BEGIN
    IF coalesce((wanted ->> 'past')::boolean, false) THEN
        IF wanted ? 'known_at' THEN
            source := source || ' JOIN artifact_revisions r ON r.tenant_id = e.tenant_id AND r.doc_version_id = e.doc_version_id';
            scope := scope || format(' AND r.served @> %L::timestamptz AND r.extracted_at <= %1$L::timestamptz', wanted ->> 'known_at');
        END IF;
    ELSE
        scope := scope || ' AND e.active';
    END IF;
    SELECT scope || coalesce(string_agg(format(clause, value), ''), '') INTO scope
      FROM (VALUES ('category',   ' AND e.category = %L'),
                   ('time_from',  ' AND e.happened_at >= %L::timestamptz'),
                   ('time_to',    ' AND e.happened_at <= %L::timestamptz'),
                   ('as_of',      ' AND e.happened_at <= %L::timestamptz'),
                   ('doc_id',     ' AND e.doc_id = %L::uuid'),
                   ('revision',   ' AND e.doc_version_id = %L::uuid'),
                   ('due_before', ' AND e.due < %L::date'),
                   ('kind',       ' AND e.kind = %L')) AS known (name, clause)
      JOIN jsonb_each_text(wanted) AS given (key, value) ON given.key = known.name;
    IF wanted ? 'status' AND (wanted ? 'as_of' OR wanted ? 'known_at') THEN
        scope := scope || format(' AND status_as_of(e.event_id, %L::timestamptz, %L::timestamptz) = %L',
                                 wanted ->> 'as_of', wanted ->> 'known_at', wanted ->> 'status');
    ELSIF wanted ? 'status' THEN
        scope := scope || format(' AND e.status = %L', wanted ->> 'status');
    END IF;
    IF cardinality(must) > 0 THEN
        scope := scope || format(' AND e.lookup @> %L::bigint[]', must);
    END IF;
    IF NOT wanted ? 'query' THEN
        RETURN QUERY EXECUTE format(
            'SELECT e.event_id, e.happened_at, 0::float8,
                    (SELECT count(*) FROM (SELECT FROM %1$s WHERE %2$s LIMIT $2) AS bounded)
               FROM %1$s WHERE %2$s %3$s ORDER BY e.happened_at DESC, e.event_id DESC LIMIT $3', source, scope,
            CASE WHEN wanted ? 'after_id' THEN format('AND (e.happened_at, e.event_id) < (%L::timestamptz, %L)',
                                                      wanted ->> 'after_time', wanted ->> 'after_id') ELSE '' END)
        USING tenant, bound, (wanted ->> 'limit')::integer;
        RETURN;
    END IF;
    IF question IS NOT NULL THEN
        SELECT model_id, dimension INTO model FROM embedding_models
         WHERE tenant_id = tenant AND relation = 'mnemon.semantic_event_vectors' AND state = 'active';
        IF FOUND AND model.dimension = vector_dims(question) THEN
            -- Nearer than this is about the same matter; farther away everything is near to something.
            near := format(
                'SELECT * FROM (
                    SELECT e.event_id, e.happened_at, 1 - (v.embedding::halfvec(%1$s) <=> $5::halfvec(%1$s)) AS similarity
                      FROM semantic_event_vectors v JOIN %2$s ON e.tenant_id = v.tenant_id AND e.event_id = v.event_id
                     WHERE v.tenant_id = $1 AND v.model_id = %3$L AND %4$s
                     ORDER BY v.embedding::halfvec(%1$s) <=> $5::halfvec(%1$s) LIMIT 100) AS nearest
                  WHERE similarity >= 0.45', model.dimension, source, model.model_id, scope);
        END IF;
    END IF;
    words := CASE WHEN coalesce((wanted ->> 'any_word')::boolean, false)
                  THEN format(' AND e.lookup && %L::bigint[]', keys) ELSE format(' AND e.lookup @> %L::bigint[]', keys) END;
    IF cardinality(keys) = 0 THEN
        words := ' AND false';
    END IF;
    SELECT coalesce(string_agg(lexeme_query(lexeme)::text, ' | '), '')::tsquery INTO asked
      FROM unnest(tsvector_to_array(to_tsvector('english', wanted ->> 'query'))) AS lexeme;
    scoring := format('ts_rank(''{0.2,0.4,0.7,1}'', e.terms, %L::tsquery, 1)::float8 * (0.5 + e.confidence / 2)', asked);
    RETURN QUERY EXECUTE format(
        'WITH found AS MATERIALIZED (SELECT e.event_id, e.happened_at, %s AS score FROM %s WHERE %s%s LIMIT $2),
              near AS MATERIALIZED (%s),
              whole AS (SELECT event_id, coalesce(f.happened_at, n.happened_at) AS happened_at,
                               coalesce(f.score, 0) + 0.6 * coalesce(n.similarity, 0) AS score
                          FROM found f FULL JOIN near n USING (event_id))
         SELECT w.event_id, w.happened_at, w.score, (SELECT count(*) FROM whole)
           FROM whole w ORDER BY w.score DESC, w.happened_at DESC, w.event_id DESC LIMIT $3 OFFSET $4',
        scoring, source, scope, words, near)
    USING tenant, bound, (wanted ->> 'limit')::integer, coalesce((wanted ->> 'offset')::integer, 0), question;
END $$;

-- What became of an event as of a time on the event's clock, a time on ours, or both: only links from then count.
CREATE FUNCTION mnemon.status_as_of(event text, as_of timestamptz, known_at timestamptz) RETURNS text
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = mnemon, public, pg_temp AS $$
    SELECT coalesce((
        SELECT CASE link.kind WHEN 'fulfils' THEN 'done' ELSE 'superseded' END
          FROM event_links link
          JOIN semantic_events later ON later.tenant_id = link.tenant_id AND later.event_id = link.later
          JOIN artifact_revisions r ON r.tenant_id = later.tenant_id AND r.doc_version_id = later.doc_version_id
         WHERE link.tenant_id = current_tenant() AND link.earlier = event
           AND (as_of IS NULL OR later.happened_at <= as_of)
           AND CASE WHEN known_at IS NULL THEN later.active
                    ELSE r.served @> known_at AND r.extracted_at <= known_at END
         ORDER BY link.kind LIMIT 1), 'open')
$$;

-- Earlier or later events that may be tied to new ones: their subject has a word of the new ones' quotes, or their text
-- has a word of the new ones' subjects. A link never tells the readers of one event about another's.
CREATE FUNCTION mnemon.events_to_link(
    subjects text, quotes text, document uuid, own_revision uuid, own_readers text[], most integer)
    RETURNS SETOF text
    LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = mnemon, public, pg_temp SET enable_seqscan = off AS $$
DECLARE
    tenant uuid := current_tenant();
    keys   bigint[] := ARRAY(SELECT term_key(tenant, 'subject ' || lexeme)
                               FROM unnest(tsvector_to_array(to_tsvector('english', quotes))) AS lexeme)
                    || term_keys(tenant, to_tsvector('english', subjects));
BEGIN
    RETURN QUERY
        (SELECT e.event_id FROM semantic_events e
          WHERE e.tenant_id = tenant AND e.active AND e.lookup && keys AND e.doc_version_id <> own_revision
            AND e.category IN ('Decision', 'Commitment', 'Execution', 'Change')
            AND e.readers IS NOT DISTINCT FROM own_readers
          LIMIT most)
        UNION
        (SELECT e.event_id FROM semantic_events e
          WHERE e.tenant_id = tenant AND e.doc_id = document AND e.doc_version_id <> own_revision
            AND e.category IN ('Decision', 'Commitment', 'Execution', 'Change')
          LIMIT most);
END $$;

-- Whether an artifact's time is over: a year after its latest revision came, on its date, or once it promised something
-- and nothing that it promised is open any more.
CREATE FUNCTION mnemon.is_expired(artifact mnemon.artifacts) RETURNS boolean
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = mnemon, public, pg_temp AS $$
    SELECT CASE artifact.retention_policy
        WHEN '1y' THEN coalesce((SELECT max(r.ingested_at) FROM artifact_revisions r
                                  WHERE r.tenant_id = artifact.tenant_id AND r.doc_id = artifact.doc_id),
                                artifact.created_at) < now() - interval '1 year'
        WHEN 'custom' THEN artifact.retain_until < now()
        WHEN 'until_resolved' THEN (
            SELECT count(*) > 0 AND count(*) FILTER (WHERE e.status = 'open') = 0
              FROM semantic_events e
             WHERE e.tenant_id = artifact.tenant_id AND e.doc_id = artifact.doc_id
               AND e.active AND e.category = 'Commitment')
        ELSE false END
$$;
-- For the job that serves all tenants: only their ids cross.
CREATE FUNCTION mnemon.tenants_with_expired_artifacts() RETURNS SETOF uuid
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = mnemon, public, pg_temp AS $$
    SELECT DISTINCT a.tenant_id FROM artifacts a WHERE a.retention_policy <> 'forever' AND is_expired(a)
$$;

-- Whether the tenant has anything that the transaction's reader may not see: most have not, and pay nothing.
CREATE FUNCTION mnemon.something_is_hidden() RETURNS boolean
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = mnemon, public, pg_temp AS $$
    SELECT EXISTS (SELECT FROM artifact_revisions r
                    WHERE r.tenant_id = current_tenant() AND r.readers IS NOT NULL AND NOT may_read(r.readers))
$$;
CREATE FUNCTION mnemon.is_hidden(revision uuid) RETURNS boolean
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = mnemon, public, pg_temp AS $$
    SELECT EXISTS (SELECT FROM artifact_revisions r
                    WHERE r.tenant_id = current_tenant() AND r.doc_version_id = revision
                      AND r.readers IS NOT NULL AND NOT may_read(r.readers))
$$;

DO $$
DECLARE
    callable regprocedure;
BEGIN
    FOREACH callable IN ARRAY ARRAY[
        'mnemon.is_expired(mnemon.artifacts)',
        'mnemon.tenants_with_expired_artifacts()',
        'mnemon.something_is_hidden()',
        'mnemon.is_hidden(uuid)',
        'mnemon.find_semantic_events(jsonb, vector, integer)',
        'mnemon.status_as_of(text, timestamptz, timestamptz)',
        'mnemon.events_to_link(text, text, uuid, uuid, text[], integer)']::regprocedure[]
    LOOP
        EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', callable);
        EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO mnemon_app', callable);
    END LOOP;
END $$;
