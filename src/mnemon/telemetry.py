"""Logs and metrics: one structured line per thing that happened, one registry of counters."""

import logging
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Literal

import structlog
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

LogFormat = Literal["auto", "json", "console"]

REGISTRY = CollectorRegistry(auto_describe=True)


def counter(name: str, help_text: str, labels: Sequence[str] = ()) -> Counter:
    return Counter(name, help_text, labels, registry=REGISTRY)


def gauge(name: str, help_text: str, labels: Sequence[str] = ()) -> Gauge:
    return Gauge(name, help_text, labels, registry=REGISTRY)


def histogram(
    name: str, help_text: str, labels: Sequence[str] = (), buckets: Sequence[float] = Histogram.DEFAULT_BUCKETS
) -> Histogram:
    return Histogram(name, help_text, labels, registry=REGISTRY, buckets=buckets)


def logger(name: str) -> structlog.stdlib.BoundLogger:
    bound: structlog.stdlib.BoundLogger = structlog.get_logger(name)
    return bound


def bind(**ids: Any) -> None:
    """Put ids (request_id, tenant_id, run_id, job_id) on every later log line of this task."""
    structlog.contextvars.bind_contextvars(**{key: str(value) for key, value in ids.items()})


def unbind_all() -> None:
    structlog.contextvars.clear_contextvars()


def warn_alone_unless_configured() -> None:
    """Inside somebody's program, which owns its output and its logging: warnings go to standard error, nothing else."""
    if not structlog.is_configured():
        structlog.configure(
            wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING),
            logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        )


@contextmanager
def only_errors_of(*names: str) -> Iterator[None]:
    """What these loggers warn of is told by whoever waits for it."""
    levels = {name: logging.getLogger(name).level for name in names}
    for name in names:
        logging.getLogger(name).setLevel(logging.ERROR)
    try:
        yield
    finally:
        for name, level in levels.items():
            logging.getLogger(name).setLevel(level)


def configure_logging(level: str, log_format: LogFormat = "auto") -> None:
    """Send our own lines and those of libraries through one pipe: JSON, or readable text on a terminal."""
    human = log_format == "console" or (log_format == "auto" and sys.stderr.isatty())
    shared: list[structlog.types.Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.ExtraAdder(),
        structlog.processors.TimeStamper(fmt="iso", utc=True, key="ts"),
        structlog.processors.StackInfoRenderer(),
    ]
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        wrapper_class=structlog.make_filtering_bound_logger(logging.getLevelNamesMapping()[level]),
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=False,
    )
    final: list[structlog.types.Processor] = (
        # The rich form prints every local variable, passwords included.
        [structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback)]
        if human
        else [structlog.processors.format_exc_info, structlog.processors.JSONRenderer(default=str)]
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *final],
        )
    )
    logging.root.handlers = [handler]
    logging.root.setLevel(level)
    for noisy in ("psycopg.pool", "httpx2", "asyncio", "uvicorn.error"):
        logging.getLogger(noisy).setLevel(max(logging.WARNING, logging.root.level))
