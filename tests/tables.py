"""A driver of sessions over HTTP: opens one and sends what a test asks for, as its seat."""

from random import Random
from typing import Any, Self

from flask.testing import FlaskClient
from werkzeug.test import TestResponse


class Table:
    """A session and its tokens; every answer comes back as it is."""

    def __init__(self, client: FlaskClient) -> None:
        self.client = client
        self.game = ""
        self.id = ""
        self.token = ""
        self.host = ""

    def open(self, game: str, **options: Any) -> Self:  # noqa: ANN401 - any option of any game
        """Open a session and sit down at seat 0."""
        made = self.client.post("/v1/sessions", json={"game": game, "options": options})
        assert made.status_code == 201, made.text
        opened = made.get_json()
        self.game = game
        self.id = opened["session"]["id"]
        self.token = opened["tokens"][0]["token"]
        self.host = opened["host_token"]
        return self

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
        """Send the example of the first action, and return the mover's view."""
        first = self.view()["actions"][0]
        return self.play(first["verb"], first["example"])

    def play_any(self, random: Random, **headers: str) -> dict[str, Any]:
        """Send a random body of a random action, but for the ways out, and return the mover's view."""
        actions = [action for action in self.view()["actions"] if action["verb"] != "leave"]
        action = random.choice(actions)
        return self.play(action["verb"], random_value(action["schema"], random), **headers)

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
