"""The FastAPI application: routes under /v1, the same under /api, and what stands around them."""

from fastapi import APIRouter, Depends, FastAPI
from fastapi.middleware.cors import CORSMiddleware

from mnemon import __version__
from mnemon.api import (
    approvals,
    artifacts,
    ask,
    descriptions,
    documents,
    health,
    ingest,
    jobs,
    mail,
    recipients,
    semantic_events,
    sources,
    users,
)
from mnemon.api.access import bearer
from mnemon.api.failures import ToldApi, add_failure_answers, failure_answers, malformed_of
from mnemon.api.log import followers, privacy, proof, records, streaming
from mnemon.api.memory import routes as memory_routes
from mnemon.api.middleware import BodyLimit, LocalHostsOnly, Watch
from mnemon.api.quotas import QuotaLimit
from mnemon.app import Mnemon

DESCRIPTION = "Evidence-first memory for teams and their AI agents."
# Routes are tried in this order, so those that are asked most and by people who wait come first.
ROUTERS: tuple[APIRouter, ...] = (
    ask.router,
    ingest.router,
    records.events,
    users.account_router,
    users.router,
    users.token_router,
    records.types,
    approvals.router,
    records.of_periods,
    records.of_partitions,
    records.of_entities,
    records.of_lenses,
    privacy.router,
    proof.archive,
    proof.router,
    followers.router,
    streaming.router,
    jobs.router,
    documents.router,
    artifacts.router,
    semantic_events.router,
    mail.router,
    sources.router,
    recipients.router,
    memory_routes.router,
)


def create_api(mnemon: Mnemon, apart: frozenset[str] = frozenset()) -> FastAPI:
    """`apart` are paths of other doors, which limit the bodies of their requests themselves."""
    api = ToldApi(title="Mnemon", version=__version__, description=DESCRIPTION, docs_url=None, redoc_url=None)
    api.state.mnemon = mnemon
    add_routes(api)
    add_failure_answers(api)
    _surround(api, mnemon, ingest.PATHS | artifacts.PATHS | apart)
    return api


def add_routes(api: FastAPI) -> None:
    api.include_router(health.router)
    api.include_router(descriptions.router)
    for router in ROUTERS:
        failures = failure_answers(malformed=malformed_of(router))
        api.include_router(router, prefix="/v1", dependencies=[Depends(bearer)], responses=failures)
    for router in ROUTERS:
        api.include_router(router, prefix="/api", include_in_schema=False)


def _surround(api: FastAPI, mnemon: Mnemon, apart: frozenset[str]) -> None:
    """The last one added is the outermost."""
    settings = mnemon.settings
    api.add_middleware(BodyLimit, most=settings.request_max_bytes, apart=apart)
    if not settings.auth_enabled:
        api.add_middleware(LocalHostsOnly)
    if settings.cors_origins:
        api.add_middleware(
            CORSMiddleware,
            allow_origins=list(settings.cors_origins),
            allow_methods=["GET", "POST", "PATCH", "PUT", "DELETE"],
            allow_headers=["Authorization", "Content-Type", "X-Request-ID", "Idempotency-Key"],
        )
    api.add_middleware(QuotaLimit, settings=settings)
    api.add_middleware(Watch)
