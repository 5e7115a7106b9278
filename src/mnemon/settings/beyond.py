"""Settings of what is beyond one machine: transports of jobs, the bus, and stores in buckets."""

from typing import Literal

from pydantic import BaseModel, SecretStr

from mnemon.settings.part import TextList, setting


class BeyondSettings(BaseModel):
    """Transports, the bus, stores."""

    transport: Literal["postgres", "http", "nats", "sqs"] = setting(
        "postgres",
        "How workers hear of jobs: they look into the table themselves, a gateway asks them by HTTP, or a broker "
        "brings the ids of jobs.",
    )
    transport_window: int = setting(
        1_000, "Most jobs that are announced to a transport and not yet taken.", ge=1, le=1_000_000
    )
    transport_again_seconds: int = setting(
        60, "A job that waits this long after it was announced is announced again.", ge=1, le=86_400
    )
    worker_urls: TextList = setting(
        (),
        "For MNEMON_TRANSPORT=http, at the gateway: addresses of workers, separated by commas.",
        "WORKER_URLS",
        "INGEST_WORKER_URL",
    )
    internal_auth_token: SecretStr | None = setting(
        None,
        "For MNEMON_TRANSPORT=http: the secret that gateway and workers share, at least 32 characters.",
        "INTERNAL_AUTH_TOKEN",
        min_length=32,
    )
    internal_host: str = setting(
        "127.0.0.1",
        "Address that `mnemon work` listens on, for jobs with MNEMON_TRANSPORT=http and for its metrics; keep it "
        "inside the network.",
    )
    internal_port: int = setting(
        8002, "For MNEMON_TRANSPORT=http: port that `mnemon work` listens on.", ge=0, le=65_535
    )
    nats_url: str = setting(
        "nats://127.0.0.1:4222", "Addresses of NATS servers, separated by commas; for jobs and for the bus."
    )
    nats_replicas: int = setting(1, "On how many servers of a NATS cluster each message is kept.", ge=1, le=5)
    sqs_queue_url: str | None = setting(None, "For MNEMON_TRANSPORT=sqs: the queue.", "SQS_QUEUE_URL")
    sqs_dlq_url: str | None = setting(
        None, "The queue for messages that nobody could answer for. Unset: as the queue itself says.", "SQS_DLQ_URL"
    )
    sqs_region: str = setting("us-east-1", "Region of the queue.", "SQS_REGION")
    sqs_endpoint: str | None = setting(None, "Address of SQS, if it is not Amazon's own.")
    sqs_max_receive_count: int = setting(
        3,
        "Receipts of a message without an answer before it is a dead letter.",
        "SQS_MAX_RECEIVE_COUNT",
        ge=1,
        le=1_000,
    )

    bus: Literal["none", "rabbitmq", "nats"] = setting(
        "none", "The broker that every event of the log is published to, in its envelope. `none`: it stays here."
    )
    bus_exchange: str = setting(
        "copilot.events", "The topic exchange of RabbitMQ, or what subjects of NATS begin with.", pattern="^[\\w.-]+$"
    )
    bus_queues: str = setting(
        "",
        "Queues that are declared for consumers on RabbitMQ, separated by semicolons, each with the routing keys that "
        "it wants: `reports=report.*,summary.#;all=#`.",
    )
    bus_personal: bool = setting(
        False, "Whether personal fields leave too. What has left cannot be forgotten by Mnemon any more."
    )
    bus_inbound_queue: str | None = setting(
        None, "Queue from which envelopes of others are taken into the log. Unset: none.", pattern="^[\\w.-]+$"
    )
    bus_inbound_tenant: str = setting("main", "The tenant whose log takes them.")
    amqp_url: SecretStr | None = setting(None, "Address of RabbitMQ: amqp://user:password@host:5672/.", "AMQP_URL")

    blob_store: str | None = setting(
        None,
        "Bucket for uploads and files of documents: s3://bucket/prefix, with ?endpoint= and &region= where it is not "
        "Amazon's own. Keys are those of the environment or the instance. Unset: folders in the home.",
    )
    archive_store: str | None = setting(
        None, "Bucket for archived payloads, in the same form. Unset: MNEMON_ARCHIVE_FOLDER."
    )
    backup_store: str | None = setting(
        None,
        "Bucket for backups, in the same form: `mnemon db backup` and `mnemon db restore` take a name without a slash "
        "for one there. Unset: files.",
    )
    home_store: str | None = setting(
        None,
        "Bucket for what every gateway needs of a home, in the same form: checkpoints, and encrypted all keys and the "
        "erasure list. Gateways on several machines give the same. Unset: the home folder.",
    )
    home_store_secret: SecretStr | None = setting(
        None,
        "For MNEMON_HOME_STORE: what keys are encrypted with there, 32 bytes in base64, the same for every gateway: "
        "`openssl rand -base64 32`. Keep a copy apart: without it the keys in the bucket are lost.",
    )
    home_store_secret_previous: SecretStr | None = setting(
        None,
        "Earlier values of MNEMON_HOME_STORE_SECRET, separated by commas, until `mnemon home reseal` is through.",
    )
