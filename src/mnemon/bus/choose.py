"""Which broker the settings name."""

from mnemon.bus.carrier import BusCarrier
from mnemon.bus.nats_carrier import NatsCarrier
from mnemon.bus.rabbitmq import RabbitCarrier
from mnemon.errors import BadSettings
from mnemon.settings import Settings


def bus_carrier(settings: Settings) -> BusCarrier | None:
    match settings.bus:
        case "rabbitmq":
            if settings.amqp_url is None:
                raise BadSettings("MNEMON_BUS=rabbitmq needs MNEMON_AMQP_URL, such as amqp://guest:guest@host:5672/.")
            queues = queues_told(settings.bus_queues)
            return RabbitCarrier(settings.amqp_url.get_secret_value(), settings.bus_exchange, queues)
        case "nats":
            return NatsCarrier(settings.nats_url, settings.bus_exchange, settings.nats_replicas)
        case _:
            return None


def queues_told(text: str) -> dict[str, list[str]]:
    """From `reports=report.*,summary.#;all=#`."""
    found: dict[str, list[str]] = {}
    for part in filter(None, map(str.strip, text.split(";"))):
        name, _, keys = part.partition("=")
        if not name.strip() or not keys.strip():
            raise BadSettings(f"MNEMON_BUS_QUEUES has {part!r}: give name=routing.key,another.key for each queue.")
        found[name.strip()] = [key.strip() for key in keys.split(",")]
    return found
