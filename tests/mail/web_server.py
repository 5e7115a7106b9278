"""A small web server for tests: one archive, told well or not."""

import http.server
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field


@dataclass
class WebArchive:
    """What the server has. `ends` tells how its answers do; `asked`, which paths were asked for."""

    content: bytes
    ends: str = "well"
    asked: list[str] = field(default_factory=list)


class _Answer(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    archive: WebArchive

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        content, ends = self.archive.content, self.archive.ends
        self.archive.asked.append(self.path)
        if ends == "before it begins":
            self._leave(b"no answer")
            return
        self.send_response(200)
        self.send_header("ETag", f'"{len(content)}"')
        in_chunks = ends.endswith("chunks")
        self.send_header(*("Transfer-Encoding", "chunked") if in_chunks else ("Content-Length", str(len(content))))
        self.end_headers()
        if ends == "well":
            self.wfile.write(content)
        else:
            self._leave((b"%x\r\n" % len(content) if in_chunks else b"") + content[: len(content) // 2])

    def _leave(self, words: bytes) -> None:
        self.wfile.write(words)
        self.close_connection = True
        self.connection.shutdown(socket.SHUT_RDWR)


@contextmanager
def web_server(archive: WebArchive) -> Iterator[str]:
    """The address of a server that has the archive, at any path."""
    handler = type("Answer", (_Answer,), {"archive": archive})
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()
