"""What a client keeps of a log: the last root that it was shown. Every later one must have grown out of it."""

import os
from pathlib import Path
from uuid import UUID

import orjson
from pydantic import BaseModel, Field

from mnemon.errors import MnemonError
from mnemon.log.proof.checkpoint import FORMAT, Checkpoint
from mnemon.log.proof.consistency import verify_consistency
from mnemon.log.proof.handover import keys_after
from mnemon.log.proof.signing import is_signed
from mnemon.log_operations.integrity import ConsistencyOut


class HistoryChanged(MnemonError):
    """The log that answers is not the one whose root was kept, grown: something was cut, changed or exchanged."""

    code = "HISTORY_CHANGED"
    status = 409


class KeptRoot(BaseModel, frozen=True):
    """How far a log had come when it was last seen, and who signed it."""

    tenant_id: UUID
    legal_entity: str
    count: int = Field(ge=1, description="How many events the root is over.")
    root: str = Field(description="The Merkle root over them, in hexadecimal.")
    public_key: str = Field(description="The key that signed it. Compare it once with what the operator tells you.")


def first_root(proof: ConsistencyOut) -> KeptRoot:
    """Taken on trust, as a first sight must be: only that it is whole and signed is checked."""
    return _seen(_signed(proof))


def grown_root(kept: KeptRoot, proof: ConsistencyOut) -> KeptRoot:
    """The newer root, if it is proven that its log holds all that the kept one was over."""
    signed = _signed(proof)
    seen = _seen(signed)
    if (seen.tenant_id, seen.legal_entity) != (kept.tenant_id, kept.legal_entity):
        raise _changed(kept, "what was signed is of another log")
    if seen.public_key not in keys_after(kept.public_key, signed.keys):
        raise _changed(kept, f"it is signed with the key {seen.public_key}, which the known one never announced")
    if not _holds_all(kept, proof):
        raise _changed(kept, f"its first {kept.count} events are not those whose root was kept")
    return seen


def _holds_all(kept: KeptRoot, proof: ConsistencyOut) -> bool:
    try:
        return verify_consistency(kept.count, bytes.fromhex(kept.root), proof.model_dump())
    except ValueError:
        return False


def refused_proof(kept: KeptRoot, failure: MnemonError) -> HistoryChanged:
    """Who has shown a root can prove it for ever; that it cannot is the proof of the opposite."""
    return _changed(kept, f"no proof is given: {failure.message}")


def _signed(proof: ConsistencyOut) -> Checkpoint:
    try:
        signed = Checkpoint.from_json(proof.checkpoint.model_dump())
        genuine = is_signed(signed.public_key, signed.signature, signed.statement)
        if genuine and signed.says["format"] == FORMAT and signed.sequence > 0:
            return signed
    except (ValueError, KeyError, TypeError):
        pass
    raise HistoryChanged("The server shows a root whose signature does not fit: nothing that it says can be proven.")


def _seen(signed: Checkpoint) -> KeptRoot:
    says = signed.says
    return KeptRoot(
        tenant_id=says["tenant_id"], legal_entity=says["legal_entity"], count=signed.sequence,
        root=signed.root.hex(), public_key=signed.public_key,
    )  # fmt: skip


def _changed(kept: KeptRoot, reason: str) -> HistoryChanged:
    return HistoryChanged(
        f"The log of {kept.legal_entity} is not the one that was seen before, of {kept.count} events: {reason}. "
        "Have its operator run `mnemon verify`, and keep the root that you have.",
        legal_entity=kept.legal_entity,
        count=kept.count,
    )


class Roots:
    """The last root of each legal entity, for as long as the client is open, or in a file for the next one."""

    def __init__(self, file: Path | None = None) -> None:
        self._file = file
        self._known: dict[str, KeptRoot] = {}
        if file is not None and file.exists():
            for name, told in orjson.loads(file.read_bytes()).items():
                self._known[name] = KeptRoot.model_validate(told)

    def of(self, legal_entity: str) -> KeptRoot | None:
        return self._known.get(legal_entity)

    def keep(self, root: KeptRoot) -> None:
        """Whole before anyone can see it: half a file would cost the memory of all that was seen."""
        if self._known.get(root.legal_entity) == root:
            return
        self._known[root.legal_entity] = root
        if self._file is not None:
            told = {name: one.model_dump(mode="json") for name, one in self._known.items()}
            draft = self._file.with_name(f".{self._file.name}.{os.getpid()}")
            draft.write_bytes(orjson.dumps(told, option=orjson.OPT_INDENT_2))
            draft.replace(self._file)
