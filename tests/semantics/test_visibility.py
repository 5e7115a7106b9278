"""Claims about who sees an artifact, wherever its words could turn up, and about how long it is kept."""

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest

from mnemon.app import Mnemon
from mnemon.ask.answer import Asking
from mnemon.documents.access import ANYONE, Reader, open_as, read_as
from mnemon.documents.artifact_names import document_of_uid
from mnemon.documents.listing import list_documents
from mnemon.errors import Conflict, InvalidRequest, NotAllowed, NotFound
from mnemon.log.events import Actor
from mnemon.semantics.artifacts import Ingested, NewArtifact, ingest_artifact
from mnemon.semantics.inputs import EventFilters
from mnemon.semantics.lens import SEMANTICS
from mnemon.semantics.retention import EXPIRE
from mnemon.semantics.search.query import event_get, event_list_for_revision, event_search
from mnemon.semantics.search.revision_changes import changes_between
from mnemon.semantics.search.views import open_commitments, people_topics
from mnemon.work.enqueue import enqueue
from mnemon.work.kinds import NoPayload
from tests.api.conftest import Person
from tests.documents.conftest import rows
from tests.semantics.conftest import ADA, BEN

EVE = Actor("human", "user:eve")
Done = Callable[[], Awaitable[None]]
Take = Callable[..., Awaitable[Ingested]]
PAST, FUTURE = datetime(2020, 1, 1, tzinfo=UTC), datetime(2999, 1, 1, tzinfo=UTC)
SECRET = "Decision: We will buy the zeppelin factory in Friedrichshafen."


@pytest.fixture
def take(mnemon: Mnemon, tenant: UUID) -> Take:
    async def ingest(content: str = SECRET, actor: Actor = ADA, **fields: Any) -> Ingested:
        new = NewArtifact(artifact_type="note", source_system="test", content=content, **fields)
        return await ingest_artifact(mnemon.log, mnemon.files, mnemon.settings, tenant, actor, new)

    return ingest


async def let_pass(mnemon: Mnemon, tenant: UUID, *over: Ingested) -> None:
    """As if the time that these are kept were over."""
    async with mnemon.database.transaction(tenant) as tx:
        await tx.execute(
            "UPDATE mnemon.documents SET retain_until = %s WHERE doc_id = ANY(%s)",
            (PAST, [one.doc_id for one in over]),
        )


async def sees(mnemon: Mnemon, tenant: UUID, actor: Actor | None) -> set[str]:
    """Every way in which the reader can come upon the zeppelins."""
    reader = Reader.of(actor) if actor else ANYONE
    seen = set()
    if (await event_search(mnemon.database, tenant, reader, EventFilters(query="zeppelin")))["total"]:
        seen.add("event search")
    if (await event_search(mnemon.database, tenant, reader, EventFilters(category="Decision")))["events"]:
        seen.add("event list")
    if (await mnemon.searcher.search(tenant, "zeppelin factory", reader=reader)).hits:
        seen.add("search")
    asking: Asking = mnemon.asking
    answer = await asking.ask(tenant, actor or Actor("system", "nobody"), "Who will buy the zeppelin factory?")
    if "zeppelin" in str(answer.as_json()["sentences"]) or (answer.refusal and answer.refusal.near_misses):
        seen.add("ask")
    async with mnemon.database.transaction(tenant) as tx:
        await read_as(tx, reader)
        if (await list_documents(tx)).total:
            seen.add("library")
    return seen


EVERYWHERE = {"event search", "event list", "search", "ask", "library"}


@pytest.mark.parametrize(
    ("scope", "readers", "ada", "ben", "nobody"),
    [
        ("me", (), EVERYWHERE, set(), set()),
        ("custom", ("user:ben",), EVERYWHERE, EVERYWHERE, set()),
        ("team", ("user:eve",), EVERYWHERE, set(), set()),
        ("team", (), EVERYWHERE, EVERYWHERE, EVERYWHERE),
        ("org", (), EVERYWHERE, EVERYWHERE, EVERYWHERE),
    ],
)
async def test_an_artifact_is_seen_by_those_it_is_for_and_by_nobody_else(
    mnemon: Mnemon, tenant: UUID, take: Take, all_done: Done,
    scope: str, readers: tuple[str, ...], ada: set[str], ben: set[str], nobody: set[str],
) -> None:  # fmt: skip
    await take(visibility_scope=scope, readers=readers)
    await all_done()

    assert await sees(mnemon, tenant, ADA) == ada
    assert await sees(mnemon, tenant, BEN) == ben
    assert await sees(mnemon, tenant, None) == nobody


async def test_what_is_not_for_the_reader_looks_as_if_it_were_not_there(
    mnemon: Mnemon, tenant: UUID, take: Take, all_done: Done
) -> None:
    kept = await take()
    await all_done()
    listed = await event_list_for_revision(mnemon.database, tenant, Reader.of(ADA), kept.artifact_uid)
    event_id = listed["events"][0]["event_id"]

    ben = Reader.of(BEN)
    with pytest.raises(NotFound):
        await event_get(mnemon.database, tenant, ben, event_id)
    with pytest.raises(NotFound):
        await event_list_for_revision(mnemon.database, tenant, ben, kept.artifact_uid)
    found = await event_search(mnemon.database, tenant, ben, EventFilters(artifact_uid=kept.artifact_uid))
    assert found["events"] == []
    async with mnemon.database.transaction(tenant) as tx:
        with pytest.raises(NotFound):
            await open_as(tx, ben, kept.doc_id)


async def test_views_and_changes_show_nothing_that_is_for_others_alone(
    mnemon: Mnemon, tenant: UUID, take: Take, all_done: Done
) -> None:
    kept = await take("Ada Byron will buy the zeppelin by 9 March 2030.", source_id="p")
    await take("Ada Byron will buy the zeppelin by 16 March 2030.", source_id="p")
    await all_done()
    database, ada, ben = mnemon.database, Reader.of(ADA), Reader.of(BEN)
    for view in (open_commitments, people_topics):
        assert (await view(database, tenant, ada))["total"] == 1
        assert (await view(database, tenant, ben))["total"] == 0
    assert (await changes_between(database, tenant, ada, kept.artifact_uid))["changed"]
    with pytest.raises(NotFound):
        await changes_between(database, tenant, ben, kept.artifact_uid)


async def test_a_private_decision_ends_nothing_that_others_see(
    mnemon: Mnemon, tenant: UUID, take: Take, all_done: Done
) -> None:
    march, april = datetime(2026, 3, 2, tzinfo=UTC), datetime(2026, 4, 2, tzinfo=UTC)
    await take("We decided to use MySQL for the event store.", BEN, ts=march, visibility_scope="org")
    await take("We decided to use Postgres instead of MySQL for the event store.", ts=april)
    await all_done()
    for actor, seen in ((ADA, 2), (BEN, 1)):
        found = await event_search(mnemon.database, tenant, Reader.of(actor), EventFilters(query="MySQL"))
        assert [event["status"] for event in found["events"]] == ["open"] * seen


async def test_a_link_is_shown_to_those_who_see_both_ends(
    mnemon: Mnemon, tenant: UUID, take: Take, all_done: Done
) -> None:
    march, april = datetime(2026, 3, 2, tzinfo=UTC), datetime(2026, 4, 2, tzinfo=UTC)
    later = "We decided to use Postgres instead of MySQL for the event store."
    await take("We decided to use MySQL for the event store.", ts=march, visibility_scope="org")
    await take(later, ts=april, visibility_scope="org", source_id="later")
    await all_done()
    await take(later, ts=april, visibility_scope="me", source_id="later")

    async def links(actor: Actor) -> int:
        reader = Reader.of(actor)
        found = await event_search(mnemon.database, tenant, reader, EventFilters(query="MySQL"))
        [old] = [event for event in found["events"] if "Postgres" not in event["narrative"]]
        return len((await event_get(mnemon.database, tenant, reader, old["event_id"]))["links"])

    assert (await links(ADA), await links(BEN)) == (1, 0)


async def test_a_status_tells_nothing_of_what_its_reader_may_no_longer_see(
    mnemon: Mnemon, tenant: UUID, take: Take, all_done: Done
) -> None:
    march, april = datetime(2026, 3, 2, tzinfo=UTC), datetime(2026, 4, 2, tzinfo=UTC)
    later = "We decided to use Postgres instead of MySQL for the event store."
    await take("We decided to use MySQL for the event store.", ts=march, visibility_scope="org", source_id="earlier")
    await take(later, ts=april, visibility_scope="org", source_id="later")
    await all_done()

    async def status() -> str:
        found = await event_search(mnemon.database, tenant, Reader.of(ADA), EventFilters(all_revisions=True))
        [old] = [event for event in found["events"] if "Postgres" not in event["narrative"]]
        told: str = old["status"]
        return told

    assert await status() == "superseded"
    steps = [("me", (), "open"), ("custom", ("user:ben",), "open"), ("org", (), "superseded")]
    for scope, readers, expected in steps:
        await take(later, ts=april, visibility_scope=scope, readers=readers, source_id="later")
        assert (scope, await status()) == (scope, expected)
    # Whoever reads the earlier one may read the later one: its readers may be fewer.
    await take(later, ts=april, visibility_scope="custom", readers=("user:ben",), source_id="later")
    terms = {"ts": march, "visibility_scope": "me", "source_id": "earlier"}
    await take("We decided to use MySQL for the event store.", **terms)
    assert await status() == "superseded"
    hashed = await mnemon.projector.state_hash(tenant, SEMANTICS.name)
    assert (await mnemon.projector.rebuild(tenant, SEMANTICS.name)).state_hash == hashed


async def test_an_administrator_cannot_read_a_private_document_over_rest(
    mnemon: Mnemon, tenant: UUID, take: Take, all_done: Done, client: Any, admin: Person
) -> None:
    kept = await take()
    await all_done()
    for path in ("", "/versions", "/text", "/structure", "/chunks", "/download"):
        answer = await client.get(f"/v1/documents/{kept.doc_id}{path}", headers=admin.headers)
        assert answer.status_code == 404, path
    answer = await client.get(f"/v1/evidence/{kept.doc_version_id}/0-8", headers=admin.headers)
    assert answer.status_code == 404


async def test_no_page_and_no_answer_to_an_administrator_shows_a_private_document(
    mnemon: Mnemon, tenant: UUID, take: Take, all_done: Done, client: Any, admin: Person
) -> None:
    kept = await take(title="Zeppelin plans", source_id="z-1")
    await all_done()

    async def asked(method: str, path: str) -> Any:
        answer = await client.request(method, path, headers=admin.headers)
        assert not words_of(answer.text), path
        return answer

    def words_of(text: str) -> set[str]:
        return {word for word in ("zeppelin", kept.artifact_uid, kept.revision_id[4:]) if word in text.lower()}

    document, span = f"/documents/{kept.doc_id}", f"/evidence/{kept.doc_version_id}/0-8"
    for path in (document, span, f"/v1/privacy/data?subject_id=document:{kept.doc_id}"):
        assert (await asked("GET", path)).status_code == 404, path
    for act in ("deactivate", "reactivate"):
        assert (await asked("POST", f"/v1{document}/{act}")).status_code == 404, act
    assert (await asked("GET", "/v1/ingestion-runs")).json()["items"] == []
    for path in ("/runs", "/documents", "/search?query=factory", "/"):
        assert (await asked("GET", path)).status_code == 200, path


async def test_the_log_tells_others_that_something_happened_and_not_what(
    mnemon: Mnemon, tenant: UUID, take: Take, all_done: Done, client: Any, admin: Person
) -> None:
    kept = await take()
    shared = await take("Decision: We keep the canteen.", visibility_scope="org")
    await all_done()
    answer = await client.get("/v1/events", params={"limit": 100}, headers=admin.headers)
    assert answer.status_code == 200
    assert "zeppelin" not in answer.text
    assert "canteen" in answer.text
    about = [one for one in answer.json()["events"] if one["data"].get("subject") == f"document:{kept.doc_id}"]
    assert {one["data"].get("withheld") for one in about} == {"not for this reader"}
    assert {one["type"] for one in about} >= {"document.ingested", "semantic.extracted"}
    one = await client.get(f"/v1/events/{about[0]['id']}", headers=admin.headers)
    assert "withheld" in one.json()["event"]["data"]
    assert shared.doc_id != kept.doc_id


async def test_the_pages_show_a_private_document_to_its_reader_alone(
    mnemon: Mnemon, tenant: UUID, take: Take, all_done: Done, client: Any, admin: Person, user: Person
) -> None:
    kept = await take(actor=Actor("human", f"user:{user.user_id}"))
    await all_done()
    pages = (
        f"/documents/{kept.doc_id}",
        f"/evidence/{kept.doc_version_id}/0-8",
        "/documents",
        "/search?query=factory",
    )
    shown = {}
    for person in (user, admin):
        answers = [await client.get(page, headers=person.headers, follow_redirects=True) for page in pages]
        shown[person.email] = [answer.status_code == 200 and "Friedrichshafen" in answer.text for answer in answers]
    assert shown[user.email] == [True, True, False, True]
    assert shown[admin.email] == [False, False, False, False]


async def test_a_private_document_is_listed_on_the_page_of_its_owner_alone(
    mnemon: Mnemon, tenant: UUID, take: Take, all_done: Done, client: Any, admin: Person, user: Person
) -> None:
    await take(actor=Actor("human", f"user:{user.user_id}"), title="Zeppelin plan")
    await all_done()
    listed = {}
    for person in (user, admin):
        listed[person.email] = "Zeppelin plan" in (await client.get("/documents", headers=person.headers)).text
    assert listed == {user.email: True, admin.email: False}


async def test_a_private_document_is_nobodys_personal_data_but_its_readers(
    mnemon: Mnemon, tenant: UUID, take: Take, all_done: Done, client: Any, admin: Person
) -> None:
    kept = await take()
    shared = await take("Decision: We keep the canteen.", visibility_scope="org")
    await all_done()
    path = "/v1/privacy/data"
    private = await client.get(path, params={"subject_id": f"document:{kept.doc_id}"}, headers=admin.headers)
    assert (private.status_code, "zeppelin" in private.text) == (404, False)
    open_to_all = await client.get(path, params={"subject_id": f"document:{shared.doc_id}"}, headers=admin.headers)
    assert (open_to_all.status_code, "canteen" in open_to_all.text) == (200, True)


async def test_what_somebody_asked_is_for_them_alone(
    mnemon: Mnemon, tenant: UUID, take: Take, all_done: Done, client: Any, admin: Person, user: Person
) -> None:
    await take(actor=Actor("human", f"user:{user.user_id}"))
    await all_done()
    question = {"question": "Who will buy the zeppelin factory?"}
    asked = await client.post("/v1/ask", json=question, headers=user.headers)
    assert "zeppelin" in asked.text
    wanted = {"type": "question.asked"}
    mine = await client.get("/v1/events", params=wanted, headers=user.headers)
    assert mine.json()["events"][0]["data"]["question"] == question["question"]
    theirs = await client.get("/v1/events", params=wanted, headers=admin.headers)
    [event] = theirs.json()["events"]
    assert "zeppelin" not in theirs.text
    assert (event["data"]["withheld"], event["data"]["outcome"]) == ("not for this reader", "answered")


async def test_an_export_of_the_log_and_a_receipt_hold_private_words_only_encrypted(
    mnemon: Mnemon, tenant: UUID, take: Take, all_done: Done, client: Any, admin: Person
) -> None:
    await take(title="Zeppelin plan")
    await all_done()
    exported = await client.get("/v1/integrity/export", headers=admin.headers)
    assert exported.status_code == 200
    assert "semantic.extracted" in exported.text
    assert "zeppelin" not in exported.text.lower()
    for name in ("/v1/jobs", "/v1/ingestion-runs"):
        assert "zeppelin" not in (await client.get(name, headers=admin.headers)).text.lower(), name


async def test_subscribers_are_told_what_they_may_read(
    mnemon: Mnemon, tenant: UUID, take: Take, all_done: Done, client: Any, admin: Person
) -> None:
    await take()
    await take("Decision: We keep the canteen.", visibility_scope="org")
    await all_done()
    await client.post("/v1/subscriptions", json={"id": "bot"}, headers=admin.headers)
    polled = await client.get("/v1/subscriptions/bot/poll", params={"limit": 100}, headers=admin.headers)
    assert "canteen" in polled.text
    assert "zeppelin" not in polled.text
    claimed = await client.post("/v1/subscriptions/bot/claim", json={"limit": 100}, headers=admin.headers)
    assert "canteen" in claimed.text
    assert "zeppelin" not in claimed.text


async def test_a_stranger_cannot_add_a_revision_to_a_private_artifact_nor_learn_of_it(
    mnemon: Mnemon, tenant: UUID, take: Take
) -> None:
    private = await take(source_id="page-1")
    own = await take("Decision: We sell everything.", BEN, source_id="page-1", visibility_scope="org")
    # The same answer as if nobody had sent anything of this id.
    assert own.doc_id != private.doc_id
    assert (own.artifact_uid, own.status) == (private.artifact_uid, "new")
    for actor, doc_id in ((ADA, private.doc_id), (BEN, own.doc_id), (EVE, own.doc_id)):
        async with mnemon.database.transaction(tenant) as tx:
            await read_as(tx, Reader.of(actor))
            assert await document_of_uid(tx, own.artifact_uid) == doc_id


async def test_somebody_elses_revision_does_not_change_who_may_read(
    mnemon: Mnemon, tenant: UUID, take: Take, all_done: Done
) -> None:
    await take(source_id="page-1", visibility_scope="custom", readers=("user:ben",))
    await take(SECRET + " Soon.", BEN, source_id="page-1", visibility_scope="org")
    await all_done()
    assert await sees(mnemon, tenant, None) == set()


async def test_expired_artifacts_are_purged_and_the_others_stay(
    mnemon: Mnemon, tenant: UUID, take: Take, all_done: Done, reader: Reader
) -> None:
    custom = {"retention_policy": "custom", "retain_until": FUTURE}
    await let_pass(mnemon, tenant, await take("Decision: We stop the newsletter.", **custom))
    await take("Decision: We keep the newsroom.", **custom)
    await take("Decision: We keep the library.", retention_policy="1y")
    await take("Ada Byron will write the report by 9 March 2026.", retention_policy="until_resolved")
    done = "Ada Byron will send the invoice by 9 March 2026.\n\nAda Byron has sent the invoice."
    await take(done, retention_policy="until_resolved", ts=datetime(2026, 3, 1, tzinfo=UTC))
    await all_done()

    async with mnemon.database.transaction(tenant) as tx:
        await enqueue(tx, EXPIRE, NoPayload())
    await all_done()

    found = await event_search(mnemon.database, tenant, reader, EventFilters(all_revisions=True))
    narratives = " ".join(event["narrative"] for event in found["events"])
    assert "newsletter" not in narratives
    assert "newsroom" in narratives
    assert "library" in narratives
    assert "report" in narratives
    assert "invoice" not in narratives


@pytest.mark.parametrize(
    ("scope", "readers"), [("org", ()), ("custom", ("user:ben", "user:eve"))], ids=["for everyone", "for three"]
)
async def test_nobodys_words_reach_more_readers_than_they_named(
    mnemon: Mnemon, tenant: UUID, take: Take, all_done: Done, scope: str, readers: tuple[str, ...]
) -> None:
    first = await take("Decision: We keep the canteen.", source_id="page-1", visibility_scope=scope, readers=readers)
    with pytest.raises(NotAllowed, match="another source_id"):
        await take(SECRET, BEN, source_id="page-1", visibility_scope="me")
    with pytest.raises(NotAllowed, match="another source_id"):
        await take(SECRET, BEN, source_id="page-1", visibility_scope="custom", readers=("user:ben",))
    await all_done()
    assert not {"search", "event search"} & await sees(mnemon, tenant, ADA)
    again = await take("Decision: We keep the kitchen.", BEN, source_id="page-1", visibility_scope="org")
    assert (again.status, again.artifact_uid) == ("new_revision", first.artifact_uid)


async def test_an_owner_changes_the_readers_also_where_the_content_is_the_same(
    mnemon: Mnemon, tenant: UUID, take: Take, all_done: Done
) -> None:
    await take(source_id="page-1", visibility_scope="org")
    await all_done()
    assert await sees(mnemon, tenant, BEN) == EVERYWHERE

    again = await take(source_id="page-1", visibility_scope="me")
    assert (again.status, again.job_id) == ("unchanged", None)
    assert await sees(mnemon, tenant, BEN) == set()
    assert await sees(mnemon, tenant, ADA) == EVERYWHERE
    # Somebody else who says the same text changes nothing.
    await take(source_id="page-1", visibility_scope="custom", readers=("user:ben",))
    await take(SECRET, BEN, source_id="page-1", visibility_scope="org")
    assert await sees(mnemon, tenant, None) == set()


async def test_readers_are_named_by_their_address_and_strangers_are_refused(
    take: Take, all_done: Done, client: Any, user: Person
) -> None:
    kept = await take(visibility_scope="custom", readers=(user.email.upper(),), title="Zeppelin plans")
    await all_done()
    opened = await client.get(f"/v1/artifacts/{kept.artifact_uid}", headers=user.headers)
    assert (opened.status_code, opened.json()["title"]) == (200, "Zeppelin plans")
    for name in ("nobody@example.org", "Ben", "user:"):
        with pytest.raises(InvalidRequest, match=r"reader|read it"):
            await take(visibility_scope="custom", readers=(name,))


async def test_the_same_terms_again_are_no_event(mnemon: Mnemon, tenant: UUID, take: Take) -> None:
    terms = {"retention_policy": "custom", "retain_until": datetime(2999, 1, 1, 12, tzinfo=UTC)}
    await take(source_id="page-1", **terms)
    before = await rows(mnemon, tenant, "SELECT count(*) AS n FROM mnemon.events")
    await take(source_id="page-1", **terms)
    assert await rows(mnemon, tenant, "SELECT count(*) AS n FROM mnemon.events") == before


async def test_a_time_that_is_over_is_refused_unless_it_holds_already(mnemon: Mnemon, tenant: UUID, take: Take) -> None:
    custom = {"source_id": "page-1", "retention_policy": "custom"}
    with pytest.raises(InvalidRequest, match=r"retain_until 2020-01-01T00:00:00\+00:00 is over"):
        await take(**custom, retain_until=PAST)
    kept = await take(**custom, retain_until=FUTURE)
    with pytest.raises(InvalidRequest, match="is over"):
        await take(**custom, retain_until=PAST)
    await let_pass(mnemon, tenant, kept)
    assert (await take(**custom, retain_until=PAST)).status == "unchanged"


async def test_an_artifact_kept_for_a_year_goes_a_year_after_its_last_revision(
    mnemon: Mnemon, tenant: UUID, take: Take
) -> None:
    old = await take("Decision: We stop the newsletter.", retention_policy="1y")
    await take("Decision: We keep the newsroom.", retention_policy="1y")
    async with mnemon.database.transaction(tenant) as tx:
        await tx.execute(
            "UPDATE mnemon.document_revisions SET created_at = now() - interval '366 days' WHERE doc_version_id = %s",
            (old.doc_version_id,),
        )
    over = await rows(mnemon, tenant, "SELECT doc_id FROM mnemon.documents d WHERE mnemon.is_expired(d)")
    assert [row["doc_id"] for row in over] == [old.doc_id]


async def test_an_artifact_that_cannot_be_purged_keeps_no_other_waiting(
    mnemon: Mnemon, tenant: UUID, take: Take, all_done: Done, reader: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    custom = {"retention_policy": "custom", "retain_until": FUTURE}
    kept = [await take(f"Decision: We stop newsletter number {number}.", **custom) for number in range(3)]
    await let_pass(mnemon, tenant, *kept)
    await all_done()
    stubborn = min(one.doc_id for one in kept)
    purge = mnemon.purge_document

    async def fails(tenant_id: UUID, actor: Actor, doc_id: UUID) -> Any:
        if doc_id == stubborn:
            raise Conflict("It is held back for a court.")
        return await purge(tenant_id, actor, doc_id)

    monkeypatch.setattr(mnemon, "purge_document", fails)
    async with mnemon.database.transaction(tenant) as tx:
        job = await enqueue(tx, EXPIRE, NoPayload())
    await all_done()

    left = await rows(mnemon, tenant, "SELECT doc_id FROM mnemon.documents WHERE purged_at IS NULL")
    assert [row["doc_id"] for row in left] == [stubborn]
    [told] = await rows(mnemon, tenant, f"SELECT status FROM mnemon.jobs WHERE job_id = '{job.job_id}'")
    assert told["status"] == "FAILED", "a job that left something undone says so"
