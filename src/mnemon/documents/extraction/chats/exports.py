"""Which chat program a file of JSON comes from, and what was said there."""

from typing import Any

from mnemon.documents.extraction.chats.discord import discord_conversation, is_discord
from mnemon.documents.extraction.chats.messages import Conversation
from mnemon.documents.extraction.chats.slack import is_slack, slack_conversation
from mnemon.documents.extraction.chats.teams import is_teams, teams_conversations
from mnemon.documents.extraction.chats.telegram import is_telegram, telegram_conversations
from mnemon.documents.extraction.limits import Limits


def conversations_in(data: Any, limits: Limits) -> list[Conversation]:
    """None where it is no export that we know."""
    if is_slack(data):
        return [slack_conversation(data)]
    if is_discord(data):
        return [discord_conversation(data)]
    if is_teams(data):
        return teams_conversations(data, limits)
    return telegram_conversations(data) if is_telegram(data) else []
