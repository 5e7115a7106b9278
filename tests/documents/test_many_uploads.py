"""Several files in one call: the good ones are taken in, and every one is answered for."""

from collections.abc import AsyncIterator
from typing import Any
from uuid import UUID

import httpx
import psycopg
import pytest

from mnemon.app import Mnemon
from mnemon.documents.intake import receive as intake
from mnemon.documents.intake.arrival import Outcome
from tests.api.conftest import Person
from tests.documents.conftest import Ingested, RunReaches, Work, counts, files_below

TEXT = "Minutes of the board.\n\nThe budget was approved."
BOUNDARY = {"Content-Type": "multipart/form-data; boundary=xx"}
PART = b'--xx\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\n'


async def test_many_files_in_one_call_each_have_an_outcome(
    client: httpx.AsyncClient, user: Person, ingested: Ingested
) -> None:
    await ingested(TEXT)
    files = [("file", ("a.txt", b"alpha")), ("file", ("b.txt", TEXT.encode())), ("file", ("c.exe", b"MZ"))]
    answer = await client.post("/v1/ingest", files=files, data={"tags": "x"}, headers=user.headers)
    assert answer.status_code == 207
    told = answer.json()["files"]
    assert [(one["filename"], one["status"]) for one in told] == [
        ("a.txt", "queued"),
        ("b.txt", "skipped"),
        ("c.exe", "refused"),
    ]
    assert told[2]["error_code"] == "UNSUPPORTED_FILE"


async def test_a_file_that_is_too_large_does_not_keep_the_others_out(
    client: httpx.AsyncClient, user: Person, mnemon: Mnemon, tenant: UUID, work: Work, run_reaches: RunReaches
) -> None:
    big = b"x" * (3 << 20)
    files = [
        ("file", ("a.txt", b"alpha")), ("file", ("big.txt", big)), ("file", ("empty.txt", b"")),
        ("file", ("just.txt", big[: (1 << 20) + 1])), ("file", ("b.txt", b"beta")),
    ]  # fmt: skip
    answer = await client.post("/v1/ingest", files=files, data={"tags": "x"}, headers=user.headers)
    assert answer.status_code == 207
    told = answer.json()["files"]
    assert [(one["filename"], one.get("error_code")) for one in told] == [
        ("a.txt", None),
        ("big.txt", "FILE_TOO_LARGE"),
        ("empty.txt", "EMPTY_FILE"),
        ("just.txt", "FILE_TOO_LARGE"),
        ("b.txt", None),
    ]
    assert told[1]["status"] == "refused" and "over the limit of 1 MB" in told[1]["reason"]
    assert {one.read_bytes() for one in files_below(mnemon.files.uploads)} == {b"alpha", b"beta"}
    await work()
    for one in (told[0], told[4]):
        assert (await run_reaches(one["run_id"], "succeeded", "failed"))["status"] == "succeeded"
    assert (await counts(mnemon, tenant))["documents"] == 2


async def test_files_that_are_all_too_large_leave_nothing(
    client: httpx.AsyncClient, user: Person, mnemon: Mnemon
) -> None:
    files = [("file", (name, b"x" * (2 << 20))) for name in ("a.txt", "b.txt")]
    answer = await client.post("/v1/ingest", files=files, headers=user.headers)
    assert answer.status_code == 207
    assert {one["error_code"] for one in answer.json()["files"]} == {"FILE_TOO_LARGE"}
    assert files_below(mnemon.files.uploads) == []


async def test_a_form_of_unknown_length_with_a_file_that_is_too_large_is_refused_whole(
    client: httpx.AsyncClient, user: Person, mnemon: Mnemon
) -> None:
    async def pieces() -> AsyncIterator[bytes]:
        yield PART + b"alpha\r\n" + PART
        for _ in range(3):
            yield b"x" * (1 << 20)
        yield b"\r\n--xx--\r\n"

    answer = await client.post("/v1/ingest", content=pieces(), headers=BOUNDARY | user.headers)
    assert (answer.status_code, answer.json()["error_code"]) == (413, "FILE_TOO_LARGE")
    assert files_below(mnemon.files.uploads) == []


async def test_a_database_that_fails_for_one_of_many_files_is_told_of_that_one(
    client: httpx.AsyncClient, user: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    settle, failing = intake.settle, {1}
    calls = iter(range(9))

    async def fail(*given: Any) -> Outcome:
        if next(calls) in failing:
            raise psycopg.OperationalError("the server closed the connection")
        return await settle(*given)

    monkeypatch.setattr(intake, "settle", fail)
    files = [("file", (f"{name}.txt", name.encode())) for name in ("alpha", "beta", "gamma")]
    answer = await client.post("/v1/ingest", files=files, headers=user.headers)
    assert answer.status_code == 207
    assert [one.get("error_code") for one in answer.json()["files"]] == [None, "DATABASE_UNAVAILABLE", None]
    failing |= set(range(9))
    nothing = await client.post("/v1/ingest", files=files, headers=user.headers)
    assert (nothing.status_code, nothing.json()["error_code"]) == (503, "DATABASE_UNAVAILABLE")
