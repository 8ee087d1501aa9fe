"""A driver of sessions with several seats over HTTP: every seat, the host and a spectator ask through it."""

from typing import Any, Literal, Self

from werkzeug.test import TestResponse

from tests.tables import Table

HOST: Literal["host"] = "host"
Who = int | Literal["host"] | None
"""A seat, the host's own token, or a spectator."""


class Party(Table):
    """A session and all its tokens; every answer comes back as it is."""

    tokens: dict[int, str]

    def seat(self, game: str, seats: list[Any] | None = None, **asked: Any) -> Self:  # noqa: ANN401 - any of a create
        """Open a session; where no seats are asked for the service's own choice holds."""
        body = {"game": game, **asked} | ({} if seats is None else {"seats": seats})
        made = self.client.post("/v1/sessions", json=body)
        assert made.status_code == 201, made.text
        opened = made.get_json()
        self.game, self.id, self.host = game, opened["session"]["id"], opened["host_token"]
        self.tokens = {each["seat"]: each["token"] for each in opened["tokens"]}
        return self

    def headers(self, who: Who) -> dict[str, str]:
        """Return the header that says who asks."""
        if who is None:
            return {}
        return self.bearer(self.host if who == HOST else self.tokens[who])

    def send(self, who: Who, verb: str, body: dict[str, Any] | None = None, **headers: str) -> TestResponse:
        """Send an action as somebody; header names are given with underscores."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return self.client.post(f"{self.path}/{verb}", json=body or {}, headers=self.headers(who) | named)

    def does(self, who: Who, verb: str, body: dict[str, Any] | None = None, **headers: str) -> dict[str, Any]:
        """Send an action that is accepted; return the answer."""
        answer = self.send(who, verb, body, **headers)
        assert answer.status_code == 200, answer.text
        return dict(answer.get_json())

    def read(self, who: Who) -> TestResponse:
        """Read the session as somebody."""
        answer = self.client.get(self.path, headers=self.headers(who))
        assert answer.status_code == 200, answer.text
        return answer

    def seen(self, who: Who) -> dict[str, Any]:
        """Return somebody's view."""
        return dict(self.read(who).get_json())

    def forward(self) -> dict[str, Any]:
        """Send the first example of the first seat that is offered one by its game; return its view."""
        for seat in self.tokens:
            first = self.seen(seat)["actions"][0]
            if first["verb"] not in ("seed", "leave", "join", "token"):
                return self.does(seat, first["verb"], first["example"])
        raise AssertionError("no seat can carry the round on")

    def join(self, **asked: Any) -> TestResponse:  # noqa: ANN401 - any of a join
        """Ask for a seat, without a token; a seat that is given is ours from then on."""
        answer = self.client.post(f"{self.path}/join", json=asked)
        if answer.status_code == 200:
            given = answer.get_json()
            self.tokens[given["seat"]] = given["token"]
        return answer
