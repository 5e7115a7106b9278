"""An answer as one file: whoever has it needs neither Mnemon nor the database to see that it is as it was given."""

import hashlib
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx
import pytest

from mnemon.ask.proving.printable import STYLE
from tests.log.offline import run
from tests.semantics.conftest import all_done, quick_retries, settings, work
from tests.work.conftest import eventually

from .conftest import Person

__all__ = ["all_done", "eventually", "quick_retries", "settings", "work"]
TEXT = "The board approved the budget of <40,000> euros & more on 3 May.\n\nThe violin concert was moved to June.\n"


@pytest.fixture
async def answer(
    client: httpx.AsyncClient, user: Person, all_done: Callable[[], Awaitable[None]]
) -> tuple[str, dict[str, Any]]:
    sent = await client.post("/v1/ingest", files={"file": ("board.txt", TEXT.encode())}, headers=user.headers)
    assert sent.status_code == 202, sent.text
    await all_done()
    asked = {"question": "When did the board approve the budget?"}
    given = (await client.post("/v1/ask", json=asked, headers=user.headers)).json()
    assert given["outcome"] == "answered", given
    return f"/v1/answers/{given['query_id']}/file", given


async def test_an_answers_file_holds_offline_and_a_changed_one_does_not(
    client: httpx.AsyncClient, user: Person, admin: Person, answer: tuple[str, dict[str, Any]], tmp_path: Path
) -> None:
    path, given = answer
    # No checkpoint had to be signed first, and nobody else's question is given out.
    made = await client.get(path, headers=user.headers)
    assert made.status_code == 200, made.text
    assert (await client.get(path, headers=admin.headers)).status_code == 404
    assert (await client.get(f"/v1/answers/{UUID(int=1)}/file", headers=user.headers)).status_code == 404
    told = made.json()
    key, file, text = told["receipt"]["checkpoint"]["public_key"], tmp_path / "answer", tmp_path / "text.txt"
    stored = next(one for one in (TEXT, TEXT.strip()) if _digest(one) == told["revisions"][0]["text_hash"])
    text.write_text(stored)
    revision = given["sentences"][0]["citations"][0]["doc_version_id"]

    def checked(content: str, *more: str) -> tuple[int, str]:
        file.write_text(content)
        return run("answer", file, "--key", key, *more)

    assert checked(made.text, "--text", f"{revision}={text}") == (0, "all holds\n")
    assert "attests" in checked(made.text.replace("40,000", "90,000"))[1]
    assert "attests" in checked(made.text.replace("When did", "Why did"))[1]
    assert "another outcome" in checked(made.text.replace('"outcome":"answered"', '"outcome":"refused"'))[1]
    other = json.dumps(told | {"revisions": []})
    assert "quoted and not told of" in checked(other)[1]
    text.write_text(stored + "!")
    assert "another digest" in checked(made.text, "--text", f"{revision}={text}")[1]

    page = (await client.get(f"{path}?form=html", headers=user.headers)).text
    assert "&lt;40,000&gt; euros &amp; more" in page and STYLE in page
    assert checked(page)[0] == 0, checked(page)
    for words, instead in (
        ("<h1>When did", "<h1>Why did"),
        ("&lt;40,000&gt; euros &amp; more on 3 May. [1]", "&lt;90,000&gt; euros &amp; more on 3 May. [1]"),
        ("</body>", "<p>And the roof.</p></body>"),
        ("<h1>", '<h1 style="display:none">'),
        ("small{", "h1{display:none}small{"),
        ("</style>", "</style><script>1</script>"),
    ):
        assert words in page
        assert checked(page.replace(words, instead))[0] != 0, instead


def _digest(text: str) -> str:
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()
