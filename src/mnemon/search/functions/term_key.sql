-- A term of a tenant as a number. Each tenant has keys of its own, so that in the index a small tenant's words do not
-- stand in a list with a big one's; and neither the index nor the statistics hold a word that somebody may ask to
-- forget.
CREATE OR REPLACE FUNCTION mnemon.term_key(tenant_id uuid, lexeme text) RETURNS bigint
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN hashtextextended(tenant_id::text || lexeme, 0);
