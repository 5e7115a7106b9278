"""What somebody wrote into a form that was refused stands in it again, on whatever page shows the refusal."""

from collections.abc import Sequence

from selectolax.lexbor import LexborHTMLParser, LexborNode
from starlette.datastructures import FormData

# A password is written anew; a file cannot be given back; what is hidden belongs to the page.
LEFT_ALONE = frozenset({"hidden", "password", "file", "submit", "button"})
# The page has its own.
NOT_A_NAME = frozenset({"form_token", "expected_version"})
TICKED = frozenset({"checkbox", "radio"})


def refilled(page: str, action: str, given: FormData) -> str:
    """The page, with the values in the form that was sent to this address; as it was where it has no such form."""
    tree = LexborHTMLParser(page)
    forms = [one for one in tree.css("form") if _is_sent_to(one, action) and _is_the_one(one, given)]
    if not forms or tree.html is None:
        return page
    for form in forms:
        for field in form.css("input[name], textarea[name], select[name]"):
            name = field.attributes.get("name") or ""
            _fill(field, [one for one in given.getlist(name) if isinstance(one, str)])
        _open_around(form)
    return tree.html


def _is_sent_to(form: LexborNode, action: str) -> bool:
    return (form.attributes.get("action") or "").partition("#")[0].partition("?")[0] == action


def _is_the_one(form: LexborNode, given: FormData) -> bool:
    """A page may have a form for each of many things, all with one address; hidden fields tell them apart."""
    hidden = [one.attributes for one in form.css('input[type="hidden"][name]')]
    named = {one["name"] or "": one.get("value") or "" for one in hidden if one["name"] not in NOT_A_NAME}
    return all(given[name] == value for name, value in named.items() if name in given)


def _fill(field: LexborNode, values: Sequence[str]) -> None:
    attributes = field.attributes
    kind = attributes.get("type") or "text"
    if field.tag == "textarea":
        if values:
            field.inner_html = ""
            field.insert_child(values[0])
    elif field.tag == "select":
        for option in field.css("option"):
            chosen = option.attributes.get("value")
            _mark(option, "selected", (option.text() if chosen is None else chosen) in values, known=bool(values))
    elif kind in TICKED:
        _mark(field, "checked", (attributes.get("value") or "on") in values, known=True)
    elif kind not in LEFT_ALONE and values:
        field.attrs["value"] = values[0]


def _mark(node: LexborNode, name: str, holds: bool, *, known: bool) -> None:
    if not known:
        return
    if holds:
        node.attrs[name] = ""
    elif name in node.attributes:
        del node.attrs[name]


def _open_around(form: LexborNode) -> None:
    above: LexborNode | None = form
    while above is not None:
        if above.tag == "details":
            above.attrs["open"] = ""
        above = above.parent
