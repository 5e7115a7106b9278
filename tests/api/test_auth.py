"""Logging in: who gets in, who does not, and what the refusals give away."""

import asyncio
from datetime import timedelta
from pathlib import Path
from uuid import UUID

import httpx
import jwt
import pytest
from argon2 import PasswordHasher
from fastapi import Request
from structlog.testing import capture_logs

from mnemon.api.access import address_of
from mnemon.app import Mnemon
from mnemon.errors import Conflict
from mnemon.identity import passwords, throttle
from mnemon.identity.login import add_login_link
from mnemon.identity.roles import CredentialScope, Principal, Role
from mnemon.identity.secrets import kept_key
from mnemon.identity.sessions import Sessions
from mnemon.identity.throttle import Guard
from mnemon.identity.users import change_user
from mnemon.log.events import SYSTEM
from mnemon.web.site import create_site
from tests.conftest import LEAST_WORK

from .conftest import KEY, PASSWORD, TESTER, Person, person, token_for


def login(who: Person, password: str = PASSWORD) -> dict[str, str]:
    return {"email": who.email, "password": password, "tenant": who.tenant_slug}


async def test_a_password_gives_a_session_with_the_documented_claims(
    client: httpx.AsyncClient, admin: Person, tenant: UUID
) -> None:
    answer = await client.post("/v1/auth/login", json=login(admin))
    assert answer.status_code == 200
    claims = jwt.decode(answer.json()["access_token"], KEY, ["HS256"])
    assert claims["sub"] == str(admin.user_id)
    assert claims["tenant_id"] == str(tenant)
    assert claims["role"] == "admin"
    assert claims["exp"] - claims["iat"] == pytest.approx(3600, abs=1.1)
    me = await client.get("/v1/me", headers={"Authorization": f"Bearer {answer.json()['access_token']}"})
    assert me.json()["email"] == admin.email


async def test_the_api_prefix_answers_the_same(client: httpx.AsyncClient, admin: Person) -> None:
    first = await client.get("/v1/me", headers=admin.headers)
    second = await client.get("/api/me", headers=admin.headers)
    assert first.json() == second.json()


@pytest.fixture
def long_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first wait is a second, which a busy machine would sit out between two calls."""
    monkeypatch.setattr(throttle, "FIRST_WAIT", 3600)


@pytest.mark.usefixtures("long_wait")
async def test_ten_wrong_passwords_are_slowed_logged_and_lock_out_even_the_right_one(
    client: httpx.AsyncClient, admin: Person
) -> None:
    with capture_logs() as lines:
        answers = [await client.post("/v1/auth/login", json=login(admin, "wrong")) for _ in range(10)]
    assert [answer.status_code for answer in answers[:5]] == [401] * 5
    assert {answer.status_code for answer in answers[5:]} == {429}
    assert int(answers[-1].headers["retry-after"]) >= 1
    right = await client.post("/v1/auth/login", json=login(admin))
    assert right.status_code == 429
    refused = [line for line in lines if line["event"] == "login_refused"]
    assert [line["failures"] for line in refused] == [1, 2, 3, 4, 5]
    assert "wrong" not in str(lines)


async def test_the_wait_doubles_and_a_success_after_it_forgives(
    client: httpx.AsyncClient, mnemon: Mnemon, admin: Person
) -> None:
    key = Guard(f"account:{admin.tenant_slug}:{admin.email}", 5).key_hash
    waits = []
    for _ in range(8):
        await client.post("/v1/auth/login", json=login(admin, "wrong"))
        async with mnemon.database.session() as session:
            row = await (
                await session.execute(
                    "SELECT extract(epoch FROM open_again - last_attempt) AS wait "
                    "FROM mnemon.login_attempts WHERE key_hash = %s",
                    (key,),
                )
            ).fetchone()
            await session.execute("UPDATE mnemon.login_attempts SET open_again = now() WHERE key_hash = %s", (key,))
        assert row is not None
        waits.append(int(row["wait"]))
    assert waits == [0, 0, 0, 0, 1, 2, 4, 8]
    assert (await client.post("/v1/auth/login", json=login(admin))).status_code == 200
    assert (await client.post("/v1/auth/login", json=login(admin, "wrong"))).status_code == 401


@pytest.mark.usefixtures("long_wait")
async def test_parallel_guesses_all_count(client: httpx.AsyncClient, admin: Person) -> None:
    answers = await asyncio.gather(*(client.post("/v1/auth/login", json=login(admin, f"guess {n}")) for n in range(20)))
    assert sum(answer.status_code == 401 for answer in answers) <= 5


async def test_an_absent_account_cannot_be_told_from_a_wrong_password(
    client: httpx.AsyncClient, user: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The words are the same, and so is the work: a password is checked against a real hash in both cases."""
    checked: list[str] = []

    class Counting(PasswordHasher):
        def verify(self, hash: str | bytes, password: str | bytes) -> bool:  # noqa: A002  the library's name
            checked.append(str(hash).rsplit("$", 2)[0])
            return bool(super().verify(hash, password))

    monkeypatch.setattr(passwords, "_hasher", Counting(**LEAST_WORK))
    absent = Person(user.user_id, f"absent-{user.email}", "", user.tenant_slug)
    answers = [await client.post("/v1/auth/login", json=login(who, "wrong password")) for who in (user, absent)]
    assert len({(answer.status_code, answer.text) for answer in answers}) == 1
    assert len(checked) == 2, "one check each"
    assert len(set(checked)) == 1, "of the same cost"


async def test_a_login_link_works_once(client: httpx.AsyncClient, mnemon: Mnemon, admin: Person, tenant: UUID) -> None:
    async with mnemon.log.transaction(tenant) as transaction:
        secret = await add_login_link(transaction, TESTER, admin.user_id)
    first = await client.post("/v1/auth/link", json={"link": secret})
    second = await client.post("/v1/auth/link", json={"link": secret})
    assert first.json()["user_id"] == str(admin.user_id)
    assert (second.status_code, second.json()["error_code"]) == (401, "NOT_AUTHENTICATED")


async def test_an_expired_link_opens_nothing(
    client: httpx.AsyncClient, mnemon: Mnemon, admin: Person, tenant: UUID
) -> None:
    async with mnemon.log.transaction(tenant) as transaction:
        secret = await add_login_link(transaction, TESTER, admin.user_id)
    async with mnemon.database.owner() as owner:
        await owner.execute("UPDATE mnemon.login_links SET expires_at = now() WHERE user_id = %s", (admin.user_id,))
    assert (await client.post("/v1/auth/link", json={"link": secret})).status_code == 401


def forgeries(mnemon: Mnemon, admin: Person, tenant: UUID) -> dict[str, str]:
    principal = Principal(tenant, admin.user_id, Role.ADMIN)
    head, payload, signature = admin.session.split(".")
    claims = jwt.decode(admin.session, KEY, ["HS256"])
    return {
        "tampered": f"{head}.{payload[:-2]}AA.{signature}",
        "expired": Sessions(mnemon.database, KEY, timedelta(hours=-1)).issue(principal).token,
        "other secret": Sessions(mnemon.database, KEY + "x", timedelta(hours=1)).issue(principal).token,
        "no algorithm": jwt.encode(claims, "", "none"),
        "other algorithm": jwt.encode(claims, KEY * 2, "HS512"),
        "no tenant": jwt.encode({key: value for key, value in claims.items() if key != "tenant_id"}, KEY, "HS256"),
        "odd tenant": jwt.encode(claims | {"tenant_id": "nonsense"}, KEY, "HS256"),
        "other tenant": jwt.encode(claims | {"tenant_id": str(UUID(int=1))}, KEY, "HS256"),
        "nobody": jwt.encode(claims | {"sub": str(UUID(int=1))}, KEY, "HS256"),
        "no end": jwt.encode({key: value for key, value in claims.items() if key != "exp"}, KEY, "HS256"),
        "not a token": "abc",
        "unknown access token": "mnm_" + "A" * 43,
        "empty": "",
    }


@pytest.mark.parametrize(
    "kind",
    ["tampered", "expired", "other secret", "no algorithm", "other algorithm", "no tenant", "odd tenant",
     "other tenant", "nobody", "no end", "not a token", "unknown access token", "empty"],
)  # fmt: skip
async def test_a_forged_credential_is_refused(
    client: httpx.AsyncClient, mnemon: Mnemon, admin: Person, tenant: UUID, kind: str
) -> None:
    credential = forgeries(mnemon, admin, tenant)[kind]
    answer = await client.get("/v1/me", headers={"Authorization": f"Bearer {credential}"})
    assert answer.status_code == 401
    assert answer.json()["error_code"] == "NOT_AUTHENTICATED"
    assert answer.headers["www-authenticate"] == "Bearer"


async def test_the_tenant_comes_from_the_credential_and_nothing_else(
    client: httpx.AsyncClient, admin: Person, other_tenant: UUID, tenant: UUID
) -> None:
    answer = await client.get("/v1/me", headers=admin.headers | {"X-Tenant-ID": str(other_tenant)})
    assert answer.json()["tenant_id"] == str(tenant)
    asked = await client.get(f"/v1/me?tenant_id={other_tenant}", headers=admin.headers)
    assert (asked.status_code, "tenant_id" in asked.text) == (422, True)


async def test_a_session_outlives_a_clock_that_is_set_back(client: httpx.AsyncClient, admin: Person) -> None:
    claims = jwt.decode(admin.session, KEY, ["HS256"])
    two_days = {name: claims[name] + 2 * 86_400 for name in ("iat", "exp")}
    begun_later = jwt.encode(claims | two_days, KEY, "HS256")
    answer = await client.get("/v1/me", headers={"Authorization": f"Bearer {begun_later}"})
    assert answer.status_code == 200


async def test_a_session_of_before_the_clock_was_set_back_ends_with_the_password(
    client: httpx.AsyncClient, user: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mnemon.identity.sessions.ACCOUNT_STATE_LIVES", 0)
    session = (await client.post("/v1/auth/login", json=login(user))).json()["access_token"]
    claims = jwt.decode(session, KEY, ["HS256"])
    ahead = {name: claims[name] + 2 * 86_400 for name in ("iat", "exp")}
    stolen = {"Authorization": f"Bearer {jwt.encode(claims | ahead, KEY, 'HS256')}"}
    assert (await client.get("/v1/me", headers=stolen)).status_code == 200
    change = {"old_password": PASSWORD, "new_password": "another good one"}
    assert (await client.post("/v1/me/password", json=change, headers=stolen)).status_code == 204
    assert (await client.get("/v1/me", headers=stolen)).status_code == 401


async def test_a_session_begun_after_a_change_counts_at_a_gateway_that_remembers_the_account(
    client: httpx.AsyncClient, mnemon: Mnemon, user: Person
) -> None:
    other = Sessions(mnemon.database, KEY, timedelta(hours=1))
    await other.principal_of(user.session)
    change = {"old_password": PASSWORD, "new_password": "another good one"}
    assert (await client.post("/v1/me/password", json=change, headers=user.headers)).status_code == 204
    again = (await client.post("/v1/auth/login", json=login(user, "another good one"))).json()["access_token"]
    assert (await other.principal_of(again)).user_id == user.user_id


async def test_a_disabled_account_loses_its_session_and_its_tokens(
    client: httpx.AsyncClient,
    mnemon: Mnemon,
    admin: Person,
    user: Person,
    tenant: UUID,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("mnemon.identity.sessions.ACCOUNT_STATE_LIVES", 0)
    secret = await token_for(mnemon, tenant, user, CredentialScope.READ)
    by_token = {"Authorization": f"Bearer {secret}"}
    assert (await client.get("/v1/me", headers=by_token)).status_code == 200
    await client.patch(f"/v1/users/{user.user_id}", json={"disabled": True}, headers=admin.headers)
    assert (await client.get("/v1/me", headers=user.headers)).status_code == 401
    assert (await client.get("/v1/me", headers=by_token)).status_code == 401
    assert (await client.post("/v1/auth/login", json=login(user))).status_code == 401


async def test_a_new_password_ends_older_sessions_and_needs_the_old_one(
    client: httpx.AsyncClient, user: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mnemon.identity.sessions.ACCOUNT_STATE_LIVES", 0)
    wrong = await client.post(
        "/v1/me/password", json={"old_password": "nope", "new_password": "another good one"}, headers=user.headers
    )
    assert wrong.status_code == 401
    short = await client.post(
        "/v1/me/password", json={"old_password": PASSWORD, "new_password": "short"}, headers=user.headers
    )
    assert (short.status_code, short.json()["error"]) == (422, "A password has 10 to 1024 characters, not 5.")
    changed = await client.post(
        "/v1/me/password", json={"old_password": PASSWORD, "new_password": "another good one"}, headers=user.headers
    )
    assert changed.status_code == 204
    assert (await client.get("/v1/me", headers=user.headers)).status_code == 401
    assert (await client.post("/v1/auth/login", json=login(user))).status_code == 401
    assert (await client.post("/v1/auth/login", json=login(user, "another good one"))).status_code == 200


async def test_a_role_change_takes_effect_on_the_running_session(
    client: httpx.AsyncClient, mnemon: Mnemon, admin: Person, user: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mnemon.identity.sessions.ACCOUNT_STATE_LIVES", 0)
    assert (await client.get("/v1/users", headers=user.headers)).status_code == 403
    await client.patch(f"/v1/users/{user.user_id}", json={"role": "admin"}, headers=admin.headers)
    assert (await client.get("/v1/users", headers=user.headers)).status_code == 401
    again = await client.post("/v1/auth/login", json=login(user))
    headers = {"Authorization": f"Bearer {again.json()['access_token']}"}
    assert (await client.get("/v1/users", headers=headers)).status_code == 200


def test_the_session_key_is_made_once_and_kept_private(tmp_path: Path) -> None:
    first, second = kept_key(tmp_path, "session.key"), kept_key(tmp_path, "session.key")
    assert first == second
    assert len(first) >= 43
    assert (tmp_path / "keys" / "session.key").stat().st_mode & 0o077 == 0
    assert [file.name for file in (tmp_path / "keys").iterdir()] == ["session.key"]


def test_sessions_last_a_day_by_default() -> None:
    from mnemon.settings import Settings

    assert Settings().jwt_expiry_hours == 24


async def test_another_spelling_of_an_address_is_not_another_count(
    client: httpx.AsyncClient, mnemon: Mnemon, tenant: UUID
) -> None:
    # PostgreSQL lowers a dotted capital İ to i, Python does not.
    who = await person(mnemon, tenant, Role.USER, "iris@example.org")
    spelled = login(who) | {"email": "İris@example.org"}
    assert (await client.post("/v1/auth/login", json=spelled)).status_code == 401


@pytest.mark.parametrize(
    "login_text", [b'{"email":"a\\u0000@x.org","password":"p"}', b'{"email":"a@x.org","password":"\\ud800"}']
)
async def test_text_that_cannot_be_stored_is_no_surprise(client: httpx.AsyncClient, login_text: bytes) -> None:
    answer = await client.post("/v1/auth/login", content=login_text, headers={"Content-Type": "application/json"})
    assert answer.status_code in (401, 422)


@pytest.mark.usefixtures("long_wait")
async def test_one_address_that_guesses_many_accounts_is_slowed(
    client: httpx.AsyncClient, mnemon: Mnemon, admin: Person
) -> None:
    mnemon.settings = mnemon.settings.model_copy(update={"login_failures": 1})
    statuses = []
    for number in range(11):
        body = {"email": f"guess{number}@example.org", "password": "wrong", "tenant": admin.tenant_slug}
        statuses.append((await client.post("/v1/auth/login", json=body)).status_code)
    assert statuses == [401] * 10 + [429]


async def test_failures_of_others_at_the_same_address_fade_with_a_success(
    client: httpx.AsyncClient, mnemon: Mnemon, admin: Person, caller_address: str
) -> None:
    guard = Guard(f"address:{caller_address}", 50)
    for _ in range(3):
        await guard.count_attempt(mnemon.database)
    assert (await client.post("/v1/auth/login", json=login(admin))).status_code == 200
    assert await guard.count_attempt(mnemon.database) == 4


async def test_a_token_makes_no_credentials(
    client: httpx.AsyncClient, mnemon: Mnemon, admin: Person, tenant: UUID
) -> None:
    secret = await token_for(mnemon, tenant, admin, CredentialScope.WRITE)
    headers = {"Authorization": f"Bearer {secret}"}
    for path, body in (
        ("/v1/tokens", {"name": "child"}),
        ("/v1/me/password", {"new_password": "a new password"}),
        (f"/v1/users/{admin.user_id}/login-link", {}),
    ):
        refused = await client.post(path, json=body, headers=headers)
        assert refused.status_code == 403
        assert "An access token may not" in refused.json()["error"]


async def test_a_new_password_voids_open_login_links(
    client: httpx.AsyncClient, mnemon: Mnemon, admin: Person, user: Person
) -> None:
    link = (await client.post(f"/v1/users/{user.user_id}/login-link", headers=admin.headers)).json()["url"]
    await client.patch(f"/v1/users/{user.user_id}", json={"password": "another good one"}, headers=admin.headers)
    assert (await client.post("/v1/auth/link", json={"link": link.split("#")[1]})).status_code == 401


@pytest.mark.usefixtures("long_wait")
async def test_guesses_at_the_old_password_are_slowed_too(client: httpx.AsyncClient, user: Person) -> None:
    body = {"old_password": "wrong", "new_password": "another good one"}
    statuses = [(await client.post("/v1/me/password", json=body, headers=user.headers)).status_code for _ in range(6)]
    assert statuses == [401] * 5 + [429]


async def test_two_administrators_cannot_remove_each_other_at_once(mnemon: Mnemon, tenant: UUID) -> None:

    one = await person(mnemon, tenant, Role.ADMIN, "one@example.org")
    two = await person(mnemon, tenant, Role.ADMIN, "two@example.org")
    both_looked = asyncio.Barrier(2)

    async def demote(user_id: UUID) -> bool:
        try:
            async with mnemon.log.transaction(tenant) as transaction:
                await transaction.connection.execute("SELECT 1")
                await both_looked.wait()
                await change_user(transaction, SYSTEM, user_id, role=Role.USER)
        except Conflict:
            return False
        return True

    outcomes = await asyncio.gather(demote(one.user_id), demote(two.user_id))
    assert sorted(outcomes) == [False, True]


@pytest.mark.parametrize(
    ("peer", "trusted", "forwarded", "counted"),
    [
        ("10.0.0.1", (), "1.2.3.4", "10.0.0.1"),
        ("10.0.0.1", ("10.0.0.1",), "6.6.6.6, 1.2.3.4", "1.2.3.4"),
        ("10.0.0.1", ("10.0.0.1", "10.0.0.2"), "1.2.3.4, 10.0.0.2", "1.2.3.4"),
        ("10.0.0.1", ("10.0.0.1",), "", "10.0.0.1"),
        ("2001:db8::1", (), "", "2001:db8::/64"),
        ("10.0.0.1", ("10.0.0.1",), "2001:db8::ffff:1", "2001:db8::/64"),
    ],
)
def test_an_address_is_believed_only_from_a_trusted_proxy(
    mnemon: Mnemon, peer: str, trusted: tuple[str, ...], forwarded: str, counted: str
) -> None:
    mnemon.settings = mnemon.settings.model_copy(update={"trusted_proxies": trusted})
    site = create_site(mnemon)
    scope = {"type": "http", "app": site, "client": (peer, 1), "headers": [(b"x-forwarded-for", forwarded.encode())]}
    assert address_of(Request(scope)) == counted
