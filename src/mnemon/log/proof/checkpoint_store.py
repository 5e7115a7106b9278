"""Where checkpoints are kept, outside the database: files of a home, or the bucket of a shared one."""

from collections.abc import Iterator, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Protocol
from uuid import UUID

from mnemon.log.events import MAIN
from mnemon.log.proof.bucket_checkpoints import BucketCheckpoints
from mnemon.log.proof.checkpoint import Checkpoint, NewestSigned
from mnemon.log.proof.checkpoint_files import CheckpointFiles
from mnemon.shared_home import Home, SharedHome


class CheckpointStore(Protocol):
    """Keeps them by partition. What is damaged raises ValueError."""

    def list(self, tenant: UUID, legal_entity: str = MAIN) -> list[Checkpoint]: ...

    def count(self, tenant: UUID, legal_entity: str = MAIN) -> int: ...

    def newest(self, tenant: UUID, legal_entity: str = MAIN) -> NewestSigned: ...

    def since(self, tenant: UUID, legal_entity: str, number: int) -> tuple[int, Sequence[Checkpoint]]: ...

    def covering(self, tenant: UUID, legal_entity: str, sequence: int) -> Checkpoint | None: ...

    def add(self, tenant: UUID, legal_entity: str, made: Checkpoint, number: int) -> None: ...

    def put_seal(self, tenant: UUID, legal_entity: str, made: Checkpoint, mark: str | None) -> None: ...

    def set_aside(self, tenant: UUID, legal_entity: str, keep: int, seal: bool, name: str) -> None:
        """Take the checkpoints after the first `keep`, and the seal, to a place of this name where nobody looks."""
        ...

    def alone(self, tenant: UUID, legal_entity: str) -> AbstractAsyncContextManager[None]: ...

    def tenants(self) -> Iterator[UUID]: ...

    def legal_entities(self, tenant: UUID) -> Iterator[str]: ...

    def where(self, tenant: UUID, legal_entity: str) -> str: ...


def checkpoint_store(home: Home) -> CheckpointStore:
    return BucketCheckpoints(home.bucket) if isinstance(home, SharedHome) else CheckpointFiles(home)
