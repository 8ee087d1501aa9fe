"""What a viewer cannot see decides no byte that he is sent over HTTP, until the rules themselves show it."""

import hashlib
import sys
from collections.abc import Callable, Iterator
from typing import Any

import msgspec
import pytest
from flask import Response
from msgspec.structs import replace
from werkzeug.test import TestResponse

from engine.cards import rank
from engine.game import Action
from engine.games import GAMES
from engine.games.spice_island_poker import Hands, SpiceIslandPoker
from engine.piles import look_as
from engine.play import Position
from service import create_app, sessions
from service.records import Seen
from service.settings import Settings
from tests.conftest import Clock, ClockedStore
from tests.rounds import dice
from tests.servers import StoreProcess
from tests.shelf import MadeUp
from tests.stored import PARTS, Stored, key
from tests.tables import PERSONS, Table, random_value
from tests.worlds import first_apart, permuted

SPICE, SKULLS, JACKPOT = "spice-island-poker", "skulls-and-swords", "jackpot"
SPEED, BEAT = "speed", "beat-the-dealer"
MOVES, FORKS = 8, 8
LEAK = "the bytes"
"""What tells two worlds apart where no event does."""

BODIES: dict[str, dict[str, dict[str, Any]]] = {
    SPICE: {"choose": {"action": "bet"}, "wager": {"amount": 99_999_999}},
    SKULLS: {"choose": {"cards": [0, 1]}, "swap": {"positions": [0, 1]}, "wager": {"amount": 1}},
    JACKPOT: {"choose": {"drop": [0, 4]}},
    SPEED: {"choose": {"pass": True}},
    BEAT: {"choose": {"rank": "7"}},
}
"""Bodies that fit their verbs, to be sent where the verbs are not offered; a wager that nobody can pay."""

Sent = tuple[int, tuple[tuple[str, str], ...], bytes]


class World:
    """A store of its own and the application over it."""

    def __init__(self, server: StoreProcess, number: int, clock: Clock) -> None:
        url = f"{server.url}?db={number}"
        self.stored = Stored(url)
        self._store = ClockedStore(url, clock)
        self.table = Table(create_app(Settings(log_level="CRITICAL", limits=False), self._store).test_client())

    def close(self) -> None:
        """Give the connections back."""
        self.stored.close()
        self._store.close()

    def becomes(self, other: "World", exchange: Callable[[Position], Position]) -> bool:
        """Take the other's session over with hidden cards exchanged; return whether that made a difference."""
        mine, theirs = self.table, other.table
        mine.takes_over(theirs)
        self.stored.drop(mine.id)
        for part in PARTS:
            if dumped := other.stored.command("DUMP", key(mine.id, part)):
                self.stored.command("RESTORE", key(mine.id, part), 0, dumped)
        record = other.stored.record(mine.id)
        exchanged = replace(record, position=exchange(record.position))
        self.stored.put_blob(mine.id, msgspec.msgpack.encode(exchanged))
        return exchanged != record


@pytest.fixture(name="worlds")
def _worlds(server: StoreProcess, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[World]]:
    """Return a world to play in, the same in every run, and two to compare."""
    monkeypatch.setattr(sessions, "secrets", MadeUp())
    worlds = [World(server, number, clock) for number in (1, 2, 3)]
    for world in worlds:
        world.stored.command("FLUSHDB")
    yield worlds
    for world in worlds:
        world.close()


def probes(table: Table, viewer: int | None) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield everything that a viewer may ask without changing anything, well and badly."""
    own = {} if viewer is None else table.at(viewer).bearer()
    for name, headers in {"own": own, "the host's": table.bearer(table.host)}.items():
        yield f"{name} view", {"path": table.path, "headers": headers}
        yield f"{name} brief view", {"path": f"{table.path}?actions=false", "headers": headers}
        yield f"{name} board", {"path": table.path, "headers": headers | {"Accept": "text/plain"}}
        yield f"{name} head", {"path": table.path, "method": "HEAD", "headers": headers}
        yield f"{name} score", {"path": f"{table.path}/score", "headers": headers}
        answer = table.client.get(table.path, headers=headers)
        yield f"{name} copy", {"path": table.path, "headers": headers | {"If-None-Match": answer.headers["ETag"]}}
        after = f"{table.path}/events?after={answer.get_json()['version']}"
        yield f"{name} events", {"path": after, "headers": headers}
    yield "a wrong token", {"path": table.path, "headers": {"Authorization": "Bearer x"}}
    yield "a parameter", {"path": f"{table.path}?x=1", "headers": own}
    yield "a seat that is not open", {"path": f"{table.path}/join", "method": "POST", "json": {}, "headers": {}}
    seat = {"path": f"{table.path}/token", "method": "POST", "json": {"seat": 0}, "headers": own}
    yield "another's token", seat
    yield from verb_probes(table, viewer, own)


def verb_probes(table: Table, viewer: int | None, own: dict[str, str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield for every verb what is refused to a viewer."""
    seen = table.watched() if viewer is None else table.at(viewer).view()
    offered = {action["verb"] for action in seen["actions"]}
    for verb in ("deal", "choose", "swap", "confirm", "wager", "evaluate", "leave", "seed"):
        body = BODIES[table.game].get(verb, {})
        asked = {"path": f"{table.path}/{verb}", "method": "POST", "json": body, "headers": own}
        yield f"{verb} of another version", asked | {"headers": own | {"If-Match": '"999.x"'}}
        yield f"{verb} with a field", asked | {"json": {"x": 1}}
        if verb not in offered or (table.game, verb) == (SPICE, "wager"):
            yield f"{verb} against the rules", asked


def sent(answer: TestResponse) -> Sent:
    """Return all that goes over the wire."""
    return answer.status_code, tuple(answer.headers), answer.data


def ask(world: World, asked: dict[str, Any]) -> Sent:
    """Send a probe."""
    return sent(world.table.client.open(**asked | {"headers": asked["headers"] | {"X-Request-Id": "same"}}))


def apart(pair: list[World], viewer: int | None) -> list[str]:
    """Return the probes that tell two worlds apart."""
    return [name for name, asked in probes(pair[0].table, viewer) if ask(pair[0], asked) != ask(pair[1], asked)]


class Pair:
    """Two worlds in which the same is done at the same times, as one viewer sees them."""

    def __init__(self, pair: list[World], viewer: int | None, clock: Clock, seed: int) -> None:
        self.pair, self.viewer, self.clock = pair, viewer, clock
        self._random = dice(seed)
        self._known = self._versions()

    def play_on(self) -> set[str]:
        """Play until the viewer can tell the worlds apart; return by what he can, or nothing."""
        found = apart(self.pair, self.viewer)
        assert not found, f"told apart by {found}"
        for _ in range(MOVES):
            self.clock.advance(self._random.randrange(2000))
            told = self._told_apart(apart(self.pair, self.viewer))
            if told or self._versions() != self._known:
                return told
            answers = self._moved()
            told = self._told_apart(answers or apart(self.pair, self.viewer))
            if told or self._versions() != self._known:
                return told
        return set()

    def _moved(self) -> list[str]:
        """Let a seat do what it is offered in the first world; return whether that tells the viewer's worlds apart."""
        able = self.pair[0].table.able()
        if not able:
            return []
        own, actions = self._random.choice(able)
        action = self._random.choice([actions[0], *actions])
        body = random_value(action["schema"], self._random)
        seat = next(seat for seat, token in own.tokens.items() if token == own.token)
        answers = [world.table.at(seat).act(action["verb"], body, X_Request_Id="same") for world in self.pair]
        return ["the answer"] if seat == self.viewer and sent(answers[0]) != sent(answers[1]) else []

    def _told_apart(self, differing: list[str]) -> set[str]:
        """Return by which events the worlds are told apart, by the first of them, if anything differs."""
        look = look_as(self.viewer)
        told = [
            [
                (event, event.seen(look))
                for entry in world.stored.entries(world.table.id)[known:]
                for event in entry.events
            ]
            for world, known in zip(self.pair, self._known, strict=True)
        ]
        found = first_apart(*told)
        if not differing and not found:
            self._known = [max(self._versions())] * 2
        return found or ({LEAK, *differing} if differing else set())

    def _versions(self) -> list[int]:
        return [world.stored.record(world.table.id).version for world in self.pair]


def wander(here: World, clock: Clock, random: Any) -> None:  # noqa: ANN401 - a source of choices
    """Let time pass and somebody play, a few times, mostly as the rules would have the round go on."""
    for _ in range(random.randrange(1, 5)):
        clock.advance(random.randrange(2000))
        if here.table.able():
            here.table.play_first() if random.randrange(3) else here.table.play_any(random)


def told_apart_by(worlds: list[World], clock: Clock, game: str, viewer: int | None) -> list[set[str]]:
    """Play at random, and from several places on in two worlds; return what told them apart each time."""
    random, found = dice(3), list[set[str]]()
    here, *pair = worlds
    here.table.open(game)
    while len(found) < FORKS:
        wander(here, clock, random)
        if here.table.watched()["status"] != "playing" and random.randrange(4):
            continue  # between rounds there is mostly nothing to tell
        pair[0].becomes(here, lambda position: position)
        if pair[1].becomes(here, lambda position: permuted(position, viewer, random)):
            found.append(Pair(pair, viewer, clock, len(found)).play_on())
    return found


TOLD_BY = {
    SPICE: {"showdown"},
    SKULLS: {"dealt", "drinks"},
    JACKPOT: {"drawn", "flipped", "card-draw"},
    SPEED: {"countdown", "flip", "play", "penalty", "settled"},
    BEAT: {"turn", "guessed", "revealed"},
}
"""What shows cards that lay hidden before it; where a pack is made anew a deal shows none."""

EVERYONE = [(game, viewer) for game in GAMES for viewer in (*range(PERSONS[game]), None)]


@pytest.mark.parametrize(("game", "viewer"), EVERYONE)
def test_nothing_but_a_reveal_tells_two_worlds_apart(
    worlds: list[World], clock: Clock, game: str, viewer: int | None
) -> None:
    """Every status, header and byte is the same up to the event in which the rules show what was exchanged."""
    found = told_apart_by(worlds, clock, game, viewer)
    wrong = [told for told in found if told - set(GAMES[game].spec.reveals)]
    assert not wrong, f"told apart by {wrong}"
    assert set().union(*found) & TOLD_BY[game], "the worlds were never told apart: nothing was tested"
    assert TOLD_BY[game] <= set(GAMES[game].spec.reveals)


# Planted faults: each is found by the checks above.


def assert_found_out(worlds: list[World], clock: Clock, game: str = SPICE, viewer: int | None = 0) -> None:
    """Fail unless the worlds are told apart by what they may not be told apart by."""
    with pytest.raises(AssertionError, match="told apart by"):
        test_nothing_but_a_reveal_tells_two_worlds_apart(worlds, clock, game, viewer)


def test_a_tag_of_the_state_is_found_out(worlds: list[World], clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    """A hash of all that is stored gives the hidden cards away to who tries them."""
    api = sys.modules["service.api"]
    headers = api._headers

    def telling(seen: Seen, name: str) -> dict[str, str]:
        state = hashlib.sha256(msgspec.msgpack.encode(seen.record)).hexdigest()
        made: dict[str, str] = headers(seen, name)
        return made | {"ETag": f'"{state}"'}

    monkeypatch.setattr(api, "_headers", telling)
    assert_found_out(worlds, clock)


@pytest.mark.parametrize(("game", "viewer"), EVERYONE)
def test_a_look_at_all_cards_is_found_out(
    worlds: list[World], clock: Clock, monkeypatch: pytest.MonkeyPatch, game: str, viewer: int | None
) -> None:
    """A view through the eyes of one who sees everything shows what is hidden."""
    monkeypatch.setattr("engine.play.look_as", lambda _viewer: lambda pile: tuple(map(str, pile.cards)))
    assert_found_out(worlds, clock, game, viewer)


def test_a_refusal_that_tells_too_much_is_found_out(
    worlds: list[World], clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One hidden card in the sentence of a refusal is enough."""

    def telling(_game: SpiceIslandPoker, state: Hands, _seat: int, _action: Action) -> str:
        return f"Wait: {state.hole.cards[:1]}."

    monkeypatch.setattr(SpiceIslandPoker, "why_not", telling)
    assert_found_out(worlds, clock)


def test_a_length_that_tells_is_found_out(worlds: list[World], clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    """As many spaces at the end of the answer as the hidden cards are worth."""
    api = sys.modules["service.api"]
    view = api._view

    def telling(seen: Seen, media_type: str, *, with_actions: bool = True) -> Response:
        answer: Response = view(seen, media_type, with_actions=with_actions)
        state = seen.record.position.state
        assert isinstance(state, Hands)
        answer.set_data(answer.data + b" " * sum(map(rank, state.hole.cards)))
        return answer

    monkeypatch.setattr(api, "_view", telling)
    assert_found_out(worlds, clock)
