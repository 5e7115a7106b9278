"""What the OpenAI client raises, as errors of our own."""

import openai

from mnemon.errors import MnemonError
from mnemon.models.failures import (
    InvalidModel,
    ModelKeyRefused,
    ModelQuotaSpent,
    ModelRateLimited,
    ModelRequestRefused,
    ModelTimedOut,
    ModelUnreachable,
)

LONGEST_REASON = 300


def as_mnemon_error(failure: openai.OpenAIError, model: str, address: str, key: str | None) -> MnemonError:
    """Name the model, the server and its reason; never the key, should the server repeat it."""
    reason = without_secret(str(failure), key)
    code = getattr(failure, "code", None)
    if isinstance(failure, openai.APITimeoutError):
        return ModelTimedOut(f"{address} did not answer in time for {model}.")
    if isinstance(failure, openai.APIConnectionError):
        return ModelUnreachable(f"{address} cannot be reached for {model}: {reason}")
    if isinstance(failure, openai.NotFoundError) or code == "model_not_found":
        return InvalidModel(f"{address} does not know the model {model}: {reason}")
    if isinstance(failure, openai.AuthenticationError | openai.PermissionDeniedError):
        return ModelKeyRefused(f"{address} does not accept the key for {model}: {reason}")
    if code == "insufficient_quota":
        return ModelQuotaSpent(f"The account at {address} has no credit left for {model}: {reason}")
    if isinstance(failure, openai.RateLimitError):
        return ModelRateLimited(
            f"{address} asks for fewer requests to {model}: {reason}", retry_after=_retry_after(failure)
        )
    if isinstance(failure, openai.APIStatusError) and failure.status_code < 500:
        return ModelRequestRefused(f"{address} refuses the request to {model}: {reason}")
    return ModelUnreachable(f"{address} failed for {model}: {reason}")


def without_secret(text: str, secret: str | None) -> str:
    return (text.replace(secret, "***") if secret else text)[:LONGEST_REASON]


def _retry_after(failure: openai.RateLimitError) -> float | None:
    try:
        return float(failure.response.headers["retry-after"])
    except (KeyError, ValueError):
        return None
