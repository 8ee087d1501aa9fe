"""Requests that two readers could take apart in two ways, and what a service answers to each on one connection."""

import re
import socket
from collections.abc import Iterator, Mapping
from typing import NamedTuple

INNER = b"GET /v1/games HTTP/1.1\r\nHost: x\r\nX-Request-Id: inner\r\n\r\n"
"""A request inside of another's body."""
LAST = b"GET /healthz HTTP/1.1\r\nHost: x\r\nX-Request-Id: last\r\nConnection: close\r\n\r\n"
"""The request behind it on the same connection."""
CHUNKED = b"Transfer-Encoding: chunked"
READ, REFUSED = ("outer", "last"), "refused"
"""Both requests are answered, each once; or one answer, and the connection is closed."""

_NAME = re.compile(rb"\r\nX-Request-Id: ([^\r]*)", re.IGNORECASE)
_LENGTH = re.compile(rb"\r\nContent-Length: ([0-9]+)", re.IGNORECASE)


class Reply(NamedTuple):
    """One answer; one that no application gave has no name."""

    status: int
    name: str


def post(*fields: bytes, body: bytes = b"", path: bytes = b"/v1/sessions", line: bytes = b"") -> bytes:
    """Return a request with these header fields as they are."""
    head = (line or b"POST %b HTTP/1.1" % path, b"Host: x", b"X-Request-Id: outer", *fields)
    return b"\r\n".join(head) + b"\r\n\r\n" + body


def long(body: bytes) -> bytes:
    """Return the field that says how long a body is."""
    return b"Content-Length: %d" % len(body)


def chunk(body: bytes) -> bytes:
    """Return a body as one chunk and the last one."""
    return b"%x\r\n%b\r\n0\r\n\r\n" % (len(body), body)


_ENDS_EARLY = b"0\r\n\r\n" + INNER
_OTHER_CODINGS = (
    b"xchunked",
    b"chunked, identity",
    b"identity, chunked",
    b"chunked, chunked",
    b"gzip, chunked",
    b"chunked, gzip",
    b"chunked;q=1",
    b"\x0bchunked",
    b"chunked\x00",
    b'"chunked"',
    b"chunked,",
    b",chunked",
    b"cow",
    b"identity",
    b"",
    b"chun\xc2\xadked",
)
_HIDDEN_CODINGS = {
    "a space before the colon": b"Transfer-Encoding : chunked",
    "a tab before the colon": b"Transfer-Encoding\t: chunked",
    "a space before the name": b" Transfer-Encoding: chunked",
    "a folded value": b"Transfer-Encoding:\r\n chunked",
    "a value folded twice": b"Transfer-Encoding:\r\n\r\n chunked",
    "behind a bare LF": b"X-Odd: x\nTransfer-Encoding: chunked",
    "behind a bare CR": b"X-Odd: x\rTransfer-Encoding: chunked",
    "behind a NUL": b"X-Odd: x\x00Transfer-Encoding: chunked",
    "a NUL in the name": b"Transfer-\x00Encoding: chunked",
    "two codings": CHUNKED + b"\r\nTransfer-Encoding: cow",
    "two codings, turned round": b"Transfer-Encoding: cow\r\n" + CHUNKED,
    "the same coding twice": CHUNKED + b"\r\n" + CHUNKED,
}
_LENGTHS = (
    b"-1",
    b"+5",
    b"0x5",
    b"5 5",
    b"5,5",
    b"5, 5",
    b"1e1",
    b"5.0",
    b"1_0",
    b"",
    b"5;",
    b"5\x00",
    b"\xd9\xa5",
    b"\xb2",
    b"five",
    b"18446744073709551617",  # 1, in 64 bits
    b"9" * 5000,
)
_SIZES = (
    b"-1",
    b"+5",
    b"0x5",
    b" 5",
    b"5 ",
    b"5\t",
    b"1_0",
    b"",
    b"g",
    b"5,5",
    b"5\x00",
    b"\xd9\xa5",
    b"5\r",
    b"5;a\rb",
    b"5;a\x00b",
    b'5;a="b',
    b"5;" + b"a" * 20_000,
    b"10000000000000005",  # 5, in 64 bits
    b"fffffffffffffffb",  # -5, in 64 bits
    b"f" * 5000,
)

DOUBTFUL: Mapping[str, bytes] = {
    "a length, and chunks that end before it": post(long(_ENDS_EARLY), CHUNKED, body=_ENDS_EARLY),
    "chunks, and a length that ends before them": post(CHUNKED, b"Content-Length: 4", body=chunk(INNER)),
    "chunks in HTTP/1.0": post(CHUNKED, line=b"POST /v1/sessions HTTP/1.0", body=_ENDS_EARLY),
    **{f"the coding {each!r}": post(b"Transfer-Encoding: " + each, body=_ENDS_EARLY) for each in _OTHER_CODINGS},
    **{
        f"a length and a hidden coding: {name}": post(long(_ENDS_EARLY), each, body=_ENDS_EARLY)
        for name, each in _HIDDEN_CODINGS.items()
    },
    "two lengths": post(b"Content-Length: 0", long(INNER), body=INNER),
    "the same length twice": post(long(INNER), long(INNER), body=INNER),
    **{f"the length {each[:9]!r}": post(b"Content-Length: " + each, body=INNER) for each in _LENGTHS},
    "a space before a length's colon": post(b"Content-Length : 0", body=INNER),
    "a folded length": post(b"Content-Length: 1\r\n 0", body=INNER),
    "a field without a colon": post(b"Content-Length"),
    "a field without a name": post(b": 5"),
    "two hosts": post(b"Host: y"),
    "no host": b"GET /healthz HTTP/1.1\r\n\r\n",
    "a head with bare LF": b"GET /healthz HTTP/1.1\nHost: x\n\n",
    "one bare LF in the head": b"GET /healthz HTTP/1.1\r\nHost: x\nX-Odd: x\r\n\r\n",
    "no version": b"GET /healthz\r\n\r\n",
    "a version that is not spoken": post(line=b"GET /healthz HTTP/2.0"),
    "a version of letters": post(line=b"GET /healthz HTTP/one"),
    "the start of HTTP/2": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "a space behind the version": post(line=b"GET /healthz HTTP/1.1 "),
    "a tab in the line": post(line=b"GET\t/healthz HTTP/1.1"),
    "a space in the path": post(line=b"GET /health z HTTP/1.1"),
    "a NUL in the path": post(line=b"GET /healthz\x00 HTTP/1.1"),
    "a bare CR in the path": post(line=b"GET /healthz\rX HTTP/1.1"),
    "a method that is none": post(line=b"GE(T /healthz HTTP/1.1"),
    "a body that is refused before its end": post(b"Content-Length: 2000000", body=b" " * 1_000_000 + INNER),
    "an expectation that is none": post(b"Expect: 200-ok", long(INNER), body=INNER),
}
"""Refused before any of it is acted upon."""

BROKEN: Mapping[str, bytes] = {
    **{f"a chunk of size {each[:9]!r}": each + b"\r\nabcde\r\n" + _ENDS_EARLY for each in _SIZES},
    "a chunk's size behind a bare LF": b"5\nabcde\n0\n\n" + INNER,
    "a chunk longer than it says": b"5\r\nabcdefgh\r\n" + _ENDS_EARLY,
    "a chunk shorter than it says": b"ff\r\nabcde\r\n" + _ENDS_EARLY,
    "a chunk that ends in a bare LF": b"5\r\nabcde\n" + _ENDS_EARLY,
    "a last chunk that ends in a bare LF": b"0\n\n" + INNER,
    "an end in bare LF": b"0\r\nX-Odd: x\n\n" + INNER,
    "an end that does not come": b"5\r\nabcde\r\n",
    "a trailer that is folded": b"0\r\nX-Odd: x\r\n y\r\n\r\n" + INNER,
    "a trailer without a colon": b"0\r\nX-Odd\r\n\r\n" + INNER,
    "a space before a trailer's colon": b"0\r\nX-Odd : x\r\n\r\n" + INNER,
    "a length as a trailer": b"0\r\nContent-Length: 5\r\n\r\n" + INNER,
    "a coding as a trailer": b"0\r\nTransfer-Encoding: chunked\r\n\r\n" + INNER,
    "a token as a trailer": b"0\r\nAuthorization: Bearer x\r\n\r\n" + INNER,
    "a host as a trailer": b"0\r\nHost: y\r\n\r\n" + INNER,
    "a trailer of a megabyte": b"0\r\nX-Odd: " + b"x" * 1_000_000 + b"\r\n\r\n" + INNER,
}
"""Bodies in chunks whose end cannot be told: one answer, whether or not the body is of account, and no more."""

CLEAR: Mapping[str, bytes] = {
    "a length": post(long(INNER), body=INNER),
    "a length with zeros in front": post(b"Content-Length: 000%d" % len(INNER), body=INNER),
    "a chunk": post(CHUNKED, body=chunk(INNER)),
    "a coding in capitals": post(b"TRANSFER-ENCODING: CHUNKED", body=chunk(INNER)),
    "a coding behind a tab": post(b"Transfer-Encoding:\tchunked\t", body=chunk(INNER)),
    "a length under a name with an underscore": post(b"Content_Length: 5", long(INNER), body=INNER),
    "a coding under a name with an underscore": post(
        b"Transfer_Encoding: chunked", long(_ENDS_EARLY), body=_ENDS_EARLY
    ),
    "a size in capitals, with zeros in front": post(CHUNKED, body=b"00%X\r\n%b\r\n0\r\n\r\n" % (len(INNER), INNER)),
    "a chunk's extension": post(CHUNKED, body=b'%x ; a=b;c="d;\\"e"\r\n%b\r\n0;f\r\n\r\n' % (len(INNER), INNER)),
    "a trailer": post(CHUNKED, body=b"%x\r\n%b\r\n0\r\nX-Odd: x\r\n\r\n" % (len(INNER), INNER)),
    "a body of a read": post(long(INNER), line=b"GET /healthz HTTP/1.1", body=INNER),
    "a body of a HEAD": post(long(INNER), line=b"HEAD /healthz HTTP/1.1", body=INNER),
    "a body of an OPTIONS": post(long(INNER), line=b"OPTIONS /v1/games HTTP/1.1", body=INNER),
    "a body of a DELETE": post(long(INNER), line=b"DELETE /v1/sessions/x HTTP/1.1", body=INNER),
    "a body where there is nothing": post(long(INNER), path=b"/nothing", body=INNER),
    "chunks where there is nothing": post(CHUNKED, path=b"/nothing", body=chunk(INNER)),
    "a body of another type": post(b"Content-Type: text/plain", long(INNER), body=INNER),
    "a body of 17 KB": post(b"Content-Length: %d" % (17_000 + len(INNER)), body=b" " * 17_000 + INNER),
    "a body that was asked for": post(b"Expect: 100-continue", long(INNER), body=INNER),
    "a whole address of another host": post(line=b"GET http://y/healthz HTTP/1.1"),
    "empty lines in front": b"\r\n" + post(line=b"GET /healthz HTTP/1.1"),
    "an upgrade to HTTP/2": post(
        b"Connection: Upgrade, HTTP2-Settings",
        b"Upgrade: h2c",
        b"HTTP2-Settings: AAMAAABkAAQAoAAAAAIAAAAA",
        long(INNER),
        line=b"GET /healthz HTTP/1.1",
        body=INNER,
    ),
    "an upgrade to a socket": post(b"Connection: Upgrade", b"Upgrade: websocket", line=b"GET /healthz HTTP/1.1"),
    "an upgrade to TLS": post(b"Connection: Upgrade", b"Upgrade: TLS/1.2", line=b"GET /healthz HTTP/1.1"),
}
"""Read in the one way there is: what is inside of the body is no request, what is behind it is one."""


def told(port: int, raw: bytes, step: int = 0) -> list[Reply]:
    """Send bytes at once, or so many at a time, and return the answers up to the connection's end."""
    came = b""
    with socket.create_connection(("127.0.0.1", port), timeout=30) as line:
        line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            for start in range(0, len(raw), step or len(raw)):
                line.sendall(raw[start : start + (step or len(raw))])
            line.shutdown(socket.SHUT_WR)
        except OSError:  # closed before it had all been said
            pass
        while part := _received(line):
            came += part
    return list(_replies(came, raw.lstrip().startswith(b"HEAD")))


def _received(line: socket.socket) -> bytes:
    try:
        return line.recv(65_536)
    except ConnectionResetError:
        return b""


def _replies(came: bytes, bare: bool) -> Iterator[Reply]:
    """Yield the answers in what came; where the first is to a HEAD it has no body."""
    while came:
        head, _, came = came.partition(b"\r\n\r\n")
        status = int(head.split(b" ", 2)[1])
        if status == 100:
            continue
        named, length = _NAME.search(head), _LENGTH.search(head)
        came = came[0 if bare or length is None else int(length[1]) :]
        yield Reply(status, named[1].decode() if named else "")
        bare = False


def taken(replies: list[Reply]) -> tuple[str, ...] | str:
    """Return in which way a connection was read: the requests that were answered, or that the first was refused."""
    if len(replies) == 1 and 400 <= replies[0].status < 600 and replies[0].name in ("", "outer"):
        return REFUSED
    return tuple(reply.name for reply in replies)
