"""Discussions for tests, written in a few words."""

from datetime import UTC, datetime, timedelta

from mnemon.mail.consensus.discussion import DiscussedMessage, Discussion
from mnemon.mail.spans.labelling import label_text

START = datetime(2026, 3, 2, 9, tzinfo=UTC)


def discussion(subject: str, *said: tuple[str, str], chairs: tuple[str, ...] = ()) -> Discussion:
    """Each message is (who, what); all answer the one before them. A text may begin with a subject in "Subject: …"."""
    messages = []
    for number, (who, text) in enumerate(said):
        title = subject if number == 0 else f"Re: {subject}"
        if text.startswith("Subject: "):
            title, _, text = text.removeprefix("Subject: ").partition("\n")
        messages.append(
            DiscussedMessage(
                f"<m{number}@example.org>",
                who.lower(),
                who,
                title,
                START + timedelta(hours=number),
                text,
                label_text(text),
                f"<m{number - 1}@example.org>" if number else None,
            )
        )
    return Discussion(subject, tuple(messages), frozenset(one.lower() for one in chairs))
