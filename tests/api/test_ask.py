"""Search, ask and evidence over REST: the caller's tenant only, streamed where asked for."""

import json
from uuid import UUID

import httpx
import pytest

from mnemon.app import Mnemon
from mnemon.db.database import Database
from mnemon.settings import Settings
from tests.documents.sample_chunks import put

from .conftest import Person

PASSAGES = ["The board approved the budget of 40,000 euros on 3 May.", "The violin concert was moved to June."]
QUESTION = "When did the board approve the budget?"


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return settings.model_copy(update={"embedder": "none"})


@pytest.fixture
async def revision(database: Database, tenant: UUID) -> UUID:
    return (await put(database, tenant, PASSAGES, title="Minutes", tags=["board"]))[1]


def steps(answer: httpx.Response) -> list[tuple[str, dict[str, object]]]:
    messages = [message.split("\n") for message in answer.text.strip().split("\n\n")]
    return [(name.removeprefix("event: "), json.loads(data.removeprefix("data: "))) for name, data in messages]


@pytest.mark.parametrize("prefix", ["/v1", "/api"])
async def test_a_search_gives_passages_with_their_places(
    client: httpx.AsyncClient, user: Person, revision: UUID, prefix: str
) -> None:
    asked = {"query": "budget", "tag": "board", "explain": "true"}
    answer = await client.get(f"{prefix}/search", params=asked, headers=user.headers)
    assert answer.status_code == 200, answer.text
    page = answer.json()
    assert (page["total"], page["mode"], page["filters"]) == (2, "lexical", {"tag": "board"})
    hit = page["items"][0]
    assert (hit["text"], hit["doc_version_id"], hit["title"]) == (PASSAGES[0], str(revision), "Minutes")
    assert hit["explanation"]["words"]["budget"]["times"] == 1


@pytest.mark.parametrize(("path", "status"), [("/v1/ask", 422), ("/v1/memory/objects", 400)])
async def test_a_body_of_no_named_type_is_told_which_header_is_missing(
    client: httpx.AsyncClient, user: Person, path: str, status: int
) -> None:
    untold = await client.post(path, content=b'{"question": "When?"}', headers=user.headers)
    assert (untold.status_code, "has no Content-Type: send the header" in untold.json()["error"]) == (status, True)
    headers = user.headers | {"Content-Type": "application/x-www-form-urlencoded"}
    form = await client.post(path, content=b'{"question": "When?"}', headers=headers)
    assert (form.status_code, "Content-Type: application/json" in form.json()["error"]) == (status, True)


async def test_an_answers_links_open_their_quotes(client: httpx.AsyncClient, user: Person, revision: UUID) -> None:
    answer = (await client.post("/v1/ask", json={"question": QUESTION}, headers=user.headers)).json()
    assert (answer["outcome"], answer["text"]) == ("answered", PASSAGES[0])
    for citation in answer["sentences"][0]["citations"]:
        opened = (await client.get(citation["link"], headers=user.headers)).json()
        assert opened["quote"] == citation["quote"]
        assert opened["after"].strip() == PASSAGES[1]
        assert opened["version_number"] == 1


@pytest.mark.parametrize("by_header", [True, False])
async def test_the_answer_can_be_streamed(
    client: httpx.AsyncClient, user: Person, revision: UUID, by_header: bool
) -> None:
    accept = {"Accept": "text/event-stream"} if by_header else {}
    body = {"question": QUESTION} | ({} if by_header else {"stream": True})
    answer = await client.post("/v1/ask", json=body, headers=user.headers | accept)
    assert answer.headers["content-type"].startswith("text/event-stream")
    names = [name for name, _ in steps(answer)]
    assert names == ["evidence", "sentence", "done"]
    assert steps(answer)[-1][1]["outcome"] == "answered"


async def test_a_refusal_is_streamed_with_its_near_misses(
    client: httpx.AsyncClient, user: Person, revision: UUID
) -> None:
    body = {"question": "Which submarine did the Peruvian navy sell to the board?", "stream": True}
    answer = await client.post("/v1/ask", json=body, headers=user.headers)
    refusal = dict(steps(answer))["refusal"]
    assert refusal["near_misses"]


async def test_others_see_nothing_of_it(
    client: httpx.AsyncClient, mnemon: Mnemon, other_tenant: UUID, revision: UUID
) -> None:
    from mnemon.identity.roles import Role

    from .conftest import person

    stranger = await person(mnemon, other_tenant, Role.ADMIN)
    search = await client.get("/v1/search", params={"query": "budget"}, headers=stranger.headers)
    assert search.json()["items"] == []
    for filters in ({"doc_version_id": str(revision)}, {"as_of": "2099-01-01"}):
        found = await client.get("/v1/search", params={"query": "budget", **filters}, headers=stranger.headers)
        assert found.json()["items"] == []
    answer = await client.post("/v1/ask", json={"question": QUESTION}, headers=stranger.headers)
    assert answer.json()["outcome"] == "refused"
    opened = await client.get(f"/v1/evidence/{revision}/0-10", headers=stranger.headers)
    assert opened.status_code == 404


@pytest.mark.parametrize("body", [{}, {"question": ""}, {"question": "   ", "stream": True}, {"question": "x", "y": 1}])
async def test_a_question_that_is_none_is_refused(
    client: httpx.AsyncClient, user: Person, body: dict[str, object]
) -> None:
    answer = await client.post("/v1/ask", json=body, headers=user.headers)
    assert (answer.status_code, answer.json()["error_code"]) == (422, "INVALID_REQUEST")


async def test_an_odd_date_is_refused_by_name(client: httpx.AsyncClient, user: Person) -> None:
    answer = await client.get("/v1/search", params={"query": "x", "from_date": "May"}, headers=user.headers)
    assert (answer.status_code, "'May'" in answer.json()["error"]) == (422, True)


async def test_search_and_ask_work_while_no_worker_runs(
    client: httpx.AsyncClient, user: Person, mnemon: Mnemon, revision: UUID
) -> None:
    sent = await client.post("/v1/ingest", files={"file": ("new.txt", b"A new budget.")}, headers=user.headers)
    run = (await client.get(f"/v1/ingestion-runs/{sent.json()['run_id']}", headers=user.headers)).json()
    assert run["status"] == "queued"
    search = await client.get("/v1/search", params={"query": "budget"}, headers=user.headers)
    assert [hit["doc_version_id"] for hit in search.json()["items"]] == [str(revision)] * 2
    answer = await client.post("/v1/ask", json={"question": QUESTION}, headers=user.headers)
    assert answer.json()["outcome"] == "answered"


async def test_answers_have_exactly_the_fields_that_the_openapi_document_names(
    client: httpx.AsyncClient, user: Person, revision: UUID
) -> None:
    schemas = (await client.get("/openapi.json")).json()["components"]["schemas"]
    found = await client.get("/v1/search", params={"query": "budget", "explain": "true"}, headers=user.headers)
    answer = (await client.post("/v1/ask", json={"question": QUESTION}, headers=user.headers)).json()
    (sentence,) = answer["sentences"]
    evidence = (await client.get(sentence["citations"][0]["link"], headers=user.headers)).json()
    hit = found.json()["items"][0]
    shown = {
        "PassagesFound": found.json(), "PassageHit": hit, "Snippet": hit["snippet"], "Explanation": hit["explanation"],
        "Answered": answer, "ProvenSentence": sentence, "Citation": sentence["citations"][0],
        "OpenedEvidence": evidence,
    }  # fmt: skip
    for name, value in shown.items():
        assert value.keys() == schemas[name]["properties"].keys() == set(schemas[name]["required"]), name
