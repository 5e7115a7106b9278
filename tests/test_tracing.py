"""A trace goes from the request to the job that it left behind, to a collector of the test's own."""

import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from uuid import UUID

import httpx
import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from mnemon.app import Mnemon
from mnemon.errors import BadSettings
from mnemon.tracing import is_tracing, span, traceparent, tracing
from mnemon.work.worker import Worker
from tests.api.conftest import Person, admin, caller_address, client, mnemon, user
from tests.documents.conftest import KINDS, RunReaches, Upload, quick_retries, run_reaches, settings, upload
from tests.work.conftest import eventually, running

__all__ = [
    "admin", "caller_address", "client", "eventually", "mnemon", "quick_retries", "run_reaches", "settings", "upload",
    "user",
]  # fmt: skip


@pytest.fixture
def collector() -> Iterator[tuple[str, list[Any]]]:
    """Its address, and the spans that came."""
    spans: list[Any] = []

    class Collector(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            sent = ExportTraceServiceRequest.FromString(self.rfile.read(int(self.headers["Content-Length"])))
            spans.extend(one for part in sent.resource_spans for it in part.scope_spans for one in it.spans)
            self.send_response(200)
            self.end_headers()

        def log_message(self, *words: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Collector) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}", spans
        server.shutdown()
        thread.join()


async def test_the_job_of_an_upload_is_a_part_of_its_trace(
    collector: tuple[str, list[Any]], upload: Upload, run_reaches: RunReaches, mnemon: Mnemon, tenant: UUID
) -> None:
    address, spans = collector
    worker = Worker(mnemon.database, KINDS, context=mnemon, poll=0.1)
    # The worker has ended, and with it the span of its job, before the last spans are sent.
    with tracing(address):
        async with running(worker):
            answer = await upload("The board decided to move the archive to building 7.")
            assert answer.status_code == 202, answer.text
            await run_reaches(answer.json()["run_id"], "succeeded")
    named = {one.name: one for one in spans}
    door, job = named["POST /ingest"], named["job documents.ingest"]
    assert job.trace_id == door.trace_id and job.parent_span_id == door.span_id
    told = {one.key: one.value.string_value for one in job.attributes}
    assert told["mnemon.tenant_id"] == str(tenant)
    assert told["mnemon.correlation_id"], "the events that it recorded can be found"


async def test_a_trace_of_the_caller_goes_on_here(
    collector: tuple[str, list[Any]], client: httpx.AsyncClient, user: Person
) -> None:
    address, spans = collector
    given = f"00-{'a' * 32}-{'b' * 16}-01"
    with tracing(address):
        await client.get("/v1/documents", headers=user.headers | {"traceparent": given})
    [door] = [one for one in spans if one.name == "GET /documents"]
    assert (door.trace_id.hex(), door.parent_span_id.hex()) == ("a" * 32, "b" * 16)


def test_without_a_collector_nothing_is_kept() -> None:
    with tracing(None), span("nothing") as current:
        assert current is None and traceparent() is None and not is_tracing()


def test_who_lacks_the_library_is_told_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry.exporter.otlp.proto.http.trace_exporter", None)
    with pytest.raises(BadSettings, match=r"mnemon\[traces\]"), tracing("http://127.0.0.1:4318"):
        pass
