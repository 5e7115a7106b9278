"""How far a source may reach: a server fetches for whoever is logged in only what they could fetch themselves."""

import urllib.request
from http.client import HTTPMessage
from typing import IO
from urllib.parse import urlsplit

from mnemon.errors import NotAllowed
from mnemon.mail.errors import SourceRefused
from mnemon.mail.sources.kinds import SourceType
from mnemon.reach import addresses_of_host, inner_of


def refuse_from_afar(kind: SourceType, location: str) -> None:
    """Raise for what is read only for whoever sits at the machine; it asks a name server, so call it in a thread."""
    at_the_machine = "`mnemon mail import` at the machine alone"
    if kind in ("file", "folder"):
        raise NotAllowed(f"Files of this machine are read by {at_the_machine}: give an address.")
    if kind == "imap":
        # The password is the server's: whoever names another host would be told it.
        raise NotAllowed(f"With the server's password a mailbox is read by {at_the_machine}.")
    if inner := inner_address(location):
        raise NotAllowed(
            f"{host_of(location)} is {inner}, in a network of the server's own: such a place is read by "
            f"{at_the_machine}."
        )


def inner_address(location: str) -> str | None:
    """An address of this machine or of a network around it that the place's name leads to, if there is one.

    A name that leads nowhere reaches nothing; looking at the source tells that.
    """
    return inner_of(addresses_of_host(host_of(location)))


def host_of(location: str) -> str:
    """`host` of `http://host/x`, of `rsync://user@host/x` and of `user@host::module/x`."""
    if "://" in location:
        return urlsplit(location).hostname or ""
    return location.partition(":")[0].rpartition("@")[2]


class SameHost(urllib.request.HTTPRedirectHandler):
    """Follows a server to another page of its own, and nobody elsewhere: that host was never looked at."""

    def redirect_request(
        self,
        req: urllib.request.Request,
        fp: IO[bytes],
        code: int,
        msg: str,
        headers: HTTPMessage,
        newurl: str,
    ) -> urllib.request.Request | None:
        if host_of(newurl) != host_of(req.full_url):
            raise SourceRefused(f"{req.full_url} leads to {newurl}: give that address, if it is meant.")
        return super().redirect_request(req, fp, code, msg, headers, newurl)
