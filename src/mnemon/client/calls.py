"""What a program may ask of Mnemon, each call with its types; whether the home is here or at an address."""

import asyncio
import uuid
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import Any, Self, TypeVar, overload
from uuid import UUID

from pydantic import BaseModel

from mnemon.ask import operations as asking
from mnemon.ask.hits import PassageHit
from mnemon.ask.outputs import Answered
from mnemon.client.embedded import EmbeddedCalls
from mnemon.client.named import input_of, operation_of
from mnemon.client.remote import RemoteCalls
from mnemon.client.roots import KeptRoot, Roots, first_root, grown_root, refused_proof
from mnemon.documents import operations as documents
from mnemon.documents.inputs import RunAsked
from mnemon.documents.intake.file_address import file_address
from mnemon.documents.intake.upload import FileTaken
from mnemon.documents.states import RunStatus
from mnemon.errors import InvalidRequest, MnemonError
from mnemon.log.append.incoming import IncomingEvent
from mnemon.log.errors import CheckpointRefused, NothingToAttest, SubscriptionNotFound
from mnemon.log.events import MAIN
from mnemon.log_operations import delivery, events, integrity, subscriptions
from mnemon.log_operations.event_inputs import EventsSent
from mnemon.log_operations.event_outputs import AppendedOut, LogEventOut
from mnemon.memory.errors import DuplicateChange
from mnemon.memory.operations import many, objects
from mnemon.memory.operations.many import Forgotten, KeptOfMany
from mnemon.memory.operations.object_inputs import ObjectViewAsked
from mnemon.memory.operations.object_outputs import FoundObject, ObjectOut
from mnemon.operations import Input, Operation, read_input
from mnemon.semantics import operations as semantics
from mnemon.semantics.outputs import EventOut

In = TypeVar("In", bound=Input)
Out = TypeVar("Out", bound=BaseModel)

POLL_SECONDS = 0.2
WAIT_SECONDS = 20.0
ENDED = frozenset({RunStatus.SUCCEEDED, RunStatus.FAILED})


class ReadingFailed(MnemonError):
    """A file was taken in, and could not be read."""

    code = "READING_FAILED"
    status = 422


def readable_file(file: str | Path) -> Path:
    """The file, or a refusal in the words that the command has for it."""
    path = Path(file).expanduser()
    if path.is_dir():
        raise InvalidRequest(f"{path} is a folder: add its files one by one, or run `mnemon add {path}`.")
    if not path.is_file():
        raise InvalidRequest(f"There is no file {path}: write its path from {Path.cwd()}, or the whole path.")
    return path


class AsyncMnemonClient:
    """Documents, questions, memory and the log of one tenant. Made by `connect_async`."""

    def __init__(
        self, calls: EmbeddedCalls | RemoteCalls, roots: Roots | None = None, *, prove_reads: bool = False
    ) -> None:
        self._calls = calls
        self._roots = roots or Roots()
        self._prove_reads = prove_reads

    async def __aenter__(self) -> Self:
        await self._calls.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, failure: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._calls.__aexit__(kind, failure, trace)

    @overload
    async def call(self, operation: Operation[In, Out], asked: In | Mapping[str, Any]) -> Out: ...

    @overload
    async def call(self, operation: str, asked: Mapping[str, Any] = ...) -> Any: ...

    async def call(self, operation: Any, asked: Any = MappingProxyType({})) -> Any:
        """Any declared operation, by its name or itself, for what has no call of its own here."""
        wanted = operation_of(operation)
        answer = await self._calls.call(wanted, input_of(wanted, asked))
        if self._prove_reads:
            await self.verify_consistency()
        return answer

    async def verify_consistency(self, since: KeptRoot | None = None, *, legal_entity: str = MAIN) -> KeptRoot:
        """Have it proven that the log still holds all that it held when its root was last seen; what is kept now.

        The first root of a log is taken on trust. Raises `HistoryChanged` if there is no such proof.
        """
        kept = since or self._roots.of(legal_entity)
        where = kept.legal_entity if kept else legal_entity
        asked = integrity.ConsistencyAsked(legal_entity=where, count=str(kept.count if kept else 1))
        try:
            proof = await self._calls.call(integrity.consistency, asked)
        except (NothingToAttest, CheckpointRefused) as failure:
            if kept is None:
                raise
            raise refused_proof(kept, failure) from None
        seen = grown_root(kept, proof) if kept else first_root(proof)
        self._roots.keep(seen)
        return seen

    async def add(
        self,
        file: str | Path,
        *,
        title: str | None = None,
        tags: Sequence[str] | None = None,
        source_uri: str | None = None,
        wait: bool = True,
    ) -> FileTaken:
        """Take in a file. It is known by its path: changed and added again, it is a new version of its document."""
        path = readable_file(file)
        server = self._calls.url if isinstance(self._calls, RemoteCalls) else None
        uri = source_uri or file_address(path, server)
        fields = {"title": title, "tags": list(tags) if tags else None, "source_uri": uri}
        taken = FileTaken.model_validate(await self._calls.upload(path, fields), extra="ignore")
        if wait and taken.run_id is not None:
            await self._until_read(taken.run_id)
        return taken

    async def _until_read(self, run_id: UUID) -> None:
        while True:
            run = await self.call(documents.get_run, RunAsked(run_id=run_id))
            if run.status == RunStatus.FAILED:
                raise ReadingFailed(run.error or "The file could not be read.", run_id=str(run_id))
            if run.status in ENDED:
                return
            await asyncio.sleep(POLL_SECONDS)

    async def ask(self, question: str, **filters: Any) -> Answered:
        """An answer whose every sentence is cited, or a refusal that says what was searched."""
        return await self.call(asking.ask, read_input(asking.ask, {"question": question, **filters}))

    async def ask_in_steps(self, question: str, **filters: Any) -> AsyncIterator[tuple[str, dict[str, Any]]]:
        """The answer as it comes: each step's name and data; the last one is the whole answer."""
        asked = read_input(asking.ask, {"question": question, **filters})
        if isinstance(self._calls, EmbeddedCalls):
            steps = self._calls.answer_steps(asked)
        else:
            body = asked.model_dump(mode="json", exclude_unset=True) | {"stream": True}
            steps = self._calls.streamed("POST", "/v1/ask", json=body)
        async for step in steps:
            yield step

    async def search(self, query: str, *, limit: int = 10, **filters: Any) -> list[PassageHit]:
        """Passages of documents by words and meaning, best first."""
        asked = read_input(asking.search, {"query": query, "limit": limit, **filters})
        found = await self.call(asking.search, asked)
        return list(found.items)

    async def remember(
        self, content: str, *, tags: Sequence[str] | None = None, key: str | None = None, **fields: Any
    ) -> ObjectOut:
        """Keep a short text. A repeat after a failure changes nothing: the call has a key of its own."""
        given = {"tags": list(tags)} if tags else {}
        asked = read_input(objects.create, {"content": content, "key": key or uuid.uuid4().hex, **given, **fields})
        try:
            return await self.call(objects.create, asked)
        except DuplicateChange as repeat:
            known = ObjectViewAsked(emo_id=UUID(str(repeat.details["emo_id"])))
            return await self.call(objects.get, known)

    async def recall(self, query: str, *, limit: int = 10, **filters: Any) -> list[FoundObject]:
        """What was remembered, by words and by meaning, best first."""
        asked = read_input(objects.find, {"query": query, "limit": limit, **filters})
        return (await self.call(objects.find, asked)).objects

    async def forget(self, emo_id: UUID | str, *, reason: str = "") -> None:
        """No search and no list shows it any more; its history stays in the log."""
        asked = read_input(objects.delete, {"emo_id": str(emo_id), "deletion_reason": reason})
        await self.call(objects.delete, asked)

    async def remember_all(self, texts: Sequence[str | Mapping[str, Any]]) -> list[KeptOfMany]:
        """Keep many short texts at once, all or none: a text each, or its fields. What has a key is kept once."""
        given = [{"content": one} if isinstance(one, str) else dict(one) for one in texts]
        asked = read_input(many.create_many, {"objects": given})
        return (await self.call(many.create_many, asked)).objects

    async def forget_all(self, *, reason: str = "", **whose: Any) -> Forgotten:
        """Hide all about a person (`subject_id`), or of an `owner`, an `agent_id` or a `session_id`."""
        return await self.call(many.forget, read_input(many.forget, {"deletion_reason": reason, **whose}))

    async def events(self, query: str | None = None, *, limit: int = 20, **filters: Any) -> list[EventOut]:
        """Semantic events: decisions, commitments, risks, each with the words that prove it."""
        asked = read_input(semantics.search, {"query": query, "limit": limit, **filters})
        found = await self.call(semantics.search, asked)
        return list(found.events)

    async def append(
        self, events_to_record: Sequence[Mapping[str, Any]] | Mapping[str, Any], *, key: str | None = None
    ) -> list[AppendedOut]:
        """Facts for the log, all or none. A repeat after a failure records nothing twice."""
        given = [events_to_record] if isinstance(events_to_record, Mapping) else list(events_to_record)
        sent = EventsSent(events=[IncomingEvent.read(one) for one in given], idempotency_key=key or uuid.uuid4().hex)
        return (await self.call(events.append, sent)).events

    async def subscribe(
        self, subscription_id: str, *, event_types: Sequence[str] = (), start: str = "beginning"
    ) -> AsyncIterator[LogEventOut]:
        """Every event once and in order, from where this subscription stopped. An event is acknowledged when the
        next one is asked for: whoever is killed while handling it gets it again."""
        await self._subscribed(subscription_id, event_types, start)
        while True:
            asked = delivery.PollAsked(subscription_id=subscription_id, wait=WAIT_SECONDS)
            batch = await self.call(delivery.poll, asked)
            for event in batch.events:
                yield event
                where = str(event["scope"]["legal_entity"])
                done = delivery.Acknowledgement(
                    subscription_id=subscription_id, event_id=event["id"], sequence=event["sequence"],
                    token=batch.tokens.get(where),
                )  # fmt: skip
                await self.call(delivery.acknowledge, done)

    async def _subscribed(self, subscription_id: str, event_types: Sequence[str], start: str) -> None:
        try:
            await self.call(subscriptions.get, read_input(subscriptions.get, {"subscription_id": subscription_id}))
        except SubscriptionNotFound:
            given = {"subscription_id": subscription_id, "event_types": list(event_types), "start": start}
            wanted = read_input(subscriptions.add, given)
            await self.call(subscriptions.add, wanted)
