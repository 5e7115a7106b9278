"""Who may read a file and how long it is kept is said by its sender, whichever way it comes in."""

from typing import Any
from uuid import UUID

import httpx
import pytest

from mnemon.app import Mnemon
from mnemon.documents.intake.origin import Origin
from mnemon.documents.intake.receive import accept
from mnemon.documents.library import document_by_id
from mnemon.errors import InvalidRequest
from mnemon.log.events import Actor
from tests.api.conftest import Person
from tests.documents.conftest import Ingested, Upload, rows

TEXT = "Decision: We will buy the zeppelin factory in Friedrichshafen."
ADA, BEN = Actor("human", "user:ada"), Actor("human", "user:ben")
TERMS = "SELECT doc_id, visibility_scope, readers, sensitivity, retention_policy, owner FROM mnemon.documents"


async def take(mnemon: Mnemon, tenant: UUID, actor: Actor, text: str = TEXT, **said: Any) -> Any:
    incoming = mnemon.files.receive(tenant, "minutes.txt")
    received = incoming.complete(text.encode())
    return await accept(mnemon.log, mnemon.files, tenant, actor, received, Origin(**said))


async def test_an_upload_says_who_may_read_it_and_how_long_it_is_kept(
    ingested: Ingested, client: httpx.AsyncClient, user: Person, admin: Person, mnemon: Mnemon, tenant: UUID
) -> None:
    told = await ingested(
        TEXT, "secret plan.txt", title="Zeppelins", visibility_scope="me", sensitivity="sensitive",
        retention_policy="1y", document_type="note", author="Ada Lovelace", participants="Ada, Ben",
        written_at="2026-03-02",
    )  # fmt: skip
    path = f"/v1/documents/{told['doc_id']}"
    shown = (await client.get(path, headers=user.headers)).json()
    assert (shown["visibility_scope"], shown["sensitivity"], shown["retention_policy"]) == ("me", "sensitive", "1y")
    assert (shown["document_type"], shown["authors"], shown["owner"]) == (
        "note",
        ["Ada Lovelace"],
        f"user:{user.user_id}",
    )
    assert shown["written_at"].startswith("2026-03-02")
    [revision] = await rows(mnemon, tenant, "SELECT participants FROM mnemon.document_revisions")
    assert revision["participants"] == ["Ada", "Ben"]

    assert (await client.get(path, headers=admin.headers)).status_code == 404
    assert (await client.get("/v1/documents", headers=admin.headers)).json()["total"] == 0


async def test_an_upload_that_says_nothing_is_for_everyone_and_for_ever(
    upload: Upload, user: Person, mnemon: Mnemon, tenant: UUID
) -> None:
    await upload(TEXT)
    [row] = await rows(mnemon, tenant, TERMS)
    assert (row["visibility_scope"], row["readers"], row["retention_policy"]) == ("org", None, "forever")
    assert row["owner"] == f"user:{user.user_id}"


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"visibility_scope": "all"}, "Invalid visibility_scope: all"),
        ({"document_type": "song"}, "Invalid document_type: song"),
        ({"retention_policy": "custom"}, "retain_until goes with"),
        ({"visibility_scope": "org", "readers": "user:ben"}, "readers go with"),
    ],
)
async def test_an_upload_that_says_what_cannot_be_is_refused(
    upload: Upload, mnemon: Mnemon, tenant: UUID, fields: dict[str, str], says: str
) -> None:
    answer = await upload(TEXT, **fields)
    assert answer.status_code == 422 and says in answer.text
    assert await rows(mnemon, tenant, TERMS) == []


async def test_the_same_private_file_of_two_people_is_two_documents_and_tells_neither_of_the_other(
    mnemon: Mnemon, tenant: UUID
) -> None:
    first = await take(mnemon, tenant, ADA, visibility_scope="me")
    second = await take(mnemon, tenant, BEN, visibility_scope="me")
    open_to_all = await take(mnemon, tenant, BEN, visibility_scope="org")
    assert len({first.doc_id, second.doc_id, open_to_all.doc_id}) == 3
    # Who says nothing leaves their own as it is.
    assert (await take(mnemon, tenant, ADA)).doc_id == first.doc_id


async def test_an_owner_says_otherwise_by_sending_it_again(mnemon: Mnemon, tenant: UUID) -> None:
    source = {"source_uri": "file:///plans/zeppelin.txt", "source_type": "file"}
    first = await take(mnemon, tenant, ADA, **source, readers=("user:ben",), retention_policy="1y")
    assert (await take(mnemon, tenant, BEN, "Another text.", **source, visibility_scope="org")).doc_id == first.doc_id
    [row] = await rows(mnemon, tenant, TERMS)
    assert (row["visibility_scope"], row["readers"]) == ("custom", ["user:ada", "user:ben"]), "it is not Ben's to open"
    await take(mnemon, tenant, ADA, "A third text.", **source, visibility_scope="org")
    [row] = await rows(mnemon, tenant, TERMS)
    assert (row["visibility_scope"], row["readers"], row["retention_policy"]) == ("org", None, "1y")


async def test_who_may_not_read_the_document_of_a_source_has_one_of_their_own_and_learns_nothing(
    mnemon: Mnemon, tenant: UUID
) -> None:
    source = {"source_uri": "file:///plans/zeppelin.txt", "source_type": "file"}
    kept = await take(mnemon, tenant, ADA, **source, visibility_scope="me")
    own = await take(mnemon, tenant, BEN, "Another text.", **source, visibility_scope="me")
    assert own.doc_id != kept.doc_id and own.dedup == "new"
    async with mnemon.database.transaction(tenant) as tx:
        shown = await document_by_id(tx, own.doc_id)
    assert shown.source_uri == source["source_uri"], "as if nobody else had one"
    # Each adds to their own from then on, also once the other's is for all.
    assert (await take(mnemon, tenant, BEN, "A third text.", **source)).doc_id == own.doc_id
    assert (await take(mnemon, tenant, ADA, "A fourth text.", **source, visibility_scope="org")).doc_id == kept.doc_id
    assert (await take(mnemon, tenant, BEN, "A fifth text.", **source)).doc_id == own.doc_id


async def test_a_time_that_is_over_is_refused(mnemon: Mnemon, tenant: UUID, upload: Upload) -> None:
    answer = await upload(TEXT, retain_until="2020-01-01")
    assert answer.status_code == 422 and "is over" in answer.text
    with pytest.raises(InvalidRequest, match="visibility_scope custom needs readers"):
        await take(mnemon, tenant, ADA, visibility_scope="custom")
