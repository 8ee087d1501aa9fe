"""What an answer tells a browser not to do with it."""

import hashlib
from base64 import b64encode

POLICY = "Content-Security-Policy"
GUARDS = {
    "X-Content-Type-Options": "nosniff",
    POLICY: "default-src 'none'; frame-ancestors 'none'",
}
"""On every answer: it is what its type says, and is neither run, nor framed, nor a reason to load anything."""


def styled(style: str) -> str:
    """Return the policy of a page with this style sheet in it: nothing else is loaded, run or sent.

    It may be framed, since there is nothing on it to be tricked into.
    """
    known = b64encode(hashlib.sha256(style.encode()).digest()).decode()
    return f"default-src 'none'; style-src 'sha256-{known}'; base-uri 'none'; form-action 'none'"
