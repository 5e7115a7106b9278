"""Mnemon: evidence-first memory for teams and their AI agents.

from mnemon import connect

with connect() as memory:
    memory.add("minutes.md")
    print(memory.ask("What was decided about pricing?").text)
"""

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"
__all__ = ["__version__", "connect", "connect_async"]

if TYPE_CHECKING:
    from mnemon.client.connect import connect, connect_async


def __getattr__(name: str) -> Any:
    """The client loads every capability, which commands like `mnemon --version` do without."""
    if name in ("connect", "connect_async"):
        from mnemon.client import connect as module

        return getattr(module, name)
    raise AttributeError(f"module 'mnemon' has no attribute {name!r}")
