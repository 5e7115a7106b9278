"""An answer's file as a page to print. The verifier makes the same words of the JSON inside, and accepts no others."""

import json
from collections.abc import Iterator
from html import escape
from typing import Any

from mnemon.ask.proving.filed import AnswerFile

# Its SHA-256 stands in `verify/mnemon_verify.py`: a style could hide words or add some.
STYLE = (
    "body{font:16px/1.5 serif;max-width:44rem;margin:2rem auto;padding:0 1rem}"
    "blockquote{margin:.3rem 0 .3rem 1rem;white-space:pre-wrap}small{color:#555;overflow-wrap:anywhere}"
)


def as_page(file: AnswerFile) -> str:
    told = file.model_dump(mode="json")
    inside = json.dumps(told, ensure_ascii=False).replace("<", "\\u003c")
    body = "\n".join(f"<{tag}>{escape(words)}</{tag}>" for tag, words in lines_of(told))
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>{escape(file.question)}</title>\n'
        f"<style>{STYLE}</style>\n</head>\n<body>\n{body}\n"
        f'<script type="application/json">{inside}</script>\n</body>\n</html>\n'
    )


def lines_of(told: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Every line that is shown, with its element."""
    yield "h1", told["question"]
    yield "p", f"Asked {told['asked_at']}. {_ending(told)}"
    quotes = [(sentence, one) for sentence in told["sentences"] for one in sentence["citations"]]
    titles = {one["doc_version_id"]: f"{one['title']}, version {one['version_number']}" for one in told["revisions"]}
    for number, (sentence, one) in enumerate(quotes, 1):
        yield "p", f"{sentence['note']} {one['quote']} [{number}]"
    for number, (_, one) in enumerate(quotes, 1):
        yield "p", f"[{number}] {titles[one['doc_version_id']]}"
        yield "blockquote", one["quote"]
        yield "small", f"{one['doc_version_id']} {one['start']}-{one['end']}"
    for revision in told["revisions"]:
        digests = f"text {revision['text_hash']}, file {revision['content_hash']}"
        yield "p", f"{revision['doc_version_id']}: {digests}, log {revision['receipt']['event']['sequence']}"
    yield "p", f"Log {told['receipt']['event']['sequence']}, signed with {told['receipt']['checkpoint']['public_key']}"
    yield "p", "Check it offline: python3 mnemon_verify.py answer FILE --key KEY"


def _ending(told: dict[str, Any]) -> str:
    if told["outcome"] == "refused":
        return f"Refused: {told['reason']}."
    return f"Written by {told['model']}; these quotes prove it." if told["model"] else "In the sources' own words."
