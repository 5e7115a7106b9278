"""What of a web page is not its text: navigation, banners, forms, hidden things."""

import re

from mnemon.documents.extraction.html.tree import CLOSED, TEXT, Node, Tree

NEVER_TEXT = CLOSED | {
    "head", "select", "textarea", "input", "button", "datalist", "dialog", "audio", "video", "embed", "map", "#other",
}  # fmt: skip
AROUND_THE_TEXT = frozenset({"nav", "aside", "menu", "footer"})
ROLES = frozenset({"navigation", "contentinfo", "complementary", "search", "dialog", "alertdialog", "menu", "toolbar"})
MARKS = re.compile(
    r"(?:^|[-_ ])(?:cookies?|consent|gdpr|breadcrumbs?|sidebar|share|sharing|social|newsletter|subscribe|adverts?|"
    r"advertisement|ads|promo|popup|modal|skip-?link|menu|navbar|nav|navigation|pagination|pager|related|"
    r"site-footer|page-footer|toolbar|sr-only|visually-hidden)(?:$|[-_ ])",
    re.IGNORECASE,
)
NOT_SHOWN = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
# A "sidebar" that holds most of the text is a careless name, not a sidebar.
MOST_OF_THE_TEXT = 0.4
LEAST_MAIN = 0.25
CONTAINERS = frozenset({"html", "body", "main", "article"})


def left_out(tree: Tree, mail: bool) -> set[int]:
    """Numbers of the nodes that are passed over with all that is inside them."""
    found: set[int] = set()
    total, at = tree.letters[-1], 0
    while at < len(tree.nodes):
        node = tree.nodes[at]
        if node.tag in NEVER_TEXT or _is_hidden(node) or (not mail and _is_around(tree, at, total)):
            found.add(at)
            at = node.until
        else:
            at += 1
    return found


def main_range(tree: Tree, skipped: set[int]) -> tuple[int, int]:
    """The nodes from and up to which the text stands: in the one element that says so, if it holds enough."""
    body = next((number for number, node in enumerate(tree.nodes) if node.tag == "body"), 0)
    kept = tree.size(body) - sum(tree.size(number) for number in skipped if number > body)
    for is_main in (lambda node: node.tag == "main" or node.attributes.get("role") == "main", _is_article):
        found = [number for number, node in enumerate(tree.nodes) if is_main(node)]
        if len(found) == 1 and tree.size(found[0]) > LEAST_MAIN * kept:
            return found[0], tree.nodes[found[0]].until
    return body, tree.nodes[body].until


def _is_article(node: Node) -> bool:
    return node.tag == "article"


def _is_hidden(node: Node) -> bool:
    attributes = node.attributes
    return bool(attributes) and (
        "hidden" in attributes
        or attributes.get("aria-hidden") == "true"
        or ("style" in attributes and bool(NOT_SHOWN.search(attributes["style"])))
    )


def _is_around(tree: Tree, number: int, total: int) -> bool:
    node = tree.nodes[number]
    if node.tag == TEXT or node.tag in CONTAINERS:
        return False
    named = node.attributes and f"{node.attributes.get('class', '')} {node.attributes.get('id', '')}"
    if not (
        node.tag in AROUND_THE_TEXT or node.attributes.get("role") in ROLES or (named and MARKS.search(str(named)))
    ):
        return False
    return tree.size(number) <= total * MOST_OF_THE_TEXT and not _holds_title(tree, number)


def _holds_title(tree: Tree, number: int) -> bool:
    """Whether the page's first heading or its article is inside."""
    inside = tree.nodes[number + 1 : min(tree.nodes[number].until, number + 200)]
    return any(node.tag in ("main", "article", "h1") for node in inside)
