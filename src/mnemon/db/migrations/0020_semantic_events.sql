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
    -- When the revision that came in its place was written.
    replaced_at    timestamptz,
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
CREATE INDEX semantic_events_by_past_time ON mnemon.semantic_events (tenant_id, happened_at DESC, event_id DESC)
    WHERE NOT active;
CREATE INDEX semantic_events_ended ON mnemon.semantic_events (tenant_id, happened_at DESC, event_id DESC)
    WHERE status <> 'open';
CREATE INDEX semantic_events_foretold ON mnemon.semantic_events (tenant_id, happened_at DESC, event_id DESC)
    WHERE happened_at > known_since;
CREATE INDEX semantic_events_late ON mnemon.semantic_events (tenant_id, happened_at DESC, event_id DESC)
    WHERE active AND due < (happened_at AT TIME ZONE 'UTC')::date;
CREATE INDEX semantic_events_known ON mnemon.semantic_events (tenant_id, known_since);
CREATE INDEX semantic_events_withdrawn ON mnemon.semantic_events (tenant_id, known_until) WHERE NOT active;
CREATE INDEX semantic_events_replaced ON mnemon.semantic_events (tenant_id, replaced_at) WHERE replaced_at IS NOT NULL;
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

-- The condition that an event `e` had this status as of a time on the event's clock, a time on ours, or both: only links
-- from then count. `replaced`: revisions that were replaced since then stood at that time.
CREATE FUNCTION mnemon.had_status(status text, as_of timestamptz, known_at timestamptz, replaced boolean) RETURNS text
    LANGUAGE plpgsql STABLE SET search_path = mnemon, public, pg_temp AS $$
DECLARE
    ended text := 'EXISTS (SELECT FROM event_links l
                             JOIN semantic_events later ON later.tenant_id = l.tenant_id AND later.event_id = l.later';
    done  text;
BEGIN
    IF known_at IS NULL AND replaced THEN
        ended := ended || format(' WHERE (later.active OR later.replaced_at > %L::timestamptz)', as_of);
    ELSIF known_at IS NULL THEN
        ended := ended || ' WHERE later.active';
    ELSE
        ended := ended || format(
            ' JOIN artifact_revisions lr ON lr.tenant_id = later.tenant_id AND lr.doc_version_id = later.doc_version_id
             WHERE lr.served @> %L::timestamptz AND lr.extracted_at <= %1$L::timestamptz', known_at);
    END IF;
    IF as_of IS NOT NULL THEN
        ended := ended || format(' AND later.happened_at <= %L::timestamptz', as_of);
    END IF;
    ended := ended || ' AND l.tenant_id = e.tenant_id AND l.earlier = e.event_id';
    -- OFFSET 0 keeps each a lookup of the one event's links.
    done := ended || ' AND l.kind = ''fulfils'' OFFSET 0)';
    ended := ended || ' OFFSET 0)';
    IF known_at IS NOT NULL OR replaced THEN
        RETURN CASE status WHEN 'done' THEN done WHEN 'superseded' THEN ended || ' AND NOT ' || done ELSE 'NOT ' || ended END;
    END IF;
    -- A link of an earlier day is one of today too: what is open today had not ended by then.
    RETURN CASE status WHEN 'done' THEN 'e.status = ''done'' AND ' || done
                       WHEN 'superseded' THEN 'e.status <> ''open'' AND ' || ended || ' AND NOT ' || done
                       ELSE '(e.status = ''open'' OR NOT ' || ended || ')' END;
END $$;

-- The events that fit, best or latest first, with their number up to a bound. Whatever is left out is not asked for.
-- `any_word` takes events with some of the words. With the question's vector, events about the same matter are found too.
-- However many events there are, few are read: an order by time walks an index and stops; words and names are looked up
-- in the index of keys. Events of today and of the past have indexes of their own, so a search of both has two parts.
CREATE FUNCTION mnemon.find_semantic_events(wanted jsonb, question vector, bound integer)
    RETURNS TABLE (event_id text, happened_at timestamptz, score float8, total bigint)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path = mnemon, public, pg_temp SET work_mem = '16MB'
    SET enable_seqscan = off SET enable_hashjoin = off SET max_parallel_workers_per_gather = 0
    SET hnsw.iterative_scan = 'relaxed_order' SET hnsw.ef_search = 100 AS $$
DECLARE
    tenant  uuid := current_tenant();
    past    boolean := coalesce((wanted ->> 'past')::boolean, false);
    as_of   text := quote_literal(wanted ->> 'as_of') || '::timestamptz';
    -- Whether some revision stood at that time that was replaced since.
    stood   boolean := wanted ? 'as_of' AND NOT wanted ? 'known_at' AND EXISTS (
        SELECT FROM semantic_events e WHERE e.tenant_id = tenant AND e.replaced_at > (wanted ->> 'as_of')::timestamptz);
    serving text := ' AND e.active';
    known   text := quote_literal(wanted ->> 'known_at') || '::timestamptz';
    due     text := format('(%L::date + 1)::timestamp AT TIME ZONE ''UTC''', wanted ->> 'due_before');
    near    text := 'SELECT NULL::text AS event_id, NULL::timestamptz AS happened_at, NULL::float8 AS similarity WHERE false';
    walked  text := 'SELECT NULL::text AS event_id, NULL::timestamptz AS happened_at WHERE false';
    model   record;
    lexemes text[] := tsvector_to_array(to_tsvector('english', wanted ->> 'query'));
    keys    bigint[] := ARRAY(SELECT term_key(tenant, lexeme) FROM unnest(lexemes) AS lexeme);
    must    bigint[] := ARRAY(SELECT term_key(tenant, 'actor ' || lower(wanted ->> 'actor')) WHERE wanted ? 'actor')
                     || ARRAY(SELECT term_key(tenant, 'subject ' || lexeme)
                                FROM unnest(tsvector_to_array(to_tsvector('english', wanted ->> 'subject'))) AS lexeme);
    source  text := 'semantic_events e';
    scope   text := 'e.tenant_id = $1 AND may_read(e.readers)';
    parts   text[] := ARRAY[' AND e.active'];
    keyed   text := '';
    after   text := '';
    asked   tsquery;
    scoring text;
    latest  text := 'SELECT e.event_id, e.happened_at, %s AS score
                       FROM (SELECT e.* FROM %s WHERE %s%s ORDER BY e.happened_at DESC, e.event_id DESC LIMIT %s) AS e
                      WHERE true%s LIMIT $2';
BEGIN
    SELECT scope || coalesce(string_agg(format(clause, value), ''), '') INTO scope
      FROM (VALUES ('category',   ' AND e.category = %L'),
                   ('time_from',  ' AND e.happened_at >= %L::timestamptz'),
                   ('time_to',    ' AND e.happened_at <= %L::timestamptz'),
                   ('as_of',      ' AND e.happened_at <= %L::timestamptz'),
                   ('doc_id',     ' AND e.doc_id = %L::uuid'),
                   ('revision',   ' AND e.doc_version_id = %L::uuid'),
                   ('due_before', ' AND e.due < %L::date'),
                   ('kind',       ' AND e.kind = %L')) AS filter (name, clause)
      JOIN jsonb_each_text(wanted) AS given (key, value) ON given.key = filter.name;
    IF wanted ? 'status' AND (wanted ? 'as_of' OR wanted ? 'known_at') THEN
        scope := scope || ' AND ' || had_status(
            wanted ->> 'status', (wanted ->> 'as_of')::timestamptz, (wanted ->> 'known_at')::timestamptz, stood);
    ELSIF wanted ? 'status' THEN
        scope := scope || format(' AND e.status = %L', wanted ->> 'status');
    END IF;
    IF past AND known IS NOT NULL THEN
        source := source || ' JOIN artifact_revisions r ON r.tenant_id = e.tenant_id AND r.doc_version_id = e.doc_version_id';
        scope := scope || format(' AND e.known_since <= %s AND r.served @> %1$s', known);
        -- What was known then mostly lay before then. Little is foretold, and that has an index of its own.
        parts := ARRAY[format(' AND e.active AND e.happened_at <= %s', known),
                       format(' AND NOT e.active AND e.known_until > %s AND e.happened_at <= %1$s', known),
                       format(' AND e.happened_at > %s AND e.happened_at > e.known_since', known)];
        IF wanted ->> 'status' <> 'open' THEN
            -- What had ended then has ended by now too, unless what ended it was withdrawn.
            parts := ARRAY[' AND e.status <> ''open''', format(
                ' AND e.status = ''open'' AND e.event_id = ANY (ARRAY(
                      SELECT l.earlier FROM semantic_events later
                        JOIN event_links l ON l.tenant_id = later.tenant_id AND l.later = later.event_id
                       WHERE later.tenant_id = $1 AND NOT later.active AND later.known_until > %s))', known)];
        END IF;
    ELSIF past THEN
        parts := ARRAY[' AND e.active', ' AND NOT e.active'];
    ELSIF stood THEN
        -- What its document still says is told once, in the words of today.
        parts := ARRAY[' AND e.active', format(
            ' AND e.replaced_at > %s
              AND EXISTS (SELECT FROM artifact_revisions s
                           WHERE s.tenant_id = e.tenant_id AND s.doc_id = e.doc_id AND s.is_latest)
              AND NOT EXISTS (SELECT FROM semantic_events still
                               WHERE still.tenant_id = e.tenant_id AND still.doc_id = e.doc_id AND still.active
                                 AND still.happened_at <= %1$s AND still.category = e.category
                                 AND still.narrative = e.narrative)', as_of)];
        serving := format(' AND (e.active OR (true%s))', parts[2]);
    ELSIF wanted ? 'due_before' THEN
        -- Promises are made before they are due; those that say otherwise have an index of their own.
        parts := ARRAY[format(' AND e.active AND e.happened_at < %s', due),
                       format(' AND e.active AND e.happened_at >= %s AND e.event_id = ANY (ARRAY(
                           SELECT late.event_id FROM semantic_events late
                            WHERE late.tenant_id = $1 AND late.active AND late.due < %L::date
                              AND late.due < (late.happened_at AT TIME ZONE ''UTC'')::date
                            ORDER BY late.happened_at DESC, late.event_id DESC LIMIT 1000))', due, wanted ->> 'due_before')];
    END IF;
    IF cardinality(must) > 0 THEN
        keyed := format(' AND e.lookup @> %L::bigint[]', must);
    END IF;
    IF NOT wanted ? 'query' THEN
        IF wanted ? 'after_id' THEN
            after := format(' AND (e.happened_at, e.event_id) < (%L::timestamptz, %L)',
                            wanted ->> 'after_time', wanted ->> 'after_id');
        END IF;
        IF keyed <> '' AND cardinality(parts) = 1 THEN
            -- Who is named often is named lately: then this has the page, and the index of keys is not asked.
            walked := format(
                'SELECT e.event_id, e.happened_at
                   FROM (SELECT e.event_id, e.happened_at, e.lookup FROM %s WHERE %s%s%s
                          ORDER BY e.happened_at DESC, e.event_id DESC LIMIT 3000) AS e
                  WHERE true%s LIMIT $3', source, scope, parts[1], after, keyed);
        END IF;
        RETURN QUERY EXECUTE format(
            'WITH walked AS MATERIALIZED (%s),
                  page AS (SELECT w.event_id, w.happened_at FROM walked w UNION (%s)),
                  counted AS (SELECT count(*) AS total FROM (SELECT FROM (%s) AS each LIMIT $2) AS bounded)
             SELECT p.event_id, p.happened_at, 0::float8, c.total
               FROM page p, counted c ORDER BY p.happened_at DESC, p.event_id DESC LIMIT $3', walked,
            (SELECT string_agg(format(
                 'SELECT part.event_id, part.happened_at
                    FROM (SELECT e.event_id, e.happened_at FROM %s WHERE %s%s%s%s AND (SELECT count(*) FROM walked) < $3
                           ORDER BY e.happened_at DESC, e.event_id DESC LIMIT $3) AS part',
                 source, scope, part, keyed, after), ' UNION ALL ') FROM unnest(parts) AS part),
            (SELECT string_agg(format('SELECT FROM (SELECT FROM %s WHERE %s%s%s LIMIT $2) AS part', source, scope, part, keyed),
                               ' UNION ALL ') FROM unnest(parts) AS part))
        USING tenant, bound, (wanted ->> 'limit')::integer;
        RETURN;
    END IF;
    IF question IS NOT NULL THEN
        SELECT model_id, dimension INTO model FROM embedding_models
         WHERE tenant_id = tenant AND relation = 'mnemon.semantic_event_vectors' AND state = 'active';
        IF FOUND AND model.dimension = vector_dims(question) THEN
            -- Nearer than this is about the same matter; farther away everything is near to something. The nearest are
            -- found first and then looked at: to go on until enough of them fit would walk through much of the index.
            -- Of one artifact all are compared.
            near := format(
                'SELECT e.event_id, e.happened_at, 1 - v.distance AS similarity
                   FROM (SELECT n.tenant_id, n.event_id, n.embedding::halfvec(%1$s) <=> $5::halfvec(%1$s) AS distance
                           FROM semantic_event_vectors n
                          WHERE n.tenant_id = $1 AND n.model_id = %3$L%5$s) AS v
                   JOIN %2$s ON e.tenant_id = v.tenant_id AND e.event_id = v.event_id
                  WHERE v.distance <= 0.55 AND %4$s',
                model.dimension, source, model.model_id,
                scope || keyed || CASE WHEN past THEN '' ELSE serving END,
                CASE WHEN wanted ? 'doc_id'
                THEN format(' AND n.event_id = ANY (ARRAY(SELECT o.event_id FROM semantic_events o
                                                           WHERE o.tenant_id = $1 AND o.doc_id = %L::uuid))', wanted ->> 'doc_id')
                ELSE format(' ORDER BY n.embedding::halfvec(%s) <=> $5::halfvec(%1$s) LIMIT 100', model.dimension) END);
        END IF;
    END IF;
    keyed := CASE WHEN cardinality(keys) = 0 THEN ' AND false'
                  WHEN coalesce((wanted ->> 'any_word')::boolean, false)
                  THEN format('%s AND e.lookup && %L::bigint[]', keyed, keys)
                  ELSE format(' AND e.lookup @> %L::bigint[]', must || keys) END;
    SELECT coalesce(string_agg(lexeme_query(lexeme)::text, ' | '), '')::tsquery INTO asked FROM unnest(lexemes) AS lexeme;
    scoring := format('ts_rank(''{0.2,0.4,0.7,1}'', e.terms, %L::tsquery, 1)::float8 * (0.5 + e.confidence / 2)', asked);
    -- Words that are often said are found by walking back from the latest event; the index of keys would list all that
    -- ever said them. `lately` tells which kind of words these are.
    RETURN QUERY EXECUTE format(
        'WITH lately AS MATERIALIZED (%1$s), walked AS MATERIALIZED (%2$s),
              matching AS MATERIALIZED (SELECT * FROM (%3$s) AS each LIMIT $2),
              found AS (SELECT l.* FROM lately l UNION SELECT w.* FROM walked w UNION SELECT m.* FROM matching m),
              near AS MATERIALIZED (%4$s),
              whole AS MATERIALIZED (
                  SELECT event_id, coalesce(f.happened_at, n.happened_at) AS happened_at,
                         coalesce(f.score, 0) + 0.6 * coalesce(n.similarity, 0) AS score
                    FROM found f FULL JOIN near n USING (event_id))
         SELECT w.event_id, w.happened_at, w.score, (SELECT count(*) FROM whole)
           FROM whole w ORDER BY w.score DESC, w.happened_at DESC, w.event_id DESC LIMIT $3 OFFSET $4',
        format(latest, scoring, source, scope || parts[1],
               CASE WHEN cardinality(parts) > 1 THEN ' AND false' ELSE '' END, 2000, keyed),
        format(latest, scoring, source, scope || parts[1], ' AND (SELECT count(*) FROM lately) >= 100', 20000, keyed),
        (SELECT string_agg(format(
             'SELECT * FROM (SELECT e.event_id, e.happened_at, %s AS score FROM %s
                              WHERE %s%s%s AND (SELECT count(*) FROM walked) < $2 LIMIT $2) AS part',
             scoring, source, scope, part, keyed), ' UNION ALL ') FROM unnest(parts) AS part),
        near)
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
           AND CASE WHEN known_at IS NULL THEN later.active OR coalesce(later.replaced_at > as_of, false)
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
        'mnemon.had_status(text, timestamptz, timestamptz, boolean)',
        'mnemon.status_as_of(text, timestamptz, timestamptz)',
        'mnemon.events_to_link(text, text, uuid, uuid, text[], integer)']::regprocedure[]
    LOOP
        EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', callable);
        EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO mnemon_app', callable);
    END LOOP;
END $$;
