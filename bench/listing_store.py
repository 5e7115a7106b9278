"""A store with as many objects as one likes, none of which is anywhere: it answers ListObjectsV2, in pages of 1,000.

`python bench/listing_store.py PORT OBJECTS`; GET /asked answers how many pages were asked for.
"""

import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

PAGE = 1_000
ASKED = [0]
ENTRY = (
    "<Contents><Key>{key}</Key><LastModified>2026-03-01T09:30:00.000Z</LastModified><ETag>&quot;{number:032x}&quot;"
    "</ETag><Size>100</Size><StorageClass>STANDARD</StorageClass></Contents>"
)


def key_of(number: int) -> str:
    return f"rules/{number:07}.md"


def mark_of(number: int) -> str:
    return f"{number:032x} 100"


def page_after(key: str, objects: int) -> str:
    first = int(key.rpartition("/")[2].removesuffix(".md")) + 1 if key else 0
    numbers = range(first, min(first + PAGE, objects))
    more = numbers.stop < objects
    listed = "".join(ENTRY.format(key=key_of(number), number=number) for number in numbers)
    token = f"<NextContinuationToken>{key_of(numbers.stop - 1)}</NextContinuationToken>" if more else ""
    return (
        '<?xml version="1.0" encoding="UTF-8"?><ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">'
        f"<Name>bench</Name><KeyCount>{len(numbers)}</KeyCount><MaxKeys>{PAGE}</MaxKeys>"
        f"<IsTruncated>{str(more).lower()}</IsTruncated>{token}{listed}</ListBucketResult>"
    )


class Store(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        asked = {name: values[0] for name, values in parse_qs(urlsplit(self.path).query).items()}
        if self.path == "/asked":
            body = str(ASKED[0]).encode()
        else:
            ASKED[0] += 1
            after = asked.get("continuation-token") or asked.get("start-after") or ""
            body = page_after(after, int(sys.argv[2])).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/xml")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *told: object) -> None:
        """Nobody reads it."""


if __name__ == "__main__":
    ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Store).serve_forever()
