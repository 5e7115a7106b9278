"""Witnesses: what places outside saw must still be here, and a Mnemon that is one keeps no root that contradicts."""

from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID

import httpx2
import pytest
from botocore.auth import S3SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from mnemon.db.database import Database
from mnemon.db.embedded import EmbeddedServer
from mnemon.errors import BadSettings, InvalidRequest
from mnemon.log.errors import WitnessRefused
from mnemon.log.proof.checkpoint import Checkpoint
from mnemon.log.proof.handover import rotate_signing_key
from mnemon.log.proof.integrity import Integrity
from mnemon.log.proof.s3_requests import signed_headers
from mnemon.log.proof.signing import is_signed
from mnemon.log.proof.witness_places import FileWitness, HttpWitness, MnemonWitness, S3Witness, Witness, witness_at
from mnemon.log.proof.witnesses import Witnesses
from mnemon.log.proof.witnessing import keep_in, kept_since, read_checkpoint
from mnemon.log.store import EventLog

from .conftest import noted
from .test_integrity import chain_again, superuser


class Shelf(httpx2.AsyncBaseTransport):
    """A server that keeps what it is sent under its address, and gives it back."""

    def __init__(self) -> None:
        self.kept: dict[str, bytes] = {}
        self.requests: list[httpx2.Request] = []

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        self.requests.append(request)
        if request.method in ("PUT", "POST"):
            self.kept[request.url.path] = await request.aread()
            return httpx2.Response(200)
        found = self.kept.get(request.url.path)
        return httpx2.Response(200, content=found) if found else httpx2.Response(404)


@pytest.fixture
def integrity(log: EventLog, database: Database, home: Path) -> Integrity:
    return Integrity(database, log.reader, home)


@pytest.fixture
async def grown(log: EventLog, integrity: Integrity, tenant: UUID) -> UUID:
    await log.append(tenant, [noted(str(n)) for n in range(5)])
    await integrity.checkpoint(tenant)
    return tenant


def places(home: Path, shelf: Shelf) -> list[Witness]:
    return [
        FileWitness(home / "outside"),
        S3Witness("bucket", "roots", "https://s3.example.org", "eu-central-1", shelf),
        HttpWitness("https://witness.example.org/roots", home, shelf),
    ]


async def contradictions(witnesses: Witnesses, tenant: UUID) -> list[str]:
    return [one async for one in witnesses.contradictions(tenant, "main")]


@pytest.mark.parametrize("which", [0, 1, 2])
async def test_a_witness_gets_the_newest_and_notices_a_log_that_was_set_back(
    log: EventLog, integrity: Integrity, grown: UUID, home: Path, server: EmbeddedServer, which: int
) -> None:
    witness = places(home, Shelf())[which]
    witnesses = Witnesses(integrity, log.reader, [witness])
    assert await witnesses.send_new() == 1
    assert await witnesses.send_new() == 0
    await log.append(grown, [noted("more")])
    await integrity.signer.sign_seal(grown)
    assert await witnesses.send_new() == 1
    seen = await witness.last(grown, "main")
    assert seen is not None
    assert seen.sequence == 6
    assert await contradictions(witnesses, grown) == []
    with superuser(server) as connection:
        connection.execute(
            "UPDATE mnemon.events SET recorded_at = recorded_at - interval '1 day' WHERE tenant_id = %s", (grown,)
        )
        chain_again(connection, grown, 1)
    assert "here they are others" in (await contradictions(witnesses, grown))[0]
    with superuser(server) as connection:
        connection.execute("UPDATE mnemon.partitions SET sequence = 4 WHERE tenant_id = %s", (grown,))
    assert "here it ends at 4" in (await contradictions(witnesses, grown))[0]


async def test_a_post_is_signed_with_the_key_of_the_checkpoints(integrity: Integrity, grown: UUID, home: Path) -> None:
    shelf = Shelf()
    witness = HttpWitness("https://witness.example.org/roots", home, shelf)
    [made] = integrity.checkpoints.list(grown)
    await witness.put(grown, "main", made, _no_proof)
    [request] = shelf.requests
    body = request.content.decode()
    assert is_signed(request.headers["Mnemon-Key"], request.headers["Mnemon-Signature"], body)
    assert request.headers["Mnemon-Key"] == made.public_key


async def _no_proof(count: int) -> list[str]:
    raise AssertionError(count)


async def test_a_silent_witness_holds_up_nobody(log: EventLog, integrity: Integrity, grown: UUID, home: Path) -> None:
    def broken(request: httpx2.Request) -> httpx2.Response:
        raise httpx2.ConnectError("nobody there")

    silent = HttpWitness("https://nowhere.example.org", home, httpx2.MockTransport(broken))
    witnesses = Witnesses(integrity, log.reader, [silent, FileWitness(home / "outside")])
    assert await witnesses.send_new() == 1
    assert await contradictions(witnesses, grown) == []


def test_requests_to_a_bucket_are_signed_as_aws_signs_them() -> None:
    address, moment = "https://s3.example.org/bucket/roots/newest.json", datetime(2026, 11, 16, 9, 30, tzinfo=UTC)
    ours = signed_headers("PUT", address, b"{}", "eu-central-1", "AKID", "secret", moment)
    request = AWSRequest("PUT", address, data=b"{}", headers={"x-amz-date": ours["x-amz-date"]})
    request.context["timestamp"] = ours["x-amz-date"]
    request.headers["x-amz-content-sha256"] = ours["x-amz-content-sha256"]
    auth = S3SigV4Auth(Credentials("AKID", "secret"), "s3", "eu-central-1")
    theirs = auth.signature(auth.string_to_sign(request, auth.canonical_request(request)), request)
    assert ours["authorization"].endswith(f"Signature={theirs}")


@pytest.mark.parametrize(
    ("place", "kind"),
    [
        ("file:///mnt/elsewhere", FileWitness),
        ("s3://bucket/prefix?endpoint=https://minio.example.org&region=eu", S3Witness),
        ("https://witness.example.org/roots", HttpWitness),
        ("mnemon+https://mnm_token@other.example.org:8787", MnemonWitness),
    ],
)
def test_a_setting_names_a_place(place: str, kind: type, home: Path) -> None:
    assert isinstance(witness_at(place, home), kind)


@pytest.mark.parametrize("place", ["ftp://x", "mnemon+https://no-token.example.org", "/mnt/x", "s3://"])
def test_a_place_that_is_none_is_refused(place: str, home: Path) -> None:
    with pytest.raises(BadSettings, match="MNEMON_LOG_WITNESSES"):
        witness_at(place, home)


class TestKeeping:
    """The other side: a Mnemon that is asked to keep roots."""

    async def path(self, integrity: Integrity, tenant: UUID, count: int) -> tuple[Checkpoint, list[str]]:
        proof = await integrity.consistency(tenant, count)
        return proof.checkpoint, [one.hex() for one in proof.path]

    async def test_a_root_is_kept_only_if_it_grew_out_of_the_last(
        self, log: EventLog, integrity: Integrity, database: Database, grown: UUID, other_tenant: UUID
    ) -> None:
        [first] = integrity.checkpoints.list(grown)
        await log.append(grown, [noted("more") for _ in range(4)])
        await integrity.checkpoint(grown)
        second, path = await self.path(integrity, grown, 5)
        async with database.transaction(other_tenant) as tx:
            assert await keep_in(tx, other_tenant, first, [])
            with pytest.raises(WitnessRefused, match="does not hold the 5"):
                await keep_in(tx, other_tenant, second, [])
            assert await keep_in(tx, other_tenant, second, path)
            assert not await keep_in(tx, other_tenant, second, path)
            kept = await kept_since(tx, other_tenant, str(grown), "main", 5, 10)
        assert [(one.sequence, one.path) for one in kept] == [(5, []), (9, path)]

    async def test_two_histories_are_refused(
        self, log: EventLog, integrity: Integrity, database: Database, grown: UUID, other_tenant: UUID,
        server: EmbeddedServer, home: Path,
    ) -> None:  # fmt: skip
        [first] = integrity.checkpoints.list(grown)
        async with database.transaction(other_tenant) as tx:
            await keep_in(tx, other_tenant, first, [])
        with superuser(server) as connection:
            connection.execute(
                "UPDATE mnemon.events SET recorded_at = recorded_at - interval '1 day' WHERE tenant_id = %s", (grown,)
            )
            chain_again(connection, grown, 1)
            for table in ("checkpoints", "seals"):
                connection.execute(f"DELETE FROM mnemon.{table} WHERE tenant_id = %s", (grown,))
        integrity.checkpoints.file_of(grown, "main").unlink()
        other = await integrity.checkpoint(grown)
        async with database.transaction(other_tenant) as tx:
            with pytest.raises(WitnessRefused, match="two histories"):
                await keep_in(tx, other_tenant, other, [])

    async def test_another_key_is_kept_only_if_the_last_one_announced_it(
        self, log: EventLog, integrity: Integrity, database: Database, grown: UUID, other_tenant: UUID, home: Path
    ) -> None:
        [first] = integrity.checkpoints.list(grown)
        rotate_signing_key(home)
        await log.append(grown, [noted()])
        await integrity.checkpoint(grown)
        second, path = await self.path(integrity, grown, 5)
        forged = Checkpoint(second.statement, second.public_key, second.signature, second.frontier, ())
        async with database.transaction(other_tenant) as tx:
            await keep_in(tx, other_tenant, first, [])
            with pytest.raises(WitnessRefused, match="did not announce"):
                await keep_in(tx, other_tenant, forged, path)
            assert await keep_in(tx, other_tenant, second, path)

    async def test_what_is_not_signed_is_no_checkpoint(self, integrity: Integrity, grown: UUID) -> None:
        [made] = integrity.checkpoints.list(grown)
        with pytest.raises(InvalidRequest, match="signature"):
            read_checkpoint(made.as_json() | {"statement": made.statement.replace('"5"', '"4"')})
        with pytest.raises(InvalidRequest, match="no checkpoint"):
            read_checkpoint({"statement": "{}"})
