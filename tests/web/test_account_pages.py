"""Claims about one's own page, the way in, and forms that come from elsewhere."""

import re
from html import unescape

import httpx
import pytest
from fastapi.routing import APIRoute

from mnemon.api.access import SESSION_COOKIE
from mnemon.web.login_pages import own_place
from mnemon.web.pages import PARTS
from tests.api.conftest import PASSWORD, Person, admin, caller_address, client, mnemon, settings, user

__all__ = ["admin", "caller_address", "client", "mnemon", "settings", "user"]
OWN = {"Origin": "http://127.0.0.1:8787"}


def as_browser(client: httpx.AsyncClient, whose: Person) -> None:
    client.cookies.set(SESSION_COOKIE, whose.session)


def form_token(page: str) -> str:
    found = re.search(r'name="form_token" value="([0-9a-f]+)"', page)
    assert found
    return found[1]


async def test_a_deep_link_survives_the_login(client: httpx.AsyncClient, user: Person) -> None:
    asked = await client.get("/search?query=pricing+2026&tag=a")
    assert asked.status_code == 303
    form = await client.get(asked.headers["location"])
    [wanted] = set(re.findall(r'name="next" value="([^"]+)"', form.text))
    assert unescape(wanted) == "/search?query=pricing+2026&tag=a"
    given = {"email": user.email, "password": PASSWORD, "tenant": user.tenant_slug, "next": unescape(wanted)}
    wrong = await client.post("/login", data=given | {"password": "wrong wrong wrong"}, headers=OWN)
    assert f'name="next" value="{wanted}"' in wrong.text
    entered = await client.post("/login", data=given, headers=OWN)
    assert (entered.status_code, entered.headers["location"]) == (303, "/search?query=pricing+2026&tag=a")


@pytest.mark.parametrize(
    "foreign", ["https://evil.example/", "//evil.example", "/\\evil.example", "javascript:alert(1)", "/a\nb", "", "x"]
)
def test_the_login_leads_to_no_other_site(foreign: str) -> None:
    assert own_place(foreign) == "/"


async def test_a_password_is_set_and_other_sessions_end(
    client: httpx.AsyncClient, user: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mnemon.identity.sessions.ACCOUNT_STATE_LIVES", 0.0)
    as_browser(client, user)
    page = (await client.get("/account")).text
    given = {"form_token": form_token(page), "old_password": PASSWORD, "new_password": "staple correct horse"}
    for changed, said, status in (
        ({"again": "something else entirely"}, "The two new passwords differ", 422),
        ({"again": "short", "new_password": "short"}, "A password has 10 to", 422),
        ({"again": given["new_password"], "old_password": "wrong"}, "The old password is wrong", 403),
    ):
        refused = await client.post("/account/password", data=given | changed, headers=OWN)
        assert (refused.status_code, said in refused.text) == (status, True), refused.text
    done = await client.post("/account/password", data=given | {"again": given["new_password"]}, headers=OWN)
    assert done.status_code == 303
    assert "Your password is set" in (await client.get(done.headers["location"])).text
    assert (await client.get("/v1/me", headers=user.headers)).status_code == 401


async def test_a_token_is_made_shown_once_and_revoked(client: httpx.AsyncClient, user: Person) -> None:
    as_browser(client, user)
    given = {"form_token": form_token((await client.get("/account")).text)}
    hostile = '<script>alert(1)</script>"'
    made = await client.post("/account/tokens", data=given | {"name": hostile, "scope": "read"}, headers=OWN)
    assert made.status_code == 200
    secret = re.findall(r">(mnm_[\w-]{10,})<", made.text)[0]
    assert "<script>alert" not in made.text
    me = await client.get("/v1/me", headers={"Authorization": f"Bearer {secret}"})
    assert (me.status_code, me.json()["scope"]) == (200, "read")
    page = (await client.get("/account")).text
    assert secret not in page
    [address] = re.findall(r'action="(/account/tokens/[0-9a-f-]+/revoke)"', page)
    assert (await client.post(address, data=given, headers=OWN)).status_code == 303
    assert (await client.get("/v1/me", headers={"Authorization": f"Bearer {secret}"})).status_code == 401
    assert "no access token" in (await client.get("/account")).text
    nameless = await client.post("/account/tokens", data=given | {"name": " "}, headers=OWN)
    assert (nameless.status_code, "name:" in nameless.text) == (422, True)


async def test_everyone_downloads_what_is_held_about_them(client: httpx.AsyncClient, user: Person) -> None:
    file = await client.get("/account/file", headers=user.headers)
    assert file.headers["content-disposition"].startswith("attachment")
    assert file.json()["account"]["email"] == user.email


async def test_a_form_without_the_sessions_token_changes_nothing(client: httpx.AsyncClient, user: Person) -> None:
    as_browser(client, user)
    for token in ({}, {"form_token": "0" * 40}):
        refused = await client.post("/account/tokens", data={"name": "x", **token}, headers=OWN)
        assert refused.status_code == 403
        assert "not made for your present session" in refused.text
    right = {"form_token": form_token((await client.get("/account")).text), "name": "x"}
    foreign = await client.post("/account/tokens", data=right, headers={"Origin": "https://evil.example"})
    assert foreign.status_code == 403
    assert "no access token" in (await client.get("/account")).text


async def test_no_form_of_any_page_works_without_the_sessions_token_or_from_elsewhere(
    client: httpx.AsyncClient, admin: Person
) -> None:
    as_browser(client, admin)
    token = {"form_token": form_token((await client.get("/account")).text)}
    posts = [
        re.sub(r"\{\w+\}", "018f4d1e-0000-7000-8000-000000000001", route.path)
        for part in PARTS
        for route in part.routes
        if isinstance(route, APIRoute) and "POST" in route.methods and route.path not in ("/login", "/logout")
    ]
    assert len(posts) > 30
    for path in posts:
        bare = await client.post(path, data={"name": "x"}, headers=OWN)
        assert (bare.status_code, "not made for your present session" in bare.text) == (403, True), path
        foreign = await client.post(path, data=token, headers={"Origin": "https://evil.example"})
        assert foreign.status_code == 403, path


async def test_every_form_that_changes_something_carries_the_token(client: httpx.AsyncClient, admin: Person) -> None:
    as_browser(client, admin)
    for path in ("/", "/users", "/privacy", "/approvals", "/integrity", "/lists/sources", "/memory/new", "/account"):
        page = (await client.get(path)).text
        forms = re.findall(r'<form\b[^>]*method="post"[^>]*>(<input type="hidden" name="form_token")?', page)
        assert forms, path
        assert all(forms), path


async def test_an_unknown_address_is_a_page_for_people_and_json_for_programs(
    client: httpx.AsyncClient, user: Person
) -> None:
    browser = {"Accept": "text/html,application/xhtml+xml"}
    page = await client.get("/nowhere<b>", headers=browser)
    assert (page.status_code, page.headers["content-type"]) == (404, "text/html; charset=utf-8")
    assert "There is nothing here" in page.text
    assert "<b>" not in page.text
    assert 'href="/login"' in page.text
    known = await client.get("/nowhere", headers=browser | user.headers)
    assert 'aria-label="Pages"' in known.text
    wrong = await client.get("/documents/x?start=y", headers=browser | user.headers)
    assert (wrong.status_code, "That is not possible" in wrong.text) == (422, True)
    for path, headers in (("/nowhere", {"Accept": "application/json"}), ("/v1/nowhere", browser), ("/nowhere", {})):
        assert (await client.get(path, headers=headers)).json()["error_code"]


async def test_the_servers_page_is_for_administrators(client: httpx.AsyncClient, user: Person, admin: Person) -> None:
    assert (await client.get("/server", headers=admin.headers)).status_code == 200
    refused = await client.get("/server", headers=user.headers)
    assert (refused.status_code, "You may not do that" in refused.text) == (403, True)
    assert 'href="/server"' not in refused.text


async def test_the_pages_of_the_api_have_every_route(client: httpx.AsyncClient, user: Person) -> None:
    overview = (await client.get("/docs", headers=user.headers)).text
    groups = re.findall(r'<h2><a href="(/docs/[^"]+)"', overview)
    shown = "".join([(await client.get(one, headers=user.headers)).text for one in groups])
    openapi = (await client.get("/openapi.json")).json()
    for path, methods in openapi["paths"].items():
        assert shown.count(f'data-path="{path}"') == len(methods), path
    assert "curl &#39;http://127.0.0.1:8787/v1/ask&#39;" in shown
    assert (await client.get("/docs/none", headers=user.headers)).status_code == 404
