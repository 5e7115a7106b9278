"""Discord, as DiscordChatExporter writes it: a channel with its messages."""

from typing import Any

from mnemon.documents.extraction.chats.messages import ChatMessage, Conversation
from mnemon.documents.extraction.dates import moment


def is_discord(data: Any) -> bool:
    return isinstance(data, dict) and isinstance(data.get("channel"), dict) and isinstance(data.get("messages"), list)


def discord_conversation(data: Any) -> Conversation:
    channel = str(data["channel"].get("name") or "") or None
    guild = data.get("guild")
    place = str(guild.get("name") or "") if isinstance(guild, dict) else ""
    name = f"{place} #{channel}" if place and channel else channel
    return Conversation(name, [_message(one) for one in data["messages"] if isinstance(one, dict)])


def _message(one: dict[str, Any]) -> ChatMessage:
    author = one.get("author")
    named = author.get("nickname") or author.get("name") if isinstance(author, dict) else None
    attached = one.get("attachments")
    files = [str(each.get("fileName") or "") for each in attached if isinstance(each, dict)] if attached else []
    text = "\n".join(filter(None, (str(one.get("content") or ""), *(f"(file: {name})" for name in files if name))))
    return ChatMessage(str(named) if named else None, text, moment(str(one.get("timestamp") or "")))
