"""Who calls a tool, and the way back to their client: progress, and a question to the person behind it."""

from dataclasses import dataclass
from typing import Any

from mcp.server.elicitation import render_elicitation_schema
from mcp.server.mcpserver import Context
from mcp_types import ElicitRequest, ElicitRequestFormParams, ElicitResult, InputRequiredResult
from mcp_types.version import is_version_at_least
from pydantic import BaseModel, Field

from mnemon.app import Mnemon
from mnemon.identity.roles import Principal
from mnemon.mcp.refusals import ConfirmationNeeded
from mnemon.operations import Caller

# From this revision on a question is a result, and its answer comes with the repeated call.
QUESTIONS_ARE_RESULTS = "2026-07-28"
ANSWER = "confirmation"


class Confirmation(BaseModel):
    """What a person is asked before something is deleted."""

    confirm: bool = Field(description="Yes, delete it.")


class QuestionToPerson(Exception):
    """Not a failure: the call waits for the answer of a person."""

    def __init__(self, result: InputRequiredResult) -> None:
        super().__init__("The client is asked.")
        self.result = result


@dataclass(frozen=True, kw_only=True)
class AgentCaller(Caller):
    """The proven caller of a tool, with the way back to their client."""

    mnemon: Mnemon
    principal: Principal
    context: Context[Any, Any]

    @classmethod
    def known(cls, mnemon: Mnemon, principal: Principal, context: Context[Any, Any]) -> "AgentCaller":
        tenant, actor = principal.tenant_id, principal.actor
        return cls(
            tenant_id=tenant, actor=actor, principal=principal, channel="mcp", mnemon=mnemon, context=context
        )  # fmt: skip

    async def progress(self, done: float, total: float | None, message: str) -> None:
        """Shown by clients that asked for it; others never hear of it."""
        await self.context.report_progress(done, total, message)

    async def confirm(self, question: str, given: bool) -> None:
        """Come back only if the deletion is wanted: by the argument, or by a person whom the client can ask."""
        if given:
            return
        if not self._can_ask():
            raise ConfirmationNeeded(f"{question} Nothing was changed. If so, call again with confirm: true.")
        if not await self._agreed(question):
            raise ConfirmationNeeded(f"{question} The person did not agree; nothing was changed.")

    def _can_ask(self) -> bool:
        capabilities = self.context.client_capabilities
        asking = capabilities.elicitation if capabilities else None
        return asking is not None and (asking.form is not None or asking.url is None)

    async def _agreed(self, question: str) -> bool:
        version = self.context.protocol_version
        if version is None or not is_version_at_least(version, QUESTIONS_ARE_RESULTS):
            answer = await self.context.elicit(question, Confirmation)
            return answer.action == "accept" and answer.data.confirm
        given = (self.context.input_responses or {}).get(ANSWER)
        if not isinstance(given, ElicitResult):
            raise QuestionToPerson(_asked(question))
        return given.action == "accept" and (given.content or {}).get("confirm") is True


def _asked(question: str) -> InputRequiredResult:
    form = ElicitRequestFormParams(message=question, requested_schema=render_elicitation_schema(Confirmation))
    return InputRequiredResult(input_requests={ANSWER: ElicitRequest(params=form)})
