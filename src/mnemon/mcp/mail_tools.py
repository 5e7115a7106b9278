"""Tools on mailing lists: what is discussed, and one discussion whole."""

from mnemon.mail import operations
from mnemon.mcp.bind import tool
from mnemon.mcp.door import AgentDoor


def add(door: AgentDoor) -> None:
    tool(door, "mail_threads", operations.threads, title="Threads of mailing lists")
    tool(door, "mail_thread", operations.thread, title="One thread")
