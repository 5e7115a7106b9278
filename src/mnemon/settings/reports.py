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
    webhook_private: bool = setting(
        False, "Whether webhooks may be in a network of your own: this machine, 10.0.0.0/8 and their like."
    )
