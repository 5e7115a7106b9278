"""Settings of reports and of what is sent outward: summaries, digests by mail, webhooks."""

from typing import Literal

from pydantic import BaseModel, SecretStr

from mnemon.settings.part import setting


class ReportSettings(BaseModel):
    """Reports, and what is sent outward."""

    summary_engine: Literal["extract", "llm"] = setting(
        "extract",
        "What tells of mailing lists in summaries and reports: `extract`, others' words alone; or `llm`, sentences of "
        "the language model, of which only those are kept whose quotes stand in a message.",
    )
    weekly_report_schedule: str = setting(
        "off",
        "When each tenant gets a weekly report on its mailing lists, as a cron rule in UTC, such as `0 6 * * mon`; "
        "`off` for never.",
    )
    smtp_url: SecretStr | None = setting(
        None,
        "The server that digests are sent by: `smtp://user:password@host:587` (STARTTLS where it is offered; without "
        "it no password is sent) or `smtps://…:465`. Unset: no mail is sent.",
    )
    smtp_from: str = setting(
        "mnemon@localhost", "Whom digests are from, and who is asked to stop them.", max_length=254
    )
    digest_to: str | None = setting(
        None, "Addresses that get each weekly report by mail, with commas between them. Unset: nobody does."
    )
    webhook_url: str | None = setting(
        None, "An http(s) address that each published report is sent to. Unset: nobody is called.", max_length=2_000
    )
    webhook_secret: SecretStr | None = setting(
        None, "What deliveries to it are signed with (HMAC-SHA-256). Unset: they are not signed."
    )
    webhook_private: bool = setting(
        False, "Whether that address may be in a network of your own: this machine, 10.0.0.0/8 and their like."
    )
    webhook_tenant: str = setting("default", "The tenant whose reports are sent to it, by its slug.")
    digest_tenant: str = setting("default", "The tenant whose weekly reports are sent to them, by its slug.")
