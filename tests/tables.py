"""A driver of sessions over HTTP: opens one and sends what a test asks for, as one of its seats."""

from copy import copy
from random import Random
from typing import Any, Self

from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from engine.games import GAMES

PERSONS = {slug: min(game.spec.seats[0] + 1, game.spec.seats[1]) for slug, game in GAMES.items()}
"""How many sit down at each game: where there may be more, one more than it needs."""
IDLE = ("seed", "leave")
"""What a seat is offered also where it waits for others."""


class Table:
    """A session, its tokens, and the seat that acts; every answer comes back as it is."""

    def __init__(self, client: FlaskClient) -> None:
        self.client = client
        self.game = ""
        self.id = ""
        self.token = ""
        self.host = ""
        self.tokens: dict[int, str] = {}

    def open(self, game: str, **options: Any) -> Self:  # noqa: ANN401 - any option of any game
        """Open a session for several persons, or for the one that the game is for, and sit down at seat 0."""
        names = [f"Player {number + 1}" for number in range(PERSONS[game])]
        made = self.client.post("/v1/sessions", json={"game": game, "options": options, "seats": names})
        assert made.status_code == 201, made.text
        opened = made.get_json()
        self.game = game
        self.id = opened["session"]["id"]
        self.tokens = {each["seat"]: each["token"] for each in opened["tokens"]}
        self.token = self.tokens[0]
        self.host = opened["host_token"]
        return self

    def takes_over(self, other: "Table") -> Self:
        """Take another's session and seat over, through this table's own client."""
        self.game, self.id, self.token, self.host = other.game, other.id, other.token, other.host
        self.tokens = dict(other.tokens)
        return self

    def at(self, seat: int) -> Self:
        """Return the same session as who sits at another seat has it."""
        other = copy(self)
        other.token = self.tokens[seat]
        return other

    def able(self) -> list[tuple[Self, list[dict[str, Any]]]]:
        """Return each seat that the game is waiting for, with all that it is offered but the ways out."""
        found = [(own, own.view()["actions"]) for own in map(self.at, self.tokens)]
        return [
            (own, [action for action in actions if action["verb"] != "leave"])
            for own, actions in found
            if actions and actions[0]["verb"] not in IDLE
        ]

    @property
    def path(self) -> str:
        """Return the session's path."""
        return f"/v1/sessions/{self.id}"

    def bearer(self, token: str | None = None) -> dict[str, str]:
        """Return the header of the seat's token, or of another."""
        return {"Authorization": f"Bearer {token or self.token}"}

    def act(self, verb: str, body: dict[str, Any] | None = None, **headers: str) -> TestResponse:
        """Send an action; header names are given with underscores."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return self.client.post(f"{self.path}/{verb}", json=body or {}, headers=self.bearer() | named)

    def play(self, verb: str, body: dict[str, Any] | None = None, **headers: str) -> dict[str, Any]:
        """Send an action that is accepted, and return the mover's view."""
        return _accepted(self.act(verb, body, **headers))

    def play_first(self) -> dict[str, Any]:
        """Send the first example of the first seat that can carry the game on, and return the mover's view."""
        own, (first, *_) = self.able()[0]
        return own.play(first["verb"], first["example"])

    def play_any(self, random: Random, **headers: str) -> dict[str, Any]:
        """Send a random body of a random action of any seat, but for the ways out, and return the mover's view."""
        own, actions = random.choice(self.able())
        action = random.choice(actions)
        return own.play(action["verb"], random_value(action["schema"], random), **headers)

    def view(self, token: str | None = None) -> dict[str, Any]:
        """Return the seat's view, or another token's."""
        return _accepted(self.client.get(self.path, headers=self.bearer(token)))

    def watched(self) -> dict[str, Any]:
        """Return the spectator's view."""
        return _accepted(self.client.get(self.path))

    def score(self) -> TestResponse:
        """Ask for the score sheet."""
        return self.client.get(f"{self.path}/score", headers=self.bearer())


def random_value(schema: dict[str, Any], random: Random) -> Any:  # noqa: ANN401 - whatever the schema takes
    """Return a value that fits a schema of an action, made by one who knows nothing else."""
    if "enum" in schema:
        return random.choice(schema["enum"])
    match schema["type"]:
        case "integer":
            return random.choice(
                (schema["minimum"], schema["maximum"], random.randint(schema["minimum"], schema["maximum"]))
            )
        case "array":
            return random.sample(schema["items"]["enum"], random.randint(schema["minItems"], schema["maxItems"]))
        case "string":
            return "x" * random.randint(0, schema["maxLength"])
    wanted = [name for name in schema["properties"] if name in schema["required"] or random.random() < 0.5]
    return {name: random_value(schema["properties"][name], random) for name in wanted}


def _accepted(answer: TestResponse) -> dict[str, Any]:
    assert answer.status_code == 200, answer.text
    return dict(answer.get_json())
