"""Folds: how the events of one kind of entity become its state, by the rules that their types declare."""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from mnemon.log.events import Event
from mnemon.log.privacy.seal import canonical
from mnemon.log.types.event_type import EventType
from mnemon.log.types.state_rules import FoldState, StateRule


@dataclass(frozen=True, slots=True)
class StateFold:
    """The rules that concern an entity type, by event type. Other rules, another `version`: old snapshots are void."""

    entity_type: str
    rules: Mapping[str, tuple[StateRule, ...]]
    version: int

    def apply(self, state: FoldState, event: Event, entity_id: str) -> FoldState:
        rules = self.rules.get(event.type)
        if rules:
            roles = [
                one.role for one in event.entities if (one.entity_type, one.entity_id) == (self.entity_type, entity_id)
            ]
            for rule in rules:
                if rule.concerns(self.entity_type, roles):
                    state = rule.apply(state, event.data)
        return state


def fold_of(entity_type: str, declared: Iterable[EventType]) -> StateFold | None:
    """The fold, or None if no type says anything about such entities. Data is lifted, so the newest versions count."""
    newest: dict[str, EventType] = {}
    for one in declared:
        if one.type not in newest or newest[one.type].schema_version < one.schema_version:
            newest[one.type] = one
    rules = {
        name: tuple(rule for rule in newest[name].state if rule.entity_type == entity_type) for name in sorted(newest)
    }
    rules = {name: given for name, given in rules.items() if given}
    if not rules:
        return None
    digest = hashlib.sha256(canonical({name: [one.as_json() for one in given] for name, given in rules.items()}))
    # A positive 32-bit number, as the table holds it.
    return StateFold(entity_type, rules, int.from_bytes(digest.digest()[:4]) >> 1)
