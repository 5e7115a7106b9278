-- Whether an object is one that a search is about, and one that the transaction's reader may see.
CREATE OR REPLACE FUNCTION mnemon.is_wanted_memory(
    shown mnemon.emo_history, kind text, with_tags text[], changed_since timestamptz, about text, owned_by text,
    of_agent text, of_session text)
    RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT (kind IS NULL OR shown.emo_type = kind) AND (with_tags IS NULL OR shown.tags @> with_tags)
       AND (changed_since IS NULL OR shown.updated_at >= changed_since)
       AND (about IS NULL OR shown.subject_id = about)
       AND (owned_by IS NULL OR shown.owner = ANY (string_to_array(owned_by, E'\x1f')))
       AND (of_agent IS NULL OR shown.agent_id = of_agent) AND (of_session IS NULL OR shown.session_id = of_session)
       AND (shown.readers IS NULL OR mnemon.may_read(shown.readers))
$$;
REVOKE EXECUTE ON FUNCTION mnemon.is_wanted_memory FROM PUBLIC;
