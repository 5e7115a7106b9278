"""Requests generated from the API's own description, one by one and in sequences: none of them breaks the server."""

import contextlib
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.errors import FlakyStrategyDefinition
from hypothesis.stateful import run_state_machine_as_test
from schemathesis.checks import not_a_server_error
from schemathesis.core.result import Ok

from tests.documents.test_serving_uploads import Serving, serving

__all__ = ["serving"]

# They would end the session, or the stream does not end.
LEFT_OUT = ("/auth/logout", "/me/password", "/stream", "/live", "/follow")
QUIET = [HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large, HealthCheck.large_base_example]
SLOW_SERVER = 300


def patient(examples: int) -> settings:
    return settings(
        max_examples=examples, deadline=None, database=None, derandomize=True, suppress_health_check=QUIET,
        phases=[Phase.explicit, Phase.generate],
    )  # fmt: skip


@pytest.fixture(scope="module")
def described(serving: Serving) -> Any:
    """Fetched with patience: a loader of its own waits ten seconds and no longer."""
    described = httpx.get(f"{serving.url}/openapi.json", timeout=SLOW_SERVER).json()
    return schemathesis.openapi.from_dict(described)


def operations(described: Any) -> Iterator[Any]:
    for found in described.get_all_operations():
        assert isinstance(found, Ok), found
        operation = found.ok()
        if not any(part in operation.path for part in LEFT_OUT):
            yield operation


def send_each(described: Any, serving: Serving, examples: int) -> int:
    tried = 0
    for operation in operations(described):

        @patient(examples)
        @given(case=operation.as_strategy())
        def send(case: Any) -> None:
            nonlocal tried
            answer = case.call(base_url=serving.url, headers=serving.headers, timeout=SLOW_SERVER)
            case.validate_response(answer, checks=(not_a_server_error,))
            tried += 1

        send()
    return tried


def test_a_generated_request_to_every_route_breaks_nothing(described: Any, serving: Serving) -> None:
    assert send_each(described, serving, 1) >= 100


@pytest.mark.slow
def test_many_generated_requests_to_every_route_break_nothing(described: Any, serving: Serving) -> None:
    assert send_each(described, serving, 60) >= 5_000


def in_sequence(described: Any, serving: Serving, sequences: int, steps: int) -> int:
    """What one answer gave is asked for by the next request. How many ran to their end: what a rule may draw depends on
    what the server has by then, and a sequence in which that differs between two examples is given up."""
    machine = described.as_state_machine()

    class Client(machine):  # type: ignore[misc, valid-type]
        def get_call_kwargs(self, case: Any) -> dict[str, Any]:
            return {"base_url": serving.url, "headers": serving.headers, "timeout": SLOW_SERVER}

        def validate_response(self, response: Any, case: Any, **options: Any) -> None:
            case.validate_response(response, checks=(not_a_server_error,))

    wanted = settings(patient(2), stateful_step_count=steps)
    ended = 0
    for number in range(sequences):
        with contextlib.suppress(FlakyStrategyDefinition):
            run_state_machine_as_test(seed(number)(Client), settings=wanted)
            ended += 1
    return ended


def test_a_short_sequence_of_generated_requests_breaks_nothing(described: Any, serving: Serving) -> None:
    assert in_sequence(described, serving, sequences=1, steps=4)


@pytest.mark.slow
def test_long_sequences_of_generated_requests_break_nothing(described: Any, serving: Serving) -> None:
    assert in_sequence(described, serving, sequences=50, steps=20) >= 40
