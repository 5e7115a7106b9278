"""The weekly report by mail: one job for each address, so that one that fails holds up no other."""

import asyncio
import hashlib
import smtplib
import ssl
from email.message import EmailMessage
from email.utils import format_datetime
from typing import Any, Protocol, cast
from urllib.parse import unquote, urlsplit
from uuid import UUID

from pydantic import BaseModel

from mnemon.db.database import Connection
from mnemon.errors import MnemonError
from mnemon.log.store import EventLog
from mnemon.reports.library import ONE_REPORT, find_stored, read_stored
from mnemon.reports.report import MailReport
from mnemon.reports.writing import write_report
from mnemon.settings import Settings
from mnemon.telemetry import counter
from mnemon.work.enqueue import enqueue_many
from mnemon.work.job import Job
from mnemon.work.kinds import Backoff, JobKind

SECONDS = 30
SLUG = "SELECT slug FROM mnemon.tenants WHERE tenant_id = mnemon.current_tenant()"
SENT = counter("mnemon_mail_digests", "Weekly reports that were sent by mail, by what came of it.", ["outcome"])


class DigestRefused(MnemonError):
    """The mail server refused an address or the sender for good."""

    code = "DIGEST_REFUSED"
    status = 502
    retry = False


class DigestUndelivered(MnemonError):
    """The mail server could not be reached, or asked to come again."""

    code = "DIGEST_UNDELIVERED"
    status = 502
    retry = True


class DigestToSend(BaseModel):
    """Which report, to whom: the address itself stays in the settings."""

    report_id: str
    summary_id: str
    address_hash: str


class DigestContext(Protocol):
    """What the worker hands to the handler, as far as it needs it."""

    @property
    def settings(self) -> Settings: ...
    @property
    def log(self) -> EventLog: ...


DIGEST = JobKind("reports.digest", DigestToSend, attempts=6, time_limit=300, backoff=Backoff(60, 3600))


def hash_of_address(address: str) -> str:
    return hashlib.sha256(address.lower().encode()).hexdigest()[:32]


def digest_addresses(settings: Settings) -> list[str]:
    """Nobody, where no server is named."""
    given = settings.digest_to if settings.smtp_url else None
    return list(dict.fromkeys(one.strip() for one in (given or "").split(",") if "@" in one))


async def tenant_has_slug(tx: Connection, slug: str) -> bool:
    row = await (await tx.execute(SLUG)).fetchone()
    return row is not None and row["slug"] == slug


async def enqueue_digests(tx: Connection, settings: Settings, report_id: str, summary_id: UUID) -> bool:
    """Whether anybody gets it."""
    addresses = digest_addresses(settings)
    if not addresses:
        return False
    if not await tenant_has_slug(tx, settings.digest_tenant):
        return False
    payloads = [
        DigestToSend(report_id=report_id, summary_id=str(summary_id), address_hash=hash_of_address(one))
        for one in addresses
    ]
    keys = [f"{report_id}:{one.address_hash}" for one in payloads]
    await enqueue_many(tx, DIGEST, payloads, dedupe_keys=keys)
    return True


@DIGEST.handler
async def send_digest(job: Job[DigestToSend]) -> dict[str, str]:
    """Whoever was taken out of the settings meanwhile gets nothing. A second sending has the same Message-ID."""
    context, wanted = cast(DigestContext, job.context), job.payload
    settings = context.settings
    found = [one for one in digest_addresses(settings) if hash_of_address(one) == wanted.address_hash]
    if not found or settings.smtp_url is None:
        return {"outcome": "not wanted any more"}
    async with job.transaction() as tx:
        row = await find_stored(tx, ONE_REPORT, wanted.report_id)
        report = await read_stored(context.log, tx, job.tenant_id, row)
    mail = digest_mail(report, row, settings.smtp_from, found[0])
    await asyncio.to_thread(_send, settings.smtp_url.get_secret_value(), mail)
    SENT.labels("sent").inc()
    return {"outcome": "sent"}


def digest_mail(report: MailReport, row: dict[str, Any], sender: str, address: str) -> EmailMessage:
    """Plain text with an HTML part, and how to get no more of it."""
    mail = EmailMessage()
    mail["From"], mail["To"] = sender, address
    mail["Subject"] = " ".join(report.title.split())
    mail["Date"] = format_datetime(row["published_at"])
    mail["Message-ID"] = f"<{row['report_id']}.{hash_of_address(address)}@mnemon.invalid>"
    mail["List-Unsubscribe"] = f"<mailto:{sender}?subject=unsubscribe>"
    mail["Auto-Submitted"] = "auto-generated"
    stop = f"You get this because {address} is on the list of this digest. To get no more, write to {sender}."
    mail.set_content(f"{write_report(report, 'markdown')}\n-- \n{stop}\n")
    mail.add_alternative(write_report(report, "html").replace("</body>", f"<p>{stop}</p></body>"), subtype="html")
    return mail


def _send(url: str, mail: EmailMessage) -> None:
    place = urlsplit(url)
    secure = place.scheme == "smtps"
    port = place.port or (465 if secure else 25)
    trusted = ssl.create_default_context()
    try:
        opened: smtplib.SMTP = (
            smtplib.SMTP_SSL(place.hostname or "", port, timeout=SECONDS, context=trusted)
            if secure
            else smtplib.SMTP(place.hostname or "", port, timeout=SECONDS)
        )
        with opened as server:
            server.ehlo()
            if not secure and server.has_extn("starttls"):
                server.starttls(context=trusted)
                server.ehlo()
                secure = True
            if place.username:
                if not secure:
                    raise DigestRefused(f"{place.hostname} offers no STARTTLS, and a password is not sent in the open.")
                server.login(unquote(place.username), unquote(place.password or ""))
            server.send_message(mail)
    except smtplib.SMTPRecipientsRefused as failure:
        _refused(max(code for code, _ in failure.recipients.values()), "the address")
    except (smtplib.SMTPResponseException, smtplib.SMTPNotSupportedError) as failure:
        _refused(getattr(failure, "smtp_code", 550), "the mail")
    except (OSError, smtplib.SMTPException) as failure:
        SENT.labels("failed").inc()
        raise DigestUndelivered(f"{place.hostname}:{port} could not be reached: {type(failure).__name__}.") from None


def _refused(code: int, what: str) -> None:
    """4xx asks to come again; 5xx is a refusal. The server's words may have the address in them, and are not kept."""
    SENT.labels("failed").inc()
    if 400 <= code < 500:
        raise DigestUndelivered(f"The mail server did not take {what} for now ({code}).")
    raise DigestRefused(f"The mail server refuses {what} ({code}): see smtp_url, smtp_from and digest_to.")
