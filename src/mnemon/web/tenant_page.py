"""The page of tenants: one's own, and all of them where whoever looks sits at the machine."""

from fastapi import APIRouter, Request, Response

from mnemon.api.access import MnemonPart
from mnemon.documents import operations as documents
from mnemon.identity.operations import users
from mnemon.identity.roles import Action
from mnemon.identity.tenants import all_tenants
from mnemon.log_operations import partitions
from mnemon.operations import Caller, read_input
from mnemon.web.rendering import as_page, render, visit

router = APIRouter(include_in_schema=False)
MOST_COUNTED = 100


@router.get("/tenants")
@as_page
async def tenants_page(request: Request, mnemon: MnemonPart) -> Response:
    visitor = await visit(request, Action.MANAGE_USERS)
    caller = Caller.of(visitor.principal)
    # No credential reaches across tenants. Where there is none to ask for, whoever looks sits at the machine.
    others = [] if visitor.logged_in else await all_tenants(mnemon.database)
    people = await users.list_users(mnemon, caller, read_input(users.list_users, {"limit": MOST_COUNTED}))
    stored = await documents.list_documents(mnemon, caller, read_input(documents.list_documents, {"limit": 1}))
    logs = await partitions.listed(mnemon, caller, partitions.AllPartitions())
    return render(
        "tenants.html", here="tenants", visitor=visitor, tenants=others, people=len(people.items),
        all_counted=people.next_cursor is None, documents=stored.total, partitions=logs.partitions,
        events=sum(int(one.sequence) for one in logs.partitions),
    )  # fmt: skip
