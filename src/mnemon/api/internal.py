"""What a worker answers when jobs come by HTTP: take this one, or say that every slot is taken."""

import hmac

from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse

from mnemon.work.transports.http_transport import PATH, HttpReceiver
from mnemon.work.transports.transport import JobMessage

LARGEST = 10_000


def create_internal_api(receiver: HttpReceiver, token: str) -> FastAPI:
    """`POST /internal/process` for those who have the internal token, and `GET /health` for whoever watches."""
    api = FastAPI(title="Mnemon worker", docs_url=None, redoc_url=None, openapi_url=None)
    expected = f"Bearer {token}".encode()

    @api.post(PATH)
    async def process(request: Request) -> JSONResponse:
        given = request.headers.get("Authorization", "").encode()
        if not hmac.compare_digest(given, expected):
            return _refused(401, "NOT_AUTHENTICATED", "The internal token is missing or another.")
        length = request.headers.get("Content-Length", "")
        if not length.isdecimal() or int(length) > LARGEST:
            return _refused(413, "REQUEST_TOO_LARGE", f"A job's message has at most {LARGEST} bytes, told beforehand.")
        message = JobMessage.read(await request.body())
        if message is None:
            return _refused(422, "INVALID_REQUEST", "Not a job's message: give job_id, tenant_id and job_type.")
        if not receiver.offer(message):
            return _refused(503, "WORKERS_BUSY", "worker busy")
        return JSONResponse({"status": "accepted", "job_id": str(message.job_id)}, 202)

    @api.get("/health")
    async def health() -> dict[str, str]:
        return {"status": "ok"}

    return api


def _refused(status: int, code: str, words: str) -> JSONResponse:
    return JSONResponse({"error": words, "error_code": code, "details": {}}, status)
