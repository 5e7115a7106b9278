-- Whose an object is, of which agent and session it is, and who reads and changes it. The list of readers stands on every
-- version, and a change of it is written to all of them: whoever may not read an object reads none of its past.
ALTER TABLE mnemon.emo_current
    ADD COLUMN owner text, ADD COLUMN agent_id text, ADD COLUMN session_id text, ADD COLUMN readers text[],
    ADD COLUMN writers text NOT NULL DEFAULT 'readers' CHECK (writers IN ('owner', 'readers'));
ALTER TABLE mnemon.emo_history
    ADD COLUMN owner text, ADD COLUMN agent_id text, ADD COLUMN session_id text, ADD COLUMN readers text[],
    ADD COLUMN writers text NOT NULL DEFAULT 'readers' CHECK (writers IN ('owner', 'readers')),
    DROP CONSTRAINT emo_history_operation_type_check,
    ADD CONSTRAINT emo_history_operation_type_check CHECK (
        operation_type IN ('created', 'updated', 'linked', 'deleted', 'restored', 'shared',
                           'facet.added', 'facet.replaced', 'facet.removed'));
CREATE INDEX emo_current_not_for_all ON mnemon.emo_current (tenant_id, world_id, emo_id) WHERE readers IS NOT NULL;
CREATE INDEX emo_history_by_session ON mnemon.emo_history (tenant_id, session_id) WHERE session_id IS NOT NULL;
CREATE INDEX emo_history_by_agent ON mnemon.emo_history (tenant_id, agent_id) WHERE agent_id IS NOT NULL;
