"""Consistency: whoever kept a root can have it proven that the log still holds all of it, and cannot be fooled."""

import hashlib
import json
from pathlib import Path
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemon.db.database import Database
from mnemon.log.errors import NothingToAttest
from mnemon.log.proof.consistency import is_consistent, proof_ranges, verify_consistency
from mnemon.log.proof.integrity import Integrity
from mnemon.log.proof.merkle import Frontier
from mnemon.log.store import EventLog

from .conftest import noted
from .offline import run


def leaf(number: int) -> bytes:
    return hashlib.sha256(str(number).encode()).digest()


def root(start: int, end: int) -> bytes:
    tree = Frontier()
    for number in range(start, end):
        tree.add(leaf(number))
    return tree.root()


@given(st.integers(1, 70), st.integers(1, 70))
def test_a_proof_leads_from_one_root_to_the_other_and_to_no_other(one: int, other: int) -> None:
    first, second = sorted((one, other))
    path = [root(*place) for place in proof_ranges(first, second)]
    assert is_consistent(first, root(0, first), second, root(0, second), path)
    assert not is_consistent(first, root(1, first + 1), second, root(0, second), path)
    assert not is_consistent(first, root(0, first), second, root(1, second + 1), path)
    if first != second:
        assert not is_consistent(first, root(0, first), second, root(0, second), path[:-1])
        assert not is_consistent(first, root(0, first), second, root(0, second), [*path, leaf(0)])


@pytest.mark.parametrize("amount", [1, 300])
async def test_a_log_proves_that_it_grew(
    log: EventLog, database: Database, tenant: UUID, home: Path, amount: int
) -> None:
    integrity = Integrity(database, log.reader, home)
    await log.append(tenant, [noted(str(n)) for n in range(amount)])
    kept = await integrity.checkpoint(tenant)
    await log.append(tenant, [noted(str(n)) for n in range(270)])
    await integrity.signer.sign_seal(tenant)
    proof = (await integrity.consistency(tenant, amount)).as_json()
    assert verify_consistency(amount, kept.root, proof)
    assert not verify_consistency(amount, leaf(0), proof)
    file = home / "proof.json"
    file.write_text(json.dumps(proof))
    known = ["--count", str(amount), "--root", kept.root.hex(), "--key", kept.public_key]
    assert run("consistency", file, *known) == (0, "all holds\n")
    status, output = run("consistency", file, "--count", str(amount), "--root", "00" * 32)
    assert (status, "does not hold all that you kept the root of" in output) == (1, True)
    with pytest.raises(NothingToAttest, match="attested up to"):
        await integrity.consistency(tenant, amount + 271)
