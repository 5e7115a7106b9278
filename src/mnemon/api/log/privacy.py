"""Privacy over REST: who is in the log, erasures and redactions by two administrators."""

from fastapi import APIRouter

from mnemon.api.bind import route
from mnemon.log_operations import erasures, person_file, redactions, retention, scanning

router = APIRouter(tags=["privacy"])
ERASURE = "/privacy/erasures/{erasure_id}"
REDACTION = "/privacy/redactions/{redaction_id}"

route(router, "GET", "/privacy/people", erasures.people)
route(router, "GET", "/privacy/data", erasures.data)
route(router, "GET", "/privacy/file", person_file.person_file)
route(router, "POST", "/privacy/scan", scanning.scan)
route(router, "GET", "/privacy/retention", retention.retention)
route(router, "POST", "/privacy/erasures", erasures.request, status=201)
route(router, "GET", "/privacy/erasures", erasures.listed)
route(router, "GET", ERASURE, erasures.get)
route(router, "POST", f"{ERASURE}/approve", erasures.approve)
route(router, "POST", f"{ERASURE}/decline", erasures.decline)
route(router, "POST", "/privacy/readmissions", erasures.readmit, status=201)
route(router, "POST", "/privacy/redactions", redactions.request, status=201)
route(router, "GET", "/privacy/redactions", redactions.listed)
route(router, "GET", REDACTION, redactions.get)
route(router, "POST", f"{REDACTION}/approve", redactions.approve)
route(router, "POST", f"{REDACTION}/decline", redactions.decline)
