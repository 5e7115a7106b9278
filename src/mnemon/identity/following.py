"""Following the log: whose subscription it is, and who may move it."""

from mnemon.errors import NotAllowed
from mnemon.identity.roles import Principal, Role, user_actor_id
from mnemon.log.subscribe.subscriptions import Subscription


def refuse_strangers(principal: Principal, subscription: Subscription) -> None:
    """To acknowledge is to say that nobody needs the events again: only the subscriber and administrators may."""
    owners = {principal.actor.id, user_actor_id(principal.user_id)}
    if principal.role is not Role.ADMIN and subscription.subscriber_id not in owners:
        raise NotAllowed(
            f"The subscription {subscription.subscription_id} belongs to {subscription.subscriber_id}: "
            "have an administrator make one with your subscriber_id.",
            id=subscription.subscription_id,
            subscriber_id=subscription.subscriber_id,
        )
