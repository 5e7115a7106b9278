"""What stands around every route: health that tells the truth, one error shape, limits, headers, ids, metrics."""

import errno
import json
import os
import re
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace

import httpx
import pytest
from structlog.testing import capture_logs

from mnemon import __version__
from mnemon.api.bind import IN_PATH
from mnemon.api.middleware import DRAIN_BYTES
from mnemon.api.reference import routes
from mnemon.app import Mnemon
from mnemon.db.database import Database
from mnemon.db.external import ExternalServer
from mnemon.identity.bootstrap import first_start
from mnemon.identity.sessions import Sessions
from mnemon.ids import new_uuid
from mnemon.log.privacy.archive_store import DirectoryStore
from mnemon.log.privacy.privacy import Privacy
from mnemon.log.privacy.wrapping_keys import FileKeys, KeyRing
from mnemon.operations import shown_by
from mnemon.readiness import PartState, check_database, check_disk, check_migrations
from mnemon.settings import Settings
from mnemon.web.site import create_site

from .conftest import KEY, Person

DOCS = Path(__file__).parents[2] / "docs"


def client_of(mnemon: Mnemon) -> httpx.AsyncClient:
    transport = httpx.ASGITransport(create_site(mnemon), raise_app_exceptions=False)
    return httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8787")


async def test_health_and_readiness_when_all_is_well(client: httpx.AsyncClient) -> None:
    assert (await client.get("/health")).json() == {"status": "ok", "version": __version__}
    ready = await client.get("/ready")
    assert (ready.status_code, ready.json()["status"]) == (200, "ready")
    assert ready.json()["parts"]["database"]["ok"]


def private(database: Database, folder: Path) -> Privacy:
    return Privacy(database, KeyRing(FileKeys(folder)), DirectoryStore(folder / "archive"), listening=False)


async def test_readiness_tells_the_truth_when_the_database_is_down_and_health_stays_up(tmp_path: Path) -> None:
    nowhere = ExternalServer("host=127.0.0.1 port=9 connect_timeout=1", "host=127.0.0.1 port=9 connect_timeout=1")
    async with Database(nowhere, 1) as database:
        mnemon = Mnemon(
            Settings(home=tmp_path), database, private(database, tmp_path), Sessions(database, KEY, timedelta(hours=1))
        )
        mnemon.checks["database"] = lambda: check_database(database)
        async with client_of(mnemon) as client:
            ready = await client.get("/ready")
            assert (ready.status_code, ready.json()["status"]) == (503, "not ready")
            assert ready.json()["parts"]["database"]["ok"] is False
            assert (await client.get("/health")).status_code == 200


async def test_readiness_tells_the_truth_when_the_schema_is_behind(
    empty_server: ExternalServer, tmp_path: Path
) -> None:
    async with Database(empty_server, 1) as database:
        mnemon = Mnemon(
            Settings(home=tmp_path), database, private(database, tmp_path), Sessions(database, KEY, timedelta(hours=1))
        )
        mnemon.checks["migrations"] = lambda: check_migrations(database)
        async with client_of(mnemon) as client:
            ready = await client.get("/ready")
    assert ready.status_code == 503
    assert ready.json()["parts"]["migrations"]["detail"].startswith("step 0 of ")


async def test_a_part_that_is_not_needed_does_not_take_the_server_out_of_service(
    mnemon: Mnemon, client: httpx.AsyncClient
) -> None:
    async def absent() -> PartState:
        return PartState(False, "no model", needed=False)

    mnemon.checks["embedder"] = absent
    ready = await client.get("/ready")
    assert ready.status_code == 200
    assert ready.json()["parts"]["embedder"] == {"ok": False, "needed": False, "detail": "no model"}


@pytest.mark.parametrize(
    ("method", "path", "status", "code"),
    [("GET", "/v1/nowhere", 404, "NOT_FOUND"), ("DELETE", "/v1/me", 405, "METHOD_NOT_ALLOWED")],
)
async def test_unknown_routes_answer_in_the_one_shape(
    client: httpx.AsyncClient, method: str, path: str, status: int, code: str
) -> None:
    answer = await client.request(method, path)
    assert (answer.status_code, answer.json()["error_code"]) == (status, code)
    assert set(answer.json()) == {"error", "error_code", "details"}
    assert status != 405 or answer.json()["error"] == "/v1/me does not take DELETE, but GET."


async def test_bad_json_is_named_without_repeating_it(client: httpx.AsyncClient) -> None:
    secret = "hunter2-in-a-wrong-field"
    answer = await client.post("/v1/auth/login", json={"email": ["x"], "password": {"p": secret}})
    assert answer.status_code == 422
    assert {problem["field"] for problem in answer.json()["details"]["problems"]} == {"email", "password"}
    assert secret not in answer.text
    broken = await client.post("/v1/auth/login", content=b"{", headers={"Content-Type": "application/json"})
    assert (broken.status_code, broken.json()["error_code"]) == (422, "INVALID_REQUEST")


async def test_a_surprise_is_logged_with_its_request_and_hidden_from_the_caller(
    mnemon: Mnemon, client: httpx.AsyncClient
) -> None:
    async def broken() -> PartState:
        raise RuntimeError("inner detail")

    mnemon.checks["broken"] = broken
    with capture_logs() as lines:
        answer = await client.get("/ready", headers={"X-Request-ID": "my-id-1"})
    assert (answer.status_code, answer.json()["error_code"]) == (500, "INTERNAL")
    assert "inner detail" not in answer.text
    assert answer.json()["details"]["request_id"] == "my-id-1"
    assert any(line["event"] == "request_failed" and line["exc_info"] for line in lines)


@pytest.mark.parametrize(
    ("failure", "status", "code"),
    [(errno.ENOSPC, 507, "DISK_FULL"), (errno.EROFS, 507, "DISK_FULL"), (errno.EIO, 500, "INTERNAL")],
)
async def test_a_full_disk_is_told_wherever_it_is_met(
    mnemon: Mnemon,
    client: httpx.AsyncClient,
    monkeypatch: pytest.MonkeyPatch,
    failure: int,
    status: int,
    code: str,
) -> None:
    async def full() -> None:
        raise OSError(failure, os.strerror(failure), "/secret/place")

    monkeypatch.setattr(mnemon, "readiness", full)
    answer = await client.get("/ready")
    assert (answer.status_code, answer.json()["error_code"]) == (status, code)
    assert "/secret/place" not in answer.text


async def test_every_answer_has_an_id_and_safe_headers(client: httpx.AsyncClient) -> None:
    for path in ("/health", "/v1/nowhere", "/login", "/static/mnemon.css"):
        answer = await client.get(path, headers={"X-Request-ID": "bad id\twith spaces"})
        assert len(answer.headers["x-request-id"]) == 26
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["x-frame-options"] == "DENY"
        assert "default-src 'self'" in answer.headers["content-security-policy"]


async def test_a_large_body_is_refused_by_its_announced_length_and_by_its_real_one(
    client: httpx.AsyncClient, settings: Settings
) -> None:
    announced = await client.post("/v1/auth/login", content=b"x" * (settings.request_max_bytes + 1))
    assert (announced.status_code, announced.json()["error_code"]) == (413, "REQUEST_TOO_LARGE")

    sent = 0

    async def endless() -> AsyncIterator[bytes]:
        nonlocal sent
        while sent < 4 * DRAIN_BYTES:
            sent += 50_000
            yield b"x" * 50_000

    streamed = await client.post("/v1/auth/login", content=endless(), headers={"Content-Type": "application/json"})
    assert (streamed.status_code, streamed.json()["error_code"]) == (413, "REQUEST_TOO_LARGE")
    assert streamed.headers["connection"] == "close", "what is left would be taken for another request"
    assert sent <= settings.request_max_bytes + DRAIN_BYTES + 100_000, "reading goes on past the limit"


async def test_a_body_over_the_limit_is_read_to_its_end_so_that_its_sender_gets_the_answer(
    client: httpx.AsyncClient, settings: Settings
) -> None:
    """A connection that is closed under someone who still sends loses the answer, and is kept alive for nobody."""
    sent = 0

    async def body() -> AsyncIterator[bytes]:
        nonlocal sent
        for _ in range(30):
            sent += 50_000
            yield b"x" * 50_000

    for headers in ({"Content-Length": "1500000"}, {}):
        sent = 0
        refused = await client.post("/v1/auth/login", content=body(), headers=headers)
        assert (refused.status_code, refused.json()["error_code"], sent) == (413, "REQUEST_TOO_LARGE", 1_500_000)
        assert "connection" not in refused.headers
    huge = await client.post("/v1/auth/login", content=b"x", headers={"Content-Length": str(1 << 40)})
    assert (huge.status_code, huge.headers["connection"]) == (413, "close")


async def test_readiness_knows_a_full_disk_and_says_so(
    mnemon: Mnemon, client: httpx.AsyncClient, tmp_path: Path
) -> None:
    mnemon.checks["disk"] = lambda: check_disk(tmp_path, 0)
    assert (await client.get("/ready")).json()["parts"]["disk"]["ok"] is True
    mnemon.checks["disk"] = lambda: check_disk(tmp_path, 1 << 40)
    full = await client.get("/ready")
    assert (full.status_code, "make room" in full.json()["parts"]["disk"]["detail"]) == (503, True)
    mnemon.checks["disk"] = lambda: check_disk(tmp_path / "gone", 0)
    assert (await client.get("/ready")).status_code == 503


@pytest.mark.parametrize(
    ("free", "told"), [(512 << 20, "512 MB free"), (3 << 29, "1.5 GB free"), (1 << 40, "1,024.0 GB free")]
)
async def test_free_room_is_told_in_the_unit_that_people_use(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, free: int, told: str
) -> None:
    monkeypatch.setattr("mnemon.readiness.shutil.disk_usage", lambda _: SimpleNamespace(free=free))
    assert (await check_disk(tmp_path, 0)).detail == told


async def test_other_origins_are_refused_unless_named(mnemon: Mnemon, database: Database, tmp_path: Path) -> None:
    asked = {"Origin": "https://app.example", "Access-Control-Request-Method": "GET"}
    async with client_of(mnemon) as client:
        assert "access-control-allow-origin" not in (await client.options("/v1/me", headers=asked)).headers
    named = Mnemon(
        Settings(home=tmp_path, cors_origins=("https://app.example",)), database, mnemon.privacy, mnemon.sessions
    )
    async with client_of(named) as client:
        answer = await client.options("/v1/me", headers=asked)
        assert answer.headers["access-control-allow-origin"] == "https://app.example"
        other = await client.options("/v1/me", headers=asked | {"Origin": "https://other.example"})
        assert "access-control-allow-origin" not in other.headers


async def test_metrics_count_requests_by_route(client: httpx.AsyncClient, admin: Person) -> None:
    await client.get("/v1/me", headers=admin.headers)
    text = (await client.get("/metrics")).text
    assert 'mnemon_http_requests_total{method="GET",route="/me",status="200"}' in text
    assert "mnemon_http_request_seconds_bucket" in text


async def test_the_openapi_document_has_examples_and_no_aliases(client: httpx.AsyncClient) -> None:
    document = (await client.get("/openapi.json")).json()
    assert "/v1/me" in document["paths"]
    assert not any(path.startswith("/api/") for path in document["paths"])
    for path, methods in document["paths"].items():
        for route in methods.values():
            body = route.get("requestBody", {}).get("content", {}).get("application/json")
            if body and path in ("/v1/tokens", "/v1/subscriptions", "/v1/privacy/erasures"):
                assert document["components"]["schemas"][body["schema"]["$ref"].rpartition("/")[2]]["examples"], path
    assert document["paths"]["/v1/me"]["get"]["security"]


async def test_without_authentication_everyone_is_the_administrator_but_only_at_localhost(
    own_database: Database, tmp_path: Path
) -> None:
    privacy = private(own_database, tmp_path)
    made = await first_start(privacy.log)
    assert made is not None
    assert await first_start(privacy.log) is None
    settings = Settings(home=tmp_path, auth_enabled=False)
    mnemon = Mnemon(settings, own_database, privacy, Sessions(own_database, KEY, timedelta(hours=1)), made)
    async with client_of(mnemon) as client:
        me = (await client.get("/v1/me")).json()
        assert (me["email"], me["role"], me["tenant"]) == ("admin@localhost", "admin", "main")
        foreign = await client.post(f"/v1/users/{me['user_id']}/login-link", headers={"Origin": "https://evil.example"})
        assert (foreign.status_code, foreign.json()["error_code"]) == (403, "NOT_ALLOWED")
        rebound = await client.get("/v1/me", headers={"Host": "evil.example"})
        assert (rebound.status_code, rebound.json()["error_code"]) == (422, "INVALID_REQUEST")
        for host in ("localhost:8787", "[::1]:8787", "127.0.0.1"):
            assert (await client.get("/health", headers={"Host": host})).status_code == 200


async def test_invented_methods_share_one_metric(client: httpx.AsyncClient) -> None:
    for number in range(3):
        await client.request(f"INVENTED{number}", "/health")
    metrics = (await client.get("/metrics")).text
    assert "INVENTED" not in metrics
    assert 'method="other"' in metrics


async def test_no_route_lets_an_unknown_parameter_vanish(client: httpx.AsyncClient, admin: Person) -> None:
    """Each with the request that its operation gives as an example, and one word too many."""
    for one in routes():
        if one.bound is None or not one.in_schema:
            continue
        method, path = one.method, one.path
        given = dict(shown_by(one.bound.differences, one.bound.operation.example))
        for name in IN_PATH.findall(path):
            # A path names people by their id, where the example has an address; digests go to addresses.
            named = str(given.pop(name, "@"))
            by_id = "@" in named and name != "address"
            path = re.sub(rf"{{{name}(:path)?}}", str(new_uuid()) if by_id else named, path)
        body = {"json": given} if method in ("POST", "PUT", "PATCH") else {}
        query = {"no_such_parameter": "1"} | ({} if body else {key: str(value) for key, value in given.items()})
        answer = await client.request(method, path, params=query, headers=admin.headers, **body)
        assert answer.status_code in (400, 422), (one.path, answer.text)
        fields = {problem["field"] for problem in answer.json()["details"].get("problems", ())}
        assert "no_such_parameter" in fields, (one.path, answer.text)


async def test_the_events_that_are_sent_are_described_beside_the_routes(client: httpx.AsyncClient) -> None:
    told = (await client.get("/asyncapi.json")).json()
    assert told == json.loads((DOCS / "reference" / "asyncapi.json").read_text())
