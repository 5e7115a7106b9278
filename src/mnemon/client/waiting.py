"""The same calls for programs that do not await: a loop of their own runs them in a thread."""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import Any, Self, TypeVar, cast
from uuid import UUID

from mnemon.ask.hits import PassageHit
from mnemon.ask.outputs import Answered
from mnemon.client.calls import AsyncMnemonClient
from mnemon.client.roots import KeptRoot
from mnemon.documents.intake.upload import FileTaken
from mnemon.log.events import MAIN
from mnemon.log_operations.event_outputs import AppendedOut, LogEventOut
from mnemon.memory.operations.many import Forgotten, KeptOfMany
from mnemon.memory.operations.object_outputs import FoundObject, ObjectOut
from mnemon.operations import Input, Operation
from mnemon.semantics.outputs import EventOut

Result = TypeVar("Result")
Item = TypeVar("Item")


class MnemonClient:
    """Documents, questions, memory and the log of one tenant. Made by `connect`."""

    def __init__(self, make: Callable[[], AsyncMnemonClient]) -> None:
        self._make = make
        self._memory: AsyncMnemonClient | None = None
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="mnemon", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        try:
            self._memory = self._make()
            self._run(self._memory.__aenter__())
        except BaseException:
            self._stop()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, failure: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        if self._memory is not None:
            memory, self._memory = self._memory, None
            try:
                self._run(memory.__aexit__(None, None, None))
            finally:
                self._stop()

    def _stop(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _run(self, work: Coroutine[Any, Any, Result]) -> Result:
        waiting = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return waiting.result()
        except BaseException:
            # Ctrl-C of the program ends the call too.
            waiting.cancel()
            raise

    @property
    def _opened(self) -> AsyncMnemonClient:
        if self._memory is None:
            raise RuntimeError("Use it in `with connect(...) as memory:`; it is not open.")
        return self._memory

    def _each(self, items: AsyncIterator[Item]) -> Iterator[Item]:
        async def next_one() -> Item:
            return await anext(items)

        async def close() -> None:
            if hasattr(items, "aclose"):
                await items.aclose()

        try:
            while True:
                try:
                    yield self._run(next_one())
                except StopAsyncIteration:
                    return
        finally:
            self._run(close())

    def call(
        self, operation: Operation[Any, Any] | str, asked: Input | Mapping[str, Any] = MappingProxyType({})
    ) -> Any:
        """Any declared operation, by its name or itself, for what has no call of its own here."""
        return self._run(self._opened.call(cast(Any, operation), cast(Any, asked)))

    def verify_consistency(self, since: KeptRoot | None = None, *, legal_entity: str = MAIN) -> KeptRoot:
        """Have it proven that the log still holds all that it held when its root was last seen."""
        return self._run(self._opened.verify_consistency(since, legal_entity=legal_entity))

    def add(
        self,
        file: str | Path,
        *,
        title: str | None = None,
        tags: Sequence[str] | None = None,
        source_uri: str | None = None,
        wait: bool = True,
    ) -> FileTaken:
        """Take in a file. It is known by its path: changed and added again, it is a new version of its document."""
        return self._run(self._opened.add(file, title=title, tags=tags, source_uri=source_uri, wait=wait))

    def ask(self, question: str, **filters: Any) -> Answered:
        """An answer whose every sentence is cited, or a refusal that says what was searched."""
        return self._run(self._opened.ask(question, **filters))

    def ask_in_steps(self, question: str, **filters: Any) -> Iterator[tuple[str, dict[str, Any]]]:
        """The answer as it comes: each step's name and data; the last one is the whole answer."""
        return self._each(self._opened.ask_in_steps(question, **filters))

    def search(self, query: str, *, limit: int = 10, **filters: Any) -> list[PassageHit]:
        """Passages of documents by words and meaning, best first."""
        return self._run(self._opened.search(query, limit=limit, **filters))

    def remember(
        self, content: str, *, tags: Sequence[str] | None = None, key: str | None = None, **fields: Any
    ) -> ObjectOut:
        """Keep a short text. A repeat after a failure changes nothing: the call has a key of its own."""
        return self._run(self._opened.remember(content, tags=tags, key=key, **fields))

    def recall(self, query: str, *, limit: int = 10, **filters: Any) -> list[FoundObject]:
        """What was remembered, by words and by meaning, best first."""
        return self._run(self._opened.recall(query, limit=limit, **filters))

    def forget(self, emo_id: UUID | str, *, reason: str = "") -> None:
        """No search and no list shows it any more; its history stays in the log."""
        self._run(self._opened.forget(emo_id, reason=reason))

    def remember_all(self, texts: Sequence[str | Mapping[str, Any]]) -> list[KeptOfMany]:
        """Keep many short texts at once, all or none: a text each, or its fields. What has a key is kept once."""
        return self._run(self._opened.remember_all(texts))

    def forget_all(self, *, reason: str = "", **whose: Any) -> Forgotten:
        """Hide all about a person (`subject_id`), or of an `owner`, an `agent_id` or a `session_id`."""
        return self._run(self._opened.forget_all(reason=reason, **whose))

    def events(self, query: str | None = None, *, limit: int = 20, **filters: Any) -> list[EventOut]:
        """Semantic events: decisions, commitments, risks, each with the words that prove it."""
        return self._run(self._opened.events(query, limit=limit, **filters))

    def append(
        self, events: Sequence[Mapping[str, Any]] | Mapping[str, Any], *, key: str | None = None
    ) -> list[AppendedOut]:
        """Facts for the log, all or none. A repeat after a failure records nothing twice."""
        return self._run(self._opened.append(events, key=key))

    def subscribe(
        self, subscription_id: str, *, event_types: Sequence[str] = (), start: str = "beginning"
    ) -> Iterator[LogEventOut]:
        """Every event once and in order, from where this subscription stopped."""
        return self._each(self._opened.subscribe(subscription_id, event_types=event_types, start=start))
