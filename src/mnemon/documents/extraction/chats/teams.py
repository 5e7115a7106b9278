"""Teams: the messages of its programming interface, and those of a person's own export."""

from typing import Any

from mnemon.documents.extraction.chats.messages import ChatMessage, Conversation
from mnemon.documents.extraction.dates import moment
from mnemon.documents.extraction.html.extract import write_page
from mnemon.documents.extraction.html.tree import parse
from mnemon.documents.extraction.limits import Limits
from mnemon.documents.extraction.writing import TextWriter

_SAID = frozenset({"Text", "RichText", "RichText/Html"})


def is_teams(data: Any) -> bool:
    if isinstance(data, dict) and isinstance(data.get("conversations"), list):
        return any(isinstance(one, dict) and "MessageList" in one for one in data["conversations"][:100])
    return _is_listed(data.get("value") if isinstance(data, dict) else data)


def _is_listed(found: Any) -> bool:
    return isinstance(found, list) and any(
        isinstance(one, dict) and "createdDateTime" in one and isinstance(one.get("body"), dict) for one in found[:100]
    )


def teams_conversations(data: Any, limits: Limits) -> list[Conversation]:
    if isinstance(data, dict) and isinstance(data.get("conversations"), list):
        return [_own(one, limits) for one in data["conversations"] if isinstance(one, dict)]
    found = data["value"] if isinstance(data, dict) else data
    said = [one for one in found if isinstance(one, dict) and one.get("messageType", "message") == "message"]
    messages = sorted((_posted(one, limits) for one in said), key=lambda one: str(one.sent_at))
    return [Conversation(None, messages)]


def _posted(one: dict[str, Any], limits: Limits) -> ChatMessage:
    sender = one.get("from") if isinstance(one.get("from"), dict) else {}
    people = (sender.get(key) for key in ("user", "application")) if sender else iter(())
    named = next((str(one.get("displayName") or "") for one in people if isinstance(one, dict)), None)
    body = one.get("body") if isinstance(one.get("body"), dict) else {}
    text = str(body.get("content") or "") if body else ""
    if body and body.get("contentType") == "html":
        text = _shown(text, limits)
    return ChatMessage(named or None, text, moment(str(one.get("createdDateTime") or "")))


def _own(talk: dict[str, Any], limits: Limits) -> Conversation:
    """The newest message stands first there."""
    found = talk.get("MessageList")
    said = [one for one in found if isinstance(one, dict) and one.get("messagetype", "Text") in _SAID] if found else []
    messages = [
        ChatMessage(
            str(one.get("displayName") or one.get("from") or "").rpartition(":")[2] or None,
            _shown(str(one.get("content") or ""), limits),
            moment(str(one.get("originalarrivaltime") or "")),
        )
        for one in reversed(said)
    ]
    name = talk.get("displayName")
    return Conversation(str(name) if name else None, messages)


def _shown(page: str, limits: Limits) -> str:
    """The words of a message that is written in HTML."""
    if "<" not in page and "&" not in page:
        return page
    writer = TextWriter(limits)
    write_page(parse(page), writer, mail=True)
    return writer.text
