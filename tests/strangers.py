"""Clients that know no game: all that they do is read a view and follow its actions."""

from random import Random
from typing import Any

from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from tests.conftest import Clock

PACE = 100
"""How many ms a client takes over a move."""
BOT_PACE = 1000
"""After how many ms somebody looks again who sees no deadline, for whatever bots have done."""

Action = dict[str, Any]


class Stranger:
    """Somebody with a token, or without one."""

    def __init__(self, client: FlaskClient, path: str, token: str | None = None) -> None:
        self._client = client
        self._path = path
        self._headers = {"Authorization": f"Bearer {token}"} if token else {}

    def view(self) -> dict[str, Any]:
        """Return the session as this client sees it."""
        answer = self._client.get(self._path, headers=self._headers)
        assert answer.status_code == 200, answer.text
        return dict(answer.get_json())

    def offered(self, verb: str) -> list[Action]:
        """Return the actions of a verb that are offered now."""
        return [action for action in self.view()["actions"] if action["verb"] == verb]

    def follow(self, action: Action, body: dict[str, Any] | None = None) -> TestResponse:
        """Send an action as it is offered, with its example or another body of its schema."""
        sent = action["example"] if body is None else body
        return self._client.open(action["href"], method=action["method"], json=sent, headers=self._headers)

    def followed(self, action: Action, body: dict[str, Any] | None = None) -> dict[str, Any]:
        """Send an action, which must not be refused; return the answer."""
        answer = self.follow(action, body)
        assert answer.status_code == 200, answer.text
        return dict(answer.get_json())


class Company:
    """A session and a client for each token that its creation told; time passes as they play."""

    def __init__(self, client: FlaskClient, clock: Clock, game: str, seats: list[Any]) -> None:
        made = client.post("/v1/sessions", json={"game": game, "seats": seats})
        assert made.status_code == 201, made.text
        opened = made.get_json()
        self.path = made.headers["Location"]
        self.host = Stranger(client, self.path, opened["host_token"])
        self.watching = Stranger(client, self.path)
        self.seats = {each["seat"]: Stranger(client, self.path, each["token"]) for each in opened["tokens"]}
        self.view = opened["session"]
        """The view that one of them saw last."""
        self.sent = 0
        self._clock = clock

    @property
    def rounds(self) -> int:
        """Return how many rounds are over."""
        return int(self.view["round"]) - int(self.view["status"] == "playing")

    def forward(self) -> None:
        """Send the first example of each seat that the table waits for, until a round is over, or let time pass."""
        begun, sent = self.rounds, self.sent
        for seat, player in self.seats.items():
            if self.rounds == begun and self.view["seats"][seat]["to_act"]:
                self._send(player, player.view()["actions"][0])
        if self.sent == sent:
            self._wait()

    def at_random(self, random: Random) -> None:
        """Send anything that is offered to a seat but the way out, mostly to one that the table waits for."""
        awaited = [seat for seat in self.seats if self.view["seats"][seat]["to_act"]]
        seat = random.choice(awaited if awaited and random.random() < 0.9 else list(self.seats))
        actions = [each for each in self.seats[seat].view()["actions"] if each["verb"] != "leave"]
        if not awaited or random.random() < 0.1:
            self._wait()
        else:
            action = random.choice(actions)
            self._send(self.seats[seat], action, value_of(action["schema"], random))

    def _send(self, player: Stranger, action: Action, body: dict[str, Any] | None = None) -> None:
        self.view = player.followed(action, body)
        self.sent += 1
        self._clock.advance(PACE)

    def _wait(self) -> None:
        """Let time pass until the moment that the view names, or until a bot may have moved."""
        left = (self.view["deadline_at"] or self._clock.now + BOT_PACE) - self._clock.now
        self._clock.advance(min(max(left, 1), BOT_PACE))
        self.view = self.watching.view()


def value_of(schema: dict[str, Any], random: Random) -> Any:  # noqa: ANN401 - any JSON
    """Return a value that a JSON Schema takes, as far as actions use them; optional fields may be missing."""
    if "enum" in schema:
        return random.choice(schema["enum"])
    match schema["type"]:
        case "object":
            named = schema["properties"].items()
            return {
                name: value_of(each, random)
                for name, each in named
                if name in schema["required"] or random.random() < 0.5
            }
        case "array":
            among = schema["items"]["enum"]
            return random.sample(among, random.randint(schema["minItems"], schema["maxItems"]))
        case "integer":
            least, most = schema["minimum"], schema["maximum"]
            return random.choice((least, most, random.randint(least, most)))
    return "x" * random.randint(schema.get("minLength", 0), schema["maxLength"])
