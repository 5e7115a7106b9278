"""By mail: a report as a letter to one address, over the mail server of the settings."""

import smtplib
import ssl
from datetime import datetime
from email.message import EmailMessage
from email.utils import format_datetime
from urllib.parse import unquote, urlsplit

from mnemon.reports.delivery.errors import DeliveryRefused, Undelivered
from mnemon.reports.delivery.recipients import name_of_address
from mnemon.reports.report import MailReport
from mnemon.reports.writing import write_report

SECONDS = 30


def report_letter(report: MailReport, report_id: str, published_at: datetime, sender: str, to: str) -> EmailMessage:
    """Plain text with an HTML part, and how to get no more of it. A second sending has the same Message-ID."""
    stop = f"You get this because {to} is on the list of this digest. To get no more, write to {sender}."
    mail = _letter(report.title, f"{report_id}.{name_of_address(to)}", published_at, sender, to)
    mail.set_content(f"{write_report(report, 'markdown')}\n-- \n{stop}\n")
    mail.add_alternative(write_report(report, "html").replace("</body>", f"<p>{stop}</p></body>"), subtype="html")
    return mail


def trial_letter(trial_id: str, moment: datetime, sender: str, to: str) -> EmailMessage:
    mail = _letter("Mnemon can write to you", f"{trial_id}.{name_of_address(to)}", moment, sender, to)
    mail.set_content("This is a trial: reports on mailing lists will come to this address.\n")
    return mail


def _letter(title: str, name: str, moment: datetime, sender: str, to: str) -> EmailMessage:
    mail = EmailMessage()
    mail["From"], mail["To"] = sender, to
    mail["Subject"] = " ".join(title.split())
    mail["Date"] = format_datetime(moment)
    mail["Message-ID"] = f"<{name}@mnemon.invalid>"
    mail["List-Unsubscribe"] = f"<mailto:{sender}?subject=unsubscribe>"
    mail["Auto-Submitted"] = "auto-generated"
    return mail


def post_letter(url: str, mail: EmailMessage) -> None:
    """Hand it to the mail server: call it in a thread."""
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
                    raise DeliveryRefused(
                        f"{place.hostname} offers no STARTTLS, and a password is not sent in the open."
                    )
                server.login(unquote(place.username), unquote(place.password or ""))
            server.send_message(mail)
    except smtplib.SMTPRecipientsRefused as failure:
        _refused(max(code for code, _ in failure.recipients.values()), "the address")
    except (smtplib.SMTPResponseException, smtplib.SMTPNotSupportedError) as failure:
        _refused(getattr(failure, "smtp_code", 550), "the mail")
    except (OSError, smtplib.SMTPException) as failure:
        raise Undelivered(f"{place.hostname}:{port} could not be reached: {type(failure).__name__}.") from None


def _refused(code: int, what: str) -> None:
    """4xx asks to come again; 5xx is a refusal. The server's words may have the address in them, and are not kept."""
    if 400 <= code < 500:
        raise Undelivered(f"The mail server did not take {what} for now ({code}).")
    raise DeliveryRefused(f"The mail server refuses {what} ({code}): see smtp_url, smtp_from and the digest's address.")
