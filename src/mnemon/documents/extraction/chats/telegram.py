"""Telegram's export: one talk, or a list of all of them."""

from typing import Any

from mnemon.documents.extraction.chats.messages import ChatMessage, Conversation, moment_of
from mnemon.documents.extraction.dates import moment


def is_telegram(data: Any) -> bool:
    if not isinstance(data, dict):
        return False
    if isinstance(data.get("chats"), dict):
        return isinstance(data["chats"].get("list"), list)
    found = data.get("messages")
    return isinstance(found, list) and any(
        isinstance(one, dict) and "from" in one and "date" in one for one in found[:100]
    )


def telegram_conversations(data: Any) -> list[Conversation]:
    talks = data["chats"]["list"] if isinstance(data.get("chats"), dict) else [data]
    return [_conversation(talk) for talk in talks if isinstance(talk, dict) and isinstance(talk.get("messages"), list)]


def _conversation(talk: dict[str, Any]) -> Conversation:
    name = str(talk.get("name") or "") or None
    said = [one for one in talk["messages"] if isinstance(one, dict) and one.get("type", "message") == "message"]
    return Conversation(name, [_message(one) for one in said])


def _message(one: dict[str, Any]) -> ChatMessage:
    speaker = one.get("from") or one.get("actor")
    when = moment(str(one.get("date") or "")) or moment_of(one.get("date_unixtime"))
    return ChatMessage(str(speaker) if speaker else None, _words(one.get("text")), when)


def _words(text: Any) -> str:
    """A text, or a list of texts and of links and mentions with a text of their own."""
    parts = text if isinstance(text, list) else [text]
    return "".join(str(part.get("text") or "") if isinstance(part, dict) else str(part or "") for part in parts)
