"""Mail: nothing lost, quotations labelled, votes and stances read right; speed beside others; memory; pages.

Everything goes in by the operation behind every door. QUICK=1 measures less of it; MNEMON_EVAL_DATA says where the mail
of others is. Stances of others (LEDA) are only measured; the one threshold of each draft is chosen on the other draft.
"""

import asyncio
import difflib
import gzip
import json
import os
import sys
import tempfile
import time
from pathlib import Path

from mail_door import STORING, MailRoom, mail_room
from mail_gold import blind_units, cross_validated, leda_units, stance_f1, vote_figures
from mail_speed import (
    mu_seconds,
    pipeline_per_s,
    read_archive,
    rss_of_import,
    stdlib_seconds,
    store_seconds,
    thread_pages,
)

from mnemon.mail import inputs, operations
from mnemon.mail.message.reading import read_message
from mnemon.mail.spans.normalized import NormalizedBody
from mnemon.mail.threads.linking import ThreadMember, threads_of
from mnemon.telemetry import configure_logging

ROOT = Path(__file__).parents[1]
QUICK = bool(os.environ.get("QUICK"))
DATA = Path(os.environ.get("MNEMON_EVAL_DATA") or ROOT.parent / "shared" / "eval") / "mail"
COUNTED = {"ksummit.mboxrd.gz": 3115, "python-committers.mbox.gz": 2876}
UNIQUE_OF_MAVEN = 317
GIGABYTE_OF_KSUMMIT = 42
Figures = dict[str, float | int]


def quote_f1() -> float:
    """F1 over characters of the new text, the mean of the least favourable eleven of twelve mails."""
    scores = []
    for file in sorted((DATA / "quote-gold").glob("*.eml")):
        message = read_message(file.read_bytes())
        found = "".join(NormalizedBody.of(message.text, message.spans).text.split())
        gold = "".join((DATA / "quote-gold" / "expected" / f"{file.stem}.txt").read_text(encoding="utf-8").split())
        same = difflib.SequenceMatcher(None, gold, found, autojunk=False).get_matching_blocks()
        scores.append(2 * sum(one.size for one in same) / (len(gold) + len(found)))
    return min((sum(scores) - one) / (len(scores) - 1) for one in scores)


async def lost_messages() -> int:
    """Of all archives, imported: messages that their own separators or files tell of, less those that are stored."""
    places = [DATA / name for name in (("python-committers.mbox.gz",) if QUICK else COUNTED)]
    async with mail_room(embedder="none") as room:
        lost = 0
        for place in places:
            [*_, done] = await room.put_in([place], STORING)
            lost += abs(COUNTED[place.name] - done.counts["messages"])
        before = {one.archive_id for one in await room.archives()}
        await room.put_in(sorted((DATA / "maven-dev").glob("*.mbox")), STORING)
        [*_, done] = await room.put_in([DATA / "malformed"], STORING)
        archives = [one for one in await room.archives() if one.archive_id not in before]
        malformed = next(one for one in archives if one.archive_id == done.archive_id)
        lost += abs(UNIQUE_OF_MAVEN - await _new(room, {one.archive_id for one in archives} - {done.archive_id}))
        files = len(list((DATA / "malformed").iterdir()))
        return lost + files - malformed.message_count - malformed.defect_count


async def _new(room: MailRoom, archives: set[str]) -> int:
    found = await operations.imports(room.mnemon, room.caller, inputs.MailImportsAsked(limit=100))
    return sum(one.counts["new"] for one in found.items if one.archive_id in archives)


def threads_by_references() -> int:
    members = [
        ThreadMember(one.key, one.message_id, one.in_reply_to, one.references, one.subject, one.date)
        for one in read_archive(DATA / "ksummit.mboxrd.gz")
    ]
    return len(threads_of(members, by_subject=False))


async def stances(beside: Path) -> Figures:
    """By the reader that ships: its own figures first, then with a threshold for each draft of LEDA."""
    async with mail_room() as room:
        votes = await vote_figures(room, DATA)
        leda = await leda_units(room, DATA, beside, 8 if QUICK else None)
        blind = await blind_units(room, beside, 15 if QUICK else None)
    agreement, disagreement = cross_validated(leda)
    as_shipped, own = stance_f1(leda), stance_f1(blind)
    print(f"LEDA as shipped, without a threshold of its own: {as_shipped[0]:.3f} / {as_shipped[1]:.3f}")
    print(f"{len(leda)} segments of LEDA, {len(blind)} messages of the blind third")
    return votes | {
        "agreement_f1": round(agreement, 3),
        "disagreement_f1": round(disagreement, 3),
        "blind_agreement_f1": round(own[0], 3),
        "blind_disagreement_f1": round(own[1], 3),
    }


def speed(beside: Path) -> Figures:
    """In one run, on the same mails: the standard library, mu, parsing alone, parsing and storing."""
    plain = beside / "ksummit.mbox"
    with gzip.open(DATA / "ksummit.mboxrd.gz") as file:
        plain.write_bytes(file.read())
    stdlib, mu = stdlib_seconds(plain), mu_seconds(plain, beside)
    started = time.perf_counter()
    parsed = sum(1 for _ in read_archive(plain))
    own = time.perf_counter() - started
    messages, seconds, alone = asyncio.run(store_seconds(plain))
    figures: Figures = {
        "parse_per_s": round(parsed / own),
        "stdlib_per_s": round(parsed / stdlib),
        "parse_store_per_s": round(messages / alone),
        "with_fetching_per_s": round(messages / seconds),
        "vs_stdlib": round((messages / alone) / (parsed / stdlib), 2),
    }
    return figures | ({"mu_per_s": round(parsed / mu)} if mu else {})


def main() -> None:
    if not DATA.is_dir():
        sys.exit(f"There is no mail in {DATA}: set MNEMON_EVAL_DATA to the folder above.")
    configure_logging("WARNING", "console")
    with tempfile.TemporaryDirectory(prefix="mnemon-bench-") as folder:
        beside = Path(folder)
        figures: Figures = {"quote_f1": round(quote_f1(), 4), "threads_ksummit": threads_by_references()}
        figures |= speed(beside)
        figures["messages_lost"] = asyncio.run(lost_messages())
        figures |= asyncio.run(stances(beside))
    figures["rss_mb_1gb"] = rss_of_import(2 if QUICK else GIGABYTE_OF_KSUMMIT)
    if not QUICK:
        figures |= asyncio.run(thread_pages(100_000))
        figures["pipeline_per_s"] = round(asyncio.run(pipeline_per_s(_maven())), 1)
    for name, value in figures.items():
        print(f"{name:<25} {value}")
    print(json.dumps(figures))


def _maven() -> Path:
    return min((DATA / "maven-dev").glob("*.mbox"))


if __name__ == "__main__":
    main()
