"""Requests to S3 as AWS wants them signed (Signature Version 4), without a client of its own."""

import hashlib
import hmac
from datetime import UTC, datetime
from urllib.parse import quote, urlsplit

SERVICE = "s3"


def signed_headers(
    method: str,
    address: str,
    body: bytes,
    region: str,
    access_key: str,
    secret_key: str,
    moment: datetime | None = None,
) -> dict[str, str]:
    """The headers that say who asks. The address has no query."""
    parts = urlsplit(address)
    stamp = (moment or datetime.now(UTC)).strftime("%Y%m%dT%H%M%SZ")
    headers = {"host": parts.netloc, "x-amz-content-sha256": hashlib.sha256(body).hexdigest(), "x-amz-date": stamp}
    names = ";".join(headers)
    request = "\n".join(
        [method, quote(parts.path), "", *(f"{name}:{value}" for name, value in headers.items()), "", names,
         headers["x-amz-content-sha256"]]
    )  # fmt: skip
    scope = f"{stamp[:8]}/{region}/{SERVICE}/aws4_request"
    to_sign = "\n".join(["AWS4-HMAC-SHA256", stamp, scope, hashlib.sha256(request.encode()).hexdigest()])
    key = f"AWS4{secret_key}".encode()
    for part in (stamp[:8], region, SERVICE, "aws4_request"):
        key = hmac.digest(key, part.encode(), "sha256")
    signature = hmac.digest(key, to_sign.encode(), "sha256").hex()
    said = f"AWS4-HMAC-SHA256 Credential={access_key}/{scope}, SignedHeaders={names}, Signature={signature}"
    return {**headers, "authorization": said}
