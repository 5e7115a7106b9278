-- What every event that is found must fulfil, wherever it is found.
CREATE OR REPLACE FUNCTION mnemon.event_scope(wanted jsonb) RETURNS text
    LANGUAGE sql IMMUTABLE SET search_path = mnemon, pg_temp AS $$
    SELECT 'e.tenant_id = $1 AND may_read(e.readers)'
        || coalesce(string_agg(format(filter.clause, given.value), ''), '')
      FROM (VALUES ('category',   ' AND e.category = %L'),
                   ('time_from',  ' AND e.happened_at >= %L::timestamptz'),
                   ('time_to',    ' AND e.happened_at <= %L::timestamptz'),
                   ('as_of',      ' AND e.happened_at <= %L::timestamptz'),
                   ('doc_id',     ' AND e.doc_id = %L::uuid'),
                   ('due_before', ' AND e.due < %L::date'),
                   ('kind',       ' AND e.kind = %L')) AS filter (name, clause)
      JOIN jsonb_each_text(wanted) AS given (key, value) ON given.key = filter.name
$$;
REVOKE EXECUTE ON FUNCTION mnemon.event_scope FROM PUBLIC;
