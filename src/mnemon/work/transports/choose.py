"""Which transport the settings name, for those who announce jobs and for those who take them."""

from mnemon.errors import BadSettings
from mnemon.settings import Settings
from mnemon.work.transports.http_transport import HttpDelegation, HttpReceiver
from mnemon.work.transports.nats_transport import NatsTransport
from mnemon.work.transports.sqs_transport import SqsTransport
from mnemon.work.transports.transport import Transport


def announcing_transport(settings: Settings) -> Transport | None:
    """Where jobs are announced; None where nobody needs to be told."""
    if settings.transport == "http":
        if not settings.worker_urls:
            return None
        return HttpDelegation(settings.worker_urls, internal_token(settings))
    return _broker(settings)


def taking_transport(settings: Settings) -> Transport | None:
    """Where a worker hears of jobs; None for the table itself."""
    if settings.transport == "http":
        _ = internal_token(settings)
        return HttpReceiver()
    return _broker(settings)


def _broker(settings: Settings) -> Transport | None:
    match settings.transport:
        case "nats":
            return NatsTransport(settings.nats_url, settings.nats_replicas)
        case "sqs":
            if settings.sqs_queue_url is None:
                raise BadSettings("MNEMON_TRANSPORT=sqs needs MNEMON_SQS_QUEUE_URL.")
            return SqsTransport(
                settings.sqs_queue_url, settings.sqs_dlq_url, region=settings.sqs_region,
                endpoint=settings.sqs_endpoint, receives=settings.sqs_max_receive_count,
            )  # fmt: skip
        case _:
            return None


def internal_token(settings: Settings) -> str:
    if settings.internal_auth_token is None:
        raise BadSettings(
            "MNEMON_TRANSPORT=http needs MNEMON_INTERNAL_AUTH_TOKEN, the same for gateway and workers: "
            "`openssl rand -hex 32` makes one."
        )
    return settings.internal_auth_token.get_secret_value()
