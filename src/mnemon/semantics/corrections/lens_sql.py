"""The statements with which the semantics lens keeps corrections; tables in braces, as in `semantics.lens_sql`."""

from mnemon.semantics.lens_sql import WORDS

ADD = """
INSERT INTO {event_corrections}
       (tenant_id, event_id, correction_id, sequence, doc_id, doc_version_id, action, said, other_id, said_by, said_at,
        undone_by, undone_at)
SELECT %(tenant)s, g.event_id, g.correction_id, g.sequence, %(doc)s, %(doc_version_id)s, g.action, g.said, g.other_id,
       g.said_by, g.said_at, g.undone_by, g.undone_at
  FROM jsonb_to_recordset(%(rows)s) AS g (
       event_id text, correction_id text, sequence bigint, action text, said jsonb, other_id text, said_by text,
       said_at timestamptz, undone_by text, undone_at timestamptz)
ON CONFLICT DO NOTHING
"""
UNDO = """
UPDATE {event_corrections} SET undone_by = %(by)s, undone_at = %(at)s
 WHERE tenant_id = %(tenant)s AND doc_version_id = %(doc_version_id)s AND correction_id = %(correction_id)s
   AND undone_at IS NULL
RETURNING event_id, other_id, action
"""
DROP = "DELETE FROM {event_corrections} WHERE tenant_id = %(tenant)s AND doc_version_id = %(doc_version_id)s"
SAID_BY = """
SELECT FROM {event_corrections} WHERE tenant_id = mnemon.current_tenant() AND said_by = %(by)s LIMIT 1
"""
PURGE = "DELETE FROM {event_corrections} WHERE tenant_id = %(tenant)s AND doc_id = %(doc)s"
OF_REVISION = """
SELECT event_id, correction_id, sequence, action, said, other_id, said_by, said_at, undone_by, undone_at
  FROM {event_corrections}
 WHERE tenant_id = %(tenant)s AND doc_version_id = %(doc_version_id)s ORDER BY sequence, event_id
"""
OF_EVENTS = """
SELECT event_id, correction_id, sequence, action, said, other_id, said_by, said_at, undone_by, undone_at
  FROM {event_corrections}
 WHERE tenant_id = %(tenant)s AND event_id = ANY(%(ids)s) ORDER BY sequence, event_id
"""
# Those of these that a person speaks of still.
SPOKEN_OF = """
SELECT event_id AS id FROM {event_corrections}
 WHERE tenant_id = %(tenant)s AND event_id = ANY(%(ids)s) AND undone_at IS NULL
UNION
SELECT other_id FROM {event_corrections}
 WHERE tenant_id = %(tenant)s AND other_id = ANY(%(ids)s) AND undone_at IS NULL
"""
LEAD_ON = """
UPDATE {event_corrections} c SET other_id = m.target
  FROM jsonb_to_recordset(%(moved)s) AS m (source text, target text)
 WHERE c.tenant_id = %(tenant)s AND c.other_id = m.source AND c.doc_version_id <> %(doc_version_id)s
RETURNING c.event_id
"""
KNOWN = """
SELECT event_id, extraction_id, position FROM {semantic_events}
 WHERE tenant_id = %(tenant)s AND event_id = ANY(%(ids)s)
"""
READINGS = """
SELECT e.event_id, coalesce(e.as_read, jsonb_build_object(
           'category', e.category, 'subject_type', e.subject_type, 'subject_ref', e.subject_ref, 'actors', e.actors,
           'due', e.due, 'kind', e.kind, 'confidence', e.confidence)) AS as_read
  FROM {semantic_events} e WHERE e.tenant_id = %(tenant)s AND e.event_id = ANY(%(ids)s) ORDER BY e.event_id
"""
CHANGE = f"""
UPDATE {{semantic_events}} e
   SET category = g.category, subject_type = g.subject_type, subject_ref = g.subject_ref, actors = g.actors,
       due = g.due, kind = g.kind, confidence = g.confidence, stood = g.stood, stood_since = g.stood_since,
       correction = ARRAY(SELECT jsonb_array_elements_text(g.correction)), merged_into = g.merged_into,
       as_read = g.as_read, version = g.version, corrected_by = g.corrected_by, corrected_at = g.corrected_at,
       terms = words.terms,
       lookup = mnemon.event_lookup(e.tenant_id, words.terms, words.names, to_tsvector('english', g.subject_ref))
  FROM jsonb_to_recordset(%(rows)s) AS g (
       event_id text, category text, subject_type text, subject_ref text, actors jsonb, due date, kind text,
       confidence float8, stood text, stood_since timestamptz, correction jsonb, merged_into text, as_read jsonb,
       version integer, corrected_by text, corrected_at timestamptz)
  JOIN {{semantic_events}} own ON own.tenant_id = %(tenant)s AND own.event_id = g.event_id,
       LATERAL (SELECT string_agg(q.quote, ' ' ORDER BY q.start_char) AS quotes FROM {{event_evidence}} q
                 WHERE q.tenant_id = own.tenant_id AND q.event_id = own.event_id) AS said,
       LATERAL ({
    WORDS.format(
        narrative="own.narrative",
        subject="g.subject_ref",
        quotes="said.quotes",
        actors="g.actors",
        category="g.category",
        topic="own.topic",
    )
}) AS words
 WHERE e.tenant_id = %(tenant)s AND e.event_id = g.event_id
"""
DROP_MERGED_EVIDENCE = """
DELETE FROM {event_evidence} WHERE tenant_id = %(tenant)s AND event_id = ANY(%(ids)s) AND merged_from IS NOT NULL
"""
ADD_MERGED_EVIDENCE = """
INSERT INTO {event_evidence}
       (tenant_id, event_id, evidence_id, doc_version_id, start_char, end_char, quote, chunk, merged_from)
SELECT DISTINCT ON (c.other_id, v.start_char, v.end_char)
       v.tenant_id, c.other_id, v.evidence_id, v.doc_version_id, v.start_char, v.end_char, v.quote, v.chunk, v.event_id
  FROM {event_corrections} c
  JOIN {event_evidence} v ON v.tenant_id = c.tenant_id AND v.event_id = c.event_id AND v.merged_from IS NULL
 WHERE c.tenant_id = %(tenant)s AND c.other_id = ANY(%(ids)s) AND c.action = 'merged' AND c.undone_at IS NULL
 ORDER BY c.other_id, v.start_char, v.end_char, v.event_id
ON CONFLICT DO NOTHING
"""
# What no engine reads goes with the word of who made it, and with it what was said of it since.
DROP_UNVOUCHED = """
DELETE FROM {semantic_events} e
 WHERE e.tenant_id = %(tenant)s AND e.event_id = ANY(%(ids)s) AND e.vouched_for
   AND (e.event_id = ANY(%(parts)s) OR NOT EXISTS (
       SELECT FROM {event_corrections} c
        WHERE c.tenant_id = e.tenant_id AND c.event_id = e.event_id AND c.undone_at IS NULL))
RETURNING e.event_id
"""
DROP_EVIDENCE_OF = "DELETE FROM {event_evidence} WHERE tenant_id = %(tenant)s AND event_id = ANY(%(ids)s)"
DROP_CORRECTIONS_OF = "DELETE FROM {event_corrections} WHERE tenant_id = %(tenant)s AND event_id = ANY(%(ids)s)"
FORGET_VERDICTS = """
DELETE FROM {event_links}
 WHERE tenant_id = %(tenant)s AND by_person AND (later = ANY(%(ids)s) OR earlier = ANY(%(ids)s))
"""
# A person's word on two events: what was said last. Links of engines that say otherwise are dismissed.
DISMISS_LINKS = """
UPDATE {event_links} l SET dismissed = now.dismissed, said_by = now.said_by
  FROM (SELECT m.earlier, m.later, m.doc_version_id, v.said_by,
               coalesce(v.action = 'unlink' OR v.kind <> m.kind, false) AS dismissed
          FROM {event_links} m
          LEFT JOIN LATERAL (
               SELECT c.action, c.said ->> 'kind' AS kind, c.said_by FROM {event_corrections} c
                WHERE c.tenant_id = m.tenant_id AND c.event_id = m.later AND c.other_id = m.earlier
                  AND c.action IN ('link', 'unlink') AND c.undone_at IS NULL
                ORDER BY c.sequence DESC LIMIT 1) AS v ON true
         WHERE m.tenant_id = %(tenant)s AND NOT m.by_person AND (m.later = ANY(%(ids)s) OR m.earlier = ANY(%(ids)s))
       ) AS now
 WHERE l.tenant_id = %(tenant)s AND l.earlier = now.earlier AND l.later = now.later
   AND l.doc_version_id = now.doc_version_id AND NOT l.by_person
   AND (l.dismissed, l.said_by) IS DISTINCT FROM (now.dismissed, now.said_by)
"""
DRAW_LINKS = """
INSERT INTO {event_links} (tenant_id, later, earlier, doc_version_id, kind, reason, linked_at, by_person, said_by)
SELECT c.tenant_id, c.event_id, c.other_id, c.doc_version_id, c.said ->> 'kind', 'said by a person', c.said_at, true,
       c.said_by
  FROM (SELECT DISTINCT ON (one.event_id, one.other_id) one.* FROM {event_corrections} one
         WHERE one.tenant_id = %(tenant)s AND (one.event_id = ANY(%(ids)s) OR one.other_id = ANY(%(ids)s))
           AND one.action IN ('link', 'unlink') AND one.undone_at IS NULL
         ORDER BY one.event_id, one.other_id, one.sequence DESC) AS c
 WHERE c.action = 'link'
ON CONFLICT DO NOTHING
"""
LEARN = """
INSERT INTO {learned_readers} (tenant_id, adapter, weights, labels, before, after, learned_at)
SELECT %(tenant)s, g.adapter, g.weights, g.labels, g.before, g.after, %(at)s
  FROM jsonb_to_record(%(learned)s) AS g (adapter text, weights jsonb, labels integer, before jsonb, after jsonb)
ON CONFLICT (tenant_id) DO UPDATE
   SET adapter = EXCLUDED.adapter, weights = EXCLUDED.weights, labels = EXCLUDED.labels, before = EXCLUDED.before,
       after = EXCLUDED.after, learned_at = EXCLUDED.learned_at
"""
FORGET_LEARNED = "DELETE FROM {learned_readers} WHERE tenant_id = %(tenant)s"
