"""Personal values: where they are in an event, and whose they are."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from mnemon.log.errors import InvalidEvent
from mnemon.log.privacy.seal import EventDraft
from mnemon.log.privacy.terms import PREFIX, is_term
from mnemon.log.types.event_type import PersonalField
from mnemon.log.types.paths import EACH, steps_of

LONGEST_SUBJECT = 200

PayloadPlace = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class PersonalValue:
    """A value at a place of the payload. The person is not in question: `courtesy` marks what may be left out."""

    place: PayloadPlace
    subject_id: str
    value: Any
    courtesy: bool = False

    @property
    def field(self) -> str:
        return pointer(self.place)


def personal_values(draft: EventDraft) -> list[PersonalValue]:
    """Every personal value of an event, deepest first, or the reason why it cannot be said whose one is."""
    if "actor" not in draft.payload and not draft.declaration.personal_fields:
        return []
    problems: list[str] = []
    found = [*_of_actor(draft, problems), *_of_data(draft, problems)]
    values = {one.place: one for one in found}
    problems += [
        f"{one.field} belongs to two people" for one in found if values[one.place].subject_id != one.subject_id
    ]
    if problems:
        raise InvalidEvent(
            f"The event does not say whose personal data it holds: {'; '.join(problems)}.",
            type=draft.event.type,
            violations=problems,
        )
    # A field within a field is sealed first, then what it stands in.
    return sorted(values.values(), key=lambda one: len(one.place), reverse=True)


def _of_actor(draft: EventDraft, problems: list[str]) -> Iterator[PersonalValue]:
    """A system has a name too, but it is nobody's."""
    actor = draft.event.actor
    person: Mapping[str, Any] = draft.payload.get("actor", {})
    for name in ("name", "ip_address"):
        if name in person and actor.type != "system" and _is_subject(actor.id, "the actor's id", problems):
            yield PersonalValue(("actor", name), actor.id, person[name], courtesy=True)
    behalf = actor.on_behalf_of
    if behalf and behalf.name and behalf.type != "system" and _is_subject(behalf.id, "the delegator's id", problems):
        yield PersonalValue(("actor", "on_behalf_of", "name"), behalf.id, behalf.name, courtesy=True)


def _of_data(draft: EventDraft, problems: list[str]) -> Iterator[PersonalValue]:
    for field in draft.declaration.personal_fields:
        for place, value in _places(draft.event.data, steps_of(field.path)):
            if value is None:
                continue
            subject = _subject_of(draft, field, place, problems)
            if subject is not None:
                yield PersonalValue(("data", *place), subject, value)


def _subject_of(draft: EventDraft, field: PersonalField, place: PayloadPlace, problems: list[str]) -> str | None:
    if field.subject_role is not None:
        found: list[Any] = sorted({one.entity_id for one in draft.event.entities if one.role == field.subject_role})
        origin = f"the entity in the role {field.subject_role}"
    else:
        assert field.subject_path is not None
        found = list(_beside(draft.event.data, steps_of(field.path), place, steps_of(field.subject_path)))
        origin = field.subject_path
    where = f"data.{field.path.removeprefix('$.')}"
    if not found and field.optional_subject:
        return None
    if len(found) != 1:
        problems.append(f"{where} belongs to {origin}, of which there {'is none' if not found else 'are several'}")
        return None
    subject = str(found[0]) if isinstance(found[0], int) and not isinstance(found[0], bool) else found[0]
    return subject if _is_subject(subject, f"{origin}, whose {where} is,", problems) else None


def _is_subject(value: Any, origin: str, problems: list[str]) -> bool:
    if isinstance(value, str) and is_term(value):
        problems.append(f"{origin} begins with {PREFIX}, as the keys of terms do")
        return False
    if isinstance(value, str) and 0 < len(value) <= LONGEST_SUBJECT and value.isprintable():
        return True
    problems.append(f"{origin} is not an id of 1 to {LONGEST_SUBJECT} characters")
    return False


def _places(node: Any, steps: Sequence[str], place: PayloadPlace = ()) -> Iterator[tuple[PayloadPlace, Any]]:
    """Every value that the steps lead to, and by which names and numbers."""
    if not steps:
        yield place, node
    elif steps[0] == EACH:
        for number, item in enumerate(node) if isinstance(node, list | tuple) else ():
            yield from _places(item, steps[1:], (*place, number))
    elif isinstance(node, dict) and steps[0] in node:
        yield from _places(node[steps[0]], steps[1:], (*place, steps[0]))


def _beside(data: Any, path: Sequence[str], place: PayloadPlace, subject_path: Sequence[str]) -> Iterator[Any]:
    """The subject of a value: as far as both paths run together, in the same items of lists."""
    node, shared = data, 0
    while shared < min(len(path), len(subject_path)) and path[shared] == subject_path[shared]:
        node = node[place[shared]]
        shared += 1
    for _, value in _places(node, subject_path[shared:]):
        yield value


@lru_cache(maxsize=1_000)
def pointer(place: PayloadPlace) -> str:
    """A JSON pointer (RFC 6901): `/data/lines/0/name`."""
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in place)


def steps_of_pointer(text: str) -> list[str]:
    return [step.replace("~1", "/").replace("~0", "~") for step in text.split("/")[1:]]


def replaced(node: Any, steps: Sequence[str | int], value: Any) -> Any:
    """A copy with another value at a place; the same where the place is gone, as inside something erased."""
    if not steps:
        return value
    first, rest = steps[0], steps[1:]
    if isinstance(node, list | tuple):
        number = int(first)
        return [replaced(item, rest, value) if n == number else item for n, item in enumerate(node)]
    if isinstance(node, Mapping) and first in node:
        return {**node, str(first): replaced(node[str(first)], rest, value)}
    return node
