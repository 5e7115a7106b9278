"""Tools on artifacts: take a text in, find it, read it, destroy it."""

import asyncio
import time
from typing import Annotated, Literal

from pydantic import Field

from mnemon.ask.inputs import ArtifactType
from mnemon.documents.access import read_as
from mnemon.documents.ingest.revision_texts import read_span
from mnemon.documents.intake.origin import LONGEST_NAME, MOST_PEOPLE
from mnemon.documents.intake.text import LONGEST_TEXT
from mnemon.identity.roles import Action
from mnemon.log.read.query import end_of, start_of
from mnemon.mcp.artifact_names import open_revision, reader_of
from mnemon.mcp.artifacts import ArtifactIngested, ArtifactOut, artifact_out
from mnemon.mcp.bind import tool
from mnemon.mcp.caller import AgentCaller
from mnemon.mcp.door import Door
from mnemon.mcp.fields import Moment
from mnemon.operations import Differs
from mnemon.semantics import artifact_operations as operations
from mnemon.semantics.artifact_reading import revisions_of
from mnemon.semantics.artifacts import NewArtifact, ingest_artifact
from mnemon.semantics.extract.status import job_status

Short = Annotated[str, Field(min_length=1, max_length=LONGEST_NAME)]
People = Annotated[list[Short], Field(max_length=MOST_PEOPLE)] | None
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


def add(door: Door) -> None:
    _add_ingest(door)
    tool(
        door, "artifact_get", operations.get, title="Read an artifact", perform=_read, differences=A_PART,
        says="The text of an artifact, a part at a time, with its revisions and what is known of it.",
    )  # fmt: skip
    tool(door, "artifact_delete", operations.delete, title="Destroy an artifact", question=_destroy)


def _add_ingest(door: Door) -> None:
    @door.tool(Action.UPLOAD_DOCUMENTS, title="Take an artifact in")
    async def artifact_ingest(
        caller: AgentCaller,
        artifact_type: ArtifactType,
        source_system: Annotated[Short, Field(description="Where it comes from, as gmail or slack.")],
        content: Annotated[str, Field(min_length=1, max_length=LONGEST_TEXT)],
        source_id: Annotated[
            Short | None,
            Field(
                description="Its id there. The same id with another text is a new revision; without an id each call "
                "makes a new artifact."
            ),
        ] = None,
        source_url: Short | None = None,
        title: Short | None = None,
        author: Short | None = None,
        participants: People = None,
        ts: Annotated[Moment, Field(description="When it was written.")] = None,
        sensitivity: Literal["normal", "sensitive", "highly_sensitive"] = "normal",
        visibility_scope: Annotated[
            Literal["me", "team", "org", "custom"],
            Field(
                description="me: you alone; custom: you and the readers; team: the same, without readers everyone "
                "here; org: everyone here."
            ),
        ] = "me",
        readers: Annotated[People, Field(description="Who else may read it: e-mail addresses, or user:….")] = None,
        retention_policy: Literal["forever", "1y", "until_resolved", "custom"] = "forever",
        retain_until: Annotated[Moment, Field(description="With retention_policy custom: when it is purged.")] = None,
        wait_seconds: Annotated[
            int, Field(ge=0, le=100, description="How long to wait until its events are read; 0: do not wait.")
        ] = 0,
    ) -> ArtifactIngested:
        """Keep a document, mail or chat. Its text is there at once; search and events follow within moments."""
        new = NewArtifact(
            artifact_type=artifact_type,
            source_system=source_system,
            content=content,
            source_id=source_id,
            source_url=source_url,
            title=title,
            author=author,
            participants=tuple(participants or ()),
            ts=start_of(ts) if ts else None,
            sensitivity=sensitivity,
            visibility_scope=visibility_scope,
            readers=tuple(readers or ()),
            retention_policy=retention_policy,
            retain_until=end_of(retain_until) if retain_until else None,
        )
        return await _ingest(caller, new, wait_seconds)


async def _ingest(caller: AgentCaller, new: NewArtifact, wait_seconds: int) -> ArtifactIngested:
    mnemon = caller.mnemon
    await caller.progress(0, 2, "Reading the text")
    taken = await ingest_artifact(
        mnemon.log, mnemon.files, mnemon.settings, caller.tenant_id, caller.principal.actor, new
    )
    shape = taken.as_json()
    await caller.progress(1, 2, "The text is kept; its events are being read")
    if taken.job_id is not None and wait_seconds:
        shape["job_status"] = await _waited(caller, taken.artifact_uid, taken.revision_id, wait_seconds)
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
