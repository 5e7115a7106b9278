"""What was read from a thread, as the log keeps it: places and judgements, no words and no names.

Words are looked up in the messages when somebody asks, so forgetting a message forgets what was quoted from it.
"""

from typing import Any

from mnemon.log.events import EntityReference, NewEvent
from mnemon.log.types.event_type import EntityRequirement, EventType, declare
from mnemon.mail.consensus.judging import Consensus

THREAD = "mail_thread"
_NUMBER, _TEXT = {"type": "integer", "minimum": 0}, {"type": "string"}
_PLACE = {"message_key": _TEXT, "start": _NUMBER, "end": _NUMBER}
_FOUND = {"type": "array", "items": {"type": "object", "required": list(_PLACE)}}
_EXAMPLE = {"message_key": "b0909b070abce029", "start": 0, "end": 2}

CONSENSUS_READ = declare(
    EventType(
        type="mail.consensus.read",
        module="mail",
        description="What a thread agreed or disputed, as it was read: votes, stances, objections and their places.",
        data_schema={
            "type": "object",
            "required": ["thread_key", "digest", "consensus_type", "confidence", "read_by", "votes", "statements",
                         "objections", "conclusion"],
            "properties": {
                "thread_key": {"type": "string", "pattern": "^[0-9a-f]{16}$"},
                "digest": _TEXT,
                "consensus_type": {"enum": ["agreement", "dissent", "mixed", "none"]},
                "confidence": {"type": "number", "minimum": 0, "maximum": 1},
                "read_by": _TEXT,
                "votes": _FOUND,
                "statements": _FOUND,
                "objections": _FOUND,
                "conclusion": {"type": ["object", "null"]},
            },
            "additionalProperties": False,
        },
        required_entities=(EntityRequirement(THREAD, "subject"),),
        examples=(
            {
                "thread_key": "3af08455db2c8691", "digest": "d41d8cd98f00b204e9800998ecf8427e",
                "consensus_type": "agreement", "confidence": 0.9, "read_by": "formulas",
                "votes": [_EXAMPLE | {"value": "+1", "binding": True, "kind": "value", "changed": False}],
                "statements": [_EXAMPLE | {"stance": "support", "confidence": 0.98, "found_by": "vote"}],
                "objections": [], "conclusion": None,
            },
        ),
        bound_to_periods=False,
    )
)  # fmt: skip


def consensus_event(thread: str, digest: str, consensus: Consensus, keys: dict[str, str]) -> NewEvent:
    """`keys` has the key of each message by its id."""

    def place(found: Any) -> dict[str, Any]:
        return {"message_key": keys[found.message_id], "start": found.start, "end": found.end}

    votes = [
        place(one) | {"value": one.value, "binding": one.binding, "kind": one.kind, "changed": one.changed}
        for one in consensus.votes
    ]
    statements = [
        place(one) | {"stance": one.stance, "confidence": one.confidence, "found_by": one.found_by}
        for one in consensus.statements
    ]
    objections = [
        place(one.statement)
        | {
            "state": one.state,
            "settled_by": place(one.settled_by) if one.settled_by else None,
            "answered_in": [keys[answer] for answer in one.answered_in],
        }
        for one in consensus.objections
    ]
    told = consensus.conclusion
    return NewEvent(
        type=CONSENSUS_READ.type,
        data={
            "thread_key": thread,
            "digest": digest,
            "consensus_type": consensus.type,
            "confidence": round(consensus.confidence, 3),
            "read_by": consensus.read_by,
            "votes": votes,
            "statements": statements,
            "objections": objections,
            "conclusion": place(told) | {"concluded": told.concluded} if told else None,
        },
        entities=[EntityReference(THREAD, thread)],
        tags=["mail"],
    )
