"""Mail: nothing lost, quotations labelled, votes and stances read right; speed beside others; memory; pages.

Everything goes in by the operation behind every door. QUICK=1 measures less of it, PARTS=speed,memory some parts alone;
MNEMON_EVAL_DATA says where the mail of others is. Stances of others (LEDA) are only measured: `agreement_f1` and
`disagreement_f1` are with a threshold for each draft that was chosen on the other draft, in this run; what is found
with the threshold that ships stands beside them.
"""

import asyncio
import difflib
import gzip
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from mail_door import STORING, MailRoom, mail_room
from mail_gold import SAID, blind_units, cross_validated, leda_units, stance_f1, vote_figures
from mail_speed import (
    mu_seconds,
    pipeline_per_s,
    read_archive,
    rss_of_import,
    stdlib_pass,
    stored_in,
    thread_pages,
)

from mnemon.mail import inputs, operations
from mnemon.mail.consensus.stances import SURE_ENOUGH
from mnemon.mail.message.reading import read_message
from mnemon.mail.spans.normalized import new_text
from mnemon.mail.threads.linking import ThreadMember, threads_of
from mnemon.telemetry import configure_logging

ROOT = Path(__file__).parents[1]
QUICK = bool(os.environ.get("QUICK"))
DATA = Path(os.environ.get("MNEMON_EVAL_DATA") or ROOT.parent / "shared" / "eval") / "mail"
COUNTED = {"ksummit.mboxrd.gz": 3115, "python-committers.mbox.gz": 2876}
UNIQUE_OF_MAVEN = 317
SEPARATOR = b"\nFrom mboxrd@z "
GIGABYTE_OF_KSUMMIT = 42
Figures = dict[str, float | int]


def quote_f1() -> float:
    """F1 over characters of the new text, the mean of the least favourable eleven of twelve mails."""
    scores = []
    for file in sorted((DATA / "quote-gold").glob("*.eml")):
        message = read_message(file.read_bytes())
        found = "".join(new_text(message.text, message.spans).split())
        gold = "".join((DATA / "quote-gold" / "expected" / f"{file.stem}.txt").read_text(encoding="utf-8").split())
        same = difflib.SequenceMatcher(None, gold, found, autojunk=False).get_matching_blocks()
        scores.append(2 * sum(one.size for one in same) / (len(gold) + len(found)))
    return min((sum(scores) - one) / (len(scores) - 1) for one in scores)


async def lost_messages() -> int:
    """Of all archives, imported: messages that their own separators or files tell of, less those that are stored."""
    places = [] if QUICK else [DATA / name for name in COUNTED]
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


def threads_by_references() -> Figures:
    """Also how fast that archive is parsed, in seconds of a processor: other work does not show in it."""
    started = time.process_time()
    members = [
        ThreadMember(one.key, one.message_id, one.in_reply_to, one.references, one.subject, one.date)
        for one in read_archive(DATA / "ksummit.mboxrd.gz")
    ]
    seconds = time.process_time() - started
    threads = len(threads_of(members, by_subject=False))
    return {"threads_ksummit": threads, "parse_per_core_s": round(len(members) / seconds)}


async def stances(beside: Path) -> Figures:
    """By the reader that ships: its own figures first, then with a threshold for each draft of LEDA."""
    async with mail_room() as room:
        votes = await vote_figures(room, DATA)
        leda = await leda_units(room, DATA, beside, 4 if QUICK else None)
        blind = await blind_units(room, beside, 8 if QUICK else None)
    chosen = cross_validated(leda)
    as_shipped, own, said = stance_f1(leda), stance_f1(blind), stance_f1(blind, SAID)
    print(f"{len(leda)} segments of LEDA, {len(blind)} messages of the blind third")
    print("                                         agreement  disagreement")
    print(f"LEDA, threshold by cross-validation      {chosen.agreement:9.3f}  {chosen.disagreement:12.3f}")
    print(f"LEDA, threshold as shipped ({SURE_ENOUGH})         {as_shipped[0]:9.3f}  {as_shipped[1]:12.3f}")
    print(f"blind third, all that is said            {said[0]:9.3f}  {said[1]:12.3f}")
    print(f"blind third, what tips a scale ({SURE_ENOUGH})     {own[0]:9.3f}  {own[1]:12.3f}")
    for draft, marks in chosen.marks.items():
        print(f"chosen for {draft} on the other drafts: {marks[0]:.2f} and {marks[1]:.2f}")
    return votes | {
        "agreement_f1": round(chosen.agreement, 3),
        "disagreement_f1": round(chosen.disagreement, 3),
        "leda_as_shipped_agreement_f1": round(as_shipped[0], 3),
        "leda_as_shipped_disagreement_f1": round(as_shipped[1], 3),
        "blind_agreement_f1": round(own[0], 3),
        "blind_disagreement_f1": round(own[1], 3),
        "blind_said_agreement_f1": round(said[0], 3),
        "blind_said_disagreement_f1": round(said[1], 3),
    }


def plain_ksummit(beside: Path) -> Path:
    """Unpacked; QUICK=1 takes its first thousand messages."""
    content = gzip.decompress((DATA / "ksummit.mboxrd.gz").read_bytes())
    if QUICK:
        content = SEPARATOR.join(content.split(SEPARATOR)[:1000]) + b"\n"
    plain = beside / "ksummit.mbox"
    plain.write_bytes(content)
    return plain


def speed(plain: Path, beside: Path) -> Figures:
    """In one run, on the same mails: the standard library, mu, parsing and storing; by the clock and by processor."""
    began, used = time.perf_counter(), time.process_time()
    messages = stdlib_pass(plain)
    stdlib, stdlib_core = time.perf_counter() - began, time.process_time() - used
    mu = mu_seconds(plain, beside)
    stored = asyncio.run(stored_in(plain))
    figures: Figures = {
        "stdlib_per_s": round(messages / stdlib),
        "stdlib_per_core_s": round(messages / stdlib_core),
        "parse_store_per_s": round(stored.messages / stored.alone),
        "parse_store_per_core_s": round(stored.messages / stored.processor),
        "with_fetching_per_s": round(stored.messages / stored.whole),
        "vs_stdlib": round((stored.messages / stored.alone) / (messages / stdlib), 2),
        "vs_stdlib_per_core": round((stored.messages / stored.processor) / (messages / stdlib_core), 2),
    }
    return figures | ({"mu_per_s": round(messages / mu)} if mu else {})


def main() -> None:
    if not DATA.is_dir():
        sys.exit(f"There is no mail in {DATA}: set MNEMON_EVAL_DATA to the folder above.")
    configure_logging("WARNING", "console")
    with tempfile.TemporaryDirectory(prefix="mnemon-bench-") as folder:
        beside = Path(folder)
        plain = plain_ksummit(beside)
        parts: dict[str, Callable[[], Figures]] = {
            "quotations": lambda: {"quote_f1": round(quote_f1(), 4)},
            "threads": threads_by_references,
            "speed": lambda: speed(plain, beside),
            "lost": lambda: {"messages_lost": asyncio.run(lost_messages())},
            "stances": lambda: asyncio.run(stances(beside)),
            "memory": lambda: {"rss_mb_1gb": rss_of_import(plain, 1 if QUICK else GIGABYTE_OF_KSUMMIT)},
        }
        if not QUICK:
            parts["pages"] = lambda: asyncio.run(thread_pages(100_000))
            parts["pipeline"] = lambda: {"pipeline_per_s": round(asyncio.run(pipeline_per_s(_maven())), 1)}
        # PARTS=speed,memory measures those alone.
        wanted = os.environ.get("PARTS", "").split(",") if os.environ.get("PARTS") else list(parts)
        figures: Figures = {}
        for name in wanted:
            began = time.perf_counter()
            figures |= parts[name]()
            print(f"{name}: {time.perf_counter() - began:.0f} s", file=sys.stderr)
    for name, value in figures.items():
        print(f"{name:<25} {value}")
    print(json.dumps({"bench": "mail", "results": figures}))


def _maven() -> Path:
    return min((DATA / "maven-dev").glob("*.mbox"))


if __name__ == "__main__":
    main()
