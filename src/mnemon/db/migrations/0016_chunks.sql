-- Passages of revisions, made to be searched: their words for the lexical search, their vectors for the dense one.
-- All of it is derived from the text of a revision and can be made again.

CREATE TABLE mnemon.chunks (
    tenant_id      uuid NOT NULL REFERENCES mnemon.tenants ON DELETE CASCADE,
    chunk_id       uuid NOT NULL,
    doc_version_id uuid NOT NULL,
    doc_id         uuid NOT NULL,
    ordinal        integer NOT NULL CHECK (ordinal >= 0),
    start_offset   integer NOT NULL CHECK (start_offset >= 0),
    end_offset     integer NOT NULL,
    heading_path   text[] NOT NULL,
    first_page     integer,
    last_page      integer,
    speaker        text,
    tokens         integer NOT NULL,
    text           text NOT NULL,
    active         boolean NOT NULL,
    PRIMARY KEY (tenant_id, chunk_id),
    UNIQUE (tenant_id, doc_version_id, ordinal),
    CHECK (end_offset - start_offset = length(text))
);
CALL mnemon.isolate_by_tenant('mnemon.chunks');
GRANT SELECT, INSERT, UPDATE, DELETE ON mnemon.chunks TO mnemon_app;

-- The stemmed words of a chunk with their positions. Apart from the text and never compressed, because ranking reads
-- the words of hundreds of chunks for every question, and looks at the offsets of many more, in the index alone.
CREATE TABLE mnemon.chunk_terms (
    tenant_id      uuid NOT NULL REFERENCES mnemon.tenants ON DELETE CASCADE,
    doc_version_id uuid NOT NULL,
    ordinal        integer NOT NULL,
    chunk_id       uuid NOT NULL,
    start_offset   integer NOT NULL,
    end_offset     integer NOT NULL,
    speaker        text,
    active         boolean NOT NULL,
    length         integer NOT NULL,
    terms          tsvector NOT NULL,
    heading_terms  tsvector NOT NULL,
    PRIMARY KEY (tenant_id, doc_version_id, ordinal) INCLUDE (start_offset, end_offset)
) WITH (toast_tuple_target = 8160);
ALTER TABLE mnemon.chunk_terms ALTER COLUMN terms SET STORAGE EXTERNAL;
CALL mnemon.isolate_by_tenant('mnemon.chunk_terms');
GRANT SELECT, INSERT, UPDATE, DELETE ON mnemon.chunk_terms TO mnemon_app;

-- A term of a tenant as a number. Each tenant has keys of its own, so that in the index a small tenant's words do not
-- stand in a list with a big one's; and neither the index nor the statistics hold a word that somebody may ask to forget.
CREATE FUNCTION mnemon.term_key(tenant_id uuid, lexeme text) RETURNS bigint
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN hashtextextended(tenant_id::text || lexeme, 0);

-- The cost keeps the planner from calculating the keys of rows when it could look them up in the index.
CREATE FUNCTION mnemon.term_keys(tenant_id uuid, terms tsvector) RETURNS bigint[]
    LANGUAGE sql IMMUTABLE PARALLEL SAFE COST 10000
    RETURN ARRAY(SELECT mnemon.term_key(term_keys.tenant_id, lexeme) FROM unnest(tsvector_to_array(terms)) AS lexeme);

-- Two indexes, since revisions of the past would crowd out those of today. Without the list of pending entries, which
-- every search after an upload would read from end to end.
CREATE INDEX chunk_terms_today ON mnemon.chunk_terms USING gin (mnemon.term_keys(tenant_id, terms))
    WITH (fastupdate = off) WHERE active;
CREATE INDEX chunk_terms_past ON mnemon.chunk_terms USING gin (mnemon.term_keys(tenant_id, terms))
    WITH (fastupdate = off) WHERE NOT active;

-- In how many active chunks a term stands. A document's terms are counted in one of sixteen shares, which a writer locks
-- until it commits: two documents rarely wait for each other, and never each for the other.
CREATE TABLE mnemon.term_counts (
    tenant_id uuid NOT NULL REFERENCES mnemon.tenants ON DELETE CASCADE,
    term_key  bigint NOT NULL,
    share     smallint NOT NULL,
    chunks    integer NOT NULL CHECK (chunks > 0),
    PRIMARY KEY (tenant_id, term_key, share)
) WITH (fillfactor = 80);
CALL mnemon.isolate_by_tenant('mnemon.term_counts');
GRANT SELECT, INSERT, UPDATE, DELETE ON mnemon.term_counts TO mnemon_app;

CREATE TABLE mnemon.chunk_counts (
    tenant_id uuid NOT NULL REFERENCES mnemon.tenants ON DELETE CASCADE,
    share     smallint NOT NULL,
    chunks    bigint NOT NULL CHECK (chunks >= 0),
    length    bigint NOT NULL CHECK (length >= 0),
    PRIMARY KEY (tenant_id, share)
);
CALL mnemon.isolate_by_tenant('mnemon.chunk_counts');
GRANT SELECT, INSERT, UPDATE, DELETE ON mnemon.chunk_counts TO mnemon_app;

CREATE TABLE mnemon.chunk_vectors (
    tenant_id uuid NOT NULL REFERENCES mnemon.tenants ON DELETE CASCADE,
    chunk_id  uuid NOT NULL,
    model_id  text NOT NULL,
    embedding vector NOT NULL,
    PRIMARY KEY (tenant_id, model_id, chunk_id)
);
CALL mnemon.isolate_by_tenant('mnemon.chunk_vectors');
GRANT SELECT, INSERT, UPDATE, DELETE ON mnemon.chunk_vectors TO mnemon_app;
-- The default model's, so that the first search already has it. Other models get theirs when they come into use.
CREATE INDEX chunk_vectors_near_c76aa13391 ON mnemon.chunk_vectors USING hnsw ((embedding::halfvec(384)) halfvec_cosine_ops)
    WHERE model_id = 'all-MiniLM-L6-v2@1';

-- Counts the chunks of a revision in the tenant's statistics (direction 1), or takes them out again (-1).
CREATE FUNCTION mnemon.count_chunk_terms(revision uuid, own_share smallint, direction integer) RETURNS void
    LANGUAGE plpgsql SET search_path = mnemon, public, pg_temp AS $$
BEGIN
    -- Held to the end: whoever changes the same counts waits here, before it holds anything that we could want.
    PERFORM pg_advisory_xact_lock(hashtextextended('mnemon.term_counts' || current_tenant()::text, own_share));
    INSERT INTO chunk_counts (tenant_id, share, chunks, length)
    VALUES (current_tenant(), own_share, 0, 0) ON CONFLICT DO NOTHING;
    UPDATE chunk_counts AS counted
    SET chunks = counted.chunks + direction * own.chunks, length = counted.length + direction * own.length
    FROM (
        SELECT count(*) AS chunks, coalesce(sum(length), 0) AS length
        FROM chunk_terms WHERE tenant_id = current_tenant() AND doc_version_id = revision
    ) AS own
    WHERE tenant_id = current_tenant() AND share = own_share;
    IF direction = 1 THEN
        INSERT INTO term_counts AS counted (tenant_id, term_key, share, chunks)
        SELECT current_tenant(), key, own_share, count(*)
        FROM chunk_terms, unnest(term_keys(tenant_id, terms)) AS key
        WHERE tenant_id = current_tenant() AND doc_version_id = revision
        GROUP BY key
        ON CONFLICT (tenant_id, term_key, share) DO UPDATE SET chunks = counted.chunks + excluded.chunks;
        RETURN;
    END IF;
    -- A count of nothing is not kept: it would tell that a word once stood here.
    WITH own AS (
        SELECT key, count(*) AS chunks
        FROM chunk_terms, unnest(term_keys(tenant_id, terms)) AS key
        WHERE tenant_id = current_tenant() AND doc_version_id = revision
        GROUP BY key
    ), emptied AS (
        DELETE FROM term_counts AS counted USING own
        WHERE tenant_id = current_tenant() AND term_key = key AND share = own_share AND counted.chunks <= own.chunks
    )
    UPDATE term_counts AS counted SET chunks = counted.chunks - own.chunks FROM own
    WHERE tenant_id = current_tenant() AND term_key = key AND share = own_share AND counted.chunks > own.chunks;
END $$;
REVOKE ALL ON FUNCTION mnemon.count_chunk_terms FROM PUBLIC;
GRANT EXECUTE ON FUNCTION mnemon.count_chunk_terms TO mnemon_app;

-- The query that matches exactly this lexeme; a tsvector is written with the quotes that a tsquery reads.
CREATE FUNCTION mnemon.lexeme_query(lexeme text) RETURNS tsquery
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN array_to_tsvector(ARRAY[lexeme])::text::tsquery;

-- The words of a question as the index knows them, with the number of active chunks that have each.
CREATE FUNCTION mnemon.question_terms(question text)
    RETURNS TABLE (lexeme text, query text, term_key bigint, chunks bigint)
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = mnemon, public, pg_temp AS $$
    SELECT asked.lexeme, lexeme_query(asked.lexeme)::text, key, coalesce((
        SELECT sum(counted.chunks) FROM term_counts AS counted
        WHERE counted.tenant_id = current_tenant() AND counted.term_key = key), 0)::bigint
    FROM unnest(to_tsvector('english', question)) AS asked, term_key(current_tenant(), asked.lexeme) AS key
$$;
REVOKE ALL ON FUNCTION mnemon.question_terms FROM PUBLIC;
GRANT EXECUTE ON FUNCTION mnemon.question_terms TO mnemon_app;

-- How often a lexeme stands in a text. `ts_rank` of one lexeme is the only quick way to it: it adds 1/1 + 1/4 + 1/9 …,
-- one for each occurrence, divided by pi squared over six; the thresholds undo that. More than 24 count as 24.
CREATE FUNCTION mnemon.occurrences(terms tsvector, lexeme tsquery) RETURNS integer
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN width_bucket(ts_rank('{1,1,1,1}', terms, lexeme)::float8 * 1.64493406685, ARRAY[
        0.500000, 1.125000, 1.305556, 1.392361, 1.443611, 1.477500, 1.501593, 1.519610,
        1.533595, 1.544768, 1.553900, 1.561504, 1.567935, 1.573445, 1.578218, 1.582393,
        1.586077, 1.589350, 1.592278, 1.594913, 1.597297, 1.599464, 1.601442, 1.603255]::float8[]);
