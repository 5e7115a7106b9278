"""Tools on mailing lists: what is discussed, and one discussion whole."""

from mnemon.mail import operations
from mnemon.mail.consensus import operations as consensus_operations
from mnemon.mcp.bind import tool
from mnemon.mcp.door import AgentDoor
from mnemon.reports import operations as report_operations
from mnemon.reports.retrieval import operations as retrieval


def add(door: AgentDoor) -> None:
    tool(door, "mail_search", retrieval.search, title="Search in mailing lists")
    tool(door, "mail_threads", operations.threads, title="Threads of mailing lists")
    tool(door, "mail_thread", operations.thread, title="One thread")
    tool(door, "mail_consensus", consensus_operations.consensus, title="What a thread agreed or disputed")
    tool(door, "mail_report", report_operations.report, title="A report on mailing lists")
