"""State rules: what an event does to the state of the entities it names, declared with its type, without code.

Rules are total: whatever stands in an event, or nothing, gives a state and never an error. So any log can be folded,
also one whose values were erased since.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

from mnemon.errors import InvalidRequest
from mnemon.log.types.paths import EACH, steps_of, values_at

FoldState = dict[str, Any]

NAME = re.compile(r"[a-z][a-z0-9_]{0,63}")
MOST_NAMES = 50
# A list keeps its newest values: a state is something to look at, the stream has them all.
LONGEST_LIST = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class StateRule:
    """For entities of a type that an event names, in any role or in this one.

    A source is a path into the event's data, like `$.status`, or a plain value. `set` puts it, `add` adds numbers up,
    `append` collects in a list; `count` counts events; `remove` takes names away. What a path does not find changes
    nothing; a path with `[*]` gives a list.
    """

    entity_type: str
    role: str | None = None
    set: Mapping[str, Any] = field(default_factory=dict)
    remove: tuple[str, ...] = ()
    add: Mapping[str, str] = field(default_factory=dict)
    count: tuple[str, ...] = ()
    append: Mapping[str, Any] = field(default_factory=dict)

    def concerns(self, entity_type: str, roles: Sequence[str]) -> bool:
        return self.entity_type == entity_type and (self.role is None or self.role in roles)

    def apply(self, state: FoldState, data: Mapping[str, Any]) -> FoldState:
        """The state after an event with this data; the one given stays as it is."""
        after = {name: value for name, value in state.items() if name not in self.remove}
        for name, source in self.set.items():
            for value in _values(source, data):
                after[name] = value
        for name, source in self.add.items():
            found = [value for value in _each(source, data) if _is_number(value)]
            if found:
                after[name] = _number(after.get(name)) + sum(found)
        for name in self.count:
            after[name] = _number(after.get(name)) + 1
        for name, source in self.append.items():
            before = after.get(name)
            grown = [*(before if isinstance(before, list) else ()), *_each(source, data)]
            if grown:
                after[name] = grown[-LONGEST_LIST:]
        return after

    def check(self, properties: Mapping[str, Any]) -> None:
        """Refuse what could never work: bad names and paths, or a field that the type's data does not have."""
        names = [*self.set, *self.remove, *self.add, *self.count, *self.append]
        if not names or len(names) > MOST_NAMES:
            raise InvalidRequest(f"A state rule changes 1 to {MOST_NAMES} names, not {len(names)}.")
        for name in names:
            if not NAME.fullmatch(name):
                raise InvalidRequest(f"{name!r} is not a name of a state: use a-z, 0-9 and _.", name=name)
            if names.count(name) > 1:
                raise InvalidRequest(f"The state rule changes {name} twice: choose one way.", name=name)
        for path in self.paths():
            first = steps_of(path)[0]
            if properties and first not in properties:
                raise InvalidRequest(f"{path} leads nowhere: the data has no {first}.", path=path)
        for name, source in self.add.items():
            if not _is_path(source):
                raise InvalidRequest(f"What is added to {name} is a path like $.amount, not {source!r}.", name=name)
        for source in (*self.set.values(), *self.append.values()):
            if isinstance(source, dict | list) or (isinstance(source, str) and len(source) > 1000):
                raise InvalidRequest("A value in a state rule is a short text, a number, true, false or null.")

    def paths(self) -> Iterator[str]:
        for source in (*self.set.values(), *self.add.values(), *self.append.values()):
            if _is_path(source):
                yield source

    def as_json(self) -> dict[str, Any]:
        return {
            "entity_type": self.entity_type,
            "role": self.role,
            "set": dict(self.set),
            "remove": list(self.remove),
            "add": dict(self.add),
            "count": list(self.count),
            "append": dict(self.append),
        }

    @classmethod
    def from_json(cls, declared: Mapping[str, Any]) -> Self:
        return cls(
            entity_type=declared["entity_type"],
            role=declared.get("role"),
            set=dict(declared.get("set") or {}),
            remove=tuple(declared.get("remove") or ()),
            add=dict(declared.get("add") or {}),
            count=tuple(declared.get("count") or ()),
            append=dict(declared.get("append") or {}),
        )


def _values(source: Any, data: Mapping[str, Any]) -> Iterator[Any]:
    """What a source stands for: one value, a list for a path with [*], nothing where the path ends too early."""
    if not _is_path(source):
        yield source
    elif EACH in source:
        yield list(values_at(data, source))
    else:
        yield from values_at(data, source)


def _each(source: Any, data: Mapping[str, Any]) -> Iterator[Any]:
    return values_at(data, source) if _is_path(source) else iter((source,))


def _is_path(source: Any) -> bool:
    return isinstance(source, str) and source.startswith("$.")


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _number(value: Any) -> int | float:
    return value if _is_number(value) else 0
