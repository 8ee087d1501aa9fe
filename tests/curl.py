"""What stands in for curl where a machine has none: as much of it as the README uses."""

import sys
from argparse import ArgumentParser
from email.policy import HTTP
from urllib.error import HTTPError
from urllib.request import Request, urlopen


def main() -> int:
    """Send one request and write the answer's body as it comes."""
    arguments = ArgumentParser()
    arguments.add_argument("-s", action="store_true")
    arguments.add_argument("-N", action="store_true")
    arguments.add_argument("-i", action="store_true")
    arguments.add_argument("-H", action="append", default=[])
    arguments.add_argument("-d")
    arguments.add_argument("-w", default="")
    arguments.add_argument("url")
    asked = arguments.parse_args()
    headers = dict(each.split(": ", 1) for each in asked.H)
    request = Request(asked.url, None if asked.d is None else asked.d.encode(), headers)  # noqa: S310 - a test's own URL
    try:
        with urlopen(request, timeout=60) as answer:  # noqa: S310
            if asked.i:
                sys.stdout.write(f"HTTP/1.1 {answer.status}\r\n{answer.headers.as_string(policy=HTTP)}")
                sys.stdout.flush()
            while chunk := answer.read1():
                sys.stdout.buffer.write(chunk)
                sys.stdout.buffer.flush()
    except HTTPError as refusal:
        sys.stdout.buffer.write(refusal.read())
    sys.stdout.buffer.flush()
    sys.stdout.write(asked.w.replace("\\n", "\n"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
