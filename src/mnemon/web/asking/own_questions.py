"""The questions that a visitor asked before."""

from dataclasses import dataclass

from mnemon.app import Mnemon
from mnemon.ask.query_log import ASKED
from mnemon.log_operations.events import read as read_log
from mnemon.operations import Caller, read_input
from mnemon.web.rendering import Visitor

REMEMBERED = 15


@dataclass(frozen=True)
class OwnQuestion:
    """A question that the visitor asked before."""

    words: str
    answered: bool
    asked_at: str


async def own_questions(mnemon: Mnemon, visitor: Visitor) -> list[OwnQuestion]:
    """The visitor's own: the log holds them sealed with their key, and shows them to nobody else."""
    wanted = {
        "stream_type": "actor", "stream_id": visitor.principal.actor.id, "type": [ASKED.type],
        "direction": "backward", "limit": 4 * REMEMBERED,
    }  # fmt: skip
    found = await read_log(mnemon, Caller.of(visitor.principal), read_input(read_log, wanted))
    questions: dict[str, OwnQuestion] = {}
    for event in found.events:
        words = event["data"].get("question")
        if isinstance(words, str) and words not in questions:
            answered = event["data"].get("outcome") == "answered"
            questions[words] = OwnQuestion(words, answered, str(event["recorded_at"]))
    return list(questions.values())[:REMEMBERED]
