"""Cycles in a directed graph, by Tarjan's strongly connected components, without recursion."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeVar

Node = TypeVar("Node")


def cycles_among(edges: Mapping[Node, Sequence[Node]]) -> list[list[Node]]:
    """Each group of nodes that reach each other; a node that leads to itself is one too."""
    found: list[list[Node]] = []
    index: dict[Node, int] = {}
    low: dict[Node, int] = {}
    stack: list[Node] = []
    on_stack: set[Node] = set()
    for root in edges:
        if root in index:
            continue
        work: list[tuple[Node, Iterator[Node]]] = [_enter(root, edges, index, low, stack, on_stack)]
        while work:
            node, following = work[-1]
            for other in following:
                if other not in index:
                    work.append(_enter(other, edges, index, low, stack, on_stack))
                    break
                if other in on_stack:
                    low[node] = min(low[node], index[other])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    group = _leave(node, stack, on_stack)
                    if len(group) > 1 or node in edges.get(node, ()):
                        found.append(group)
    return found


def _enter(
    node: Node,
    edges: Mapping[Node, Sequence[Node]],
    index: dict[Node, int],
    low: dict[Node, int],
    stack: list[Node],
    on_stack: set[Node],
) -> tuple[Node, Iterator[Node]]:
    index[node] = low[node] = len(index)
    stack.append(node)
    on_stack.add(node)
    return node, iter(edges.get(node, ()))


def _leave(node: Node, stack: list[Node], on_stack: set[Node]) -> list[Node]:
    group: list[Node] = []
    while not group or group[-1] != node:
        group.append(stack.pop())
        on_stack.discard(group[-1])
    return group[::-1]
