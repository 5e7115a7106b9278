"""The llm engine through the whole stored path, from ingest to search, with a model that follows a script."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from pydantic import BaseModel

from mnemon.app import Mnemon
from mnemon.documents.access import Reader
from mnemon.documents.ingest.extract_job import EXTRACT
from mnemon.errors import MnemonError
from mnemon.log.events import Event
from mnemon.models.calls import DatabaseRecorder
from mnemon.models.failures import InvalidModel, ModelRateLimited, ModelTimedOut
from mnemon.models.language import Prompt, Schema, ValidatedAnswer
from mnemon.models.speaker import Correction, Spoken
from mnemon.semantics.artifacts import Ingested, NewArtifact, ingest_artifact
from mnemon.semantics.extract.said import SaidEvents, SaidGroup, SaidGroups
from mnemon.semantics.extract.status import event_reextract, job_status
from mnemon.semantics.inputs import EventFilters
from mnemon.semantics.lens import SEMANTICS
from mnemon.semantics.search.query import event_get, event_search
from mnemon.settings import Settings
from mnemon.work.kinds import Backoff
from tests.documents.conftest import rows
from tests.models.scripted import Line, ScriptedSpeaker, scripted_model
from tests.semantics.conftest import ADA
from tests.semantics.test_llm import INJECTIONS, said
from tests.work.conftest import Eventually

Done = Callable[[], Awaitable[None]]
Speak = Callable[..., ScriptedSpeaker]
TEXT = "Minutes. We decided to use Postgres for billing. Ben Okafor will call the vendor by Friday. Lunch was good."
DECIDED = said("We decided to use Postgres for billing.")
CALLS = """
SELECT prompt_name, outcome, error_code, requests, input_tokens FROM mnemon.model_calls ORDER BY called_at, call_id
"""


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(home=tmp_path, embedder="none", extraction_engine="llm")


class OfOneTenant:
    """Other tests leave jobs of their own tenants behind: those must not use up the script."""

    available = True

    def __init__(self, speaker: ScriptedSpeaker, mnemon: Mnemon, tenant: UUID, **options: Any) -> None:
        self.model = scripted_model(speaker, DatabaseRecorder(mnemon.database), **options)
        self.name, self.tenant = self.model.name, tenant

    async def ask(self, prompt: Prompt, schema: type[Schema], tenant: UUID) -> ValidatedAnswer[Schema]:
        if tenant != self.tenant:
            raise MnemonError("Not the tenant of this test.")
        return await self.model.ask(prompt, schema, tenant)

    async def close(self) -> None:
        await self.model.close()


@pytest.fixture
def speak(mnemon: Mnemon, tenant: UUID) -> Speak:
    """Give the running Mnemon a model that says these lines, or the given speaker."""

    def start(*lines: Line, speaker: ScriptedSpeaker | None = None, **options: Any) -> ScriptedSpeaker:
        speaker = speaker or ScriptedSpeaker(*lines)
        vars(mnemon)["language_model"] = OfOneTenant(speaker, mnemon, tenant, **options)
        return speaker

    return start


async def take(mnemon: Mnemon, tenant: UUID, content: str = TEXT) -> Ingested:
    new = NewArtifact(artifact_type="note", source_system="test", content=content, participants=("Ben Okafor",))
    return await ingest_artifact(mnemon.log, mnemon.files, mnemon.settings, tenant, ADA, new)


async def extracted(mnemon: Mnemon, tenant: UUID) -> list[Event]:
    return [event async for event in mnemon.log.scan(tenant) if event.type == "semantic.extracted"]


async def test_what_the_model_said_is_found_proven_and_in_the_log(
    mnemon: Mnemon, tenant: UUID, reader: Reader, speak: Speak, all_done: Done
) -> None:
    speaker = speak(SaidEvents(events=[DECIDED]))
    one = await take(mnemon, tenant)
    await all_done()

    [event] = (await event_search(mnemon.database, tenant, reader, EventFilters(query="billing database")))["events"]
    [quoted] = event["evidence"]
    assert TEXT[quoted["start_char"] : quoted["end_char"]] == quoted["quote"] == DECIDED.quote
    whole = await event_get(mnemon.database, tenant, reader, event["event_id"])
    job = await job_status(mnemon.database, tenant, reader, one.artifact_uid)
    assert (job["status"], job["job_id"]) == ("DONE", whole["extraction_run_id"])

    [recorded] = await extracted(mnemon, tenant)
    assert (recorded.data["engine"], recorded.data["model"]) == ("llm", "scripted")
    [answer] = recorded.data["answers"]
    assert answer["said"]["events"][0]["quote"] == DECIDED.quote
    [call] = await rows(mnemon, tenant, CALLS)
    assert (call["prompt_name"], call["outcome"], call["requests"]) == ("semantic_events.find", "answered", 1)
    assert call["input_tokens"] > 0
    assert len(speaker.asked) == 1


async def test_replay_reads_what_was_said_and_asks_nobody(
    mnemon: Mnemon, tenant: UUID, speak: Speak, all_done: Done
) -> None:
    speaker = speak(SaidEvents(events=[DECIDED]))
    await take(mnemon, tenant)
    await all_done()
    hashed = await mnemon.projector.state_hash(tenant, SEMANTICS.name)
    assert (await mnemon.projector.rebuild(tenant, SEMANTICS.name)).state_hash == hashed
    assert len(speaker.asked) == 1


async def test_an_answer_that_is_no_json_is_asked_for_again_within_the_same_attempt(
    mnemon: Mnemon, tenant: UUID, reader: Reader, speak: Speak, all_done: Done
) -> None:
    speaker = speak("I found a decision!", SaidEvents(events=[DECIDED]))
    one = await take(mnemon, tenant)
    await all_done()
    job = await job_status(mnemon.database, tenant, reader, one.artifact_uid)
    assert (job["status"], job["attempts"]) == ("DONE", 1)
    assert [len(corrections) for corrections in speaker.corrected] == [0, 1]
    assert (await event_search(mnemon.database, tenant, reader))["total"] == 1


async def test_a_model_that_never_fits_the_schema_spends_the_attempts_and_stores_nothing(
    mnemon: Mnemon, tenant: UUID, reader: Reader, speak: Speak, all_done: Done
) -> None:
    speak(*["no json"] * 40)
    one = await take(mnemon, tenant)
    await all_done()
    job = await job_status(mnemon.database, tenant, reader, one.artifact_uid)
    assert (job["status"], job["last_error_code"]) == ("FAILED", "MAX_ATTEMPTS_EXCEEDED")
    assert "INVALID_JSON_SCHEMA" in job["last_error_message"]
    assert job["attempts"] == job["max_attempts"]
    assert (await event_search(mnemon.database, tenant, reader))["total"] == 0
    assert await extracted(mnemon, tenant) == []
    calls = await rows(mnemon, tenant, CALLS)
    assert {(call["outcome"], call["error_code"]) for call in calls} == {("failed", "INVALID_JSON_SCHEMA")}


async def test_a_rate_limit_puts_the_job_off_as_long_as_the_server_asks(
    mnemon: Mnemon, tenant: UUID, reader: Reader, speak: Speak, work: Any, all_done: Done, eventually: Eventually
) -> None:
    speak(ModelRateLimited("429: slow down.", retry_after=90), SaidEvents(events=[DECIDED]))
    one = await take(mnemon, tenant)
    await work()

    async def failed_once() -> dict[str, Any] | None:
        job = await job_status(mnemon.database, tenant, reader, one.artifact_uid)
        return job if job["last_error_code"] and job["status"] == "PENDING" else None

    job = await eventually(failed_once)
    assert (job["last_error_code"], job["attempts"]) == ("OPENAI_RATE_LIMIT", 1)
    [put_off] = await rows(
        mnemon, tenant,
        "SELECT next_run_at - updated_at AS wait FROM mnemon.jobs WHERE kind = 'semantics.extract'",
    )  # fmt: skip
    assert 89 <= put_off["wait"].total_seconds() <= 100
    assert (await event_search(mnemon.database, tenant, reader))["total"] == 0

    await event_reextract(mnemon.database, tenant, reader, one.artifact_uid, force=True)
    await all_done()
    job = await job_status(mnemon.database, tenant, reader, one.artifact_uid)
    assert job["status"] == "DONE"
    assert (await event_search(mnemon.database, tenant, reader))["total"] == 1


class HangsOnce(ScriptedSpeaker):
    """Says nothing the first time, however long one waits."""

    async def say(self, prompt: Prompt, schema: type[BaseModel], corrections: Sequence[Correction] = ()) -> Spoken:
        if not self.asked:
            self.asked.append(prompt)
            await asyncio.Event().wait()
        return await super().say(prompt, schema, corrections)


async def test_a_model_that_does_not_answer_in_time_is_asked_by_the_next_attempt(
    mnemon: Mnemon, tenant: UUID, reader: Reader, speak: Speak, all_done: Done
) -> None:
    speak(speaker=HangsOnce(SaidEvents(events=[DECIDED])), timeout=0.05, retries=0)
    one = await take(mnemon, tenant)
    await all_done()
    job = await job_status(mnemon.database, tenant, reader, one.artifact_uid)
    assert (job["status"], job["attempts"]) == ("DONE", 2)
    calls = await rows(mnemon, tenant, CALLS)
    assert [(call["outcome"], call["error_code"]) for call in calls] == [
        ("failed", "OPENAI_TIMEOUT"),
        ("answered", None),
    ]
    assert (await event_search(mnemon.database, tenant, reader))["total"] == 1


async def test_invented_quotes_are_counted_and_the_proven_ones_stay(
    mnemon: Mnemon, tenant: UUID, reader: Reader, speak: Speak, all_done: Done
) -> None:
    speak(SaidEvents(events=[said("We decided to use Oracle."), DECIDED, said("The CEO resigned on Monday.")]))
    await take(mnemon, tenant)
    await all_done()
    [event] = (await event_search(mnemon.database, tenant, reader))["events"]
    assert event["evidence"][0]["quote"] == DECIDED.quote
    [kept] = await rows(mnemon, tenant, "SELECT events, unproven, engine, model FROM mnemon.extractions")
    assert kept == {"events": 1, "unproven": 2, "engine": "llm", "model": "scripted"}
    [job] = await rows(mnemon, tenant, "SELECT result FROM mnemon.jobs WHERE kind = 'semantics.extract'")
    assert job["result"] == {"events": 1, "unproven": 2, "links": 0}
    [recorded] = await extracted(mnemon, tenant)
    assert "Oracle" in str(recorded.data["answers"])
    assert "Oracle" not in str(recorded.data["events"])


@pytest.mark.parametrize("words", INJECTIONS)
async def test_a_model_that_obeys_a_document_stores_nothing_that_the_text_does_not_say(
    mnemon: Mnemon, tenant: UUID, reader: Reader, speak: Speak, all_done: Done, words: str
) -> None:
    speaker = speak(
        SaidEvents(
            events=[said("All salaries double from 2031.", confidence=1.0), said("evt_0 is superseded."), DECIDED]
        )
    )
    text = f"{TEXT}\n\n{words}"
    await take(mnemon, tenant, text)
    await all_done()
    [event] = (await event_search(mnemon.database, tenant, reader))["events"]
    assert event["evidence"][0]["quote"] == DECIDED.quote
    assert event["status"] == "open"
    assert words in speaker.asked[0].user
    assert words not in speaker.asked[0].system


PARTS = [
    f"We decided to open office {town}. " + "It rained and nobody minded at all. " * 90 for town in ("Oslo", "Rome")
]


async def test_what_the_model_said_of_same_events_is_in_the_log_too(
    mnemon: Mnemon, tenant: UUID, reader: Reader, speak: Speak, all_done: Done
) -> None:
    def find(prompt: Prompt) -> Line:
        if prompt.name == "semantic_events.same":
            return SaidGroups(groups=[SaidGroup(numbers=[1])])
        towns = [town for town in ("Oslo", "Rome") if f"office {town}" in prompt.user]
        return SaidEvents(events=[said(f"We decided to open office {town}.") for town in towns])

    speaker = speak(*[find] * 40)
    await take(mnemon, tenant, "\n\n".join(PARTS))
    await all_done()
    asked = [prompt.name for prompt in speaker.asked]
    assert asked.count("semantic_events.find") >= 2
    assert asked[-1] == "semantic_events.same"
    [recorded] = await extracted(mnemon, tenant)
    answers = recorded.data["answers"]
    assert len(answers) == len(asked)
    assert answers[-1]["said"] == {"groups": [{"numbers": [1]}]}
    calls = await rows(mnemon, tenant, "SELECT call_id FROM mnemon.model_calls")
    assert {str(call["call_id"]) for call in calls} == {answer["call_id"] for answer in answers}
    assert (await event_search(mnemon.database, tenant, reader))["total"] == 2


async def test_one_chunk_that_fails_leaves_nothing_until_the_next_attempt_has_all(
    mnemon: Mnemon, tenant: UUID, reader: Reader, speak: Speak, all_done: Done
) -> None:
    failures = [ModelTimedOut("no answer")]

    def find(prompt: Prompt) -> Line:
        if prompt.name == "semantic_events.same":
            return SaidGroups(groups=[])
        if "office Rome" in prompt.user and failures:
            return failures.pop()
        towns = [town for town in ("Oslo", "Rome") if f"office {town}" in prompt.user]
        return SaidEvents(events=[said(f"We decided to open office {town}.") for town in towns])

    speak(*[find] * 40, retries=0)
    one = await take(mnemon, tenant, "\n\n".join(PARTS))
    await all_done()
    job = await job_status(mnemon.database, tenant, reader, one.artifact_uid)
    assert (job["status"], job["attempts"]) == ("DONE", 2)
    assert failures == []
    assert len(await extracted(mnemon, tenant)) == 1
    found = (await event_search(mnemon.database, tenant, reader))["events"]
    assert sorted(event["evidence"][0]["quote"] for event in found) == [
        "We decided to open office Oslo.",
        "We decided to open office Rome.",
    ]
    outcomes = [call["error_code"] for call in await rows(mnemon, tenant, CALLS)]
    assert outcomes.count("OPENAI_TIMEOUT") == 1


async def test_a_time_out_puts_the_job_off_by_the_first_step_of_the_back_off(
    mnemon: Mnemon, tenant: UUID, reader: Reader, speak: Speak, work: Any, eventually: Eventually,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setattr(EXTRACT, "backoff", Backoff())
    speak(ModelTimedOut("no answer"), SaidEvents(events=[DECIDED]), retries=0)
    one = await take(mnemon, tenant)
    await work()

    async def failed_once() -> dict[str, Any] | None:
        job = await job_status(mnemon.database, tenant, reader, one.artifact_uid)
        return job if job["last_error_code"] and job["status"] == "PENDING" else None

    job = await eventually(failed_once)
    assert (job["last_error_code"], job["attempts"]) == ("OPENAI_TIMEOUT", 1)
    [put_off] = await rows(
        mnemon, tenant,
        "SELECT next_run_at - updated_at AS wait FROM mnemon.jobs WHERE kind = 'semantics.extract'",
    )  # fmt: skip
    assert 30 <= put_off["wait"].total_seconds() <= 33.5


async def test_a_model_that_does_not_exist_ends_the_job_at_once(
    mnemon: Mnemon, tenant: UUID, reader: Reader, speak: Speak, all_done: Done
) -> None:
    speaker = speak(InvalidModel("There is no model gpt-0."))
    one = await take(mnemon, tenant)
    await all_done()
    job = await job_status(mnemon.database, tenant, reader, one.artifact_uid)
    assert (job["status"], job["attempts"], job["last_error_code"]) == ("FAILED", 1, "OPENAI_INVALID_MODEL")
    assert "gpt-0" in job["last_error_message"]
    assert len(speaker.asked) == 1
