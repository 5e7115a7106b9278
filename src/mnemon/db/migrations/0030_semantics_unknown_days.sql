-- An event of a text that tells no day: `happened_at` is when it came to us then, and nobody is told that it is a day.
-- Such events are listed after the others.
ALTER TABLE mnemon.semantic_events ADD COLUMN undated boolean NOT NULL DEFAULT false;
CREATE INDEX semantic_events_undated ON mnemon.semantic_events (tenant_id, happened_at DESC, event_id DESC)
    WHERE active AND undated;
-- The title of its document and the heading above it: an event is found by what they say, too.
ALTER TABLE mnemon.semantic_events ADD COLUMN topic text NOT NULL DEFAULT '';

-- A link that is more likely wrong than a sure one may be: it ends nothing until a person confirms it. What depends on
-- something ends nothing either.
ALTER TABLE mnemon.event_links ADD COLUMN suggested boolean NOT NULL DEFAULT false;
ALTER TABLE mnemon.event_links DROP CONSTRAINT event_links_kind_check;
ALTER TABLE mnemon.event_links ADD CONSTRAINT event_links_kind_check
    CHECK (kind IN ('supersedes', 'fulfils', 'depends_on'));
