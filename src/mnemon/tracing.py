"""Traces: spans from a door to the jobs that it leaves behind, sent to a collector where the settings name one.

Without one nothing is loaded and nothing is kept. The library is an extra.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from mnemon.errors import BadSettings
from mnemon.telemetry import logger

HEADER = "traceparent"

log = logger(__name__)


class _State:
    """The tracer of this process, while traces are sent."""

    tracer: Any = None


@contextmanager
def tracing(endpoint: str | None, service: str = "mnemon") -> Iterator[None]:
    """Send spans to this collector (OTLP over HTTP) for as long as the server or worker runs."""
    if endpoint is None:
        yield
        return
    provider = _provider(endpoint, service)
    _State.tracer = provider.get_tracer("mnemon")
    try:
        yield
    finally:
        _State.tracer = None
        provider.shutdown()


def is_tracing() -> bool:
    return _State.tracer is not None


@contextmanager
def span(name: str, parent: str | None = None, **attributes: Any) -> Iterator[Any]:
    """What happens within, as a span: a part of the one around it, or of the one that `parent` names."""
    if _State.tracer is None:
        yield None
        return
    from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

    context = TraceContextTextMapPropagator().extract({HEADER: parent}) if parent else None
    told = {f"mnemon.{key}": str(value) for key, value in attributes.items()}
    with _State.tracer.start_as_current_span(name, context=context, attributes=told) as current:
        yield current


def note(**attributes: Any) -> None:
    """Say more of the span that is under way."""
    if _State.tracer is not None:
        from opentelemetry.trace import get_current_span

        get_current_span().set_attributes({f"mnemon.{key}": str(value) for key, value in attributes.items()})


def traceparent() -> str | None:
    """The name of the span that is under way, for what goes on elsewhere; None where there is none."""
    if _State.tracer is None:
        return None
    from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

    carrier: dict[str, str] = {}
    TraceContextTextMapPropagator().inject(carrier)
    return carrier.get(HEADER)


def _provider(endpoint: str, service: str) -> Any:
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ModuleNotFoundError:
        raise BadSettings("MNEMON_TRACE_ENDPOINT needs OpenTelemetry: pip install 'mnemon[traces]'.") from None
    told: Mapping[str, Any] = {"service.name": service}
    provider = TracerProvider(resource=Resource.create(dict(told)))
    address = f"{endpoint.rstrip('/')}/v1/traces"
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(endpoint=address)))
    return provider
