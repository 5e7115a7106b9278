-- How the last verifications of all tenants ended: when the oldest was, how many found something, and how much. It says
-- nothing of whose they are.
CREATE OR REPLACE FUNCTION mnemon.verification_summary(OUT tenants bigint, OUT changed bigint, OUT findings bigint,
                                                       OUT oldest timestamptz)
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = mnemon, pg_temp AS $$
    SELECT count(*), count(*) FILTER (WHERE r.findings > 0), coalesce(sum(r.findings), 0), min(r.verified_at)
      FROM mnemon.verification_results r
$$;
REVOKE EXECUTE ON FUNCTION mnemon.verification_summary FROM PUBLIC;
GRANT EXECUTE ON FUNCTION mnemon.verification_summary TO mnemon_app;
