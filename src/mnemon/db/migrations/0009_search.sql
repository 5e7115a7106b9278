-- Search: in how many texts of each kind a term stands, which tells the rare words of a question from the common ones.

-- A term is counted in one of several shares, which a writer locks until it commits: two writers rarely wait for each
-- other, and never each for the other. The keys are numbers: nothing here holds a word that somebody may ask to forget.
CREATE TABLE mnemon.term_counts (
    tenant_id uuid NOT NULL REFERENCES mnemon.tenants ON DELETE CASCADE,
    kind      text NOT NULL,
    term_key  bigint NOT NULL,
    share     smallint NOT NULL,
    texts     integer NOT NULL CHECK (texts > 0),
    PRIMARY KEY (tenant_id, kind, term_key, share)
) WITH (fillfactor = 80);
CALL mnemon.isolate_by_tenant('mnemon.term_counts');
GRANT SELECT, INSERT, UPDATE, DELETE ON mnemon.term_counts TO mnemon_app;

CREATE TABLE mnemon.text_counts (
    tenant_id uuid NOT NULL REFERENCES mnemon.tenants ON DELETE CASCADE,
    kind      text NOT NULL,
    share     smallint NOT NULL,
    texts     bigint NOT NULL CHECK (texts >= 0),
    length    bigint NOT NULL CHECK (length >= 0),
    PRIMARY KEY (tenant_id, kind, share)
);
CALL mnemon.isolate_by_tenant('mnemon.text_counts');
GRANT SELECT, INSERT, UPDATE, DELETE ON mnemon.text_counts TO mnemon_app;
