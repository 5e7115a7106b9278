"""The statements of the semantics lens; each names its tables in braces, for the real ones or those of a rebuild."""

# Where it is said, and by whose leave it is read: as the revision has it.
FOLLOW = """
UPDATE {semantic_events} e
   SET active = r.is_active, readers = r.readers, known_until = CASE WHEN NOT r.is_active THEN upper(r.served) END,
       replaced_at = r.replaced_at
  FROM mnemon.document_revisions r
 WHERE e.tenant_id = %(tenant)s AND e.doc_id = %(doc)s
   AND r.tenant_id = e.tenant_id AND r.doc_version_id = e.doc_version_id
   AND (e.active <> r.is_active OR e.readers IS DISTINCT FROM r.readers)
"""
# What the document's events say of others, and what is said of them.
TOUCHED = """
SELECT e.event_id FROM {semantic_events} e WHERE e.tenant_id = %(tenant)s AND e.doc_id = %(doc)s
UNION
SELECT l.earlier FROM {semantic_events} e
  JOIN {event_links} l ON l.tenant_id = e.tenant_id AND l.later = e.event_id
 WHERE e.tenant_id = %(tenant)s AND e.doc_id = %(doc)s
UNION
SELECT l.earlier FROM {semantic_events} e
  JOIN {event_links} l ON l.tenant_id = e.tenant_id AND l.doc_version_id = e.doc_version_id
 WHERE e.tenant_id = %(tenant)s AND e.doc_id = %(doc)s
"""
# A person's word stands above all; else what came first ends an event, in whatever order the texts were read. It
# counts only where everyone who reads the event may read that too: else its status would tell of it. What is only
# suggested ends nothing.
SETTLE = """
UPDATE {semantic_events} e SET status = now.status, linked = now.linked
  FROM (SELECT o.event_id, coalesce(o.stood, (
            SELECT CASE l.kind WHEN 'fulfils' THEN 'done' ELSE 'superseded' END
              FROM {event_links} l
              JOIN {semantic_events} later
                ON later.tenant_id = l.tenant_id AND later.event_id = l.later AND later.active
               AND mnemon.link_tells(o.readers, later.readers) AND later.stood IS DISTINCT FROM 'dismissed'
             WHERE l.tenant_id = o.tenant_id AND l.earlier = o.event_id AND NOT l.dismissed AND NOT l.suggested
               AND l.kind <> 'depends_on'
             ORDER BY l.by_person DESC, later.happened_at, later.event_id, l.kind LIMIT 1), 'open') AS status,
               o.stood IS NOT NULL OR EXISTS (
                   SELECT FROM {event_links} l
                    WHERE l.tenant_id = o.tenant_id AND l.earlier = o.event_id AND NOT l.dismissed
                      AND NOT l.suggested AND l.kind <> 'depends_on') AS linked
          FROM {semantic_events} o WHERE o.tenant_id = %(tenant)s AND o.event_id = ANY(%(touched)s)) AS now
 WHERE e.tenant_id = %(tenant)s AND e.event_id = now.event_id
   AND (e.status, e.linked) IS DISTINCT FROM (now.status, now.linked)
"""
ADD_EXTRACTION = """
INSERT INTO {extractions}
       (tenant_id, extraction_id, doc_version_id, doc_id, engine, events, unproven, model, extracted_at)
VALUES (%(tenant)s, %(extraction_id)s, %(doc_version_id)s, %(doc)s, %(engine)s, %(event_count)s, %(unproven)s,
        %(model)s, %(at)s)
ON CONFLICT DO NOTHING
"""
DROP_EVIDENCE = "DELETE FROM {event_evidence} WHERE tenant_id = %(tenant)s AND doc_version_id = %(doc_version_id)s"
DROP_LINKS = "DELETE FROM {event_links} WHERE tenant_id = %(tenant)s AND doc_version_id = %(doc_version_id)s"
DROP_EVENTS = "DELETE FROM {semantic_events} WHERE tenant_id = %(tenant)s AND doc_version_id = %(doc_version_id)s"
# The words that an event is found by, and the names, of whatever the placeholders stand for.
WORDS = """
SELECT setweight(to_tsvector('english', {narrative} || ' ' || {subject}), 'A')
    || setweight(to_tsvector('english', coalesce({quotes}, '')), 'B')
    || setweight(to_tsvector('english', coalesce((
           SELECT string_agg(one ->> 'ref', ' ') FROM jsonb_array_elements({actors}) AS one), '')), 'C')
    || setweight(to_tsvector('english', replace({category}, 'yR', 'y R') || ' ' || coalesce({topic}, '')), 'D')
       AS terms,
       ARRAY(SELECT DISTINCT name FROM jsonb_array_elements({actors}) AS one,
                    unnest(lower(one ->> 'ref') || regexp_split_to_array(lower(one ->> 'ref'), '\\s+')) AS name
              ORDER BY name) AS names"""
_READING = WORDS.format(
    narrative="g.narrative", subject="(g.subject ->> 'ref')", quotes="said.quotes", actors="g.actors",
    category="g.category", topic="g.topic",
)  # fmt: skip
ADD_EVENTS = (
    """
INSERT INTO {semantic_events}
       (tenant_id, event_id, doc_version_id, doc_id, extraction_id, position, category, narrative, subject_type,
        subject_ref, actors, event_time, happened_at, due, kind, origin, confidence, active, readers, known_since,
        known_until, replaced_at, created_at, terms, lookup, vouched_for, undated, topic)
SELECT r.tenant_id, g.event_id, r.doc_version_id, r.doc_id, %(extraction_id)s, g.position, g.category, g.narrative,
       g.subject ->> 'type', g.subject ->> 'ref', g.actors, g.event_time, g.happened_at, g.due, g.kind, g.origin,
       g.confidence, r.is_active, r.readers,
       coalesce((SELECT min(x.extracted_at) FROM {extractions} x
                  WHERE x.tenant_id = r.tenant_id AND x.doc_version_id = r.doc_version_id), %(at)s),
       CASE WHEN NOT r.is_active THEN upper(r.served) END, r.replaced_at, %(at)s, words.terms,
       mnemon.event_lookup(r.tenant_id, words.terms, words.names, to_tsvector('english', g.subject ->> 'ref')),
       coalesce(g.vouched_for, false), coalesce(g.undated, false), coalesce(g.topic, '')
  FROM mnemon.document_revisions r,
       jsonb_to_recordset(%(events)s) AS g (
           event_id text, position integer, category text, narrative text, subject jsonb, actors jsonb,
           event_time timestamptz, happened_at timestamptz, due date, kind text, origin text, confidence float8,
           evidence jsonb, vouched_for boolean, undated boolean, topic text),
       LATERAL (SELECT string_agg(one ->> 'quote', ' ') AS quotes FROM jsonb_array_elements(g.evidence) AS one) AS said,
       LATERAL ("""
    + _READING
    + """) AS words
 WHERE r.tenant_id = %(tenant)s AND r.doc_version_id = %(doc_version_id)s
ON CONFLICT (tenant_id, event_id) DO NOTHING
"""
)
ADD_EVIDENCE = """
INSERT INTO {event_evidence} (tenant_id, event_id, evidence_id, doc_version_id, start_char, end_char, quote, chunk)
SELECT %(tenant)s, g.event_id, e.evidence_id, %(doc_version_id)s, e.start_char, e.end_char, e.quote, e.chunk
  FROM jsonb_to_recordset(%(events)s) AS g (event_id text, evidence jsonb),
       jsonb_to_recordset(g.evidence) AS e (
           evidence_id text, start_char integer, end_char integer, quote text, chunk integer)
ON CONFLICT DO NOTHING
"""
ADD_LINKS = """
INSERT INTO {event_links} (tenant_id, later, earlier, doc_version_id, kind, reason, linked_at, suggested)
SELECT %(tenant)s, g.later, g.earlier, %(doc_version_id)s, g.kind, g.reason, %(at)s, coalesce(g.suggested, false)
  FROM jsonb_to_recordset(%(links)s) AS g (later text, earlier text, kind text, reason text, suggested boolean)
ON CONFLICT DO NOTHING
"""
# Links that other documents' revisions found stay with those, and lead nowhere: so replay gives them too.
PURGE_LINKS = """
DELETE FROM {event_links} l USING mnemon.document_revisions r
 WHERE l.tenant_id = %(tenant)s AND r.tenant_id = l.tenant_id AND r.doc_id = %(doc)s
   AND l.doc_version_id = r.doc_version_id
"""
PURGE_EVIDENCE = """
DELETE FROM {event_evidence} g USING mnemon.document_revisions r
 WHERE g.tenant_id = %(tenant)s AND r.tenant_id = g.tenant_id AND r.doc_id = %(doc)s
   AND g.doc_version_id = r.doc_version_id
"""
PURGE_EVENTS = "DELETE FROM {semantic_events} WHERE tenant_id = %(tenant)s AND doc_id = %(doc)s"
PURGE_EXTRACTIONS = "DELETE FROM {extractions} WHERE tenant_id = %(tenant)s AND doc_id = %(doc)s"
