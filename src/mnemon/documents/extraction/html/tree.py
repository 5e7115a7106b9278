"""A parsed page as one flat list: each node knows where what is inside it ends, so that nothing ever recurses."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import accumulate
from types import MappingProxyType

from selectolax.lexbor import LexborHTMLParser, LexborNode, SelectolaxError

from mnemon.documents.extraction.errors import ExtractionFailed

TEXT = "#text"
NOTHING: Mapping[str, str] = MappingProxyType({})
# Scripts, styles and drawings are no text and need not be looked into.
CLOSED = frozenset({"script", "style", "noscript", "template", "svg", "canvas", "iframe", "object", "math"})

TAG = re.compile(r"<(/?)([a-zA-Z][a-zA-Z0-9]*)")
DEEPEST = 10_000
# Elements without content, and those whose end most authors leave out.
NEVER_CLOSED = frozenset({
    "area", "base", "br", "col", "dd", "dt", "embed", "hr", "img", "input", "li", "link", "meta", "option", "p",
    "param", "source", "tbody", "td", "tfoot", "th", "thead", "tr", "track", "wbr",
})  # fmt: skip


@dataclass(slots=True)
class Node:
    """An element, or a piece of text. `until` is the number of the first node after all that is inside it."""

    tag: str
    text: str = ""
    attributes: Mapping[str, str] = field(default_factory=lambda: NOTHING)
    until: int = 0


@dataclass(frozen=True, slots=True)
class Tree:
    """All nodes in the order of the page; `letters[n]` is how much text stands before node n."""

    nodes: list[Node]
    letters: list[int]

    def size(self, number: int) -> int:
        return self.letters[self.nodes[number].until] - self.letters[number]


def parse(page: str) -> Tree:
    _check_depth(page)
    try:
        nodes = _flat(LexborHTMLParser(page).root)
    except SelectolaxError as error:
        # Every text is HTML of some kind; the parser fails only where it gets no memory.
        raise MemoryError(str(error)) from None
    return Tree(nodes, list(accumulate((len(node.text.strip()) for node in nodes), initial=0)))


def _check_depth(page: str) -> None:
    """Refuse what no page needs: the rules of HTML make each tag look at all that are open around it."""
    depth = 0
    for tag in TAG.finditer(page):
        depth = max(depth + (-1 if tag[1] else tag[2].lower() not in NEVER_CLOSED), 0)
        if depth > DEEPEST:
            raise ExtractionFailed(f"The page nests elements deeper than {DEEPEST:,}.", reason="hostile")


def _flat(root: LexborNode | None) -> list[Node]:
    nodes: list[Node] = []
    open_numbers: list[int] = []
    at = root
    while at is not None:
        node = _node(at)
        open_numbers.append(len(nodes))
        nodes.append(node)
        below = at.child if node.tag != TEXT and node.tag not in CLOSED else None
        if below is not None:
            at = below
            continue
        while at is not None:
            nodes[open_numbers.pop()].until = len(nodes)
            if not open_numbers:
                return nodes
            if at.next is not None:
                at = at.next
                break
            at = at.parent
    return nodes


def _node(node: LexborNode) -> Node:
    if node.is_text_node:
        return Node(TEXT, node.text_content or "")
    if not node.is_element_node:
        return Node("#other")
    return Node(node.tag or "", attributes={name: value or "" for name, value in node.attributes.items()})
