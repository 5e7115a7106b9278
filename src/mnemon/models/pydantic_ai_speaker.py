"""Talks to OpenAI-compatible services and to Anthropic through pydantic-ai."""

from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import contextmanager
from decimal import Decimal

from pydantic import BaseModel
from pydantic_ai import ModelMessage, ModelRequest, ModelResponse, PartDeltaEvent, PartStartEvent, exceptions
from pydantic_ai.direct import model_request, model_request_stream
from pydantic_ai.messages import SystemPromptPart, TextPart, TextPartDelta, ToolCallPart, UserPromptPart
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.output import OutputObjectDefinition
from pydantic_ai.settings import ModelSettings
from pydantic_ai.tools import ToolDefinition

from mnemon.errors import MnemonError
from mnemon.models.failures import (
    InvalidModel,
    ModelKeyRefused,
    ModelQuotaSpent,
    ModelRateLimited,
    ModelRequestRefused,
    ModelTimedOut,
    ModelUnreachable,
)
from mnemon.models.language import Prompt, Usage
from mnemon.models.redact import shown_reason
from mnemon.models.speaker import Correction, Spoken

# The first that fits holds, so the narrow ones come first.
FAILURES: tuple[tuple[type[Exception], type[MnemonError], str], ...] = (
    (exceptions.ModelTimeoutError, ModelTimedOut, "did not answer in time"),
    (exceptions.ModelRequestTimeout, ModelTimedOut, "did not answer in time"),
    (exceptions.ModelNotFoundError, InvalidModel, "is not known at its address"),
    (exceptions.ModelAuthenticationError, ModelKeyRefused, "does not accept the key"),
    (exceptions.ModelQuotaExceededError, ModelQuotaSpent, "has no credit left"),
    (exceptions.ModelRateLimitError, ModelRateLimited, "asks for fewer requests"),
    (exceptions.ModelRequestRejectedError, ModelRequestRefused, "refuses the request"),
    (exceptions.ContentFilterError, ModelRequestRefused, "refuses the request"),
    (exceptions.UserError, ModelRequestRefused, "cannot be asked this"),
    (exceptions.AgentRunError, ModelUnreachable, "failed"),
)


class PydanticAISpeaker:
    """One exchange with one model; retries of the client library are off, since the caller counts them."""

    def __init__(
        self, model: OpenAIChatModel | AnthropicModel, secret: str | None, *, timeout: float, max_tokens: int
    ) -> None:
        self.name = model.model_name
        self._model = model
        self._secret = secret
        self._settings = ModelSettings(temperature=0, max_tokens=max_tokens, timeout=timeout, max_retries=0)

    async def say(self, prompt: Prompt, schema: type[BaseModel], corrections: Sequence[Correction] = ()) -> Spoken:
        with self._our_errors():
            response = await model_request(
                self._model,
                _messages(prompt, corrections),
                model_settings=self._settings,
                model_request_parameters=self._asking_for(schema),
            )
        return _spoken(response)

    async def say_in_pieces(self, prompt: Prompt) -> AsyncGenerator[str | Spoken]:
        with self._our_errors():
            async with model_request_stream(
                self._model, _messages(prompt, ()), model_settings=self._settings
            ) as events:
                async for event in events:
                    if isinstance(event, PartStartEvent) and isinstance(event.part, TextPart) and event.part.content:
                        yield event.part.content
                    elif isinstance(event, PartDeltaEvent) and isinstance(event.delta, TextPartDelta):
                        yield event.delta.content_delta
                yield _spoken(events.get())

    async def close(self) -> None:
        await self._model.client.close()

    def _asking_for(self, schema: type[BaseModel]) -> ModelRequestParameters:
        """Constrained decoding where the model offers it, else a tool that it has to call."""
        form = schema.model_json_schema()
        if self._model.profile.get("supports_json_schema_output", False):
            described = OutputObjectDefinition(form, name=schema.__name__, description=schema.__doc__)
            return ModelRequestParameters(output_mode="native", output_object=described)
        tool = ToolDefinition(name="answer", description=schema.__doc__, parameters_json_schema=form, kind="output")
        return ModelRequestParameters(output_mode="tool", output_tools=[tool], allow_text_output=False)

    @contextmanager
    def _our_errors(self) -> Iterator[None]:
        try:
            yield
        except Exception as failure:
            for theirs, ours, meaning in FAILURES:
                if isinstance(failure, theirs):
                    raise self._told(failure, ours, meaning) from None
            raise

    def _told(self, failure: Exception, kind: type[MnemonError], meaning: str) -> MnemonError:
        """Their reason, without the key, should the server repeat it."""
        reason = shown_reason(str(failure), self._secret)
        details = {"retry_after": getattr(failure, "retry_after", None)} if kind is ModelRateLimited else {}
        return kind(f"The language model {self.name} {meaning}: {reason}", **details)


def _messages(prompt: Prompt, corrections: Sequence[Correction]) -> list[ModelMessage]:
    messages: list[ModelMessage] = [ModelRequest([SystemPromptPart(prompt.system), UserPromptPart(prompt.user)])]
    for correction in corrections:
        complaint = f"That answer does not fit the schema: {correction.complaint}. Answer again, with the object only."
        messages += [ModelResponse([TextPart(correction.answer)]), ModelRequest([UserPromptPart(complaint)])]
    return messages


def _spoken(response: ModelResponse) -> Spoken:
    words = [part.content for part in response.parts if isinstance(part, TextPart)]
    called = [part.args_as_json_str() for part in response.parts if isinstance(part, ToolCallPart)]
    usage = Usage(response.usage.input_tokens, response.usage.output_tokens, _cost(response))
    return Spoken("".join(called or words), usage, cut=response.finish_reason == "length")


def _cost(response: ModelResponse) -> Decimal | None:
    """Known for hosted models in pydantic-ai's price list, unknown for one's own."""
    try:
        return response.cost().total_price
    except (LookupError, ValueError, AssertionError):
        return None
