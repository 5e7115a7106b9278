"""Services are asked as their protocol says; their failures become the documented codes."""

import json
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from mnemon.errors import MnemonError
from mnemon.ids import new_uuid
from mnemon.models import choose
from mnemon.models.choose import open_language_model, service_and_name
from mnemon.models.failures import (
    AnswerTruncated,
    InvalidModel,
    ModelKeyRefused,
    ModelQuotaSpent,
    ModelRateLimited,
    ModelRequestRefused,
    ModelTimedOut,
    ModelUnreachable,
)
from mnemon.models.language import LanguageModel, NoLanguageModel, Prompt
from mnemon.settings import load_settings
from tests.models.scripted import KeptCalls

KEY = "sk-very-secret-0123456789"
PROMPT = Prompt("decisions", 1, "You find decisions.", "We go with PostgreSQL.")
ANYONE = new_uuid()


class Decision(BaseModel):
    """A decision."""

    title: str


def completion(content: str, finish: str = "stop") -> dict[str, Any]:
    return {
        "id": "c1",
        "object": "chat.completion",
        "created": 1_700_000_000,
        "model": "gpt-4o",
        "choices": [{"index": 0, "finish_reason": finish, "message": {"role": "assistant", "content": content}}],
        "usage": {"prompt_tokens": 11, "completion_tokens": 5, "total_tokens": 16},
    }


def streamed(*pieces: str, finish: str | None = "stop") -> bytes:
    chunks = [{"delta": {"content": piece}, "finish_reason": None} for piece in pieces]
    chunks += [{"delta": {}, "finish_reason": finish}] if finish else []
    lines = [
        {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [{"index": 0, **chunk}]}
        for chunk in chunks
    ]
    ended = "data: [DONE]\n\n" if finish else ""
    return ("".join(f"data: {json.dumps(line)}\n\n" for line in lines) + ended).encode()


@pytest.fixture
def calls() -> KeptCalls:
    return KeptCalls()


@pytest.fixture
async def open_model(service: Any, calls: KeptCalls, home: Path) -> AsyncIterator[Callable[..., LanguageModel]]:
    opened: list[LanguageModel] = []

    def open_with(**changes: Any) -> LanguageModel:
        options = {
            "language_model": "gpt-4o", "openai_base_url": service.url, "openai_api_key": KEY,
            "openai_max_retries": 0, "openai_timeout": 5, **changes,
        }  # fmt: skip
        opened.append(open_language_model(load_settings(home=home, **options), calls))
        return opened[-1]

    yield open_with
    for model in opened:
        await model.close()


async def test_the_request_carries_prompt_schema_limit_and_key(service: Any, reply: Any, open_model: Any) -> None:
    service.replies = [reply(completion('{"title": "PostgreSQL"}'))]
    answer = await open_model(language_model_max_tokens=77).ask(PROMPT, Decision, ANYONE)
    assert answer.value == Decision(title="PostgreSQL")
    assert (answer.usage.input_tokens, answer.usage.output_tokens) == (11, 5)
    (request,) = service.requests
    assert request.path == "/v1/chat/completions"
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert [message["content"] for message in request.body["messages"]] == [PROMPT.system, PROMPT.user]
    assert request.body["response_format"]["json_schema"]["schema"]["required"] == ["title"]
    assert 77 in (request.body.get("max_tokens"), request.body.get("max_completion_tokens"))
    assert request.body["model"] == "gpt-4o"


async def test_a_correction_continues_the_conversation(service: Any, reply: Any, open_model: Any) -> None:
    service.replies = [reply(completion('{"name": 1}')), reply(completion('{"title": "PostgreSQL"}'))]
    await open_model().ask(PROMPT, Decision, ANYONE)
    roles = [message["role"] for message in service.requests[1].body["messages"]]
    assert roles == ["system", "user", "assistant", "user"]
    assert "title: Field required" in service.requests[1].body["messages"][-1]["content"]


@pytest.mark.parametrize(
    ("status", "error", "expected"),
    [
        (429, {"message": "slow down"}, ModelRateLimited),
        (429, {"message": "no credit", "code": "insufficient_quota"}, ModelQuotaSpent),
        (401, {"message": f"Incorrect API key provided: {KEY}"}, ModelKeyRefused),
        (404, {"message": "The model `gpt-0` does not exist", "code": "model_not_found"}, InvalidModel),
        (400, {"message": "This model's maximum context length is 100 tokens"}, ModelRequestRefused),
        (500, {"message": "oops"}, ModelUnreachable),
        (503, {"message": "loading"}, ModelUnreachable),
    ],
)
async def test_failures_have_the_documented_codes_and_no_secrets(
    service: Any, reply: Any, open_model: Any, calls: KeptCalls,
    status: int, error: dict[str, str], expected: type[MnemonError],
) -> None:  # fmt: skip
    service.replies = [reply({"error": error}, status)]
    with pytest.raises(expected) as caught:
        await open_model().ask(PROMPT, Decision, ANYONE)
    assert type(caught.value) is expected
    assert KEY not in str(caught.value.as_json())
    assert "gpt-4o" in caught.value.message
    assert [call.error_code for call in calls.calls] == [expected.code]
    assert len(service.requests) == 1


async def test_the_server_says_how_long_to_wait(service: Any, reply: Any, open_model: Any) -> None:
    service.replies = [reply({"error": {"message": "slow down"}}, 429, {"retry-after": "90"})]
    with pytest.raises(ModelRateLimited) as caught:
        await open_model(openai_max_retries=3).ask(PROMPT, Decision, ANYONE)
    assert caught.value.details["retry_after"] == 90


async def test_silence_ends_at_the_time_limit(service: Any, reply: Any, open_model: Any) -> None:
    service.replies = [reply(silent=True)]
    with pytest.raises(ModelTimedOut):
        await open_model(openai_timeout=1).ask(PROMPT, Decision, ANYONE)


async def test_a_server_that_hangs_up_or_talks_nonsense_is_unreachable(
    service: Any, reply: Any, open_model: Any
) -> None:
    model = open_model()
    for answer in (reply(hang_up=True), reply(b"<html>"), reply({"hello": "world"})):
        service.replies = [answer]
        with pytest.raises(ModelUnreachable):
            await model.ask(PROMPT, Decision, ANYONE)


async def test_an_answer_at_its_length_limit_is_truncated(service: Any, reply: Any, open_model: Any) -> None:
    service.replies = [reply(completion('{"title": "Post', "length"))]
    with pytest.raises(AnswerTruncated, match="MNEMON_LANGUAGE_MODEL_MAX_TOKENS"):
        await open_model().ask(PROMPT, Decision, ANYONE)


async def test_a_stream_arrives_in_pieces(service: Any, reply: Any, open_model: Any) -> None:
    service.replies = [reply(streamed("We ", "go ", "on."), headers={"content-type": "text/event-stream"})]
    pieces = [piece async for piece in open_model().stream(PROMPT, ANYONE)]
    assert pieces == ["We ", "go ", "on."]
    assert service.requests[0].body["stream"] is True


async def test_the_price_of_a_known_model_is_counted(service: Any, reply: Any, open_model: Any) -> None:
    service.replies = [reply(completion('{"title": "PostgreSQL"}'))]
    answer = await open_model().ask(PROMPT, Decision, ANYONE)
    assert answer.usage.cost is None or answer.usage.cost > 0


async def test_anthropic_is_asked_in_its_own_protocol(
    service: Any, reply: Any, open_model: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    message = {
        "id": "m1", "type": "message", "role": "assistant", "model": "claude-3-haiku", "stop_reason": "tool_use",
        "stop_sequence": None, "usage": {"input_tokens": 9, "output_tokens": 4},
        "content": [{"type": "tool_use", "id": "t1", "name": "answer", "input": {"title": "PostgreSQL"}}],
    }  # fmt: skip
    service.replies = [reply(message)]
    monkeypatch.setenv("ANTHROPIC_BASE_URL", service.url.removesuffix("/v1"))
    model = open_model(language_model="anthropic:claude-3-haiku-20240307", anthropic_api_key=KEY)
    answer = await model.ask(PROMPT, Decision, ANYONE)
    assert answer.value == Decision(title="PostgreSQL")
    assert (answer.usage.input_tokens, answer.usage.output_tokens) == (9, 4)
    (request,) = service.requests
    assert request.path.startswith("/v1/messages")
    assert KEY in (request.headers.get("x-api-key"), request.headers.get("authorization", "").removeprefix("Bearer "))
    assert request.body["tools"][0]["input_schema"]["required"] == ["title"]


async def test_the_key_for_openai_is_not_sent_to_ones_own_server(
    service: Any, reply: Any, open_model: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setitem(choose.OWN_SERVERS, "ollama", service.url)
    service.replies = [reply(completion('{"title": "PostgreSQL"}'))]
    await open_model(language_model="ollama:llama3.2:3b", openai_base_url=None).ask(PROMPT, Decision, ANYONE)
    (request,) = service.requests
    assert request.body["model"] == "llama3.2:3b"
    assert KEY not in str(request)


@pytest.mark.parametrize(
    ("setting", "expected"),
    [
        ("gpt-4o", ("openai", "gpt-4o")),
        ("openai:gpt-4o", ("openai", "gpt-4o")),
        ("ollama:llama3.2:3b", ("ollama", "llama3.2:3b")),
        ("llama3.2:3b", ("openai", "llama3.2:3b")),
        ("vllm:Qwen/Qwen3-8B", ("vllm", "Qwen/Qwen3-8B")),
        ("anthropic:claude-haiku-4-5", ("anthropic", "claude-haiku-4-5")),
    ],
)
def test_a_name_may_say_its_service(setting: str, expected: tuple[str, str]) -> None:
    assert service_and_name(setting) == expected


async def test_no_name_means_no_model_whatever_keys_there_are(open_model: Any) -> None:
    assert isinstance(open_model(language_model=None), NoLanguageModel)


@pytest.mark.parametrize(("name", "wanted"), [("gpt-4o", "OPENAI_API_KEY"), ("anthropic:x", "ANTHROPIC_API_KEY")])
async def test_a_name_without_its_key_says_which_is_missing(
    open_model: Any, monkeypatch: pytest.MonkeyPatch, name: str, wanted: str
) -> None:
    for variable in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(variable, raising=False)
    model = open_model(language_model=name, openai_base_url=None, openai_api_key=None)
    assert isinstance(model, NoLanguageModel)
    assert wanted in model.reason


def test_the_specifications_name_for_the_model_works(monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
    monkeypatch.setenv("OPENAI_EVENT_MODEL", "gpt-4-turbo-preview")
    assert load_settings(home=home).language_model == "gpt-4-turbo-preview"
