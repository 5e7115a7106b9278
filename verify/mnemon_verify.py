#!/usr/bin/env python3
"""Check a Mnemon export, checkpoint file, receipt, proof of consistency or answer.

One file, Python's standard library only, no database.

    mnemon_verify.py export EXPORT.jsonl [--checkpoints FILE.jsonl] [--key HEX]
    mnemon_verify.py checkpoints FILE.jsonl [--key HEX]
    mnemon_verify.py receipt RECEIPT.json [--key HEX]
    mnemon_verify.py consistency PROOF.json --count N --root HEX [--key HEX]
    mnemon_verify.py answer ANSWER.html|ANSWER.json [--text REVISION=FILE ...] [--key HEX]
    mnemon_verify.py answer ANSWER.json --receipt RECEIPT.json [--text REVISION=FILE ...] [--key HEX]

Give --key, a public key that you were told by another way; without it the key inside the file is used, which proves
only that the file agrees with itself. If the signing key was changed since, the file holds what each key signed to
announce the next one, and that is followed. Exit status: 0 all holds, 1 something does not, 2 unreadable input.

It shares no code with Mnemon, on purpose: a mistake in one of them does not hide in the other.
"""

import argparse
import hashlib
import json
import sys
from datetime import datetime, timedelta, timezone
from html.parser import HTMLParser
from pathlib import Path

EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)  # noqa: UP017  Python 3.8 is enough for this file


def sha256(content):
    return hashlib.sha256(content).digest()


# The chain: every event is hashed together with the hash of the one before it.


def genesis(tenant_id, legal_entity):
    return sha256(b"mnemon/genesis/1\n" + f"{tenant_id}\n{legal_entity}".encode())


def event_hash(event):
    recorded_at = datetime.strptime(event["recorded_at"], "%Y-%m-%dT%H:%M:%S.%f%z")
    microseconds = (recorded_at - EPOCH) // timedelta(microseconds=1)
    return sha256(
        b"mnemon/event/1\n"
        + bytes.fromhex(event["previous_hash"])
        + int(event["sequence"]).to_bytes(8, "big")
        + microseconds.to_bytes(8, "big")
        + sha256(event["envelope"].encode())
        + bytes.fromhex(event["payload_digest"])
    )


PAYLOAD_CHANGED = "its payload is not the one that was recorded"


def event_faults(event):
    """What is wrong with an event by itself."""
    if event["payload"] is not None and sha256(event["payload"].encode()).hex() != event["payload_digest"]:
        yield PAYLOAD_CHANGED
    if event_hash(event).hex() != event["hash"]:
        yield "its envelope, place, recorded time or digests were changed"


# The Merkle tree of RFC 6962 over the events' hashes.


class Tree:
    def __init__(self):
        self.count = 0
        self.roots = []

    def add(self, leaf_hash):
        grown, place = sha256(b"\x00" + leaf_hash), self.count
        while place & 1:
            grown = sha256(b"\x01" + self.roots.pop() + grown)
            place >>= 1
        self.roots.append(grown)
        self.count += 1

    def root(self):
        root = self.roots[-1]
        for left in reversed(self.roots[:-1]):
            root = sha256(b"\x01" + left + root)
        return root


def root_of_path(leaf_hash, place, count, path):
    """Walk from a leaf to the root; None if the path has the wrong length."""
    sides = []
    start, end = 0, count
    while end - start > 1:
        half = 1 << ((end - start - 1).bit_length() - 1)
        if place < start + half:
            sides.append("right")
            end = start + half
        else:
            sides.append("left")
            start += half
    if len(sides) != len(path) or not 0 <= place < count:
        return None
    reached = sha256(b"\x00" + leaf_hash)
    for side, sibling in zip(reversed(sides), path):  # noqa: B905
        reached = sha256(b"\x01" + sibling + reached) if side == "left" else sha256(b"\x01" + reached + sibling)
    return reached


def is_consistent(first, first_root, second, second_root, path):
    """Whether a path proves that the tree with the second root has grown out of the one with the first (RFC 9162)."""
    if first == second:
        return not path and first_root == second_root
    if not 0 < first < second or not path:
        return False
    steps = [first_root, *path] if first & (first - 1) == 0 else list(path)
    place, last = first - 1, second - 1
    while place & 1:
        place, last = place >> 1, last >> 1
    old = new = steps[0]
    for step in steps[1:]:
        if last == 0:
            return False
        if place & 1 or place == last:
            old, new = sha256(b"\x01" + step + old), sha256(b"\x01" + step + new)
            while not place & 1 and place:
                place, last = place >> 1, last >> 1
        else:
            new = sha256(b"\x01" + new + step)
        place, last = place >> 1, last >> 1
    return last == 0 and (old, new) == (first_root, second_root)


# Ed25519 (RFC 8032), verification only. Points are (X, Y, Z, T) with x = X/Z, y = Y/Z, xy = T/Z.

P = 2**255 - 19
ORDER = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, P - 2, P) % P
ROOT_OF_MINUS_ONE = pow(2, (P - 1) // 4, P)
NEUTRAL = (0, 1, 1, 0)


def add_points(a, b):
    e = (a[1] - a[0]) * (b[1] - b[0]) % P
    f = (a[1] + a[0]) * (b[1] + b[0]) % P
    g = 2 * a[3] * b[3] * D % P
    h = 2 * a[2] * b[2] % P
    x, y, z, t = f - e, h - g, h + g, f + e
    return (x * y % P, z * t % P, y * z % P, x * t % P)


def multiply(scalar, point):
    result = NEUTRAL
    while scalar:
        if scalar & 1:
            result = add_points(result, point)
        point = add_points(point, point)
        scalar >>= 1
    return result


def same_point(a, b):
    return (a[0] * b[2] - b[0] * a[2]) % P == 0 and (a[1] * b[2] - b[1] * a[2]) % P == 0


def point_of(encoded):
    """The point that 32 bytes stand for, or None."""
    y = int.from_bytes(encoded, "little")
    sign, y = y >> 255, y & ((1 << 255) - 1)
    if y >= P:
        return None
    square = (y * y - 1) * pow(D * y * y + 1, P - 2, P) % P
    x = pow(square, (P + 3) // 8, P)
    if (x * x - square) % P:
        x = x * ROOT_OF_MINUS_ONE % P
    if (x * x - square) % P or (x == 0 and sign):
        return None
    if x & 1 != sign:
        x = P - x
    return (x, y, 1, x * y % P)


BASE = point_of((4 * pow(5, P - 2, P) % P).to_bytes(32, "little"))


def is_signed(public_key, signature, message):
    if len(public_key) != 32 or len(signature) != 64:
        return False
    key, commitment = point_of(public_key), point_of(signature[:32])
    response = int.from_bytes(signature[32:], "little")
    if key is None or commitment is None or response >= ORDER:
        return False
    digest = hashlib.sha512(signature[:32] + public_key + message).digest()
    challenge = int.from_bytes(digest, "little") % ORDER
    return same_point(multiply(response, BASE), add_points(commitment, multiply(challenge, key)))


# The kinds of file.


def keys_after(key, handovers):
    """The keys that one leads to: each signs which comes next."""
    trusted = {key}
    for handover in handovers:
        said = json.loads(handover["statement"])
        if said.get("format") == "mnemon/key/1" and handover["public_key"] in trusted and is_genuine(handover):
            trusted.add(said["next_key"])
    return trusted


def is_genuine(signed):
    public_key, signature = bytes.fromhex(signed["public_key"]), bytes.fromhex(signed["signature"])
    return is_signed(public_key, signature, signed["statement"].encode())


def checkpoint_faults(checkpoint, key):
    """What is wrong with a checkpoint by itself, for someone who trusts a key."""
    said = json.loads(checkpoint["statement"])
    where = f"checkpoint at {said['sequence']}"
    if said.get("format") != "mnemon/checkpoint/1":
        yield f"{where}: its format {said.get('format')!r} is unknown"
    if key and checkpoint["public_key"] not in keys_after(key, checkpoint.get("keys", [])):
        yield f"{where}: it was signed with another key"
    if not is_genuine(checkpoint):
        yield f"{where}: the signature does not fit"
    if said["count"] != said["sequence"]:
        yield f"{where}: it counts {said['count']} events up to number {said['sequence']}"


def check_checkpoints(lines, key):
    """Each is signed with the key of the one before, or one that it leads to. What a key signed attests all before."""
    previous, before, signers = "0" * 64, None, set()
    if not lines:
        yield "there is no checkpoint in the file"
    for checkpoint in lines:
        said = json.loads(checkpoint["statement"])
        yield from checkpoint_faults(checkpoint, before and before["public_key"])
        if said["previous"] != previous:
            yield f"checkpoint at {said['sequence']}: the one before it is missing or was changed"
        if not follows(before, checkpoint):
            yield f"checkpoint at {said['sequence']}: it goes back"
        previous, before = sha256(checkpoint["statement"].encode()).hex(), checkpoint
        signers.add(checkpoint["public_key"])
    if key and lines and key not in signers and not keys_after(key, lines[0].get("keys", [])) & signers:
        yield "the checkpoints were signed with another key"


def follows(before, checkpoint):
    """Further on; or at the same place, saying the same, signed with the next key."""
    said = json.loads(checkpoint["statement"])
    earlier = json.loads(before["statement"]) if before else {"sequence": "0"}
    if said["sequence"] != earlier["sequence"]:
        return int(said["sequence"]) > int(earlier["sequence"])
    same = (said["head"], said["root"]) == (earlier.get("head"), earlier.get("root"))
    return same and checkpoint["public_key"] != before["public_key"]


class Notes:
    """What an auditor should know although it is no fault: the events concerned."""

    def __init__(self):
        self.absent = []
        self.redacted = []
        self.unread = set()

    def texts(self):
        if self.unread:
            yield f"quotes of {len(self.unread)} revisions were not compared: give --text"
        if self.absent:
            yield f"{counted(self.absent)} not in the file, only the digest: {places(self.absent)}"
        if self.redacted:
            yield f"{counted(self.redacted)} redacted since: {places(self.redacted)}"


def counted(sequences):
    return f"{len(sequences)} payload{' is' if len(sequences) == 1 else 's are'}"


def places(sequences):
    return ", ".join(map(str, sequences[:10])) + (" …" if len(sequences) > 10 else "")


def check_export(lines, checkpoints, notes):
    header = next(lines, {})
    if header.get("format") != "mnemon/export/1":
        yield "the first line does not say that this is an export"
        return
    attested = {int(json.loads(one["statement"])["sequence"]): json.loads(one["statement"]) for one in checkpoints}
    previous, sequence, tree = genesis(header["tenant_id"], header["legal_entity"]).hex(), 0, Tree()
    changed, redactions = [], {}
    for event in lines:
        if int(event["sequence"]) != sequence + 1:
            yield f"event {sequence + 1}: missing; the next line is event {event['sequence']}"
        elif event["previous_hash"] != previous:
            yield f"event {event['sequence']}: it does not link to the one before it"
        faults = list(event_faults(event))
        if event["payload"] is None:
            notes.absent.append(int(event["sequence"]))
        if PAYLOAD_CHANGED in faults:
            changed.append(event)
            faults.remove(PAYLOAD_CHANGED)
        else:
            note_redaction(redactions, event)
        for fault in faults:
            yield f"event {event['sequence']}: {fault}"
        previous, sequence = event["hash"], int(event["sequence"])
        tree.add(bytes.fromhex(event["hash"]))
        said = attested.pop(sequence, None)
        if said and not agrees(said, header, event, tree):
            yield f"event {sequence}: the log up to here is not the one that the checkpoint attests"
    for event in changed:
        if is_redacted(redactions, event):
            notes.redacted.append(int(event["sequence"]))
        else:
            yield f"event {event['sequence']}: {PAYLOAD_CHANGED}"
    if not sequence:
        yield "there is no event in the file"
    for missing in sorted(attested):
        yield f"event {sequence + 1}: the export ends at {sequence}, a checkpoint attests {missing} events"


def note_redaction(redactions, event):
    """An event of this type says that another's payload went from one digest to another."""
    if json.loads(event["envelope"])["type"] == "privacy.payload.redacted" and event["payload"] is not None:
        said = json.loads(event["payload"])["data"]
        redactions.setdefault(said["sequence"], []).append((said["old_digest"], said["new_digest"]))


def is_redacted(redactions, event):
    """Whether such events lead from the digest that was recorded to the payload that is there."""
    digest = event["payload_digest"]
    for old, new in redactions.get(event["sequence"], ()):
        digest = new if old == digest else digest
    return digest == sha256(event["payload"].encode()).hex()


def agrees(said, header, event, tree):
    return (said["tenant_id"], said["legal_entity"], said["head"], said["root"]) == (
        header["tenant_id"],
        header["legal_entity"],
        event["hash"],
        tree.root().hex(),
    )


def check_receipt(receipt, key, notes):
    if receipt.get("format") != "mnemon/receipt/1":
        yield "this is no receipt"
        return
    checkpoint, redactions = receipt["checkpoint"], {}
    yield from checkpoint_faults(checkpoint, key)
    said = json.loads(checkpoint["statement"])
    for one in receipt.get("redactions", []):
        faults = [*event_faults(one["event"]), *path_faults(one, said)]
        yield from (f"event {one['event']['sequence']}: {fault}" for fault in faults)
        if not faults:
            note_redaction(redactions, one["event"])
    event = receipt["event"]
    if event["payload"] is None:
        notes.absent.append(int(event["sequence"]))
    for fault in (*event_faults(event), *path_faults(receipt, said)):
        if fault == PAYLOAD_CHANGED and is_redacted(redactions, event):
            notes.redacted.append(int(event["sequence"]))
        else:
            yield f"event {event['sequence']}: {fault}"


def path_faults(proven, said):
    """What is wrong with the way from an event to the root that a checkpoint names."""
    event = proven["event"]
    scope = json.loads(event["envelope"])["scope"]
    if (scope["tenant_id"], scope["legal_entity"]) != (said["tenant_id"], said["legal_entity"]):
        yield "the checkpoint is about another partition than the event"
    path = [bytes.fromhex(sibling) for sibling in proven["path"]]
    root = root_of_path(bytes.fromhex(event["hash"]), int(event["sequence"]) - 1, int(said["count"]), path)
    if root is None or root.hex() != said["root"]:
        yield "the path does not lead to the root that the checkpoint attests"


def check_consistency(proof, count, root, key):
    """Whoever kept a root over `count` events: the log that gave this proof still holds all of them."""
    if proof.get("format") != "mnemon/consistency/1":
        yield "this is no proof of consistency"
        return
    yield from checkpoint_faults(proof["checkpoint"], key)
    said = json.loads(proof["checkpoint"]["statement"])
    path = [bytes.fromhex(one) for one in proof["path"]]
    ends = int(said["count"]), bytes.fromhex(said["root"])
    if int(proof["count"]) != count or not is_consistent(count, bytes.fromhex(root), *ends, path):
        yield f"the log of {said['count']} events does not hold all that you kept the root of"


def check_answer(answer, receipt, texts, key, notes):
    """An answer is as it was given: the log tells these very spans, and the texts, if given, say the quotes there."""
    yield from check_receipt(receipt, key, notes)
    envelope = json.loads(receipt["event"]["envelope"])
    if envelope["type"] != "question.asked" or receipt["event"]["payload"] is None:
        yield "the receipt is not about an answer"
        return
    if answer["query_id"] not in [one["entity_id"] for one in envelope.get("entities", [])]:
        yield "the receipt is about another answer"
    recorded = json.loads(receipt["event"]["payload"])["data"]["evidence"]
    spans = {(one["doc_version_id"], one["start"], one["end"]) for one in recorded}
    citations = [one for sentence in answer["sentences"] for one in sentence["citations"]]
    for one in citations:
        where = f"{one['doc_version_id']} {one['start']}-{one['end']}"
        if (one["doc_version_id"], one["start"], one["end"]) not in spans:
            yield f"citation {where}: the log does not tell of it"
        text = texts.get(one["doc_version_id"])
        if text is None:
            notes.unread.add(one["doc_version_id"])
        elif text[one["start"] : one["end"]] != one["quote"]:
            yield f"citation {where}: the text says something else there"
    if spans - {(one["doc_version_id"], one["start"], one["end"]) for one in citations}:
        yield "the log tells of citations that the answer leaves out"


def check_answer_file(told, texts, key, notes):
    """A file that carries its own proof: the log attests the question's and the quotes' very words."""
    yield from check_answer(told, told["receipt"], {}, key, notes)
    recorded = json.loads(told["receipt"]["event"]["payload"])["data"]
    parts = [[one["role"], one["note"], [span_of(each) for each in one["citations"]]] for one in told["sentences"]]
    written = json.dumps([told["question"], parts], ensure_ascii=False, separators=(",", ":"))
    if sha256(f"{told['salt']}\n{written}".encode()).hex() != recorded.get("words_digest"):
        yield "the question, a note or a quote is not the one that the log attests"
    for name in ("outcome", "model", "reason"):
        if told[name] != recorded.get(name):
            yield f"the log tells another {name}"
    if recorded_moment(told["asked_at"]) != recorded_moment(told["receipt"]["event"]["recorded_at"]):
        yield "it was asked at another time"
    revisions = {one["doc_version_id"]: one for one in told["revisions"]}
    for name, one in revisions.items():
        yield from (f"revision {name}: {fault}" for fault in check_receipt(one["receipt"], key, notes))
        if one["receipt"]["event"]["payload"] is None or name not in one["receipt"]["event"]["payload"]:
            yield f"revision {name}: its receipt is about something else"
        elif name in texts and "sha256:" + sha256(texts[name].encode()).hex() != one["text_hash"]:
            yield f"revision {name}: the text that was given has another digest"
    for one in (each for sentence in told["sentences"] for each in sentence["citations"]):
        if one["doc_version_id"] not in revisions:
            yield f"revision {one['doc_version_id']}: it is quoted and not told of"
        elif one["doc_version_id"] in texts and not says(texts, one):
            yield f"citation {one['doc_version_id']} {one['start']}-{one['end']}: the text says something else there"
    notes.unread -= set(texts)


def span_of(cited):
    return [cited["doc_version_id"], cited["start"], cited["end"], cited["quote"]]


def says(texts, cited):
    return texts[cited["doc_version_id"]][cited["start"] : cited["end"]] == cited["quote"]


def recorded_moment(written):
    return datetime.fromisoformat(written.replace("Z", "+00:00"))  # noqa: FURB162  Python before 3.11 reads no Z


# The page: what it shows must be what the JSON inside says, and nothing that could hide or add words.

STYLE_DIGEST = "1222c3fdc3b6184cdc09d148372a5de6c0c1d68aed8daf03497db965d3575061"
ELEMENTS = {"html", "head", "meta", "title", "style", "body", "h1", "p", "blockquote", "small", "script"}
ATTRIBUTES = {("html", "lang", "en"), ("meta", "charset", "utf-8"), ("script", "type", "application/json")}


class Page(HTMLParser):
    def __init__(self, content):
        super().__init__(convert_charrefs=True)
        self.inside, self.style, self.shown, self.title, self.faults = "", "", [], "", []
        self.at = ""
        self.scripts = 0
        self.feed(content)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.at = tag
        self.scripts += tag == "script"
        if tag not in ELEMENTS or any((tag, *one) not in ATTRIBUTES for one in attributes):
            self.faults.append(f"the page has something that does not belong there: {self.get_starttag_text()[:80]}")

    def handle_endtag(self, tag):
        self.at = ""

    def handle_data(self, data):
        if self.at == "script":
            self.inside += data
        elif self.at == "style":
            self.style += data
        elif self.at == "title":
            self.title += data
        else:
            self.shown.append(data)


def lines_of(told):
    """What a page of this answer shows, in this order."""
    yield told["question"]
    if told["outcome"] == "refused":
        ending = f"Refused: {told['reason']}."
    else:
        ending = (
            f"Written by {told['model']}; these quotes prove it." if told["model"] else "In the sources' own words."
        )
    yield f"Asked {told['asked_at']}. {ending}"
    quotes = [(sentence["note"], one) for sentence in told["sentences"] for one in sentence["citations"]]
    for number, (note, one) in enumerate(quotes, 1):
        yield f"{note} {one['quote']} [{number}]"
    titles = {one["doc_version_id"]: f"{one['title']}, version {one['version_number']}" for one in told["revisions"]}
    for number, (_, one) in enumerate(quotes, 1):
        yield f"[{number}] {titles[one['doc_version_id']]} {one['quote']} "
        yield f"{one['doc_version_id']} {one['start']}-{one['end']}"
    for one in told["revisions"]:
        place = one["receipt"]["event"]["sequence"]
        yield f"{one['doc_version_id']}: text {one['text_hash']}, file {one['content_hash']}, log {place}"
    yield f"Log {told['receipt']['event']['sequence']}, signed with {told['receipt']['checkpoint']['public_key']}"
    yield "Check it offline: python3 mnemon_verify.py answer FILE --key KEY"


def page_faults(page, told):
    yield from page.faults
    if sha256(page.style.encode()).hex() != STYLE_DIGEST or page.scripts != 1:
        yield "the page has a style or a script that does not belong there"
    folded = " ".join(" ".join(page.shown).split())
    if folded != " ".join(" ".join(lines_of(told)).split()) or page.title != told["question"]:
        yield "the page shows other words than the answer inside it"


def read_answer(path):
    """The answer, and the page that it came in, if it did."""
    content = Path(path).read_bytes().decode()
    if not content.lstrip().startswith("<"):
        return json.loads(content), None
    page = Page(content)
    return json.loads(page.inside), page


def run_answer(arguments, notes):
    told, page = read_answer(arguments.file)
    texts = read_texts(arguments.text)
    if told.get("format") == "mnemon/answer/1":
        faults = list(check_answer_file(told, texts, arguments.key, notes))
        return [*faults, *(page_faults(page, told) if page else ())]
    if not arguments.receipt:
        raise ValueError("this answer carries no proof: give --receipt")
    receipt = json.loads(Path(arguments.receipt).read_text("utf-8"))
    return list(check_answer(told, receipt, texts, arguments.key, notes))


def read_texts(given):
    """`REVISION=FILE` as text by revision, line ends as they are: offsets count code points."""
    pairs = [one.partition("=") for one in given or []]
    return {name: Path(path).read_bytes().decode() for name, _, path in pairs}


def read_lines(path):
    with Path(path).open(encoding="utf-8") as file:
        for line in file:
            yield json.loads(line)


def run(arguments, notes):
    """All faults of one call."""
    if arguments.kind == "receipt":
        receipt = json.loads(Path(arguments.file).read_text(encoding="utf-8"))
        return list(check_receipt(receipt, arguments.key, notes))
    if arguments.kind == "consistency":
        if not arguments.root or not arguments.count:
            raise ValueError("give --count and --root, as you kept them")
        proof = json.loads(Path(arguments.file).read_text(encoding="utf-8"))
        return list(check_consistency(proof, arguments.count, arguments.root, arguments.key))
    if arguments.kind == "answer":
        return run_answer(arguments, notes)
    if arguments.kind == "checkpoints":
        return list(check_checkpoints(list(read_lines(arguments.file)), arguments.key))
    faults, checkpoints = [], []
    if arguments.checkpoints:
        checkpoints = list(read_lines(arguments.checkpoints))
        faults = list(check_checkpoints(checkpoints, arguments.key))
    return [*faults, *check_export(read_lines(arguments.file), checkpoints, notes)]


def verdict(arguments, notes):
    """That all holds, and what this does not say."""
    signed = arguments.kind != "export" or arguments.checkpoints
    limits = (["no --key given"] if signed and not arguments.key else []) + list(notes.texts())
    return f"all holds ({'; '.join(limits)})" if limits else "all holds"


def main():
    parser = argparse.ArgumentParser(description="Check what Mnemon recorded, without Mnemon.")
    parser.add_argument("kind", choices=["export", "checkpoints", "receipt", "consistency", "answer"])
    parser.add_argument("file")
    parser.add_argument("--checkpoints", help="checkpoint file to hold an export against")
    parser.add_argument("--count", type=int, help="how many events the root that you kept was over")
    parser.add_argument("--root", help="the root that you kept, 64 hexadecimal digits")
    parser.add_argument("--receipt", help="the receipt of an answer")
    parser.add_argument("--text", action="append", help="REVISION=FILE: the text of a cited revision")
    parser.add_argument("--key", help="the public key, 64 hexadecimal digits, as you were told it")
    arguments, notes = parser.parse_args(), Notes()
    try:
        faults = run(arguments, notes)
    except (OSError, ValueError, LookupError, TypeError, AttributeError, ArithmeticError, RecursionError) as failure:
        print(f"{arguments.file} cannot be read: {type(failure).__name__}: {failure}")  # noqa: T201
        return 2
    for fault in faults or [verdict(arguments, notes)]:
        print(fault)  # noqa: T201
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
