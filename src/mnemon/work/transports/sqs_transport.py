"""Jobs by Amazon SQS: a queue, and one for what was received too often without an answer."""

import asyncio
from functools import cached_property
from typing import Any

import orjson

from mnemon.buckets import client_library
from mnemon.telemetry import logger
from mnemon.work.transports.transport import JobDelivery, JobMessage, TransportUnavailable

HIDDEN_SECONDS = 30
PATIENCE = 1
# What one request may bring.
AT_ONCE = 10

log = logger(__name__)


class SqsTransport:
    """Messages are hidden from others while their job runs, and deleted once what came of it is on record."""

    keep_seconds = HIDDEN_SECONDS / 3

    def __init__(
        self, queue: str, dead_letters: str | None = None, *, region: str = "us-east-1", endpoint: str | None = None,
        receives: int = 3,
    ) -> None:  # fmt: skip
        self._queue = queue
        self._dead_letters = dead_letters
        self._region = region
        self._endpoint = endpoint
        self._receives = receives
        self._checked = dead_letters is None

    async def publish(self, message: JobMessage) -> None:
        await self._ready()
        await self.ask("send_message", MessageBody=message.as_bytes().decode())

    async def take(self, most: int) -> list[JobDelivery]:
        await self._ready()
        answer = await self.ask(
            "receive_message", MaxNumberOfMessages=min(most, AT_ONCE), WaitTimeSeconds=PATIENCE,
            VisibilityTimeout=HIDDEN_SECONDS,
        )  # fmt: skip
        return [_SqsDelivery(self, one) for one in answer.get("Messages", ())]

    async def close(self) -> None:
        if "_client" in vars(self):
            await asyncio.to_thread(self._client.close)

    async def ask(self, what: str, *, queue: str | None = None, **given: Any) -> Any:
        client = self._client
        from botocore.exceptions import BotoCoreError, ClientError

        try:
            return await asyncio.to_thread(getattr(client, what), QueueUrl=queue or self._queue, **given)
        except (BotoCoreError, ClientError) as failure:
            raise TransportUnavailable(f"SQS refuses {what}, or does not answer: {failure}") from failure

    async def moves_dead_letters(self) -> bool:
        """Whether the queue itself puts aside what was received too often: by our rule, or by its owner's."""
        told = await self.ask("get_queue_attributes", AttributeNames=["RedrivePolicy"])
        return "RedrivePolicy" in told.get("Attributes", {})

    async def _ready(self) -> None:
        """Once: what nobody answers goes to the dead letters after so many receipts."""
        if self._checked:
            return
        told = await self.ask("get_queue_attributes", queue=self._dead_letters, AttributeNames=["QueueArn"])
        rule = {"deadLetterTargetArn": told["Attributes"]["QueueArn"], "maxReceiveCount": self._receives}
        await self.ask("set_queue_attributes", Attributes={"RedrivePolicy": orjson.dumps(rule).decode()})
        self._checked = True

    @cached_property
    def _client(self) -> Any:
        boto3 = client_library("SQS", "brokers")
        from botocore.config import Config

        manner = Config(connect_timeout=5, read_timeout=30, retries={"total_max_attempts": 2}, max_pool_connections=30)
        return boto3.client("sqs", region_name=self._region, endpoint_url=self._endpoint, config=manner)


class _SqsDelivery:
    def __init__(self, transport: SqsTransport, raw: dict[str, Any]) -> None:
        self.message = JobMessage.read(raw["Body"])
        self._transport = transport
        self._receipt = raw["ReceiptHandle"]
        self._name = raw.get("MessageId")

    async def done(self) -> None:
        await self._transport.ask("delete_message", ReceiptHandle=self._receipt)

    async def keep(self) -> None:
        await self._show_again(HIDDEN_SECONDS)

    async def reject(self) -> None:
        """Shown again at once until the queue itself moves it to the dead letters; for ever, where it has none."""
        if await self._transport.moves_dead_letters():
            await self._show_again(0)
            return
        log.warning("unreadable_message_deleted", message_id=self._name, remedy="name a queue in MNEMON_SQS_DLQ_URL")
        await self.done()

    async def _show_again(self, seconds: int) -> None:
        await self._transport.ask("change_message_visibility", ReceiptHandle=self._receipt, VisibilityTimeout=seconds)
