"""Tampers with who was forgotten, and with what verify itself goes by."""

import json
from collections.abc import Callable

from mnemon.log.proof.signing import new_key

from .tampers import Tamper, checkpoint_lines
from .world import World

ONE = "tenant_id = %(tenant)s AND subject_id ="


def erasure_list(old: str, new: str) -> Callable[[World], None]:
    def do(world: World) -> None:
        file = world.home / "keys" / "erasures.jsonl"
        text = file.read_text()
        assert old in text
        file.write_text(text.replace(old, new))

    return do


def name_another(world: World) -> None:
    file = world.home / "keys" / "erasures.jsonl"
    line = json.loads(file.read_text().splitlines()[-1]) | {"subject_id": "c-2"}
    with file.open("a") as opened:
        opened.write(json.dumps(line) + "\n")


def archive_file(change: Callable[[bytes], bytes | None]) -> Callable[[World], None]:
    def do(world: World) -> None:
        [file] = [one for one in (world.home / "archive").rglob("*") if one.is_file()]
        changed = change(file.read_bytes())
        file.unlink() if changed is None else file.write_bytes(changed)

    return do


def take_keys(world: World) -> None:
    for file in (world.home / "keys").glob("privacy-*.key"):
        file.unlink()


def replace_checkpoint_key(world: World) -> None:
    (world.home / "keys" / "checkpoint.key").write_text(new_key())


FORGOTTEN = [
    Tamper("a person's key changed", f"UPDATE mnemon.subject_keys SET wrapped_key = sha256('x') WHERE {ONE} 'c-2'",
           "log_rows person c-2 Their key was changed", alone=True),
    Tamper("a person's key destroyed",
           "UPDATE mnemon.subject_keys SET wrapped_key = NULL, key_id = NULL, destroyed_at = now() "
           f"WHERE {ONE} 'c-2'", "log_rows person c-2 Their key was destroyed, and no event", alone=True),
    Tamper("a document's key destroyed",
           "UPDATE mnemon.subject_keys SET wrapped_key = NULL, key_id = NULL, destroyed_at = now() "
           "WHERE tenant_id = %(tenant)s AND subject_id LIKE 'document:%%'",
           "log_rows person document:.* was destroyed, and no event", alone=True),
    Tamper("the key that the keys of people are wrapped with", take_keys,
           "log_rows .*The key-encryption key .* is not at hand",
           alone=True),
    Tamper("who was erased", "UPDATE mnemon.erasures SET subject_id = 'c-9' WHERE tenant_id = %(tenant)s",
           "log_rows erasure .*do not agree", alone=True),
    Tamper("who approved an erasure", "UPDATE mnemon.erasures SET decided_by = 'u-9' WHERE tenant_id = %(tenant)s",
           "log_rows erasure .*do not agree", alone=True),
    Tamper("why someone was erased", "UPDATE mnemon.erasures SET reason = 'other' WHERE tenant_id = %(tenant)s",
           "log_rows erasure .*do not agree", alone=True),
    Tamper("a line of the erasure list", erasure_list('"c-1"', '"c-x"'),
           "log_rows person c-1 .*the erasure list does not name them", alone=True),
    Tamper("a line added to the erasure list", name_another, "log_rows person c-2 The erasure list names them"),
    Tamper("the erasure list deleted", lambda world: (world.home / "keys" / "erasures.jsonl").unlink(),
           "log_rows erasure list .* is gone", alone=True),
    Tamper("when the last verification was",
           "UPDATE mnemon.verification_results SET verified_at = now() + interval '1 year' "
           "WHERE tenant_id = %(tenant)s", "log_rows last verification Its result is not", alone=True),
    Tamper("when everything was last verified",
           "UPDATE mnemon.verification_results SET complete_at = now() + interval '1 year' "
           "WHERE tenant_id = %(tenant)s", "log_rows last verification Its result is not", alone=True),
    Tamper("the version of a lens",
           "UPDATE mnemon.lens_states SET version = 0 WHERE tenant_id = %(tenant)s AND lens = 'documents'",
           "lenses lens documents Its rows are said to be of version 0", alone=True),
    Tamper("how far a checkpoint goes",
           "UPDATE mnemon.checkpoints SET sequence = sequence + 1 "
           "WHERE tenant_id = %(tenant)s AND legal_entity = 'record' AND number = 1",
           "log record .*another one stands in its place", alone=True),
    Tamper("checkpoints in another order", checkpoint_lines("file", lambda lines: lines[::-1]), "log file ",
           alone=True),
    Tamper("which of a person's keys it is",
           f"UPDATE mnemon.subject_keys SET generation = 7 WHERE {ONE} 'c-2'",
           "log_rows person c-2 Their key is said to be a later one", alone=True),
    Tamper("the key of somebody who came back",
           f"DELETE FROM mnemon.subject_keys WHERE {ONE} 'c-3' AND wrapped_key IS NOT NULL",
           "log_rows person c-3 They came back, and the key"),
    Tamper("a key of keys that nobody has", "INSERT INTO mnemon.wrapping_keys (key_id) VALUES ('0123456789abcdef')",
           "log_rows keys The key-encryption key 0123456789abcdef is not at hand"),
    Tamper("which event was redacted",
           "UPDATE mnemon.redactions SET sequence = sequence + 1 WHERE tenant_id = %(tenant)s",
           "log_rows main redaction", alone=True),
    Tamper("who declared an event type",
           "UPDATE mnemon.event_types SET registered_by = 'user:eve' WHERE tenant_id = %(tenant)s",
           "log_rows event type shop.invoice.sent", alone=True),
    Tamper("a file of the archive deleted", archive_file(lambda old: None), "log archived "),
    Tamper("a file of the archive", archive_file(lambda old: old[:-9] + bytes(9)), "log archived ", alone=True),
    Tamper("the record of an archived file", "DELETE FROM mnemon.archives WHERE tenant_id = %(tenant)s",
           "log archived ", alone=True),
    Tamper("what the last verification noted",
           "UPDATE mnemon.event_payloads p SET payload = NULL FROM mnemon.events e WHERE e.type = 'integrity.verified' "
           "AND (p.tenant_id, p.partition_id, p.sequence) = (e.tenant_id, e.partition_id, e.sequence)",
           "log main .*payload of event", alone=True),
    Tamper("the key that signs checkpoints deleted",
           lambda world: (world.home / "keys" / "checkpoint.key").unlink(),
           "keys key checkpoint.key The key that checkpoints are signed with is gone"),
    Tamper("the key that signs checkpoints replaced", replace_checkpoint_key,
           "keys key checkpoint.key This home would sign with", alone=True),
    Tamper("passages switched off", "UPDATE mnemon.chunks SET active = false WHERE tenant_id = %(tenant)s",
           "content revision .*not the document's, or not searched as it is", alone=True),
    Tamper("passages of another document",
           "UPDATE mnemon.chunks SET doc_id = gen_random_uuid() WHERE tenant_id = %(tenant)s",
           "content revision .*not the document's, or not searched as it is", alone=True),
]  # fmt: skip
