"""What is kept of a question: that it was asked, what was shown for it, how it ended. Quotes are not kept, only where
they stand and a salted digest, so that a purged document leaves nothing here; the question itself, and the salt, are
sealed with the asker's key."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any
from uuid import UUID

from mnemon.ask.conversing.turns import CONVERSATION, entity_of
from mnemon.ask.proving.words import attested_parts, new_salt, words_digest
from mnemon.log.events import Actor, EntityReference, NewEvent
from mnemon.log.store import EventLog
from mnemon.log.types.event_type import EntityRequirement, EventType, PersonalField, declare
from mnemon.telemetry import counter, histogram, logger

if TYPE_CHECKING:
    from mnemon.ask.answer import Answer

ENTITY = "question"
ID = {"type": "string", "format": "uuid"}
TEXT = {"type": "string"}
SPANS = {
    "type": "array",
    "items": {
        "type": "object",
        "required": ["doc_version_id", "start", "end"],
        "properties": {"doc_version_id": ID, "start": {"type": "integer"}, "end": {"type": "integer"}},
        "additionalProperties": False,
    },
}
_REVISION = "9b4a1c7e-2c55-5d0c-9a3f-6f0e7d1b2c11"

ASKED = declare(
    EventType(
        type="question.asked",
        description="A question was asked, and answered with this evidence or refused.",
        data_schema={
            "type": "object",
            "required": ["subject", "question", "outcome", "mode", "strength", "evidence", "near_misses", "dropped"],
            "properties": {
                "subject": TEXT,
                "question": TEXT,
                "filters": {"type": "object"},
                "outcome": {"enum": ["answered", "refused"]},
                "reason": {"type": ["string", "null"]},
                "mode": {"enum": ["hybrid", "lexical"]},
                "model": {"type": ["string", "null"]},
                "strength": {"type": "number"},
                "evidence": SPANS,
                "near_misses": SPANS,
                "dropped": {"type": "integer", "minimum": 0},
                "milliseconds": {"type": "integer", "minimum": 0},
                "conversation": {"type": ["string", "null"]},
                # What each sentence is to the answer, in their order, with how many of the evidence prove it.
                "sentences": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "required": ["role", "note", "citations"],
                        "properties": {"role": TEXT, "note": TEXT, "citations": {"type": "integer", "minimum": 0}},
                        "additionalProperties": False,
                    },
                },
                "salt": TEXT,
                "words_digest": TEXT,
            },
            "additionalProperties": False,
        },
        required_entities=(EntityRequirement(ENTITY, "subject"),),
        personal_fields=(
            PersonalField("question", "free_text", subject_path="subject"),
            PersonalField("filters", "free_text", subject_path="subject"),
            PersonalField("conversation", "free_text", subject_path="subject"),
            PersonalField("salt", "free_text", subject_path="subject"),
        ),
        examples=(
            {
                "subject": "user:6f1c1f0a-4b60-4f0e-9d4e-2a6a5f1f8b01",
                "question": "Who approved the budget?",
                "filters": {},
                "outcome": "answered",
                "reason": None,
                "mode": "hybrid",
                "model": None,
                "strength": 0.71,
                "evidence": [{"doc_version_id": _REVISION, "start": 120, "end": 164}],
                "near_misses": [],
                "dropped": 0,
                "milliseconds": 42,
            },
        ),
        bound_to_periods=False,
    )
)

QUESTIONS = counter("mnemon_questions_total", "Questions, by how they ended.", ("outcome",))
SECONDS = histogram("mnemon_question_seconds", "Time from question to answer.")

log = logger(__name__)


async def record_question(events: EventLog, tenant: UUID, actor: Actor, answer: "Answer") -> None:
    """One event in the log, one structured line without the words, and the counters."""
    milliseconds, salt = round(answer.seconds * 1000), new_salt()
    data: dict[str, Any] = {
        "subject": actor.person_id,
        "question": answer.question,
        # What a follow-up means is found anew each time: it holds words of the answer before, which may be purged.
        "filters": answer.filters | {name: told for name, told in answer.understood.items() if name != "asked_as"},
        "outcome": answer.outcome,
        "reason": answer.refusal.code if answer.refusal else None,
        "mode": answer.mode,
        "model": answer.model,
        "strength": round(answer.strength, 4),
        "evidence": _spans(answer.citations),
        "near_misses": _spans(answer.refusal.near_misses if answer.refusal else ()),
        "dropped": answer.dropped,
        "milliseconds": milliseconds,
        "sentences": [
            {"role": one.role, "note": one.note, "citations": len(one.citations)} for one in answer.sentences
        ],
        "salt": salt,
        "words_digest": words_digest(salt, answer.question, attested_parts(answer.sentences)),
    }
    entities = [EntityReference(ENTITY, str(answer.query_id))]
    if answer.conversation_id:
        data["conversation"] = answer.conversation_id
        entities.append(EntityReference(CONVERSATION, str(entity_of(actor, answer.conversation_id)), "context"))
    await events.append(tenant, [NewEvent(type=ASKED.type, data=data, actor=actor, entities=entities, tags=[ENTITY])])
    QUESTIONS.labels(answer.outcome).inc()
    SECONDS.observe(answer.seconds)
    log.info(
        "question_answered",
        query_id=answer.query_id,
        tenant_id=tenant,
        outcome=answer.outcome,
        reason=data["reason"],
        mode=answer.mode,
        model=answer.model,
        strength=data["strength"],
        citations=len(data["evidence"]),
        dropped=answer.dropped,
        duration_ms=milliseconds,
    )


def _spans(cited: Sequence[Any]) -> list[dict[str, Any]]:
    return [{"doc_version_id": str(one.doc_version_id), "start": one.start, "end": one.end} for one in cited]
