-- The same as when a document with the new title came and one with the old one went.
CREATE OR REPLACE FUNCTION mnemon.change_title() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = mnemon, public, pg_temp AS $$
BEGIN
    INSERT INTO mnemon.document_titles AS t (tenant_id, title_key, title)
    VALUES (NEW.tenant_id, hashtextextended(NEW.title, 0), NEW.title)
    ON CONFLICT (tenant_id, title_key) DO UPDATE SET title = t.title WHERE false;
    PERFORM mnemon.drop_titles(OLD.tenant_id, ARRAY[hashtextextended(OLD.title, 0)]);
    RETURN NULL;
END $$;
REVOKE EXECUTE ON FUNCTION mnemon.change_title FROM PUBLIC;
