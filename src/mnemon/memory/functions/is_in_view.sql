-- Whether a row of history is what a view shows of its object. A trunk has nothing to look up in a nearer branch.
CREATE OR REPLACE FUNCTION mnemon.is_in_view(world uuid, branches text[], bounds bigint[], shown mnemon.emo_history)
    RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT shown.branch = ANY (branches) AND CASE WHEN cardinality(branches) = 1
        THEN shown.since <= bounds[1] AND shown.until > bounds[1]
        ELSE mnemon.is_shown(mnemon.current_tenant(), world, branches, bounds, shown) END
$$;
REVOKE EXECUTE ON FUNCTION mnemon.is_in_view FROM PUBLIC;
