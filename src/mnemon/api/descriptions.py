"""What the server says of itself to programs, beside /openapi.json: the events that it sends."""

from functools import cache
from typing import Any

from fastapi import APIRouter
from fastapi.responses import JSONResponse

from mnemon import __version__
from mnemon.bus.asyncapi import asyncapi_document
from mnemon.log.types.event_type import built_in_types

router = APIRouter(tags=["reference"])


@router.get("/asyncapi.json", summary="Every event that the server sends, as an AsyncAPI document")
async def asyncapi() -> JSONResponse:
    return JSONResponse(_document())


@cache
def _document() -> dict[str, Any]:
    return asyncapi_document(__version__, built_in_types())
