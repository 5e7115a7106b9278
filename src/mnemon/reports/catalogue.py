"""The events of summaries and reports, under the routing keys of the specification.

They hold places in messages, and no words: those are looked up when somebody asks. A sentence that a model wrote is the
exception. It is sealed with the keys of all messages that it cites, one around the other, so that forgetting any of
them takes it out of the log.
"""

from collections.abc import Sequence
from typing import Any

from mnemon.bus.envelope import CATALOGUE
from mnemon.log.events import SYSTEM, Actor, EntityReference, NewEvent
from mnemon.log.types.event_type import EntityRequirement, EventType, PersonalField, declare
from mnemon.log.types.registry import ERASED

SUMMARY = "mail_summary"
TEXT = {"type": "string"}
MAYBE = {"type": ["string", "null"]}
COUNT = {"type": "integer", "minimum": 0}
KEYS = {"type": "array", "items": {"type": "string", "pattern": "^[0-9a-f]{16}$"}}
KIND = {"enum": ["thread", "weekly", "consensus", "draft-focused"]}
PLACE = {
    "type": "object",
    "required": ["message_key", "doc_version_id", "start", "end"],
    "properties": {"message_key": TEXT, "doc_version_id": TEXT, "start": COUNT, "end": COUNT},
}
SECTIONS = {
    "type": "array",
    "items": {
        "type": "object",
        "required": ["thread_key", "consensus_type", "lines"],
        "properties": {
            "lines": {
                "type": "array",
                "items": {
                    "type": "object",
                    "required": ["says", "details", "places"],
                    "properties": {"places": {"type": "array", "minItems": 1, "items": PLACE}},
                },
            }
        },
    },
}
_ID = "3f2b8a4e-6c1d-4e0f-9a7b-1c2d3e4f5a6b"
_SAID = {"message_key": "b0909b070abce029", "doc_version_id": _ID, "start": 0, "end": 9}
_ABOUT = {"summary_id": TEXT, "summary_type": KIND}
_OF_WHAT = {"thread_keys": KEYS, "list_name": MAYBE, "draft": MAYBE, "since": MAYBE, "until": MAYBE}
_EXAMPLE = {"summary_id": _ID, "summary_type": "weekly"}
_WHICH = {
    "thread_keys": ["3af08455db2c8691"], "list_name": "quic.ietf.org", "draft": None, "since": "2026-03-02T00:00:00Z",
    "until": None,
}  # fmt: skip
_WHY = {"error_type": TEXT, "error_message": TEXT, "retry_count": COUNT}
_FAILED = {"error_type": "MODEL_UNAVAILABLE", "error_message": "The model does not answer.", "retry_count": 3}


def _type(
    key: str, description: str, fields: dict[str, Any], example: dict[str, Any],
    sealed: tuple[PersonalField, ...] = (), optional: dict[str, Any] | None = None,
) -> EventType:  # fmt: skip
    return declare(
        EventType(
            type=key,
            module="reports",
            description=f"{CATALOGUE[key]}: {description}",
            data_schema={
                "type": "object",
                "required": list(fields),
                "properties": fields | (optional or {}),
                "additionalProperties": False,
            },
            required_entities=(EntityRequirement(SUMMARY, "subject"),),
            personal_fields=sealed,
            examples=(example,),
            bound_to_periods=False,
        )
    )


REQUESTED = _type(
    "summarization.requested", "somebody, or a thread that was read anew, wants a summary.",
    _ABOUT | _OF_WHAT | {
        "llm_backend": TEXT, "llm_model": TEXT, "prompt_template": TEXT, "top_k": COUNT,
        "context_window_tokens": COUNT,
    },
    _EXAMPLE | _WHICH | {
        "llm_backend": "none", "llm_model": "extract", "prompt_template": "extract-v1", "top_k": 50,
        "context_window_tokens": 0,
    },
)  # fmt: skip
ORCHESTRATION_FAILED = _type(
    "orchestration.failed", "nobody could find out which threads want a summary.",
    {"thread_keys": KEYS, **_WHY}, {"thread_keys": [], **_FAILED},
)  # fmt: skip
# A sentence is wrapped once for each message that it cites, three at most; the last may be wrapped again by the same.
WRAPPED = {
    "type": "array",
    "items": {"type": "object", "required": ["owner", "kept"], "properties": {"owner": TEXT}},
}
COMPLETE = _type(
    "summary.complete", "a summary was made; each of its lines cites places that hold.",
    _ABOUT | _OF_WHAT | {
        "based_on": MAYBE, "sections": SECTIONS, "sentences": WRAPPED, "dropped": COUNT, "llm_backend": TEXT,
        "llm_model": TEXT, "tokens_prompt": COUNT, "tokens_completion": COUNT, "latency_ms": COUNT,
    },
    _EXAMPLE | _WHICH | {
        "based_on": None, "dropped": 0, "llm_backend": "none", "llm_model": "extract", "tokens_prompt": 0,
        "tokens_completion": 0, "latency_ms": 24, "sentences": [],
        "sections": [
            {
                "thread_key": "3af08455db2c8691", "consensus_type": "agreement",
                "lines": [{"says": "objection", "details": {"state": "met"}, "places": [_SAID]}],
            }
        ],
    },
    (
        PersonalField("sentences[*].kept.kept.text", "free_text", subject_path="sentences[*].kept.kept.owner"),
        PersonalField("sentences[*].kept.kept", "free_text", subject_path="sentences[*].kept.owner"),
        PersonalField("sentences[*].kept", "free_text", subject_path="sentences[*].owner"),
    ),
)  # fmt: skip
SUMMARY_FAILED = _type(
    "summarization.failed", "a summary could not be made.", _ABOUT | {"thread_keys": KEYS, **_WHY},
    _EXAMPLE | {"thread_keys": [], **_FAILED},
)  # fmt: skip
_REPORT = {"report_id": TEXT, "summary_id": TEXT, "thread_keys": KEYS}
_REPORTED = {"report_id": "rpt-01JD0000000000000000000000", "summary_id": _ID, "thread_keys": ["3af08455db2c8691"]}
PUBLISHED = _type(
    "report.published", "a report stands for everybody who may read it, and goes to those who want to be told.",
    _REPORT | {
        "format": TEXT, "notified": {"type": "boolean"}, "delivery_channels": {"type": "array", "items": TEXT},
        "summary_url": TEXT,
    },
    _REPORTED | {
        "format": "markdown", "notified": False, "delivery_channels": ["webhook"],
        "summary_url": "/v1/reports/rpt-01JD0000000000000000000000",
    },
)  # fmt: skip
DELIVERY_FAILED = _type(
    "report.delivery_failed", "a report did not reach somebody, often as it was tried.",
    _REPORT | {"delivery_channel": TEXT, **_WHY}, _REPORTED | {"delivery_channel": "webhook", **_FAILED},
)  # fmt: skip


def summary_happening(
    happening: EventType, summary_id: str, data: dict[str, Any], *, actor: Actor = SYSTEM, caused_by: str | None = None,
    key: str | None = None,
) -> NewEvent:  # fmt: skip
    """An event about a summary; all that belongs to one share its id as correlation id."""
    return NewEvent(
        type=happening.type,
        data=data,
        actor=actor,
        entities=[EntityReference(SUMMARY, summary_id)],
        correlation_id=summary_id,
        caused_by=caused_by,
        idempotency_key=key,
        tags=["mail"],
    )


def wrapped(sentence: str, owners: Sequence[str]) -> dict[str, Any]:
    """A sentence for `COMPLETE`, sealed by one to three owners."""
    first, second, third = (*owners, owners[-1], owners[-1])[:3]
    return {"owner": first, "kept": {"owner": second, "kept": {"owner": third, "text": sentence}}}


def unwrapped(kept: Any) -> str | None:
    """The sentence, or None where one of its owners is forgotten."""
    for step in ("kept", "kept", "text"):
        kept = kept.get(step) if isinstance(kept, dict) else None
    return kept if isinstance(kept, str) and kept != ERASED else None
