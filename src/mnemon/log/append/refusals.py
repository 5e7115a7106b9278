"""Refusals: what the database refuses of a call, told to each request that it concerns."""

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import date, datetime
from typing import Any

from mnemon.log.append.keys import key_conflict
from mnemon.log.append.requests import Request
from mnemon.log.append.rows import Expectation
from mnemon.log.errors import NotNew, PeriodClosed, VersionConflict
from mnemon.log.events import Appended

# An event of a call that is not yet known to be a duplicate: whose it is, and where its result belongs.
Live = tuple[Request, int]


def refuse(
    refusals: dict[str, Any], requests: Sequence[Request], live: Sequence[Live], expectations: Sequence[Expectation]
) -> None:
    """Settle what the refusals settle. Keys come first: a retry of what succeeded must not fail for its version."""
    if "newcomers" in refusals:
        refuse_newcomers(requests, set(refusals["newcomers"]))
    elif "keys" in refusals:
        _refuse_keys(refusals["keys"], live)
    elif "periods" in refusals:
        hard_last = sorted(refusals["periods"], key=lambda one: str(one["status"]), reverse=True)
        _refuse_dates({date.fromisoformat(one["date"]): one for one in hard_last}, live)
    else:
        stored = dict(zip([one.entity for one in expectations], refusals["versions"], strict=True))
        _refuse_versions(stored, requests)


def refuse_newcomers(requests: Iterable[Request], known: set[str]) -> None:
    for request in requests:
        if names := request.newcomers & known:
            request.failure = NotNew(
                f"{', '.join(sorted(names))} got a key from another append at the same time: retry it.",
                subjects=sorted(names),
            )


def _refuse_keys(taken: dict[str, dict[str, Any]], live: Sequence[Live]) -> None:
    holders = [(request, place, key) for request, place in live for key in request.events[place].keys]
    for number, original in taken.items():
        request, place, key = holders[int(number) - 1]
        if original["content"] == key.content.hex():
            request.results[place] = Appended(
                original["id"],
                original["sequence"],
                datetime.fromisoformat(original["recorded_at"]),
                bytes.fromhex(original["previous"]),
                bytes.fromhex(original["hash"]),
                duplicate=True,
            )
        else:
            request.failure = key_conflict(key, original["id"], original["sequence"])


def _refuse_dates(closed: dict[date, dict[str, Any]], live: Sequence[Live]) -> None:
    for request, place in live:
        prepared = request.events[place]
        day = prepared.effective_date
        period = closed.get(day)
        if (
            period is None
            or not prepared.bound_to_periods
            or (period["status"] == "soft_closed" and prepared.event.approved_by)
        ):
            continue
        remedy = (
            "ask another administrator for an approval of events.append, and name it"
            if period["status"] == "soft_closed"
            else "record an adjusting event in an open period"
        )
        request.failure = PeriodClosed(
            f"The effective date {day} lies in the period {period['name']}, which is "
            f"{period['status'].replace('_', '-')}: {remedy}.",
            period=period["name"],
            status=period["status"],
            effective_date=day.isoformat(),
        )


def _refuse_versions(stored: dict[tuple[str, str], int], requests: Sequence[Request]) -> None:
    """Walk the requests in order as the database would, each building on those before it that pass."""
    added: Counter[tuple[str, str]] = Counter()
    for request in requests:
        adding = added.copy()
        for place, prepared in enumerate(request.events):
            if place in request.results:
                continue
            for entity, expected in prepared.event.expected_versions.items():
                actual = stored[entity] + adding[entity]
                if actual != expected and request.failure is None:
                    request.failure = version_conflict(entity, expected, actual)
            adding.update(entity for entity in prepared.entities if entity in stored)
        if request.failure is None:
            added = adding


def version_conflict(entity: tuple[str, str], expected: int, actual: int) -> VersionConflict:
    kind, name = entity
    return VersionConflict(
        f"{kind} {name} was expected at version {expected} but is at {actual}: read it again and retry.",
        entity_type=kind,
        entity_id=name,
        expected=expected,
        actual=actual,
    )
