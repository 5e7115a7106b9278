"""Slack's export: a list of messages for each day of a channel; in an archive also the names of who wrote them."""

import html
import re
from collections.abc import Mapping
from typing import Any

from mnemon.documents.extraction.chats.messages import ChatMessage, Conversation, moment_of

# What the program tells by itself.
_NOT_SAID = frozenset({
    "channel_join", "channel_leave", "channel_archive", "channel_unarchive", "channel_name", "channel_topic",
    "channel_purpose", "group_join", "group_leave", "bot_add", "bot_remove", "pinned_item", "tombstone",
})  # fmt: skip
_MENTION = re.compile(r"<([@#!])([^<>|\s]{1,100})(?:\|([^<>]{0,200}))?>")
_LINK = re.compile(r"<((?:https?|mailto|tel):[^<>|\s]+)(?:\|([^<>]+))?>")

UserNames = Mapping[str, str]


def is_slack(data: Any) -> bool:
    return (
        isinstance(data, list)
        and bool(data)
        and all(isinstance(one, dict) and "type" in one and "ts" in one for one in data[:20])
    )


def slack_users(data: Any) -> dict[str, str]:
    """Names by id, as `users.json` lists them."""
    users = [one for one in data if isinstance(one, dict) and isinstance(one.get("id"), str)]
    return {one["id"]: name for one in users if (name := _user_name(one))}


def slack_conversation(data: Any, name: str | None = None, users: UserNames | None = None) -> Conversation:
    known = {**_profiles(data), **(users or {})}
    found = [one for one in data if isinstance(one, dict) and one.get("type") == "message"]
    messages = [
        ChatMessage(_speaker(one, known), _words(one, known), moment_of(one.get("ts")))
        for one in found
        if one.get("subtype") not in _NOT_SAID
    ]
    return Conversation(name, messages)


def _user_name(user: Mapping[str, Any]) -> str | None:
    profile = user.get("profile") if isinstance(user.get("profile"), dict) else {}
    places = ((profile, "real_name"), (user, "real_name"), (profile, "display_name"), (user, "name"))
    return next((str(place[key]) for place, key in places if place and place.get(key)), None)


def _profiles(data: Any) -> dict[str, str]:
    return {
        str(one["user"]): name
        for one in data
        if isinstance(one, dict) and one.get("user") and isinstance(one.get("user_profile"), dict)
        if (name := _user_name({"profile": one["user_profile"]}))
    }


def _speaker(message: Mapping[str, Any], users: UserNames) -> str | None:
    user = str(message.get("user") or message.get("bot_id") or "")
    return users.get(user) or message.get("username") or user or None


def _words(message: Mapping[str, Any], users: UserNames) -> str:
    text = _MENTION.sub(lambda found: _mentioned(found, users), str(message.get("text") or ""))
    text = html.unescape(_LINK.sub(lambda found: found[2] or found[1], text))
    files = message.get("files")
    names = [str(one.get("name") or one.get("title") or "") for one in files if isinstance(one, dict)] if files else []
    return "\n".join(filter(None, (text, *(f"(file: {name})" for name in names if name))))


def _mentioned(found: re.Match[str], users: UserNames) -> str:
    sign = "" if found[1] == "!" else found[1]
    return f"{sign or '@'}{found[3] or users.get(found[2], found[2])}"
