-- Adds to the counts of a kind: in how many more texts (or fewer, below 0) each term stands, how many texts these are,
-- and how long they are together.
CREATE OR REPLACE FUNCTION mnemon.count_terms(
    own_kind text, own_share smallint, keys bigint[], amounts integer[], more_texts bigint, more_length bigint)
    RETURNS void LANGUAGE plpgsql SET search_path = mnemon, public, pg_temp AS $$
BEGIN
    -- Held to the end: whoever changes the same counts waits here, before it holds anything that we could want.
    PERFORM pg_advisory_xact_lock(hashtextextended('term_counts' || current_tenant()::text || own_kind, own_share));
    UPDATE text_counts AS counted SET texts = counted.texts + more_texts, length = counted.length + more_length
    WHERE tenant_id = current_tenant() AND kind = own_kind AND share = own_share;
    IF NOT FOUND THEN
        INSERT INTO text_counts (tenant_id, kind, share, texts, length)
        VALUES (current_tenant(), own_kind, own_share, more_texts, more_length);
    END IF;
    IF 0 < ANY (amounts) THEN
        INSERT INTO term_counts AS counted (tenant_id, kind, term_key, share, texts)
        SELECT current_tenant(), own_kind, given.key, own_share, given.amount
        FROM unnest(keys, amounts) AS given (key, amount) WHERE given.amount > 0
        ON CONFLICT (tenant_id, kind, term_key, share) DO UPDATE SET texts = counted.texts + excluded.texts;
    END IF;
    IF NOT 0 > ANY (amounts) THEN
        RETURN;
    END IF;
    -- A count of nothing is not kept: it would tell that a word once stood here.
    WITH fewer AS (
        SELECT given.key, -given.amount AS amount
        FROM unnest(keys, amounts) AS given (key, amount) WHERE given.amount < 0
    ), emptied AS (
        DELETE FROM term_counts AS counted USING fewer
        WHERE tenant_id = current_tenant() AND kind = own_kind AND term_key = fewer.key AND share = own_share
          AND counted.texts <= fewer.amount
    )
    UPDATE term_counts AS counted SET texts = counted.texts - fewer.amount FROM fewer
    WHERE tenant_id = current_tenant() AND kind = own_kind AND term_key = fewer.key AND share = own_share
      AND counted.texts > fewer.amount;
END $$;
REVOKE EXECUTE ON FUNCTION mnemon.count_terms FROM PUBLIC;
GRANT EXECUTE ON FUNCTION mnemon.count_terms TO mnemon_app;
