"""A small IMAP4rev1 server for tests: one folder, read only, with the commands that reading mail takes."""

import base64
import contextlib
import re
import socket
import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field


@dataclass
class ImapFolder:
    """Mails by UID. `fetched` tells which of them were asked for."""

    user: str = "list@example.org"
    password: str = "a password"
    name: str = "Lists/quic"
    validity: int = 1
    mails: dict[int, bytes] = field(default_factory=dict)
    fetched: list[int] = field(default_factory=list)
    # What goes wrong: whoever asks for the mail is refused or left alone; a search may be refused too.
    at_fetch_of: int | None = None
    then: str = "refuse"
    at_search: str = ""


class _Talk(socketserver.StreamRequestHandler):
    folder: ImapFolder

    def handle(self) -> None:
        with contextlib.suppress(ConnectionError):
            self._talk()

    def _talk(self) -> None:
        self._say("* OK ready")
        while line := self.rfile.readline():
            tag, _, rest = line.decode().strip().partition(" ")
            command, _, given = rest.partition(" ")
            if command.upper() == "UID":
                kind, _, given = given.partition(" ")
                command = f"UID {kind}"
            getattr(self, f"_{command.lower().replace(' ', '_')}", self._unknown)(tag, given)
            if command.upper() == "LOGOUT":
                return

    def _say(self, words: str) -> None:
        self.wfile.write(f"{words}\r\n".encode())

    def _unknown(self, tag: str, given: str) -> None:
        self._say(f"{tag} BAD unknown command")

    def _capability(self, tag: str, given: str) -> None:
        self._say("* CAPABILITY IMAP4rev1")
        self._say(f"{tag} OK done")

    def _login(self, tag: str, given: str) -> None:
        user, password = self.folder.user, self.folder.password
        right = given.replace('"', "") == f"{user} {password}"
        self._say(f"{tag} OK welcome" if right else f"{tag} NO [AUTHENTICATIONFAILED] wrong password")

    def _authenticate(self, tag: str, given: str) -> None:
        self._say("+ ")
        _, user, password = base64.b64decode(self.rfile.readline()).decode().split("\0")
        right = (user, password) == (self.folder.user, self.folder.password)
        self._say(f"{tag} OK welcome" if right else f"{tag} NO [AUTHENTICATIONFAILED] wrong password")

    def _examine(self, tag: str, given: str) -> None:
        if given.strip('"') != self.folder.name:
            self._say(f"{tag} NO no such folder")
            return
        self._say(f"* {len(self.folder.mails)} EXISTS")
        self._say(f"* OK [UIDVALIDITY {self.folder.validity}] as of now")
        self._say(f"{tag} OK [READ-ONLY] done")

    def _uid_search(self, tag: str, given: str) -> None:
        if self.folder.at_search == "refuse":
            self._say(f"{tag} NO [UNAVAILABLE] try later")
            return
        first = int(re.search(r"UID (\d+):\*", given)[1])  # type: ignore[index]
        found = [uid for uid in sorted(self.folder.mails) if uid >= first]
        # As real servers do: `n:*` names the last message even where that is below n.
        found = found or sorted(self.folder.mails)[-1:]
        self._say("* SEARCH " + " ".join(map(str, found)))
        self._say(f"{tag} OK done")

    def _uid_fetch(self, tag: str, given: str) -> None:
        if str(self.folder.at_fetch_of) in given.split(" ", 1)[0].split(","):
            if self.folder.then == "refuse":
                self._say(f"{tag} NO [UNAVAILABLE] try later")
            else:
                self.connection.shutdown(socket.SHUT_RDWR)
                raise ConnectionAbortedError
            return
        for number, uid in enumerate(map(int, given.split(" ", 1)[0].split(",")), 1):
            content = self.folder.mails[uid]
            self.folder.fetched.append(uid)
            self._say(f"* {number} FETCH (UID {uid} BODY[] {{{len(content)}}}")
            self.wfile.write(content + b")\r\n")
        self._say(f"{tag} OK done")

    def _logout(self, tag: str, given: str) -> None:
        self._say("* BYE")
        self._say(f"{tag} OK done")


@contextmanager
def imap_server(folder: ImapFolder) -> Iterator[int]:
    """The port of a server that shows the folder."""
    handler = type("Talk", (_Talk,), {"folder": folder})
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), handler) as server:
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield server.server_address[1]
        finally:
            server.shutdown()
            thread.join()
