"""Graphs as GraphML and as Mermaid."""

import re
from collections.abc import Iterator, Sequence
from xml.sax.saxutils import escape, quoteattr

from mnemon.memory.graphs.graph import Graph, GraphEdge

UNWRITABLE = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
OBJECT_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
KEYS = (
    ("emo_type", "node", "string"),
    ("emo_version", "node", "int"),
    ("tags", "node", "string"),
    ("label", "node", "string"),
    ("kind", "edge", "string"),
)


def as_graphml(graph: Graph) -> str:
    """XML that Gephi, yEd and NetworkX read."""
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">']
    for name, where, kind in KEYS:
        lines.append(f'  <key id="{name}" for="{where}" attr.name="{name}" attr.type="{kind}"/>')
    lines.append(f'  <graph id={quoteattr(graph.name)} edgedefault="directed">')
    for node in graph.nodes.values():
        data = {"emo_type": node.emo_type, "emo_version": node.emo_version, "tags": ", ".join(node.tags)}
        lines += _element("node", {"id": str(node.emo_id)}, data)
    for outside in dict.fromkeys(edge.target for edge in graph.edges if edge.target is not None):
        lines += _element("node", {"id": _outside(outside)}, {"label": outside})
    for edge in graph.edges:
        ends = {"source": str(edge.source_id), "target": _end(edge)}
        lines += _element("edge", ends, {"kind": edge.kind})
    return "\n".join([*lines, "  </graph>", "</graphml>"]) + "\n"


def as_mermaid(graph: Graph) -> str:
    """A flowchart for a page of Markdown."""
    names = {str(emo_id): f"o{number}" for number, emo_id in enumerate(graph.nodes)}
    lines = ["flowchart LR"]
    for emo_id, node in graph.nodes.items():
        lines.append(f'    {names[str(emo_id)]}["{node.emo_type} {str(emo_id)[:8]} v{node.emo_version}"]')
    for outside in dict.fromkeys(edge.target for edge in graph.edges if edge.target is not None):
        name = names[_outside(outside)] = f"x{len(names)}"
        lines.append(f'    {name}(["{_quoted(outside)}"])')
    lines += [f"    {names[start]} -->|{kind}| {names[end]}" for start, kind, end in _arrows(graph.edges)]
    return "\n".join(lines) + "\n"


def _arrows(edges: Sequence[GraphEdge]) -> Iterator[tuple[str, str, str]]:
    for edge in edges:
        yield str(edge.source_id), edge.kind, _end(edge)


def _end(edge: GraphEdge) -> str:
    return str(edge.target_id) if edge.target_id else _outside(edge.target or "")


def _outside(target: str) -> str:
    """An address that reads like the id of an object is still not that object."""
    return f"address:{target}" if OBJECT_ID.fullmatch(target) else target


def _element(name: str, attributes: dict[str, str], data: dict[str, object]) -> list[str]:
    given = " ".join(f"{key}={quoteattr(_readable(value))}" for key, value in attributes.items())
    parts = "".join(
        f'<data key="{key}">{escape(_readable(str(value)))}</data>' for key, value in data.items() if value != ""
    )
    return [f"    <{name} {given}>{parts}</{name}>"]


def _readable(text: str) -> str:
    """Without the characters that XML has no way to write."""
    return UNWRITABLE.sub("\ufffd", text)


def _quoted(text: str) -> str:
    """What would end a label or a line of Mermaid is written as an entity."""
    return text.replace("&", "#amp;").replace('"', "#quot;").replace("<", "#lt;").replace("\n", " ")
