"""Whether the server lives, whether it can do its work, and its metrics."""

from fastapi import APIRouter, Response
from fastapi.responses import JSONResponse
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from pydantic import BaseModel

from mnemon import __version__
from mnemon.api.access import MnemonPart
from mnemon.readiness import PartState
from mnemon.telemetry import REGISTRY

router = APIRouter(tags=["health"])


class Health(BaseModel):
    status: str
    version: str


class Readiness(BaseModel):
    status: str
    parts: dict[str, PartState]


@router.get("/health", summary="The process lives")
async def health() -> Health:
    return Health(status="ok", version=__version__)


@router.get(
    "/ready", summary="Every part that is needed works", response_model=Readiness, responses={503: {"model": Readiness}}
)
async def ready(mnemon: MnemonPart) -> JSONResponse:
    parts = await mnemon.readiness()
    good = all(part.ok or not part.needed for part in parts.values())
    answer = Readiness(status="ready" if good else "not ready", parts=parts)
    return JSONResponse(answer.model_dump(), 200 if good else 503)


@router.get("/metrics", summary="Counters in Prometheus' text form", response_class=Response)
async def metrics() -> Response:
    return Response(generate_latest(REGISTRY), media_type=CONTENT_TYPE_LATEST)
