"""The contract as a source of requests: schemathesis makes them, and every answer is held to the contract."""

import json
from collections.abc import Callable, Iterable
from http import HTTPStatus
from typing import Any
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

import schemathesis
from hypothesis import strategies as st
from schemathesis import Case
from schemathesis.core.result import Ok
from schemathesis.core.transport import Response
from schemathesis.generation import GenerationMode
from schemathesis.generation.stateful.state_machine import APIStateMachine
from werkzeug.test import Client, run_wsgi_app
from werkzeug.wrappers import Request

from engine.games import GAMES
from tests.answers import Answer, ContractBreach
from tests.contract import Contract
from tests.documented import Document
from tests.frames import STREAMS


class Guarded:
    """An application whose every answer is held to the contract; of a stream the first part is read.

    What is wrong is noted and goes on: whoever makes the requests would try it again and again, to make it smaller.
    """

    def __init__(self, app: WSGIApplication, contract: Contract, faults: list[str]) -> None:
        self._app = app
        self._contract = contract
        self._faults = faults
        self.sent = 0
        self.tokens: dict[str, list[str]] = {}
        """The tokens of each session that was opened, as they are told."""

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """Pass a request on, and its answer back."""
        self.sent += 1
        sent = Request(environ).get_data(cache=True)
        environ["wsgi.input"].seek(0)
        said, status, headers = run_wsgi_app(self._app, environ)
        parts = iter(said)
        goes_on = (headers.get("Content-Type") or "").partition(";")[0] in STREAMS
        body = next(parts, b"") if goes_on else b"".join(parts)
        if close := getattr(said, "close", None):
            close()
        answer = Answer(
            method=environ["REQUEST_METHOD"],
            path=environ["PATH_INFO"].encode("latin-1").decode(errors="replace"),
            status=int(status.partition(" ")[0]),
            headers=tuple(headers),
            body=b"" if goes_on else body,
            query=environ["QUERY_STRING"],
            sent=sent,
        )
        self._judge(answer)
        if environ["REQUEST_METHOD"] == "POST" and status.startswith("201"):
            told = json.loads(body)
            self.tokens[told["session"]["id"]] = [told["host_token"], *(each["token"] for each in told["tokens"])]
        start_response(status, list(headers))
        return [body]

    def _judge(self, answer: Answer) -> None:
        try:
            self._contract.check(answer)
        except ContractBreach as breach:
            self._faults.append(str(breach))
        if answer.status == HTTPStatus.INTERNAL_SERVER_ERROR:
            self._faults.append(f"500: {answer.method} {answer.path}?{answer.query} {answer.sent!r}")


class Fuzz:
    """The requests of a contract, each as whoever has a token of a session; `make` makes the application anew."""

    def __init__(self, make: Callable[[], WSGIApplication], document: Document) -> None:
        self._make = make
        self.contract = Contract(document)
        self.faults: list[str] = []
        self.restart()
        schema = schemathesis.openapi.from_dict(dict(document.tree))
        self._machine = schema.as_state_machine()
        found = [each.ok() for each in schema.get_all_operations() if isinstance(each, Ok)]
        self._operations = {each.definition.raw["operationId"]: each for each in found}

    def machine(self) -> type[APIStateMachine]:
        """Return a machine that follows the contract's links."""
        fuzz = self

        class Machine(self._machine):  # type: ignore[name-defined,misc]  # made from the contract
            def setup(self) -> None:
                fuzz.restart()

            def call(self, case: Case[Any], **_kwargs: object) -> Response:
                return fuzz.send(case)

            def validate_response(self, *_args: object, **_kwargs: object) -> None:
                """Leave it to the guard."""

        return Machine

    def cases(self, name: str) -> st.SearchStrategy[Case[Any]]:
        """Return requests of an operation that fit the contract, and some that do not."""
        return st.one_of([self._operations[name].as_strategy(generation_mode=mode) for mode in GenerationMode])

    def restart(self) -> None:
        """Begin anew, with a session of each game: what is answered follows from what is asked alone."""
        self.guarded = Guarded(self._make(), self.contract, self.faults)
        for game in GAMES:
            Client(self.guarded).post("/v1/sessions", json={"game": game})

    def send(self, case: Case[Any]) -> Response:
        """Send a request: two of three to a session that there is, and as everyone of it in turn."""
        turn, tokens, asked = self.guarded.sent, self.guarded.tokens, case.path_parameters
        if "id" in asked and asked["id"] not in tokens and turn % 3:
            asked["id"] = list(tokens)[turn % len(tokens)]
        known = [*tokens.get(str(asked.get("id")), ()), None]
        return self._as(known[turn % len(known)], case)

    def send_everywhere(self, case: Case[Any]) -> None:
        """Send a request as it is, and if it is to a session to each that there is, as everyone of it."""
        self._as(None, case)
        if "id" in case.path_parameters:
            for session, tokens in list(self.guarded.tokens.items()):
                case.path_parameters["id"] = session
                for token in (*tokens, None):
                    self._as(token, case)

    def _as(self, token: str | None, case: Case[Any]) -> Response:
        return case.call(app=self.guarded, headers={"Authorization": f"Bearer {token}"} if token else {})
