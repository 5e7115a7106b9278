-- The sets of events that are searched, no event in two of them, each with an index that has its events by time: those
-- of `today` and of the `past`, what was `foretold` when it was known, and what was `replaced` since; promises that are
-- `due`, and those that were `late` when they were made.
CREATE OR REPLACE FUNCTION mnemon.event_parts(wanted jsonb) RETURNS text[] LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN parts = ARRAY['today'] AND wanted ? 'due_before' AND coalesce(wanted ->> 'status', 'open') = 'open'
                THEN ARRAY['due', 'late'] ELSE parts END
      FROM (SELECT ARRAY['today']
                || CASE WHEN wanted ->> 'past' = 'true' OR wanted ? 'known_at' THEN ARRAY['past'] ELSE '{}' END
                || CASE WHEN wanted ? 'known_at' THEN ARRAY['foretold'] ELSE '{}' END
                || CASE WHEN wanted ? 'as_of' AND wanted ->> 'past' IS DISTINCT FROM 'true'
                        THEN ARRAY['replaced'] ELSE '{}' END AS parts) AS chosen
$$;
REVOKE EXECUTE ON FUNCTION mnemon.event_parts FROM PUBLIC;
