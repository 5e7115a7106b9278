"""The single-file verifier: it agrees with Mnemon, imports nothing of it, and finds the same damage."""

import ast
import importlib.util
import json
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any
from uuid import UUID

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from hypothesis import given, settings
from hypothesis import strategies as st

from mnemon.db.database import Database
from mnemon.log.proof.integrity import Integrity
from mnemon.log.store import EventLog

from .conftest import noted, order_placed
from .offline import PROGRAM, run


def load() -> ModuleType:
    spec = importlib.util.spec_from_file_location("mnemon_verify", PROGRAM)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


verifier = load()


@pytest.fixture
async def evidence(log: EventLog, database: Database, tenant: UUID, home: Path) -> dict[str, Any]:
    """An export, its checkpoints, a receipt and the key."""
    integrity = Integrity(database, log.reader, home)
    await log.append(tenant, [order_placed(str(n), data={"number": "Ü\u2028\u0000", "amount": n}) for n in range(7)])
    await integrity.checkpoint(tenant)
    [event] = await log.append(tenant, [noted("the one")])
    await log.append(tenant, [noted(), noted()])
    last = await integrity.checkpoint(tenant)
    export, receipt = home / "export.jsonl", home / "receipt.json"
    export.write_bytes(b"".join([line async for line in integrity.export(tenant)]))
    receipt.write_text(json.dumps((await integrity.receipt(tenant, event.id)).as_json()))
    checkpoints = integrity.checkpoints.file_of(tenant, "main")
    return {"export": export, "receipt": receipt, "checkpoints": checkpoints, "key": last.public_key}


def test_it_imports_the_standard_library_only() -> None:
    imported = {
        name.split(".")[0]
        for statement in ast.walk(ast.parse(PROGRAM.read_text()))
        for name in (
            [alias.name for alias in statement.names]
            if isinstance(statement, ast.Import)
            else [statement.module or ""] if isinstance(statement, ast.ImportFrom) else []
        )
    }  # fmt: skip
    assert imported <= sys.stdlib_module_names


async def test_what_mnemon_made_holds(evidence: dict[str, Any]) -> None:
    key = ["--key", evidence["key"]]
    assert run("export", evidence["export"], "--checkpoints", evidence["checkpoints"], *key) == (0, "all holds\n")
    assert run("checkpoints", evidence["checkpoints"], *key) == (0, "all holds\n")
    assert run("receipt", evidence["receipt"], *key) == (0, "all holds\n")
    assert run("receipt", evidence["receipt"]) == (0, "all holds (no --key given)\n")


def change_line(file: Path, number: int, change: Callable[[dict[str, Any]], object]) -> None:
    lines = [json.loads(line) for line in file.read_text().split("\n") if line]
    change(lines[number])
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda event: event.update(payload=event["payload"].replace("3", "4")), "event 4: its payload is not"),
        (lambda event: event.update(envelope=event["envelope"].replace("u-1", "u-2")), "event 4: its envelope"),
        (lambda event: event.update(recorded_at="2020-01-01T00:00:00.000000Z"), "event 4: its envelope"),
        (lambda event: event.update(sequence="5"), "event 4: missing"),
        (lambda event: event.update(hash="00" * 32), "event 5: it does not link"),
    ],
)
async def test_a_changed_export_is_located(
    evidence: dict[str, Any], change: Callable[[dict[str, Any]], object], says: str
) -> None:
    change_line(evidence["export"], 4, change)
    status, output = run("export", evidence["export"], "--checkpoints", evidence["checkpoints"])
    assert status == 1
    assert says in output


async def test_a_cut_export_is_noticed_by_the_checkpoints_alone(evidence: dict[str, Any]) -> None:
    lines = evidence["export"].read_text().split("\n")
    evidence["export"].write_text("\n".join(lines[:8]) + "\n")
    assert run("export", evidence["export"])[0] == 0
    status, output = run("export", evidence["export"], "--checkpoints", evidence["checkpoints"])
    assert (status, output) == (1, "event 8: the export ends at 7, a checkpoint attests 10 events\n")


async def test_a_payload_kept_elsewhere_does_not_break_the_chain(evidence: dict[str, Any]) -> None:
    change_line(evidence["export"], 4, lambda event: event.update(payload=None))
    key = ["--key", evidence["key"]]
    status, output = run("export", evidence["export"], "--checkpoints", evidence["checkpoints"], *key)
    assert (status, output) == (0, "all holds (1 payload is not in the file, only the digest: 4)\n")


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda one: one["event"].update(payload='{"data":{}}'), "its payload is not the one"),
        (lambda one: one["event"].update(sequence="9"), "the path does not lead to the root"),
        (lambda one: one["path"].pop(), "the path does not lead to the root"),
        (lambda one: one["checkpoint"].update(signature="00" * 64), "the signature does not fit"),
        (lambda one: one["checkpoint"].update(public_key="11" * 32), "it was signed with another key"),
    ],
)
async def test_a_changed_receipt_is_refused(
    evidence: dict[str, Any], change: Callable[[dict[str, Any]], object], says: str
) -> None:
    receipt = json.loads(evidence["receipt"].read_text())
    change(receipt)
    evidence["receipt"].write_text(json.dumps(receipt))
    status, output = run("receipt", evidence["receipt"], "--key", evidence["key"])
    assert status == 1
    assert says in output


async def test_a_missing_or_foreign_checkpoint_is_noticed(evidence: dict[str, Any]) -> None:
    assert run("checkpoints", evidence["checkpoints"], "--key", "22" * 32)[0] == 1
    lines = evidence["checkpoints"].read_text().split("\n")
    evidence["checkpoints"].write_text(lines[1] + "\n")
    assert "the one before it is missing" in run("checkpoints", evidence["checkpoints"])[1]


async def test_input_that_is_something_else_is_said_to_be_unreadable(home: Path) -> None:
    (home / "x").write_text("[1]\n")
    for kind in ("export", "checkpoints", "receipt"):
        assert run(kind, home / "x")[0] in (1, 2)
    assert run("export", home / "absent")[0] == 2


async def test_an_export_without_events_proves_nothing(evidence: dict[str, Any]) -> None:
    evidence["export"].write_text(evidence["export"].read_text().split("\n")[0] + "\n")
    assert run("export", evidence["export"]) == (1, "there is no event in the file\n")


async def test_an_empty_checkpoint_file_attests_nothing(evidence: dict[str, Any], home: Path) -> None:
    (home / "empty").write_text("")
    nothing = (1, "there is no checkpoint in the file\n")
    assert run("checkpoints", home / "empty", "--key", evidence["key"]) == nothing
    assert run("export", evidence["export"], "--checkpoints", home / "empty", "--key", evidence["key"]) == nothing


@pytest.mark.parametrize("sequence", ["-1", "99999999999999999999999", "1e3", "x", None])
async def test_a_number_out_of_bounds_is_no_reason_to_fall_over(evidence: dict[str, Any], sequence: Any) -> None:
    change_line(evidence["export"], 2, lambda event: event.update(sequence=sequence))
    receipt = json.loads(evidence["receipt"].read_text())
    receipt["event"]["sequence"] = sequence
    evidence["receipt"].write_text(json.dumps(receipt))
    for kind in ("export", "receipt"):
        status, output = run(kind, evidence[kind])
        assert status in (1, 2)
        assert "Traceback" not in output


async def test_a_file_nested_beyond_measure_is_unreadable(home: Path) -> None:
    (home / "deep").write_text("[" * 200_000)
    status, output = run("receipt", home / "deep")
    assert status == 2
    assert "Traceback" not in output


class TestSignatures:
    """Our few lines of Ed25519 say what a full library says."""

    @settings(max_examples=15, deadline=None)
    @given(st.binary(min_size=32, max_size=32), st.binary(max_size=200), st.integers(0, 511))
    def test_it_accepts_what_was_signed_and_nothing_else(self, seed: bytes, message: bytes, bit: int) -> None:
        key = Ed25519PrivateKey.from_private_bytes(seed)
        public = key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
        signature = key.sign(message)
        assert verifier.is_signed(public, signature, message)
        flipped = (int.from_bytes(signature) ^ 1 << bit).to_bytes(64)
        assert not verifier.is_signed(public, flipped, message)
        assert not verifier.is_signed(public, signature, message + b"!")

    def test_the_vectors_of_rfc_8032_hold(self) -> None:
        public = bytes.fromhex("3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c")
        signature = bytes.fromhex(
            "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da"
            "085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00"
        )
        assert verifier.is_signed(public, signature, b"\x72")

    def test_a_response_beyond_the_group_order_is_refused(self) -> None:
        key = Ed25519PrivateKey.from_private_bytes(b"k" * 32)
        public = key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
        signature = key.sign(b"m")
        again = int.from_bytes(signature[32:], "little") + verifier.ORDER
        assert not verifier.is_signed(public, signature[:32] + again.to_bytes(32, "little"), b"m")
