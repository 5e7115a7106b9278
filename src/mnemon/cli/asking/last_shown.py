"""Which spans the last answer or search showed, and of which server, so that `mnemon open 1` knows what 1 is. No words
are kept."""

import contextlib
import os
from collections.abc import Iterable
from typing import Any

import orjson

from mnemon.client.servers import address_of
from mnemon.errors import InvalidRequest
from mnemon.settings import load_settings

FILE = "last-shown.json"


# A span of a document, or the id of what was remembered.
Place = dict[str, Any]


def span_of(revision: object, start: int, end: int) -> Place:
    return {"doc_version_id": str(revision), "start": start, "end": end}


def remember_shown(places: Iterable[Place]) -> None:
    """A home that cannot be written to is no reason not to answer."""
    settings = load_settings()
    kept = {"server": address_of(settings.server) if settings.server else None, "places": list(places)}
    with contextlib.suppress(OSError):
        settings.home.mkdir(mode=0o700, parents=True, exist_ok=True)
        file = settings.home / FILE
        with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as output:
            output.write(orjson.dumps(kept))


def shown_place(number: int) -> Place:
    """What the number stands for. The command then looks where the answer came from, whatever else is set."""
    try:
        found = orjson.loads((load_settings().home / FILE).read_bytes())
        kept: list[Place] = found["places"]
        server: str | None = found["server"]
    except (OSError, orjson.JSONDecodeError, KeyError, TypeError):
        raise InvalidRequest("Nothing was shown yet: ask or search first, then open a number of it.") from None
    if not kept:
        raise InvalidRequest("The last answer or search showed nothing that could be opened: ask or search again.")
    if not 1 <= number <= len(kept):
        raise InvalidRequest(f"The last answer has no number {number}: it shows 1 to {len(kept)}.", number=number)
    if server:
        os.environ["MNEMON_SERVER"] = server
    else:
        os.environ.pop("MNEMON_SERVER", None)
    return kept[number - 1]
