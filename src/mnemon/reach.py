"""Where a name on the network leads: nobody is sent into networks that only this machine reaches unasked."""

import asyncio
import ipaddress
import socket
from collections.abc import Sequence


def addresses_of_host(host: str) -> Sequence[str]:
    """What the name stands for now; nothing where it stands for nothing. It asks the network: call it in a thread."""
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        return ()
    return [str(one[4][0]) for one in found]


async def find_addresses(host: str) -> Sequence[str]:
    return await asyncio.to_thread(addresses_of_host, host)


def inner_of(addresses: Sequence[str]) -> str | None:
    """An address of this machine or of a network around it, if there is one among them."""
    return next((one for one in addresses if not ipaddress.ip_address(one.partition("%")[0]).is_global), None)
