"""Access tokens: one's own, and for administrators everyone's."""

from datetime import datetime, timedelta
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field

from mnemon.api.access import MnemonPart, allow
from mnemon.identity.roles import Action, Principal, Scope, authorise, may
from mnemon.identity.tokens import AccessToken, add_token, list_tokens, revoke_token

router = APIRouter(tags=["tokens"])


class TokenOut(BaseModel):
    model_config = ConfigDict(from_attributes=True)
    token_id: UUID
    user_id: UUID
    name: str
    scope: Scope
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None
    last_used_at: datetime | None


class NewToken(BaseModel):
    model_config = ConfigDict(json_schema_extra={"examples": [{"name": "notes agent", "scope": "read", "days": 90}]})
    name: str = Field(min_length=1, max_length=100, description="What the token is for.")
    scope: Scope = Scope.READ
    days: int | None = Field(None, ge=1, le=3650, description="How long it lasts; without this, until revoked.")


class NewTokenOut(TokenOut):
    secret: str = Field(description="Shown only now.")


@router.get(
    "/tokens", summary="List one's own tokens, or as an administrator everyone's", response_model=list[TokenOut]
)
async def get_tokens(
    mnemon: MnemonPart, principal: Annotated[Principal, allow(Action.VIEW_OWN_ACCOUNT)], everyone: bool = False
) -> list[AccessToken]:
    if everyone:
        authorise(principal, Action.MANAGE_USERS)
    of_user = None if everyone else principal.user_id
    async with mnemon.database.transaction(principal.tenant_id) as tx:
        return await list_tokens(tx, of_user)


@router.post("/tokens", summary="Make a token; its secret is in this answer and nowhere else", status_code=201)
async def post_token(
    new: NewToken, mnemon: MnemonPart, principal: Annotated[Principal, allow(Action.MANAGE_OWN_ACCOUNT)]
) -> NewTokenOut:
    lasts = timedelta(days=new.days) if new.days else None
    async with mnemon.log.transaction(principal.tenant_id) as transaction:
        made = await add_token(transaction, principal.actor, principal.user_id, new.name, new.scope, lasts)
    return NewTokenOut(secret=made.secret, **TokenOut.model_validate(made.token).model_dump())


@router.delete("/tokens/{token_id}", summary="Revoke a token", response_model=TokenOut)
async def delete_token(
    token_id: UUID, mnemon: MnemonPart, principal: Annotated[Principal, allow(Action.MANAGE_OWN_ACCOUNT)]
) -> AccessToken:
    of_user = None if may(principal.role, principal.scope, Action.MANAGE_USERS) else principal.user_id
    async with mnemon.log.transaction(principal.tenant_id) as transaction:
        return await revoke_token(transaction, principal.actor, token_id, of_user)
