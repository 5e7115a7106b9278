"""A feature gets a valid answer or a clear error; every call leaves one record that holds no words."""

import asyncio
from decimal import Decimal
from uuid import UUID

import pytest
from pydantic import BaseModel, Field

from mnemon.db.database import Database
from mnemon.errors import MnemonError
from mnemon.ids import new_uuid
from mnemon.models.calls import CALLS, TOKENS, DatabaseRecorder
from mnemon.models.failures import (
    AnswerTruncated,
    InvalidAnswer,
    InvalidModel,
    LanguageModelUnavailable,
    ModelRateLimited,
    ModelTimedOut,
    ModelUnreachable,
)
from mnemon.models.language import NoLanguageModel, Prompt, Usage
from mnemon.models.speaker import Spoken
from tests.models.scripted import KeptCalls, ScriptedSpeaker, scripted_model
from tests.patience import PATIENCE

PROMPT = Prompt("decisions", 3, "You find decisions.", "Anna: we go with PostgreSQL.")
ANYONE = new_uuid()


class Decision(BaseModel):
    """A decision."""

    title: str = Field(max_length=80)
    made: bool


GOOD = Decision(title="PostgreSQL", made=True)


async def test_an_answer_is_an_object_of_the_schema() -> None:
    answer = await scripted_model(ScriptedSpeaker(GOOD)).ask(PROMPT, Decision, ANYONE)
    assert answer.value == GOOD
    assert answer.model == "scripted"
    assert answer.usage.output_tokens > 0


@pytest.mark.parametrize("wrapped", ["```json\n{}\n```", "Sure! {} I hope this helps."])
async def test_words_around_the_object_do_no_harm(wrapped: str) -> None:
    speaker = ScriptedSpeaker(wrapped.replace("{}", GOOD.model_dump_json()))
    assert (await scripted_model(speaker).ask(PROMPT, Decision, ANYONE)).value == GOOD


async def test_a_wrong_answer_goes_back_with_what_is_wrong() -> None:
    kept = KeptCalls()
    speaker = ScriptedSpeaker("not json", '{"title": "PostgreSQL"}', GOOD)
    answer = await scripted_model(speaker, kept).ask(PROMPT, Decision, ANYONE)
    assert answer.value == GOOD
    first, second = speaker.corrected[2]
    assert (first.answer, second.answer) == ("not json", '{"title": "PostgreSQL"}')
    assert "made: Field required" in second.complaint
    (call,) = kept.calls
    assert (call.requests, call.outcome) == (3, "answered")


async def test_answers_that_stay_wrong_are_an_error_that_repeats_no_words() -> None:
    wrong = '{"title": "a private matter", "made": "perhaps"}'
    with pytest.raises(
        InvalidAnswer, match=r"decisions as Decision asks.*made: Input should be a valid boolean"
    ) as caught:
        await scripted_model(ScriptedSpeaker(wrong, wrong, wrong)).ask(PROMPT, Decision, ANYONE)
    assert "private" not in str(caught.value.as_json())
    assert (caught.value.code, caught.value.retry) == ("INVALID_JSON_SCHEMA", True)


async def test_a_cut_answer_is_not_asked_for_again() -> None:
    speaker = ScriptedSpeaker(Spoken('{"title": "Post', Usage(5, 64), cut=True), GOOD)
    with pytest.raises(AnswerTruncated, match="limit of 64 tokens"):
        await scripted_model(speaker).ask(PROMPT, Decision, ANYONE)
    assert len(speaker.asked) == 1


async def test_failures_that_pass_are_retried_and_the_server_says_how_soon() -> None:
    pauses: list[float] = []

    async def note(seconds: float) -> None:
        pauses.append(seconds)

    speaker = ScriptedSpeaker(ModelRateLimited("slow down", retry_after=7), ModelUnreachable("gone"), GOOD)
    assert (await scripted_model(speaker, sleep=note).ask(PROMPT, Decision, ANYONE)).value == GOOD
    assert pauses[0] == 7
    assert 0.5 <= pauses[1] <= 1


@pytest.mark.parametrize(
    "failure", [InvalidModel("no such model"), ModelRateLimited("come back tomorrow", retry_after=86_400)]
)
async def test_what_does_not_pass_soon_is_not_waited_for(failure: MnemonError) -> None:
    speaker = ScriptedSpeaker(failure, GOOD)
    with pytest.raises(type(failure)):
        await scripted_model(speaker).ask(PROMPT, Decision, ANYONE)
    assert len(speaker.asked) == 1


async def test_retries_end() -> None:
    speaker = ScriptedSpeaker(*[ModelUnreachable("gone")] * 9)
    with pytest.raises(ModelUnreachable):
        await scripted_model(speaker, retries=2).ask(PROMPT, Decision, ANYONE)
    assert len(speaker.asked) == 3


class SilentSpeaker(ScriptedSpeaker):
    """Never answers."""

    def __init__(self) -> None:
        super().__init__()
        self.reached = asyncio.Event()

    async def say(self, *_: object, **__: object) -> Spoken:
        self.reached.set()
        await asyncio.Event().wait()
        raise AssertionError


async def test_silence_ends_at_the_time_limit() -> None:
    with pytest.raises(ModelTimedOut, match=r"within 0\.05 s"):
        await scripted_model(SilentSpeaker(), timeout=0.05, retries=0).ask(PROMPT, Decision, ANYONE)


async def test_a_cancelled_call_is_recorded_too() -> None:
    speaker, kept = SilentSpeaker(), KeptCalls()
    task = asyncio.create_task(scripted_model(speaker, kept).ask(PROMPT, Decision, ANYONE))
    await asyncio.wait_for(speaker.reached.wait(), PATIENCE)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert [call.outcome for call in kept.calls] == ["cancelled"]


async def test_a_stream_gives_its_pieces_and_is_recorded_once() -> None:
    kept = KeptCalls()
    speaker = ScriptedSpeaker(ModelUnreachable("gone"), "one two three")
    pieces = [piece async for piece in scripted_model(speaker, kept).stream(PROMPT, ANYONE)]
    assert "".join(pieces).split() == ["one", "two", "three"]
    (call,) = kept.calls
    assert (call.outcome, call.requests, call.usage.output_tokens) == ("answered", 2, 3)


async def test_a_stream_that_its_reader_leaves_is_recorded_as_cancelled() -> None:
    kept = KeptCalls()
    stream = scripted_model(ScriptedSpeaker("one two three"), kept).stream(PROMPT, ANYONE)
    assert await anext(stream) == "one "
    await stream.aclose()
    assert [call.outcome for call in kept.calls] == ["cancelled"]


async def test_a_stream_cut_short_ends_with_an_error() -> None:
    stream = scripted_model(ScriptedSpeaker(Spoken("one two", cut=True))).stream(PROMPT, ANYONE)
    assert [await anext(stream), await anext(stream)] == ["one ", "two "]
    with pytest.raises(AnswerTruncated):
        await anext(stream)


async def test_calls_stand_in_the_database_under_their_tenant(
    database: Database, tenant: UUID, other_tenant: UUID
) -> None:
    speaker = ScriptedSpeaker(Spoken(GOOD.model_dump_json(), Usage(12, 7, Decimal("0.0031"))), InvalidModel("gpt-0"))
    model = scripted_model(speaker, DatabaseRecorder(database))
    answer = await model.ask(PROMPT, Decision, tenant)
    with pytest.raises(InvalidModel):
        await model.ask(PROMPT, Decision, tenant)
    async with database.transaction(tenant) as tx:
        rows = await (await tx.execute("SELECT * FROM mnemon.model_calls ORDER BY called_at")).fetchall()
    async with database.transaction(other_tenant) as tx:
        assert await (await tx.execute("SELECT * FROM mnemon.model_calls")).fetchall() == []
    good, bad = rows
    assert (good["call_id"], good["tenant_id"]) == (answer.call_id, tenant)
    assert (good["prompt_name"], good["prompt_version"], good["model"]) == ("decisions", 3, "scripted")
    assert (good["input_tokens"], good["output_tokens"], good["cost_dollars"]) == (12, 7, Decimal("0.0031"))
    assert (good["outcome"], good["error_code"], good["prompt_digest"]) == ("answered", None, PROMPT.digest)
    assert (bad["outcome"], bad["error_code"]) == ("failed", "OPENAI_INVALID_MODEL")
    assert "PostgreSQL" not in str(rows)


async def test_the_application_cannot_change_the_record_of_calls(database: Database, tenant: UUID) -> None:
    for statement in ("UPDATE mnemon.model_calls SET model = 'x'", "DELETE FROM mnemon.model_calls"):
        with pytest.raises(Exception, match="permission denied"):
            async with database.transaction(tenant) as tx:
                await tx.execute(statement)


async def test_calls_and_tokens_are_counted() -> None:
    def counted() -> tuple[float, float]:
        tokens = TOKENS.labels("scripted", "output")._value.get()
        return CALLS.labels("scripted", "decisions", "answered")._value.get(), tokens

    calls, tokens = counted()
    await scripted_model(ScriptedSpeaker(Spoken(GOOD.model_dump_json(), Usage(1, 20)))).ask(PROMPT, Decision, ANYONE)
    assert counted() == (calls + 1, tokens + 20)


async def test_without_a_model_the_error_says_what_works() -> None:
    model = NoLanguageModel()
    assert not model.available
    with pytest.raises(LanguageModelUnavailable, match=r"set MNEMON_LANGUAGE_MODEL.*rules extract events"):
        await model.ask(PROMPT, Decision, ANYONE)
    with pytest.raises(LanguageModelUnavailable):
        await anext(model.stream(PROMPT, ANYONE))
