"""Claims about what few people need: a form for every operation, shared memory, terms, places that are followed."""

import json
import re
from collections.abc import Awaitable, Callable
from html import unescape
from pathlib import Path
from uuid import UUID

import httpx
import pytest
from fastapi.routing import APIRoute

from mnemon.app import Mnemon
from mnemon.documents.jobs import KINDS
from mnemon.doors import declared_operations
from mnemon.identity.roles import Role
from mnemon.log.append.incoming import DECISION, DECISION_TYPE
from mnemon.settings import Settings
from mnemon.web.workbench.bench import WORKBENCH
from mnemon.web.workbench.pages import router
from mnemon.work.worker import Worker
from tests.api.conftest import Person, admin, caller_address, client, mnemon, person, user
from tests.work.conftest import Eventually, eventually, running

__all__ = ["admin", "caller_address", "client", "eventually", "mnemon", "user"]
OWN = {"Origin": "http://127.0.0.1:8787"}
ATTACK = "<img src=x onerror=alert(1)>"
See = Callable[..., Awaitable[str]]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    opened = tmp_path / "opened" / "policies"
    opened.mkdir(parents=True)
    return opened


@pytest.fixture
def settings(tmp_path: Path, folder: Path, tenant: UUID) -> Settings:
    opened = (f"t-{tenant.hex}={folder.parent}", f"another={tmp_path / 'of-others'}")
    return Settings(home=tmp_path / "home", embedder="none", source_folders=opened)


@pytest.fixture
def see(client: httpx.AsyncClient, admin: Person) -> See:
    async def look(path: str, whose: Person = admin, status: int = 200) -> str:
        answer = await client.get(path, headers=whose.headers)
        assert answer.status_code == status, (path, answer.text)
        assert "<img src=x" not in answer.text
        return answer.text

    return look


async def send(client: httpx.AsyncClient, whose: Person, path: str, status: int = 303, **fields: str) -> str:
    answer = await client.post(path, data=fields, headers=whose.headers | OWN)
    assert answer.status_code == status, (path, answer.text)
    return str(answer.headers.get("location", answer.text))


async def test_every_operation_that_only_reads_and_needs_nothing_answers_on_the_workbench(see: See) -> None:
    for group in WORKBENCH.values():
        for one in group:
            if one.read_only and not any(field.is_required() for field in one.input.model_fields.values()):
                assert 'role="alert"' not in await see(f"/workbench/{one.name}?asked=1"), one.name


async def test_every_operation_on_the_workbench_has_a_form_with_all_its_fields(
    client: httpx.AsyncClient, see: See, user: Person
) -> None:
    listed = await see("/workbench")
    for group in WORKBENCH.values():
        for one in group:
            assert f'href="/workbench/{one.name}"' in listed
            page = await see(f"/workbench/{one.name}")
            for name in one.input.model_fields:
                assert name == "cursor" or re.search(rf'<(input|select|textarea)[^>]* name="{name}"', page), (one, name)
            verb = "get" if one.read_only else "post"
            assert f'method="{verb}" action="/workbench/{one.name}"' in page
            wrong = next((name for name in one.input.model_fields if name.endswith("_id")), None)
            if one.read_only and wrong:
                refused = await client.get(f"/workbench/{one.name}", params={wrong: ATTACK, "asked": "1"})
                assert "<img src=x" not in refused.text
    assert 'href="/workbench/lenses.rebuild"' not in await see("/workbench", user)
    assert "You may not do that" in await see("/workbench/lenses.rebuild", user, 403)
    assert len([one for one in router.routes if isinstance(one, APIRoute)]) > sum(map(len, WORKBENCH.values()))


# A page shows all that it answers, beside more.
SHOWN_ON_A_PAGE = {
    "approvals.get", "artifacts.get", "artifacts.revisions", "documents.chunks", "documents.download",
    "documents.named", "documents.picture", "documents.structure", "documents.text", "documents.versions",
    "extractions.status", "ingestion_runs.get", "integrity.export", "mail.passages", "mail.search",
    "redactions.get", "reports.citations", "semantic_events.of_revision", "users.get",
}  # fmt: skip
# A person uploads a file, and purges a document; what is taken from a subscription or left with a witness is a
# program's.
DONE_OTHERWISE = {
    "artifacts.add", "artifacts.delete", "subscriptions.acknowledge", "subscriptions.claim", "subscriptions.poll",
    "subscriptions.reject", "subscriptions.stream", "witness.keep",
}  # fmt: skip


def test_whatever_a_program_may_do_over_rest_a_person_can_do_on_a_page() -> None:
    over_rest = [one for one in declared_operations() if "rest" not in one.absent]
    absent = {one.name: one.absent["web"] for one in over_rest if "web" in one.absent}
    assert set(absent) == SHOWN_ON_A_PAGE | DONE_OTHERWISE
    assert all(len(why) > 15 for why in absent.values())


async def test_a_type_is_registered_and_an_event_recorded_by_forms(
    client: httpx.AsyncClient, see: See, admin: Person
) -> None:
    fields = {name: value if isinstance(value, str) else json.dumps(value) for name, value in DECISION_TYPE.items()}
    fields |= {"retention_class": "regulatory", "minimum_retention_years": "7"}
    lines = {name: "\n".join(value) for name, value in DECISION_TYPE.items() if _plain_list(value)}
    told = await send(client, admin, "/workbench/event_types.register", 200, **{**fields, **lines})
    assert "Done" in told
    assert 'role="alert"' in await send(client, admin, "/workbench/events.append", 422, events="{no json")
    made = await send(client, admin, "/workbench/events.append", 200, events=json.dumps([DECISION]))
    assert "Done" in made
    types = await see("/workbench/event_types.list?asked=1")
    assert f'<td class="words" data-name="Type">{DECISION_TYPE["type"]}</td>' in types
    terms = await see("/privacy/terms")
    assert f">{DECISION_TYPE['type']}</a>" in terms
    assert "7 years" in terms
    assert 'role="alert"' in await see("/privacy/terms?days=-1", status=422)


def _plain_list(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) for one in value)


async def test_a_memory_is_shared_with_one_more_person_and_then_kept_to_oneself(
    client: httpx.AsyncClient, see: See, admin: Person, user: Person, mnemon: Mnemon, tenant: UUID
) -> None:
    place = await send(client, user, "/memory", content="The safe is behind the clock.")
    other = await person(mnemon, tenant, Role.USER, "third@example.org")
    assert "safe is behind" in await see(place, other)
    await send(client, user, f"{place}/share", who="owner", writers="owner", rationale="too many know")
    assert "its owner alone" in await see(place, user)
    await see(place, other, 404)
    await send(client, user, f"{place}/share", who="named", names="third@example.org", writers="readers")
    assert "safe is behind" in await see(place, other)
    unknown = await send(client, user, f"{place}/share", 422, who="named", names="nobody@example.org")
    assert "There is no user nobody@example.org" in unknown
    await send(client, user, f"{place}/share", who="everyone", writers="owner")
    assert "read by everyone" in await see(place, admin)


async def test_a_forgotten_person_may_be_recorded_again(
    client: httpx.AsyncClient, see: See, admin: Person, mnemon: Mnemon, tenant: UUID, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Else one waits until every process has forgotten the old key.
    monkeypatch.setattr(mnemon.privacy.keys, "_seconds", 0)
    await send(client, admin, "/memory", content="Eve likes tea.", subject_id="customer-17")
    await send(client, admin, "/privacy/erasures", subject_id="customer-17", reason="subject_request")
    [erasure] = re.findall(r'action="/privacy/erasures/([^/"]+)/decline"', await see("/privacy"))
    other = await person(mnemon, tenant, Role.ADMIN, "second@example.org")
    await send(client, other, f"/privacy/erasures/{erasure}/approve")
    assert 'action="/privacy/readmissions"' in await see("/privacy")
    await send(client, admin, "/privacy/readmissions", subject_id="customer-17", reason="new_contract")
    await send(client, admin, "/memory", content="Eve likes cake.", subject_id="customer-17")
    held = await see("/privacy/person?subject_id=customer-17")
    assert "Eve likes cake." in held
    assert "Eve likes tea." not in held
    assert 'role="alert"' in await send(
        client, admin, "/privacy/readmissions", 404, subject_id="nobody", reason="new_contract"
    )


async def test_the_tenants_page_tells_of_ones_own(see: See, user: Person, mnemon: Mnemon) -> None:
    page = await see("/tenants")
    assert re.search(r"<strong>\d+</strong> people", page)
    assert "Whether there are others, no login of this one may know." in page
    await see("/tenants", user, 403)


async def test_a_folder_is_followed_looked_at_changed_and_left(
    client: httpx.AsyncClient, see: See, admin: Person, user: Person, folder: Path, mnemon: Mnemon,
    eventually: Eventually,
) -> None:  # fmt: skip
    (folder / "berths.txt").write_text("Berths cost 39 euro a night.")
    (folder / "draft.txt").write_text("Perhaps 41.")
    nothing = await see("/sources")
    assert "No folder and no bucket is followed yet" in nothing
    assert str(folder.parent) in nothing
    assert "of-others" not in nothing
    await see("/sources", user, 403)
    refused = await send(client, admin, "/sources", 422, location="/etc", name=ATTACK.replace("/", ""))
    assert 'role="alert"' in refused
    assert "&lt;img src=x" in refused
    place = await send(client, admin, "/sources", location=str(folder), name="policies", exclude="draft*", tags="a, b")
    assert place == "/sources/policies"
    waiting = await see(place)
    assert 'data-status="queued"' in waiting
    assert "No worker is running" in waiting
    async with running(Worker(mnemon.database, KINDS, context=mnemon, poll=0.1)):

        async def looked() -> bool:
            page = await see(place)
            return 'data-status="succeeded"' in page and "berths.txt</a>" in page

        await eventually(looked)
    page = await see(place)
    assert "draft.txt" not in page
    assert "1 new" in page
    [document] = re.findall(r'<a href="(/documents/[0-9a-f-]+)">berths.txt', page)
    assert 'class="tag"' in await see(place)
    assert "berths.txt" in unescape(await see(document))
    await send(client, admin, place, exclude="", every_minutes="60", tags="a")
    assert "every 60 minutes" in await see(place)
    await send(client, admin, place, paused="true")
    assert "paused" in await see("/sources")
    await send(client, admin, f"{place}/sync")
    assert 'data-status="queued"' in await see(place)
    await send(client, admin, f"{place}/remove")
    await see(place, status=404)
    await see(document)
