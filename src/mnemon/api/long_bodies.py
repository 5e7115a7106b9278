"""Reads a long JSON body once the caller is known: a stranger makes the server hold no more than a short one."""

from typing import TypeVar

from fastapi import Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ValidationError

from mnemon.errors import InvalidRequest, RequestTooLarge

Model = TypeVar("Model", bound=BaseModel)


async def read_long_body(request: Request, model: type[Model], most: int) -> Model:
    """The body as this model; refused with the field that does not fit, or when more than `most` bytes have come."""
    sent_as = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if sent_as != "application/json":
        # A form of a foreign page cannot send this type.
        raise InvalidRequest(f"The body is {sent_as or 'of no named type'}: send application/json.")
    body = bytearray()
    async for piece in request.stream():
        body += piece
        if len(body) > most:
            raise RequestTooLarge(f"The request body is over {most} bytes: upload it as a file.", most_bytes=most)
    try:
        return model.model_validate_json(bytes(body))
    except ValidationError as failure:
        raise RequestValidationError(failure.errors(include_url=False, include_input=False)) from None
