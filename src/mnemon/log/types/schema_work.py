"""How much work a schema can make of one value: a few lines that refer to each other can ask for more than any has."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from typing import Any, TypeGuard
from urllib.parse import unquote

import orjson

from mnemon.errors import InvalidRequest

# Subschemas that are applied to one and the same value, by whatever way one comes to it.
MOST_AT_ONE_PLACE = 1_000
# Levels that a value is taken to have where a schema goes on into it for ever.
DEEP = 64
MOST_NODES = 20_000
# Steps of this look at the schema itself.
MOST_STEPS = 200_000

LISTS = ("allOf", "anyOf", "oneOf")
# The second is of earlier drafts; the validator still knows it.
BY_PROPERTY = ("dependentSchemas", "dependencies")
SAME_VALUE = ("not", "if", "then", "else", "$ref", "$dynamicRef")
EVERY_MEMBER = ("additionalProperties", "propertyNames", "unevaluatedProperties")
EVERY_ITEM = ("items", "contains", "unevaluatedItems")

SchemaNode = Mapping[str, Any]


def check_schema_work(schema: SchemaNode, name: str) -> None:
    """Refuse a schema that visits a value too often, or twice as often with each level that it goes into it."""
    plain: dict[str, Any] = orjson.loads(orjson.dumps(dict(schema)))
    _Work(plain, name).check()


class _Work:
    def __init__(self, root: SchemaNode, name: str) -> None:
        self._root = root
        self._name = name
        self._steps = 0
        self._nodes = {id(node): node for node in _nodes(root)}
        self._met: dict[int, list[tuple[SchemaNode, int]]] = {}
        self._by_anchor: dict[str, SchemaNode] = {}

    def check(self) -> None:
        """Every subschema is looked at once; each may lead back to itself once by every way down, and not twice."""
        nodes = list(self._nodes.values())
        if len(nodes) > MOST_NODES:
            raise self._refusal(f"it has {len(nodes):,} parts, the limit is {MOST_NODES:,}")
        self._name_parts(nodes)
        direct = {id(node): self._children(node) for node in nodes}
        below = {node: self._together(places) for node, places in direct.items()}
        for node in nodes:
            for places in below[id(node)].values():
                for child, times in places.items():
                    if times > 1 and self._leads_back(child, below):
                        raise self._refusal("parts that refer to themselves are applied twice to the same value")
        self._check_levels(direct)

    def _check_levels(self, direct: Mapping[int, Mapping[str, Counter[int]]]) -> None:
        """What two parts lead to, each of them twice, is applied four times: level by level, from within."""
        most: dict[int, int] = {}
        for group in _groups({node: set().union(*places.values()) for node, places in direct.items()}):
            worst = max(self._cost(self._nodes[node]) for node in group)
            for places in (places for node in group for places in direct[node].values()):
                beyond = sum(times * most[child] for child, times in places.items() if child not in group)
                worst = max(worst, beyond * DEEP if group & places.keys() else beyond)
            if worst > MOST_AT_ONE_PLACE:
                raise self._too_many()
            most |= dict.fromkeys(group, worst)

    def _cost(self, node: SchemaNode) -> int:
        """Of all that this part applies to one value. Lists and objects that it may be are compared one by one."""
        return sum(times * (1 + _composites(one.get("enum"))) for one, times in self._at_one_place(node))

    def _name_parts(self, nodes: Sequence[SchemaNode]) -> None:
        """Names that mean one part wherever they stand: a part with an `$id` would have names of its own, and what
        they stand for would be for the validator alone to know."""
        for node in nodes:
            if node is not self._root and isinstance(node.get("$id"), str):
                raise self._invalid(f"a part has the $id {node['$id'][:100]!r}; only the whole may have one")
            for name in filter(_is_text, (node.get("$anchor"), node.get("$dynamicAnchor"))):
                if self._by_anchor.setdefault(name, node) is not node:
                    raise self._invalid(f"two parts have the anchor {name[:100]!r}")

    def _leads_back(self, start: int, below: Mapping[int, Mapping[str, Counter[int]]]) -> bool:
        """Whether one comes from this subschema to itself again, by way of values inside values."""
        seen: set[int] = set()
        waiting = [start]
        while waiting:
            for places in below.get(waiting.pop(), {}).values():
                for child in places:
                    self._step()
                    if child == start:
                        return True
                    if child not in seen:
                        seen.add(child)
                        waiting.append(child)
        return False

    def _children(self, node: SchemaNode) -> dict[str, Counter[int]]:
        """By the name of a property (`*` for any other, `[]` for items): the subschemas that its value meets, and how
        often each."""
        found: dict[str, Counter[int]] = {}
        for here, times in self._at_one_place(node):
            members = [here.get(keyword) for keyword in EVERY_MEMBER]
            members += _mapping(here.get("patternProperties")).values()
            items = [here.get(keyword) for keyword in EVERY_ITEM] + list(here.get("prefixItems") or ())
            named = [*_mapping(here.get("properties")).items()]
            for place, child in [*named, *(("*", one) for one in members), *(("[]", one) for one in items)]:
                if isinstance(child, dict):
                    found.setdefault(place, Counter())[id(child)] += times
        everywhere = found.pop("*", Counter())
        return {"*": everywhere} | {
            place: children if place == "[]" else children + everywhere for place, children in found.items()
        }

    def _together(self, found: dict[str, Counter[int]]) -> dict[str, Counter[int]]:
        """With what they apply to the same value. Subschemas that come down to the same are one."""
        same: dict[str, Counter[int]] = {}
        for place, children in found.items():
            met: Counter[int] = Counter()
            for child, times in children.items():
                for one, more in self._at_one_place(self._nodes[child]):
                    self._step()
                    met[id(one)] += times * more
            same[place] = met
        return same

    def _at_one_place(self, node: SchemaNode) -> list[tuple[SchemaNode, int]]:
        """The subschema and all that it applies to the same value, each with how often."""
        if id(node) in self._met:
            return self._met[id(node)]
        met: Counter[int] = Counter()
        waiting: list[tuple[SchemaNode, tuple[int, ...]]] = [(node, (id(node),))]
        while waiting:
            here, path = waiting.pop()
            self._step()
            if met.total() > MOST_AT_ONE_PLACE:
                raise self._too_many()
            met[id(here)] += 1
            for part in self._beside(here):
                if id(part) in path:
                    raise self._refusal("a part refers to itself without going into the value")
                waiting.append((part, (*path, id(part))))
        self._met[id(node)] = [(self._nodes[one], times) for one, times in met.items()]
        return self._met[id(node)]

    def _beside(self, node: SchemaNode) -> Iterator[SchemaNode]:
        for keyword in LISTS:
            yield from (one for one in node.get(keyword) or () if isinstance(one, dict))
        for keyword in BY_PROPERTY:
            yield from (one for one in _mapping(node.get(keyword)).values() if isinstance(one, dict))
        for keyword in SAME_VALUE:
            value = node.get(keyword)
            if keyword in ("$ref", "$dynamicRef"):
                value = self._target(value) if isinstance(value, str) else None
            if isinstance(value, dict):
                yield value

    def _target(self, reference: str) -> SchemaNode | None:
        """The part that is meant; None for one that is only true or false. What is elsewhere is never fetched."""
        base, _, fragment = reference.partition("#")
        node: Any = self._root if not base or base == self._root.get("$id") else None
        if fragment and not fragment.startswith("/"):
            node = self._by_anchor.get(fragment) if node is not None else None
        else:
            for step in unquote(fragment).split("/")[1:]:
                node = _inside(node, step.replace("~1", "/").replace("~0", "~"))
        if isinstance(node, dict):
            return node
        if isinstance(node, bool):
            return None
        raise self._invalid(f"it refers to {reference[:100]!r}, which is no part of it: refer to parts by '#/$defs/…'")

    def _step(self) -> None:
        self._steps += 1
        if self._steps > MOST_STEPS:
            raise self._refusal(f"it takes more than {MOST_STEPS:,} steps to go through it")

    def _too_many(self) -> InvalidRequest:
        return self._refusal(f"more than {MOST_AT_ONE_PLACE:,} of its parts are applied to one value")

    def _invalid(self, reason: str) -> InvalidRequest:
        return InvalidRequest(f"The schema of {self._name} is not valid: {reason}.", type=self._name)

    def _refusal(self, reason: str) -> InvalidRequest:
        return InvalidRequest(
            f"The schema of {self._name} could ask for more work than any event is worth: {reason}. Write it with "
            "fewer references, and lists of fewer values.",
            type=self._name,
        )


def _nodes(value: Any) -> Iterator[SchemaNode]:
    """Every object inside, schema or not: what is no schema has no keywords, and costs nothing."""
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict):
            yield one
            waiting.extend(one.values())
        elif isinstance(one, list):
            waiting.extend(one)


def _groups(edges: Mapping[int, Set[int]]) -> Iterator[set[int]]:
    """Parts that lead to one another, each group after all that it leads to (Tarjan)."""
    number: dict[int, int] = {}
    lowest: dict[int, int] = {}
    open_parts: list[int] = []
    waiting = [(start, iter(edges[start])) for start in edges]
    while waiting:
        node, children = waiting[-1]
        if node not in number:
            number[node] = lowest[node] = len(number)
            open_parts.append(node)
        elif node not in lowest:  # closed, as part of another's way
            waiting.pop()
            continue
        child = next(children, None)
        if child is None:
            waiting.pop()
            if lowest[node] == number[node]:
                group: set[int] = set()
                while node not in group:
                    group.add(open_parts.pop())
                for one in group:
                    del lowest[one]
                yield group
            elif waiting:
                parent = waiting[-1][0]
                lowest[parent] = min(lowest[parent], lowest[node])
        elif child not in number:
            waiting.append((child, iter(edges[child])))
        elif child in lowest:
            lowest[node] = min(lowest[node], number[child])


def _composites(values: Any) -> int:
    """How many values of an enumeration cannot be looked up: all of them where one is a list or an object."""
    return len(values) if isinstance(values, list) and any(isinstance(one, list | dict) for one in values) else 0


def _is_text(value: Any) -> TypeGuard[str]:
    return isinstance(value, str)


def _inside(node: Any, step: str) -> Any:
    if isinstance(node, list):
        return node[int(step)] if step.isdecimal() and int(step) < len(node) else None
    return node.get(step) if isinstance(node, dict) else None


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}
