"""What the OpenAI client raises, as errors of our own."""

import math

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
from mnemon.models.redact import shown_reason


def as_mnemon_error(failure: openai.OpenAIError, model: str, address: str, key: str | None) -> MnemonError:
    """Name the model, the server and its reason; never the key, should the server repeat it."""
    reason = shown_reason(str(failure), key)
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


def _retry_after(failure: openai.RateLimitError) -> float | None:
    try:
        seconds = float(failure.response.headers["retry-after"])
    except (KeyError, ValueError):
        return None
    return seconds if math.isfinite(seconds) else None
