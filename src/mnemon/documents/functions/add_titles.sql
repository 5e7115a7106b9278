-- Titles that documents came with, each once. A row that is there is held to the commit, so that nobody drops it as
-- unused meanwhile.
CREATE OR REPLACE FUNCTION mnemon.add_titles() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = mnemon, public, pg_temp AS $$
BEGIN
    INSERT INTO mnemon.document_titles AS t (tenant_id, title_key, title)
    SELECT DISTINCT ON (tenant_id, title_key) tenant_id, hashtextextended(title, 0) AS title_key, title
      FROM added ORDER BY tenant_id, title_key
    ON CONFLICT (tenant_id, title_key) DO UPDATE SET title = t.title WHERE false;
    RETURN NULL;
END $$;
REVOKE EXECUTE ON FUNCTION mnemon.add_titles FROM PUBLIC;
