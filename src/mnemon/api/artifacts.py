"""Artifacts over REST: take in, open, history, events, extraction, deletion."""

from typing import Annotated

from fastapi import APIRouter, Request
from pydantic import BaseModel, ConfigDict, Field

from mnemon.api.access import MnemonPart, allow
from mnemon.api.bind import route
from mnemon.api.long_bodies import read_long_body
from mnemon.documents.intake.text import LONGEST_TEXT
from mnemon.identity.roles import Action, Principal
from mnemon.inputs import FirstMoment, LastMoment
from mnemon.semantics import artifact_operations as operations
from mnemon.semantics.artifact_operations import ArtifactTaken
from mnemon.semantics.artifacts import NewArtifact, ingest_artifact

router = APIRouter(tags=["artifacts"])
Uploader = Annotated[Principal, allow(Action.UPLOAD_DOCUMENTS)]
PATHS = frozenset({"/v1/artifacts", "/api/artifacts"})
# At most four in UTF-8; six where a client writes all but ASCII as \u….
BYTES_OF_A_CHARACTER = 6


class ArtifactIn(BaseModel):
    """A text and where it comes from."""

    model_config = ConfigDict(extra="forbid")

    artifact_type: str = Field(max_length=50, description="email, doc, chat, transcript or note.")
    source_system: str = Field(max_length=500)
    content: str = Field(max_length=LONGEST_TEXT)
    source_id: str | None = Field(None, max_length=500, description="The same source, the same artifact.")
    source_url: str | None = Field(None, max_length=500)
    title: str | None = Field(None, max_length=500)
    author: str | None = Field(None, max_length=500)
    participants: list[str] = Field(default_factory=list, max_length=200)
    ts: FirstMoment | None = Field(None, description="When it was written or said.")
    sensitivity: str = "normal"
    visibility_scope: str = "me"
    readers: list[str] = Field(
        default_factory=list, max_length=200, description="Who may read it: e-mail addresses, or user:…"
    )
    retention_policy: str = "forever"
    retain_until: LastMoment | None = None


BODY = {"requestBody": {"required": True, "content": {"application/json": {"schema": ArtifactIn.model_json_schema()}}}}


@router.post("/artifacts", summary="Take a text in", status_code=202, openapi_extra=BODY)
async def post_artifact(request: Request, mnemon: MnemonPart, principal: Uploader) -> ArtifactTaken:
    most = LONGEST_TEXT * BYTES_OF_A_CHARACTER + mnemon.settings.request_max_bytes
    given = await read_long_body(request, ArtifactIn, most)
    fields = given.model_dump() | {"participants": tuple(given.participants), "readers": tuple(given.readers)}
    ingested = await ingest_artifact(
        mnemon.log, mnemon.files, mnemon.settings, principal.tenant_id, principal.actor, NewArtifact(**fields)
    )
    return ArtifactTaken.model_validate(ingested.as_json())


route(router, "GET", "/artifacts/{artifact_uid}", operations.get)
route(router, "GET", "/artifacts/{artifact_uid}/revisions", operations.history)
route(router, "DELETE", "/artifacts/{artifact_uid}", operations.delete)
