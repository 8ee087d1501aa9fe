"""What a server refuses before the application hears of it, as problems: the same ones under every server."""

from http.client import responses

from service.browsers import GUARDS
from service.problems import HTTP_KINDS, MEDIA_TYPE, Kind
from service.views import encode

MOST_LINE = 2048
MOST_FIELDS = 64
MOST_FIELD_BYTES = 4096

BAD_REQUEST = HTTP_KINDS[400]
URI_TOO_LONG = Kind(414, "uri-too-long", "The request line is too long")
HEADERS_TOO_LARGE = Kind(431, "headers-too-large", "The header fields are too many or too large")
EXPECTATION_FAILED = Kind(417, "expectation-failed", "The expectation cannot be met")
NOT_IMPLEMENTED = Kind(501, "not-implemented", "The transfer coding is not known here")


def refusal(kind: Kind) -> tuple[str, list[tuple[str, str]], bytes]:
    """Return a problem's status line, header fields and body; nothing of the request is in it."""
    problem = {
        "type": f"urn:croupier:problem:{kind.code}",
        "title": kind.title,
        "status": kind.status,
        "detail": kind.title,
        "code": kind.code,
    }
    body = encode(problem)
    fields = [
        ("Content-Type", MEDIA_TYPE),
        ("Content-Length", str(len(body))),
        ("Access-Control-Allow-Origin", "*"),
        ("Cache-Control", "no-store"),
        *GUARDS.items(),
    ]
    return f"{kind.status} {responses[kind.status]}", fields, body
