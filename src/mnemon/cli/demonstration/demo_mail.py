"""The demo's part about mailing lists: an archive goes in, and a report on what was agreed comes out."""

import asyncio
import time
from typing import Any

from mnemon.app import Mnemon
from mnemon.cli.demonstration.demo_stage import LONGEST_WAIT, POLL_SECONDS, DemoClient, result, step
from mnemon.cli.output import counted, one_line
from mnemon.documents.samples import sample_list
from mnemon.log.events import OPERATOR
from mnemon.mail.inputs import ImportAsked
from mnemon.mail.operations import import_mail
from mnemon.operations import Caller

LIST = "tern-dev.lists.example.org"


async def read_a_list(mnemon: Mnemon, caller: DemoClient) -> None:
    """Files of this machine are read for whoever sits at it, not over HTTP; the rest is asked over HTTP."""
    step("Import", "the archive of a mailing list, and report what was agreed")
    began = time.perf_counter()
    assert mnemon.first_start is not None
    asked = ImportAsked(location=str(sample_list()), name="tern-dev")
    await import_mail(mnemon, Caller(mnemon.first_start.tenant_id, OPERATOR), asked)
    archive = await _until_agreed(caller)
    threads = (await caller.get("/v1/threads", list_name=LIST))["items"]
    result(
        f"{counted(archive['message_count'], 'message')} in {counted(len(threads), 'thread')}, read in "
        f"{time.perf_counter() - began:.0f} s",
        messages=archive["message_count"], threads=len(threads),
    )  # fmt: skip
    report = await caller.get("/v1/reports/preview", list_name=LIST)
    for section in report["sections"]:
        result(section["heading"], section=section)
        for line in section["lines"]:
            quote = f" “{one_line(line['quoted'], 160)}”" if line["quoted"] else ""
            result(f"  {line['told']}{quote}")
    cited = len(report["citations"])
    result(f"{counted(cited, 'place')} cited, each read again in its message; {report['dropped']} lines left out")


async def _until_agreed(caller: DemoClient) -> dict[str, Any]:
    """Until the archive is stored and its threads are read; reading is asked for together with the last message."""
    async with asyncio.timeout(LONGEST_WAIT):
        while True:
            archives = (await caller.get("/v1/mail/archives", status="processed"))["items"]
            kinds = (await caller.get("/v1/jobs/stats"))["kinds"]
            reading = [one for one in kinds if one["kind"] == "mail.consensus"]
            if archives and not any(one["waiting"] + one["delayed"] + one["running"] for one in reading):
                return dict(archives[0])
            await asyncio.sleep(POLL_SECONDS)
