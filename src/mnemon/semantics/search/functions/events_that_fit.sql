-- The events of one part (see `event_parts`) that fit the filters. PostgreSQL puts this text in the place of the call
-- and strikes out what the values at hand decide, so that each search has the indexes of its own filters. To look at
-- links is slow: `with_links` false leaves out what an event had become by then. OFFSET 0 keeps a condition a lookup.
-- A body in BEGIN ATOMIC is parsed when it is stored: to parse it for each plan took 1 ms of 3.
CREATE OR REPLACE FUNCTION mnemon.events_that_fit(
    tenant uuid, wanted jsonb, part text, as_of timestamptz, known_at timestamptz, with_links boolean)
    RETURNS TABLE (tenant_id uuid, event_id text, happened_at timestamptz, category text, status text, lookup bigint[],
                   terms tsvector, confidence double precision)
    LANGUAGE sql STABLE BEGIN ATOMIC
    SELECT e.tenant_id, e.event_id, e.happened_at, e.category, e.status, e.lookup, e.terms, e.confidence
      FROM mnemon.semantic_events e
     WHERE e.tenant_id = tenant AND mnemon.may_read(e.readers)
       AND (NOT wanted ? 'category' OR e.category = wanted ->> 'category')
       AND (NOT wanted ? 'time_from' OR e.happened_at >= (wanted ->> 'time_from')::timestamptz)
       AND (NOT wanted ? 'time_to' OR e.happened_at <= (wanted ->> 'time_to')::timestamptz)
       AND (as_of IS NULL OR e.happened_at <= as_of)
       AND (NOT wanted ? 'doc_id' OR e.doc_id = (wanted ->> 'doc_id')::uuid)
       AND (NOT wanted ? 'due_before' OR e.due < (wanted ->> 'due_before')::date)
       AND (NOT wanted ? 'due_from' OR e.due >= (wanted ->> 'due_from')::date)
       AND (coalesce(wanted ->> 'undated', '') <> 'only' OR e.undated)
       -- Nobody knows whether what has no day was within a time.
       AND (coalesce(wanted ->> 'undated', '') <> 'none' AND NOT wanted ?| ARRAY['time_from', 'time_to']
            OR NOT e.undated)
       AND (NOT wanted ? 'kind' OR e.kind = wanted ->> 'kind')
       AND (NOT wanted ? 'confidence_min' OR e.confidence >= (wanted ->> 'confidence_min')::double precision)
       -- What had ended at any time has a link.
       AND (NOT wanted ? 'status' OR wanted ->> 'status' = 'open' OR e.linked)
       AND (NOT wanted ? 'status' OR as_of IS NOT NULL OR known_at IS NOT NULL OR e.status = wanted ->> 'status')
       -- What a person dismissed is shown to who asks for it; what they say became of it holds since they said so.
       AND (e.status <> 'dismissed' OR coalesce(wanted ->> 'status', '') = 'dismissed')
       AND (coalesce(wanted ->> 'status', '') <> 'dismissed' OR e.status = 'dismissed')
       AND (NOT with_links OR NOT wanted ? 'status' OR (as_of IS NULL AND known_at IS NULL)
            OR wanted ->> 'status' = 'dismissed'
            OR CASE WHEN e.stood_since <= least(as_of, known_at) THEN e.stood = wanted ->> 'status' ELSE coalesce((
                   SELECT k FROM mnemon.how_it_ended(tenant, e.event_id, e.readers, as_of, known_at) AS k), '')
             = CASE wanted ->> 'status' WHEN 'done' THEN 'fulfils' WHEN 'superseded' THEN 'supersedes' ELSE '' END END)
       AND (part NOT IN ('today', 'due', 'late') OR e.active)
       AND (part <> 'past' OR NOT e.active
            AND (known_at IS NULL OR wanted ->> 'past' = 'true' OR e.known_until > known_at))
       -- Promises are made before they are due; those that say otherwise have an index of their own.
       AND (part <> 'due'
            OR e.happened_at < ((wanted ->> 'due_before')::date + 1)::timestamp AT TIME ZONE 'UTC')
       AND (part <> 'late'
            OR e.happened_at >= ((wanted ->> 'due_before')::date + 1)::timestamp AT TIME ZONE 'UTC'
               AND e.event_id = ANY (ARRAY(
                   SELECT late.event_id FROM mnemon.semantic_events late
                    WHERE late.tenant_id = tenant AND late.active AND late.due < (wanted ->> 'due_before')::date
                      AND late.due < (late.happened_at AT TIME ZONE 'UTC')::date
                    ORDER BY late.happened_at DESC, late.event_id DESC LIMIT 1000)))
       -- What was known then mostly lay before then. Little is foretold, and that has an index of its own.
       AND (part NOT IN ('today', 'past') OR known_at IS NULL OR e.happened_at <= known_at)
       AND (part <> 'foretold' OR e.happened_at > known_at AND e.happened_at > e.known_since)
       AND (part = 'replaced' OR known_at IS NULL
            OR e.known_since <= known_at
               AND (wanted ->> 'past' = 'true' OR EXISTS (
                   SELECT FROM mnemon.document_revisions own
                    WHERE own.tenant_id = e.tenant_id AND own.doc_version_id = e.doc_version_id
                      AND own.served @> known_at OFFSET 0)))
       -- What its document went on to say is told once, in the later words.
       AND (part <> 'replaced'
            OR e.replaced_at > as_of
               AND (known_at IS NULL OR e.known_since <= known_at AND e.known_until <= known_at)
               AND mnemon.was_first_replaced(e.tenant_id, e.doc_id, e.replaced_at, as_of, known_at)
               AND NOT EXISTS (
                   SELECT FROM mnemon.semantic_events still
                    WHERE still.tenant_id = e.tenant_id AND still.doc_id = e.doc_id
                      AND CASE WHEN known_at IS NULL THEN still.active
                               ELSE still.known_since <= known_at AND EXISTS (
                                   SELECT FROM mnemon.document_revisions own
                                    WHERE own.tenant_id = still.tenant_id AND own.doc_version_id = still.doc_version_id
                                      AND own.served @> known_at OFFSET 0) END
                      AND still.happened_at <= as_of AND still.category = e.category
                      AND still.narrative = e.narrative OFFSET 0));
END;
REVOKE EXECUTE ON FUNCTION mnemon.events_that_fit FROM PUBLIC;
