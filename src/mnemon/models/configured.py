"""Asks a language model so that features can rely on it: validated, retried, limited, counted and recorded."""

import asyncio
import itertools
import math
import random
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from typing import TypeVar
from uuid import UUID

from pydantic import ValidationError

from mnemon.errors import MnemonError
from mnemon.ids import new_uuid
from mnemon.models.calls import CallOutcome, ModelCall, Recorder, count_call
from mnemon.models.failures import AnswerTruncated, InvalidAnswer, ModelTimedOut
from mnemon.models.language import NOTHING_USED, Prompt, Schema, Usage, ValidatedAnswer
from mnemon.models.rate import RateLimit
from mnemon.models.speaker import Correction, Speaker, Spoken

MOST_CORRECTIONS = 2
MOST_COMPLAINTS = 8
FIRST_PAUSE, LONGEST_PAUSE = 0.5, 8.0
# A server that asks for more than this is left to the job's own back-off, which holds no worker.
LONGEST_ASKED_PAUSE = 30.0

Result = TypeVar("Result")


@dataclass
class _Progress:
    """What one call has taken so far."""

    requests: int = 0
    usage: Usage = NOTHING_USED


class ConfiguredModel:
    """One model behind a speaker. Safe to share between tasks."""

    available = True

    def __init__(
        self,
        speaker: Speaker,
        recorder: Recorder,
        *,
        requests_per_minute: int = 60,
        timeout: float = 30,
        retries: int = 3,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._speaker = speaker
        self._recorder = recorder
        self._limit = RateLimit(requests_per_minute)
        self._timeout = timeout
        self._retries = retries
        self._sleep = sleep

    @property
    def name(self) -> str:
        return self._speaker.name

    async def ask(self, prompt: Prompt, schema: type[Schema], tenant: UUID) -> ValidatedAnswer[Schema]:
        """A validated answer, or an error whose `retry` says whether to come back later."""
        call_id, started, progress = new_uuid(), time.perf_counter(), _Progress()
        async with self._recorded(prompt, tenant, call_id, progress):
            value = await self._valid_answer(prompt, schema, progress)
        return ValidatedAnswer(value, self.name, call_id, progress.usage, time.perf_counter() - started)

    async def stream(self, prompt: Prompt, tenant: UUID) -> AsyncIterator[str]:
        """Plain text as it comes. A failure is retried only before the first piece; none is ever given twice."""
        progress = _Progress()
        async with self._recorded(prompt, tenant, new_uuid(), progress):
            piece, rest = await self._retried(lambda: self._first_piece(prompt), progress)
            async with aclosing(rest):
                while isinstance(piece, str):
                    yield piece
                    piece = await self._in_time(anext(rest))
            self._take(piece, progress)

    async def close(self) -> None:
        await self._speaker.close()

    async def _valid_answer(self, prompt: Prompt, schema: type[Schema], progress: _Progress) -> Schema:
        """An answer that does not fit goes back to the model with what is wrong about it."""
        corrections: list[Correction] = []
        while True:
            spoken = await self._retried(lambda: self._speaker.say(prompt, schema, corrections), progress)
            self._take(spoken, progress)
            try:
                return schema.model_validate_json(_json_part(spoken.text))
            except ValidationError as failure:
                complaint = _complaint(failure)
            if len(corrections) == MOST_CORRECTIONS:
                raise InvalidAnswer(
                    f"{self.name} did not answer {prompt.name} as {schema.__name__} asks, "
                    f"also after {MOST_CORRECTIONS} corrections: {complaint}",
                    prompt=prompt.name,
                )
            corrections.append(Correction(spoken.text, complaint))

    async def _first_piece(self, prompt: Prompt) -> tuple[str | Spoken, AsyncGenerator[str | Spoken]]:
        pieces = self._speaker.say_in_pieces(prompt)
        return await anext(pieces), pieces

    def _take(self, spoken: Spoken, progress: _Progress) -> None:
        progress.usage += spoken.usage
        if spoken.cut:
            raise AnswerTruncated(
                f"The answer of {self.name} reached its limit of {spoken.usage.output_tokens} tokens: "
                "raise MNEMON_LANGUAGE_MODEL_MAX_TOKENS, or ask about less text."
            )

    async def _retried(self, request: Callable[[], Awaitable[Result]], progress: _Progress) -> Result:
        for attempt in itertools.count():
            await self._limit.turn()
            progress.requests += 1
            try:
                return await self._in_time(request())
            except MnemonError as failure:
                pause = _pause(failure, attempt)
                if not failure.retry or attempt == self._retries or pause > LONGEST_ASKED_PAUSE:
                    raise
            await self._sleep(pause)
        raise AssertionError("unreachable")

    async def _in_time(self, answer: Awaitable[Result]) -> Result:
        try:
            async with asyncio.timeout(self._timeout):
                return await answer
        except TimeoutError:
            raise ModelTimedOut(f"{self.name} did not answer within {self._timeout:g} s.") from None

    @asynccontextmanager
    async def _recorded(self, prompt: Prompt, tenant: UUID, call_id: UUID, progress: _Progress) -> AsyncIterator[None]:
        """A call that cannot be recorded fails: the audit has no gaps."""
        started = time.perf_counter()
        outcome: CallOutcome = "answered"
        error_code = None
        try:
            yield
        except (asyncio.CancelledError, GeneratorExit):
            outcome = "cancelled"
            raise
        except Exception as failure:
            outcome = "failed"
            error_code = failure.code if isinstance(failure, MnemonError) else MnemonError.code
            raise
        finally:
            seconds = time.perf_counter() - started
            call = ModelCall(
                tenant, call_id, prompt, self.name, outcome, error_code, progress.requests, progress.usage, seconds
            )
            count_call(call)
            await self._recorder.record(call)


def _pause(failure: MnemonError, attempt: int) -> float:
    """What the server asked for, or a doubling pause with jitter, so that many callers do not return at once."""
    asked = failure.details.get("retry_after")
    if isinstance(asked, int | float) and not math.isnan(asked):
        return float(asked)
    return float(min(FIRST_PAUSE * 2**attempt, LONGEST_PAUSE)) * random.uniform(0.5, 1)  # noqa: S311


def _json_part(text: str) -> str:
    """The object itself, where a server that ignores the schema lets the model wrap it in words or a code fence."""
    start, end = text.find("{"), text.rfind("}")
    return text[start : end + 1] if 0 <= start < end else text


def _complaint(failure: ValidationError) -> str:
    """Where the answer is wrong and why, without repeating what it says."""
    errors = failure.errors(include_input=False, include_url=False, include_context=False)
    told = [f"{'.'.join(map(str, error['loc'])) or 'answer'}: {error['msg']}" for error in errors[:MOST_COMPLAINTS]]
    return "; ".join(told)
