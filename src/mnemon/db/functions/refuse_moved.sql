-- Refuses, as enter_tenant does, a credential of a tenant that has left this database: by the digest of its secret or
-- by the short name of the tenant. Asked only when a credential is unknown here.
CREATE OR REPLACE FUNCTION mnemon.refuse_moved(digest bytea, short_name text) RETURNS void
    LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = mnemon, public, pg_temp AS $$
DECLARE
    move record;
BEGIN
    SELECT 'moved' AS state, m.url INTO move FROM mnemon.tenant_moves m
     WHERE (m.state = 'moved' OR m.state = 'arriving' AND m.url <> '')
       AND (digest = ANY (m.tokens) OR m.slug = short_name) LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'the tenant is not open in this database: %', move.state
            USING ERRCODE = 'MN002', DETAIL = json_build_object('state', move.state, 'url', move.url)::text;
    END IF;
END $$;
REVOKE EXECUTE ON FUNCTION mnemon.refuse_moved FROM PUBLIC;
GRANT EXECUTE ON FUNCTION mnemon.refuse_moved TO mnemon_app;
