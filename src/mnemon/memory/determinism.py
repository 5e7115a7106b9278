"""Determinism hashes: one per object, in the order of the recipe, and one over all objects of a branch."""

import hashlib
from collections.abc import Iterable
from typing import Any

from mnemon.log.moments import written
from mnemon.log.privacy.seal import canonical
from mnemon.memory.objects import MemoryObject, normalized


def text_hash(text: str) -> bytes:
    """What a text's vector is found under."""
    return hashlib.sha256(normalized(text).encode()).digest()


def content_hash(content: str) -> str:
    return text_hash(content).hex()


def object_hash(one: MemoryObject, own_content_hash: str | None = None) -> str:
    """SHA-256 over identity, content, facets, parents, links, vector metadata and time, and whether it is deleted.

    Whoever has the hash of the content hands it in.
    """
    vector = one.vector_meta or {}
    parts: list[Any] = [
        [str(one.emo_id), one.emo_version, str(one.place.world_id), one.place.branch],
        own_content_hash or content_hash(one.content),
        [[name, one.facets[name]] for name in sorted(one.facets)],
        [[str(parent.emo_id), parent.rel] for parent in sorted(one.parents)],
        [[link.kind, link.ref] for link in sorted(one.links)],
        [vector.get(name) for name in ("model_id", "model_version", "template_id")],
        written(one.updated_at),
        [one.emo_type, one.mime_type, sorted(one.tags), one.deleted],
    ]
    return hashlib.sha256(b"mnemon/emo/1\n" + canonical(parts)).hexdigest()


def branch_hash(hashes: Iterable[tuple[str, str]]) -> str:
    """Over (emo_id, object hash) of everything that a branch shows, in the order of the ids."""
    digest = hashlib.sha256(b"mnemon/branch/1\n")
    for emo_id, own in sorted(hashes):
        digest.update(f"{emo_id} {own}\n".encode())
    return digest.hexdigest()
