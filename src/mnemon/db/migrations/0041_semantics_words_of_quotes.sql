-- PostgreSQL before 18 reads \v as the letter: a server that was upgraded would have another rule than a new one.
ALTER TABLE mnemon.event_evidence
    DROP CONSTRAINT a_quote_has_at_most_25_words,
    ADD CONSTRAINT a_quote_has_at_most_25_words CHECK (
        cardinality(regexp_split_to_array(btrim(quote, E' \t\r\n\f\x0B'), '\s+')) <= 25);
