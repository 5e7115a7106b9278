"""Sharing a home: its keys, erasure list and checkpoints are brought to the bucket that gateways share.

Nothing in the bucket is overwritten; a run that was cut short is done again. The keys are in one place afterwards: a
copy that stayed here would outlive `privacy rotate --discard`, and open old backups.
"""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from uuid import UUID

from mnemon.errors import BadSettings, Conflict
from mnemon.keyfile import KeyFolder
from mnemon.log.privacy.erasure_list import ErasureList
from mnemon.log.proof.bucket_checkpoints import BucketCheckpoints
from mnemon.log.proof.checkpoint_files import CheckpointFiles
from mnemon.log.proof.handover import NEXT_NAME, handovers
from mnemon.log.proof.signing import PRIVATE_NAME
from mnemon.log.proof.signing_keys import NUMBERED, as_shared
from mnemon.shared_home import KEYS, KeyBucket, SharedHome

# What every gateway needs of the folder `keys` as it is there. The signing key has another form in the bucket.
ALIKE = ("privacy-", "backup-", "session.key")
AT_ONCE = 16


@dataclass(frozen=True, slots=True)
class SharedParts:
    """How much of the home is in the bucket now."""

    keys: int
    erasures: int
    checkpoints: int


def share_home(home: SharedHome) -> SharedParts:
    own = KeyFolder(home.folder)
    names = own.names()
    if PRIVATE_NAME not in names:
        raise BadSettings(f"{own.where()} has no keys to share: a gateway with a new home needs none of its own.")
    if NEXT_NAME in names:
        raise BadSettings("A change of the signing key was cut short: run `mnemon log rotate-key` without the bucket.")
    texts = {name: own.read(name) or "" for name in names if name.startswith(ALIKE)}
    texts |= as_shared(own.read(PRIVATE_NAME) or "", handovers(home.folder))
    _refuse_other_keys(home, texts)
    there = home.sealed(KEYS)
    for name, text in texts.items():
        there.write_once(name, text)
    parts = SharedParts(len(texts), _share_erasures(home), _share_checkpoints(home))
    _let_go(own, there, texts)
    return parts


def _let_go(own: KeyFolder, there: KeyBucket, texts: dict[str, str]) -> None:
    """Of what the bucket gives back as it was. The signing key last: as long as it is here, all of this can be done
    again."""
    for name, text in texts.items():
        if there.read(name) != text:
            raise BadSettings(f"{there.where(name)} is not what was written there: the keys stay in {own.where()}.")
    for name in own.names():
        if name.startswith(ALIKE):
            own.remove(name)
    for start in ALIKE:
        own.clear_drafts(start)
    own.remove(PRIVATE_NAME)


def _refuse_other_keys(home: SharedHome, texts: dict[str, str]) -> None:
    """A signing key that is not ours is another one too, whatever its number."""
    there = [name for name in home.keys.names() if name in texts or NUMBERED.fullmatch(name)]
    other = [name for name in there if home.keys.read(name) != texts.get(name)]
    if other:
        raise Conflict(
            f"{home.keys.where()} has another {other[0]} than this home: name an empty place for this home, or join "
            "those who share that one, with an empty home and without `mnemon home share`.",
            names=other,
        )


def _share_erasures(home: SharedHome) -> int:
    """Under another id: a database counts how far it has come in each list."""
    own, shared = ErasureList(home.folder), ErasureList(home)
    if not own.exists():
        return 0
    shared.list_id()
    known = set(shared.entries())
    new = [one for one in own.entries() if one not in known]
    if new:
        shared.add(new)
    return len(new)


def _share_checkpoints(home: SharedHome) -> int:
    own, shared = CheckpointFiles(home.folder), BucketCheckpoints(home.bucket)
    return sum(
        _share_partition(own, shared, tenant, name) for tenant in own.tenants() for name in own.legal_entities(tenant)
    )


def _share_partition(own: CheckpointFiles, shared: BucketCheckpoints, tenant: UUID, name: str) -> int:
    kept = own.list(tenant, name)
    with ThreadPoolExecutor(AT_ONCE) as writers:
        # All but the last first: signers go on from the last, and must not find it before the others.
        list(writers.map(lambda one: shared.add(tenant, name, one[1], one[0]), enumerate(kept[:-1], 1)))
    if kept:
        shared.add(tenant, name, kept[-1], len(kept))
    seal, there = own.seal(tenant, name), shared.newest(tenant, name)
    if seal is not None and (there.seal is None or there.seal.sequence < seal.sequence):
        shared.put_seal(tenant, name, seal, there.mark)
    return len(kept)
