"""Keys of the home that nothing in the database vouches for: those of sessions and of backups.

Whoever puts a key of their own in the place of one lets themselves in, or reads the next backups. So each verification
notes a digest of what lies there, in its event, and the next one compares.
"""

import asyncio
import hashlib
import re

from mnemon.shared_home import home_of, key_place
from mnemon.verification.findings import CheckReport, VerifyTask

NOTED = re.compile(r"session\.key|backup-signing\.key|backup-\d+\.(key|pub)")
DOMAIN = b"mnemon/home-key/1\n"


async def check_home_keys(task: VerifyTask, report: CheckReport) -> None:
    """Each is told once: it may have been changed on purpose. What is taken away may come back as it was."""
    before: dict[str, str] = dict(task.before.get("keys", {}))
    there = await asyncio.to_thread(_digests, task)
    report.checked += len(there)
    for name in sorted(there.keys() & before.keys()):
        if there[name] != before[name]:
            report.find(f"key {name}", "It is another one than at the last verification.")
    report.remembered = before | there
    if (fault := await task.parts.integrity.signing_fault(task.tenant)) is not None:
        report.find("key checkpoint.key", fault)


def _digests(task: VerifyTask) -> dict[str, str]:
    """The keys are random, so that nobody finds one by its digest."""
    place = key_place(home_of(task.parts.settings))
    texts = {name: place.read(name) for name in place.names() if NOTED.fullmatch(name)}
    return {
        name: hashlib.sha256(DOMAIN + f"{name}\n{text}".encode()).hexdigest()
        for name, text in texts.items()
        if text is not None
    }
