"""Tools on artifacts: take a text in, find it, read it, destroy it."""

import asyncio
import time
from typing import Annotated

from pydantic import Field

from mnemon.documents.access import read_as
from mnemon.documents.ingest.revision_texts import read_span
from mnemon.mcp.artifact_names import open_revision, reader_of
from mnemon.mcp.artifacts import ArtifactIngested, ArtifactOut, artifact_out
from mnemon.mcp.bind import tool
from mnemon.mcp.caller import AgentCaller
from mnemon.mcp.door import AgentDoor
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


def add(door: AgentDoor) -> None:
    tool(
        door, "artifact_ingest", operations.add, title="Take an artifact in", perform=_ingest,
        says="Keep a document, mail or chat. Its text is there at once; search and events follow within moments.",
    )  # fmt: skip
    tool(
        door, "artifact_get", operations.get, title="Read an artifact", perform=_read, differences=A_PART,
        says="The text of an artifact, a part at a time, with its revisions and what is known of it.",
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
