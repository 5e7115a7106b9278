"""Artifacts over REST: take in, open, history, events, extraction, deletion."""

from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request
from pydantic import BaseModel, ConfigDict, Field

from mnemon.api.access import MnemonPart, allow
from mnemon.api.long_bodies import read_long_body
from mnemon.documents.access import Reader
from mnemon.documents.intake.text import LONGEST_TEXT
from mnemon.identity.roles import Action, Principal
from mnemon.inputs import FirstMoment, LastMoment
from mnemon.semantics.artifact_reading import artifact_get, artifact_revisions
from mnemon.semantics.artifacts import NewArtifact, artifact_delete, ingest_artifact

router = APIRouter(tags=["artifacts"])
Viewer = Annotated[Principal, allow(Action.VIEW_DOCUMENTS)]
Uploader = Annotated[Principal, allow(Action.UPLOAD_DOCUMENTS)]
Uid = Annotated[str, Path(max_length=100, description="Such as uid_…")]
WhichRevision = Annotated[str | None, Query(max_length=100, description="Such as rev_…; the latest unless given.")]
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
async def post_artifact(request: Request, mnemon: MnemonPart, principal: Uploader) -> dict[str, Any]:
    most = LONGEST_TEXT * BYTES_OF_A_CHARACTER + mnemon.settings.request_max_bytes
    given = await read_long_body(request, ArtifactIn, most)
    fields = given.model_dump() | {"participants": tuple(given.participants), "readers": tuple(given.readers)}
    ingested = await ingest_artifact(
        mnemon.log, mnemon.files, mnemon.settings, principal.tenant_id, principal.actor, NewArtifact(**fields)
    )
    return ingested.as_json()


@router.get("/artifacts/{artifact_uid}", summary="What is known of an artifact, with the text of a revision if wanted")
async def get_artifact(
    artifact_uid: Uid, mnemon: MnemonPart, principal: Viewer, revision_id: WhichRevision = None,
    include_text: bool = False,
) -> dict[str, Any]:  # fmt: skip
    return await artifact_get(
        mnemon.database, principal.tenant_id, _reader(principal), artifact_uid, revision_id, include_text=include_text
    )


@router.get("/artifacts/{artifact_uid}/revisions", summary="Its revisions, the latest first")
async def get_revisions(artifact_uid: Uid, mnemon: MnemonPart, principal: Viewer) -> dict[str, Any]:
    return await artifact_revisions(mnemon.database, principal.tenant_id, _reader(principal), artifact_uid)


@router.delete("/artifacts/{artifact_uid}", summary="Destroy an artifact of one's own for good")
async def delete_artifact(artifact_uid: Uid, mnemon: MnemonPart, principal: Uploader) -> dict[str, Any]:
    return await artifact_delete(mnemon, principal.tenant_id, principal.actor, artifact_uid)


def _reader(principal: Principal) -> Reader:
    return Reader.of(principal.actor)
