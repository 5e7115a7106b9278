"""The demo's part about documents: take a small company's files in, ask, refuse, and open an old version."""

import time
from typing import Any

from mnemon.cli.demonstration.demo_stage import DemoClient, result, step
from mnemon.cli.output import counted, one_line
from mnemon.documents.samples import sample_corpus

DECIDED = "What did we decide about pricing?"
QUESTIONS = ("How long are bookings kept?", "Who revoked the leaked key?", "Which payment provider do we use?")
UNANSWERABLE = "How many people work in the Berlin office?"
POLICY = "file:///policy/data-retention.pdf"


async def take_in(caller: DemoClient) -> dict[str, Any]:
    """The whole corpus; the policy twice, as one document that is replaced. Gives that document."""
    corpus = sample_corpus()
    policies = sorted((corpus / "policy").iterdir())
    others = sorted(path for path in corpus.rglob("*") if path.is_file() and path not in policies)
    step("Take in", "half a year of a small company: minutes, mails, a contract, a policy …")
    began = time.perf_counter()
    await caller.upload(others)
    for policy in policies:
        accepted = await caller.upload([policy], source_uri=POLICY, title="Data retention policy")
        runs = await caller.until_read()
    failed = [run["error"] for run in runs["items"] if run["status"] != "succeeded"]
    assert not failed, failed
    chunks = sum(run["stats"]["chunks_created"] for run in runs["items"])
    seconds = time.perf_counter() - began
    result(
        f"{counted(runs['total'], 'file')} became {counted(chunks, 'passage')} in {seconds:.0f} s",
        files=runs["total"], passages=chunks, seconds=seconds,
    )  # fmt: skip
    again = await caller.upload([policies[-1]], source_uri=POLICY)
    result(f"{policies[-1].name} once more: {again['status']}, {again['reason']}")
    document: dict[str, Any] = await caller.get(f"/v1/documents/{accepted['doc_id']}")
    result(
        f"{policies[0].name} and {policies[1].name} are one document: version {document['version_number']} is active, "
        "version 1 stays readable",
        doc_id=document["doc_id"],
    )
    return document


async def ask(caller: DemoClient, question: str, **filters: Any) -> dict[str, Any]:
    """Ask and tell the answer with its citations, or the refusal with what came nearest."""
    step("Ask:", question if not filters else f"{question} (of version 1)")
    answer: dict[str, Any] = await caller.post("/v1/ask", {"question": question, **filters})
    if answer["refusal"]:
        _tell_refusal(answer["refusal"])
        return answer
    number = 0
    for sentence in answer["sentences"]:
        marks = "".join(f"[{number + place}]" for place in range(1, len(sentence["citations"]) + 1))
        note = f"{sentence['note']} " if sentence.get("note") else ""
        result(f"{note}{one_line(sentence['text'])} {marks}", citations=sentence["citations"])
        for citation in sentence["citations"]:
            number += 1
            result(f"[{number}] {_where(citation)}")
    return answer


def _where(citation: dict[str, Any]) -> str:
    page = f", page {citation['first_page']}" if citation["first_page"] else ""
    heading = f", “{citation['headings'][-1]}”" if citation["headings"] else ""
    return (
        f"{citation['title']}, version {citation['version_number']}{page}{heading}, "
        f"{citation['start']}-{citation['end']}"
    )


def _tell_refusal(refusal: dict[str, Any]) -> None:
    searched = refusal["searched"]
    unknown = f"; none has {', '.join(searched['unknown_words'])}" if searched["unknown_words"] else ""
    result(f"No answer. {refusal['message']}", refusal=refusal)
    result(f"{counted(searched['chunks'], 'passage')} searched{unknown}. What came nearest:")
    for miss in refusal["near_misses"]:
        result(f"{miss['title']}: “{one_line(miss['snippet'], 110)}”")


async def open_old_version(caller: DemoClient, document: dict[str, Any]) -> None:
    """A citation of a version that was replaced still opens the very words."""
    versions = await caller.get(f"/v1/documents/{document['doc_id']}/versions")
    old = next(version for version in versions if version["version_number"] == 1)
    answer = await ask(caller, QUESTIONS[0], doc_version_id=old["doc_version_id"])
    citation = answer["sentences"][0]["citations"][0]
    opened = await caller.get(citation["link"])
    assert opened["quote"] == citation["quote"], "an old citation opens other words"
    state = "active" if opened["is_active"] else "replaced"
    result(f"GET {citation['link']} still opens it: {state}, page {opened['pages'][0]}, the same words", opened=opened)
