-- The same as a condition in a statement's text, where $1 is the branches and $2 the bounds; simpler for a trunk, which
-- has nothing to look up in a nearer branch.
CREATE OR REPLACE FUNCTION mnemon.shown_condition(branches text[], alias text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT format(CASE WHEN cardinality(branches) = 1
        THEN '%1$s.branch = ($1)[1] AND %1$s.since <= ($2)[1] AND %1$s.until > ($2)[1]'
        ELSE '%1$s.branch = ANY ($1) AND mnemon.is_shown($3, $4, $1, $2, %1$s)' END, alias)
$$;
REVOKE EXECUTE ON FUNCTION mnemon.shown_condition FROM PUBLIC;
