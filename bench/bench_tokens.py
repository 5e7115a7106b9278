"""What an agent pays: tokens of the list of tools, and of ten passages, in the short and the full list of tools."""

import asyncio
import json
import os
import tempfile
from pathlib import Path
from typing import Any

from mcp import Client
from mnemon.app import open_mnemon
from mnemon.beside import working_inside
from mnemon.client.connect import connect_async
from mnemon.identity.bootstrap import administrator_without_login
from mnemon.mcp.server import create_server
from mnemon.models.tokens import count_tokens as tokens_of
from mnemon.models.tokens import find_tokenizer
from mnemon.settings import load_settings

FILES = Path(__file__).parent.parent / "examples" / "kestrel" / "minutes"
TOKENIZER = find_tokenizer()
QUESTION = "What did we decide about pricing?"


async def measure(home: Path) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for profile in ("core", "full"):
        settings = load_settings(home=home, mcp_tools=profile)
        async with open_mnemon(settings) as mnemon, working_inside(mnemon):
            if profile == "core" and not os.environ.get("MNEMON_HOME"):
                await fill(home)
            principal = await administrator_without_login(mnemon.database)
            async with Client(create_server(mnemon, local=principal)) as client:
                listed = [one.model_dump(mode="json", exclude_none=True, by_alias=True) for one in await tools(client)]
                found[f"{profile}_tools"] = len(listed)
                found[f"{profile}_tools_list_tokens"] = count_tokens(json.dumps(listed))
                result = await client.call_tool("search", {"query": QUESTION, "limit": 10})
                blocks = [one.model_dump(mode="json", exclude_none=True, by_alias=True) for one in result.content]
                said = "".join(one.get("text", json.dumps(one)) for one in blocks)
                found[f"{profile}_ten_passages_tokens"] = count_tokens(said)
                if profile == "full":
                    texts = [one["text"] for one in result.structured_content["passages"]]
                    found["passages"] = len(texts)
                    found["text_tokens"] = count_tokens("\n".join(texts))
                events = await client.call_tool("event_search", {"query": QUESTION, "limit": 5})
                found[f"{profile}_five_events_tokens"] = count_tokens(events.content[0].text)
    return found


def count_tokens(text: str) -> int:
    return tokens_of(TOKENIZER, text)


async def tools(client: Client) -> list[Any]:
    return list((await client.list_tools()).tools)


async def fill(home: Path) -> None:
    async with connect_async(home) as memory:
        for file in sorted(FILES.iterdir()):
            await memory.add(file)


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="mnemon-bench-") as made:
        Path(made).chmod(0o755)
        results = asyncio.run(measure(Path(os.environ.get("MNEMON_HOME") or made)))
    for name, value in results.items():
        print(f"{name:<28} {value:>7,}")
    print(json.dumps({"bench": "tokens", "results": results}))


if __name__ == "__main__":
    main()
