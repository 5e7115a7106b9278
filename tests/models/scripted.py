"""A language model that says what a test tells it, behind the same interface and the same checks as a real one."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from typing import Any

from pydantic import BaseModel

from mnemon.models.calls import ModelCall, Recorder
from mnemon.models.configured import ConfiguredModel
from mnemon.models.language import Prompt, Usage
from mnemon.models.speaker import Correction, Spoken

# A line of the script: the answer (an object becomes its JSON), an error to raise, or a function of the prompt.
Line = str | BaseModel | Spoken | Exception | Callable[[Prompt], "Line"]


class ScriptedSpeaker:
    """Gives the lines of its script in order, and keeps what it was asked."""

    name = "scripted"

    def __init__(self, *lines: Line) -> None:
        self.lines = list(lines)
        self.asked: list[Prompt] = []
        self.corrected: list[Sequence[Correction]] = []

    async def say(self, prompt: Prompt, schema: type[BaseModel], corrections: Sequence[Correction] = ()) -> Spoken:
        self.asked.append(prompt)
        self.corrected.append(tuple(corrections))
        return self._next(prompt)

    async def say_in_pieces(self, prompt: Prompt) -> AsyncGenerator[str | Spoken]:
        self.asked.append(prompt)
        spoken = self._next(prompt)
        for word in spoken.text.split(" "):
            await asyncio.sleep(0)
            yield word + " "
        yield spoken

    async def close(self) -> None:
        pass

    def _next(self, prompt: Prompt) -> Spoken:
        if not self.lines:
            raise AssertionError(f"the script has no line left for {prompt.name}")
        line = self.lines.pop(0)
        while not isinstance(line, Spoken):
            if isinstance(line, Exception):
                raise line
            if isinstance(line, BaseModel):
                line = line.model_dump_json()
            line = _spoken(prompt, line) if isinstance(line, str) else line(prompt)
        return line


class KeptCalls:
    """A recorder that keeps calls in a list."""

    def __init__(self) -> None:
        self.calls: list[ModelCall] = []

    async def record(self, call: ModelCall) -> None:
        self.calls.append(call)


def scripted_model(speaker: ScriptedSpeaker, recorder: Recorder | None = None, **options: Any) -> ConfiguredModel:
    """Retries follow at once and nothing is limited, unless the test asks for it."""
    options = {"requests_per_minute": 0, "sleep": _at_once, **options}
    return ConfiguredModel(speaker, recorder or KeptCalls(), **options)


def _at_once(_: float) -> Awaitable[None]:
    return asyncio.sleep(0)


def _spoken(prompt: Prompt, text: str) -> Spoken:
    return Spoken(text, Usage(len(prompt.system.split()) + len(prompt.user.split()), len(text.split())))
