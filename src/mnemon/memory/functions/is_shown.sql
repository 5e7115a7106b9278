-- Whether a view shows this version: it held in its branch, and no nearer branch has a version of its own.
-- `branches` and `bounds` are the view: nearest branch first, each with the last sequence that it is seen up to.
-- Search runs as the owner, since row-level security would keep it from the indexes; the tenant is the session's.
CREATE OR REPLACE FUNCTION mnemon.is_shown(
    tenant uuid, world uuid, branches text[], bounds bigint[], shown mnemon.emo_history)
    RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT EXISTS (
        SELECT FROM unnest(branches, bounds) WITH ORDINALITY AS line (branch, bound, level)
         WHERE shown.branch = line.branch AND shown.since <= line.bound AND shown.until > line.bound
           AND (line.level = 1 OR NOT EXISTS (
               SELECT FROM unnest(branches, bounds) WITH ORDINALITY AS nearer (branch, bound, level)
                 JOIN mnemon.emo_history h ON h.branch = nearer.branch AND h.since <= nearer.bound
                WHERE nearer.level < line.level AND h.tenant_id = tenant AND h.world_id = world
                  AND h.emo_id = shown.emo_id)))
$$;
REVOKE EXECUTE ON FUNCTION mnemon.is_shown FROM PUBLIC;
