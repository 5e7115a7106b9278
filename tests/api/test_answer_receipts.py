"""The receipt of an answer: without Mnemon it can be checked that the answer was given, with these very citations."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx
import pytest

from mnemon.app import Mnemon
from mnemon.settings import Settings
from tests.documents.sample_chunks import put
from tests.log.offline import run

from .conftest import Person

PASSAGES = ["The board approved the budget of 40,000 euros on 3 May.", "The violin concert was moved to June."]
Check = Callable[..., tuple[int, str]]


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(home=tmp_path, embedder="none")


@pytest.fixture
async def answered(client: httpx.AsyncClient, mnemon: Mnemon, tenant: UUID, user: Person) -> dict[str, Any]:
    await put(mnemon.database, tenant, PASSAGES)
    asked = {"question": "When did the board approve the budget?"}
    answer: dict[str, Any] = (await client.post("/v1/ask", json=asked, headers=user.headers)).json()
    assert answer["outcome"] == "answered", answer
    return answer


@pytest.fixture
async def check(
    client: httpx.AsyncClient, mnemon: Mnemon, tenant: UUID, user: Person, answered: dict[str, Any], tmp_path: Path
) -> Check:
    path = f"/v1/answers/{answered['query_id']}/receipt"
    early = await client.get(path, headers=user.headers)
    assert (early.status_code, early.json()["error_code"]) == (404, "NOTHING_TO_ATTEST")
    signed = await mnemon.integrity.checkpoint(tenant)
    kept = tmp_path / "receipt.json"
    kept.write_text((await client.get(path, headers=user.headers)).text)
    text = tmp_path / "text.txt"
    text.write_text("\n\n".join(PASSAGES))
    revision = answered["sentences"][0]["citations"][0]["doc_version_id"]

    def checked(answer: dict[str, Any], *options: str, receipt: str | None = None) -> tuple[int, str]:
        shown = tmp_path / "answer.json"
        shown.write_text(json.dumps(answer))
        if receipt is not None:
            kept.write_text(receipt)
        given = options or ("--text", f"{revision}={text}")
        return run("answer", shown, "--receipt", kept, "--key", signed.public_key, *given)

    return checked


async def test_an_answer_holds_with_its_receipt_and_a_changed_one_does_not(
    check: Check, answered: dict[str, Any], tmp_path: Path
) -> None:
    assert check(answered) == (0, "all holds\n")
    assert "were not compared: give --text" in check(answered, "--text", f"{UUID(int=1)}={tmp_path / 'text.txt'}")[1]
    cited = answered["sentences"][0]["citations"][0]
    moved = json.loads(json.dumps(answered).replace(f'"start": {cited["start"]}', f'"start": {cited["start"] + 1}'))
    assert check(moved)[0] == 1 and "the log does not tell of it" in check(moved)[1]
    worded = json.loads(json.dumps(answered).replace("40,000", "90,000"))
    assert "the text says something else there" in check(worded)[1]
    shortened = {**answered, "sentences": []}
    assert "citations that the answer leaves out" in check(shortened)[1]
    other = {**answered, "query_id": str(UUID(int=1))}
    assert "about another answer" in check(other)[1]


async def test_a_forged_receipt_does_not_hold(check: Check, answered: dict[str, Any], tmp_path: Path) -> None:
    receipt = (tmp_path / "receipt.json").read_text()
    told = json.loads(receipt)
    told["event"]["payload"] = told["event"]["payload"].replace("answered", "refused!")
    assert "payload is not the one" in check(answered, receipt=json.dumps(told))[1]
    assert check(answered, "--key", "ab" * 32, receipt=receipt)[0] == 1


async def test_an_answer_that_was_never_given_has_no_receipt(client: httpx.AsyncClient, user: Person) -> None:
    answer = await client.get(f"/v1/answers/{UUID(int=1)}/receipt", headers=user.headers)
    assert answer.status_code == 404
