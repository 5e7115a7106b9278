"""Settings of the log: appending, sealing, subscribers, keys and terms."""

from typing import Literal

from pydantic import BaseModel, SecretStr

from mnemon.settings.part import Folder, setting


class LogSettings(BaseModel):
    """The log: appending, sealing, subscribers, keys and terms."""

    log_batch_events: int = setting(1_000, "Most events that one append may hold.", ge=1, le=10_000)
    log_legal_entities: int = setting(
        100,
        "Most legal entities of a tenant; each is a partition of the log with tables of its own.",
        ge=1,
        le=10_000,
    )
    log_idempotency_hours: int = setting(
        24, "How long an idempotency key is remembered after its event.", ge=1, le=87_600
    )
    log_checkpoint_schedule: str = setting(
        "*/15 * * * *", "When workers sign checkpoints of every partition, as a cron rule in UTC."
    )
    retention_notice_days: int = setting(
        30,
        "How long before the term of someone's data ends its erasure is asked for, and can be declined.",
        ge=0,
        le=365,
    )
    retention_class_years: str = setting(
        "",
        "Years that personal fields are kept, by the class of their event type, where the type says none: "
        "regulatory=10,pii_subject=3.",
    )
    log_seal_seconds: int = setting(
        5,
        "How often a running server or worker signs what no checkpoint covers yet. 0: only with the checkpoints.",
        ge=0,
        le=3_600,
    )
    log_signing_key: str | None = setting(
        None,
        "The public key that checkpoints were signed with, as the first start printed it; verification then trusts no "
        "other and those it leads to. Unset: the one that the log names.",
        pattern="^[0-9a-f]{64}$",
    )
    log_witnesses: SecretStr | None = setting(
        None,
        "Places outside that checkpoints are sent to, separated by commas: file:///folder, s3://bucket/prefix (with "
        "?endpoint= and ?region=, keys from AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY), https://address, or "
        "mnemon+https://TOKEN@host for another Mnemon. Unset: none.",
    )
    log_witness_seconds: int = setting(
        60, "How often a running server or worker sends what is newly signed to the witnesses.", ge=1, le=86_400
    )
    verify_schedule: str = setting(
        "13 3 * * *",
        "When workers verify everything of each tenant (what is new and a seventh part of the old), as a cron rule in "
        "UTC; `off` for never.",
    )
    subscription_poll_ms: int = setting(
        500, "How often a subscriber looks for events when no notification comes.", ge=10, le=60_000
    )
    subscription_batch_events: int = setting(100, "Events that a subscriber is given at a time.", ge=1, le=1_000)
    subscription_event_seconds: int = setting(30, "How long a subscriber may take over one event.", ge=1, le=3_600)
    subscription_failures: int = setting(5, "Failures of one event before it becomes a dead letter.", ge=1, le=100)
    subscription_breaker_failures: int = setting(
        20,
        "Failures in a row, whatever the events, before delivery to a subscriber stops for a while.",
        ge=1,
        le=10_000,
    )
    subscription_breaker_seconds: int = setting(
        60, "How long it stops the first time; each further time twice as long, up to ten times.", ge=1, le=86_400
    )
    subscription_lease_seconds: int = setting(
        15, "How long after a crash another process takes over a subscription.", ge=2, le=3_600
    )
    entity_snapshot_events: int = setting(
        100, "Events of an entity since its last snapshot before a strong read takes a new one.", ge=1, le=100_000
    )
    entity_read_ms: int = setting(
        500, "How long a strong read may fold events before it answers with what it has.", ge=1, le=60_000
    )
    kek_source: Literal["file", "env", "kms"] = setting(
        "file", "Where the key that wraps every person's key is: `keys` in the home folder, MNEMON_KEK, or AWS KMS."
    )
    kek: SecretStr | None = setting(
        None, "The wrapping key itself, 32 bytes in base64, for MNEMON_KEK_SOURCE=env: `openssl rand -base64 32`."
    )
    kek_previous: SecretStr | None = setting(
        None, "Earlier values of MNEMON_KEK, separated by commas, until `mnemon privacy rotate` is through."
    )
    kek_kms_key: str | None = setting(None, "Id, ARN or alias of the AWS KMS key, for MNEMON_KEK_SOURCE=kms.")
    kek_kms_endpoint: str | None = setting(None, "Address of KMS, if it is not Amazon's own.")
    subject_key_cache: int = setting(10_000, "Most people whose keys a process keeps in memory.", ge=10, le=10_000_000)
    subject_key_seconds: int = setting(
        60, "How long a person's key stays in memory at most; an erasure ends it at once.", ge=1, le=3_600
    )
    archive_folder: Folder | None = setting(None, "Folder for archived payloads. Unset: `archive` in the home folder.")
