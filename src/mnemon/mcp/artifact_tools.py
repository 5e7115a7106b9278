"""Tools on artifacts: take a text in, find it, read it, destroy it."""

import asyncio
import re
import time
from typing import Annotated, Any

from pydantic import Field

from mnemon.documents.access import read_as
from mnemon.documents.ingest.revision_texts import read_span
from mnemon.mcp.artifact_names import open_revision, reader_of
from mnemon.mcp.artifacts import ArtifactIngested, ArtifactOut, OpenedText, TextAdded, artifact_out
from mnemon.mcp.bind import tool
from mnemon.mcp.caller import AgentCaller
from mnemon.mcp.door import AgentDoor
from mnemon.mcp.refusals import InvalidArguments
from mnemon.operations import Differs
from mnemon.semantics import artifact_operations as operations
from mnemon.semantics.artifact_reading import revisions_of
from mnemon.semantics.extract.status import job_status

# How often a waiting call looks whether the events are read.
LOOK_AGAIN = 0.25
# How often it says so: well within the minute that clients wait for a sign of life.
TELL_AGAIN = 5.0
ENDED = ("DONE", "FAILED")
MOST_AT_ONCE = 100_000
A_PART = {
    "include_text": Differs("An agent that opens an artifact reads it."),
    "max_chars": Differs(
        "An agent reads a long text in parts.", default=20_000, takes=Annotated[int, Field(ge=1, le=MOST_AT_ONCE)]
    ),
}


# What stands around the words that are opened.
AROUND = 400
SOURCE = re.compile(r"^(uid_[A-Za-z0-9]{1,64})(?:@(rev_[A-Za-z0-9]{1,64}))?(?:#([0-9]{1,9})-([0-9]{1,9}))?$")
SourceName = Annotated[str, Field(pattern=SOURCE.pattern, max_length=200)]
FEW = Differs("The short form takes a text and what it is called; artifact_ingest takes the rest.")
A_TEXT = {
    **dict.fromkeys(operations.ArtifactToAdd.model_fields, FEW),
    "content": Differs(
        "An agent hands over what it has read.", takes=Annotated[str, Field(min_length=1, max_length=200_000)]
    ),
    "title": Differs("A text without a name is hard to find.", takes=Annotated[str | None, Field(max_length=500)]),
    "source_id": Differs(
        "The same name again is a new version.", name="name", takes=Annotated[str | None, Field(max_length=500)]
    ),
    "artifact_type": Differs("Most texts are notes.", default="note"),
    "source_system": Differs("An agent brings it.", default="agent"),
    "visibility_scope": Differs("What an agent adds is for those who work with it.", default="org"),
}
A_SOURCE = {
    **A_PART,
    "artifact_uid": Differs("Results name a source so.", name="source", takes=SourceName),
    "revision_id": Differs("The source names it."),
    "max_chars": Differs(
        "An agent reads a long text in parts.", default=8_000, takes=Annotated[int, Field(ge=1, le=MOST_AT_ONCE)]
    ),
}


def add(door: AgentDoor) -> None:
    tool(
        door, "artifact_ingest", operations.add, title="Take an artifact in", perform=_ingest,
        says="Keep a document, mail or chat. Its text is there at once; search and events follow within moments.",
    )  # fmt: skip
    tool(
        door, "artifact_get", operations.get, title="Read an artifact", perform=_read, differences=A_PART,
        says="The text of an artifact, a part at a time, with its revisions and what is known of it.",
    )  # fmt: skip
    tool(
        door, "add", operations.add, title="Add a text", core=True, perform=_add_text, differences=A_TEXT,
        says="Keep a document, mail or chat as text, so that it can be searched, asked and cited. A `name` of your own "
        "makes a changed text a new version.",
    )  # fmt: skip
    tool(
        door, "open", operations.get, title="Open a source", core=True, perform=_open, differences=A_SOURCE,
        prepare=_placed, says="The words that a result rests on, with what stands around them; or a whole text.",
    )  # fmt: skip
    tool(door, "artifact_delete", operations.delete, title="Destroy an artifact", question=_destroy)


async def _ingest(caller: AgentCaller, asked: operations.ArtifactToAdd) -> ArtifactIngested:
    await caller.progress(0, 2, "Reading the text")
    taken = await operations.take_in(caller.mnemon, caller, asked)
    shape = taken.as_json()
    await caller.progress(1, 2, "The text is kept; its events are being read")
    if taken.job_id is not None and asked.wait_seconds:
        shape["job_status"] = await _waited(caller, taken.artifact_uid, taken.revision_id, asked.wait_seconds)
    await caller.progress(2, 2, f"Events: {shape['job_status']}")
    return ArtifactIngested.model_validate(shape)


async def _add_text(caller: AgentCaller, asked: operations.ArtifactToAdd) -> TextAdded:
    taken = await operations.take_in(caller.mnemon, caller, asked)
    return TextAdded(source=taken.artifact_uid, status=taken.status)


def _placed(given: dict[str, Any]) -> dict[str, Any]:
    """`uid_…@rev_…#391-452` as fields: with a span, the words and what stands around them."""
    named = SOURCE.fullmatch(given["artifact_uid"])
    if named is None:
        raise InvalidArguments(f"{given['artifact_uid'][:80]!r} is no source: give it as a result names it.")
    uid, revision, first, last = named.groups()
    placed = given | {"artifact_uid": uid} | ({"revision_id": revision} if revision else {})
    if first is None:
        return placed
    start = max(int(first) - AROUND, 0)
    return placed | {"start_char": start, "max_chars": min(max(int(last) + AROUND - start, 1), MOST_AT_ONCE)}


async def _open(caller: AgentCaller, asked: operations.ArtifactAsked) -> OpenedText:
    whole = await _read(caller, asked)
    if asked.start_char and not whole.content:
        raise InvalidArguments(f"The text ends before {asked.start_char}: open it whole, or an earlier part.")
    return OpenedText(
        source=f"{whole.artifact_uid}#{whole.start_char}-{whole.end_char}", title=whole.title,
        is_latest=whole.is_latest, text=whole.content, next_start_char=whole.next_start_char,
    )  # fmt: skip


async def _waited(caller: AgentCaller, artifact_uid: str, revision_id: str, seconds: int) -> str:
    """The state of the extraction when it ends, or when the time is over. A client that hears nothing gives up."""
    began = told = time.monotonic()
    while True:
        job = await job_status(caller.mnemon.database, caller.tenant_id, reader_of(caller), artifact_uid, revision_id)
        now = time.monotonic()
        if job["status"] in ENDED or now > began + seconds:
            return str(job["status"])
        if now >= told + TELL_AGAIN:
            told = now
            await caller.progress(1 + (now - began) / (seconds + 1), 2, f"Events: {job['status']}")
        await asyncio.sleep(LOOK_AGAIN)


async def _read(caller: AgentCaller, asked: operations.ArtifactAsked) -> ArtifactOut:
    most = asked.max_chars or MOST_AT_ONCE
    async with caller.mnemon.database.transaction(caller.tenant_id) as tx:
        await read_as(tx, reader_of(caller))
        artifact, revision = await open_revision(tx, asked.artifact_uid, asked.revision_id)
        revisions = await revisions_of(tx, artifact)
        # One more than is shown tells whether there is more.
        text = await read_span(tx, revision.doc_version_id, asked.start_char, asked.start_char + most + 1)
    return artifact_out(artifact, revision, revisions, text, asked.start_char, most)


async def _destroy(caller: AgentCaller, asked: operations.ArtifactNamed) -> str:
    """What the person behind an agent is asked, if the agent may do it at all."""
    async with caller.mnemon.database.transaction(caller.tenant_id) as tx:
        artifact = await operations.deletable(tx, caller, asked.artifact_uid)
    return f"Destroy the artifact {asked.artifact_uid} (“{artifact.document.title}”) for good?"
