-- A link tells a reader of one event that there is the other: it counts only where all those may read that one too.
CREATE OR REPLACE FUNCTION mnemon.link_tells(earlier_readers text[], later_readers text[]) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN later_readers IS NULL OR coalesce(earlier_readers <@ later_readers, false);
