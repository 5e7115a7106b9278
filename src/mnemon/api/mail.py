"""Mail over REST: archives, messages and threads; sources and their imports."""

from fastapi import APIRouter

from mnemon.api.bind import route
from mnemon.mail import operations
from mnemon.mail.consensus import operations as consensus_operations
from mnemon.reports import operations as report_operations
from mnemon.reports import stored_operations as stored
from mnemon.reports.retrieval import operations as retrieval

# `/v1/archives` are the log's own.
router = APIRouter(tags=["mail"])

route(router, "GET", "/mail/archives", operations.archives)
route(router, "POST", "/mail/archives", operations.import_mail, status=202)
route(router, "GET", "/mail/imports", operations.imports)
route(router, "GET", "/mail/sources", operations.sources)
route(router, "DELETE", "/mail/sources/{name}", operations.remove_source)
route(router, "POST", "/mail/check", operations.check)
route(router, "GET", "/mail/archives/{archive_id}", operations.archive)
route(router, "GET", "/messages", operations.messages)
route(router, "GET", "/messages/{message}", operations.message)
route(router, "GET", "/threads", operations.threads)
route(router, "GET", "/mail/search", retrieval.search)
route(router, "GET", "/threads/{thread}", operations.thread)
route(router, "GET", "/threads/{thread}/passages", retrieval.passages)
route(router, "GET", "/threads/{thread}/consensus", consensus_operations.consensus)
route(router, "GET", "/reports/preview", report_operations.report)
route(router, "GET", "/reports", stored.reports)
route(router, "POST", "/reports", stored.publish, status=202)
route(router, "GET", "/reports/{report_id}", stored.show)
route(router, "GET", "/summaries", stored.summaries)
route(router, "GET", "/summaries/{summary_id}", stored.summary)
route(router, "GET", "/summaries/{summary_id}/citations", retrieval.citations)
