"""Answers: Flask's responses, sent as they are where there is nothing left to work out."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

import flask
from werkzeug.datastructures import Headers

if TYPE_CHECKING:
    from wsgiref.types import WSGIEnvironment

_BODILESS = (204, 304)


class Response(flask.Response):
    """A response whose headers are complete once it is made: no address in them is relative."""

    def get_wsgi_headers(self, environ: "WSGIEnvironment") -> Headers:
        """Return the headers, without a copy of them where none is taken away or missing."""
        whole = self.status_code not in _BODILESS and "Content-Length" in self.headers
        return self.headers if whole else super().get_wsgi_headers(environ)

    def get_app_iter(self, environ: "WSGIEnvironment") -> Iterable[bytes]:
        """Return what is sent: a body that is here as a whole as the list that it is, which servers send at once."""
        whole = isinstance(self.response, list) and not self._on_close and self.status_code not in _BODILESS
        if whole and environ["REQUEST_METHOD"] != "HEAD":
            return self.response  # type: ignore[return-value]  # bytes alone are put into one here
        return super().get_app_iter(environ)
