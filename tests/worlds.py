"""Two worlds that one viewer cannot tell apart, and what tells him in the end."""

from collections import defaultdict
from collections.abc import Iterator
from random import Random
from typing import Any

import msgspec
from msgspec.structs import replace

from engine import play
from engine.cards import Card, face
from engine.game import Action, Event, Illegal, Invalid, Move
from engine.games import GAMES
from engine.piles import Memory, Pile, Viewer, look_as
from tests.mutations import tried_actions
from tests.rounds import Playthrough, body_of, dice, piles_in, settings

VIEW, REFUSAL, TIME = "the view", "a refusal", "the time"
"""What may never tell two worlds apart."""
TRIES = 12
FORKS = 12
"""About how often a round is played on in two worlds, however long it is."""


def permuted(position: play.Position, viewer: Viewer, random: Random) -> play.Position:
    """Return the position with the cards dealt anew among the places whose cards the viewer cannot tell.

    Those are all places in piles that he does not see, and of cards that look alike, such as drinks
    of either sign, those that he sees too. Ids, secret, seeds and counters stay.
    """
    look = look_as(viewer)
    piles = list(piles_in(position.state))
    cards = [card for pile in piles for card in pile.cards]
    hidden = [place for place, seen in enumerate(seen for pile in piles for seen in look(pile)) if seen is None]
    _deal_anew(cards, hidden, random)
    alike: dict[str, list[int]] = defaultdict(list)
    for place, card in enumerate(cards):
        alike[face(card)].append(place)
    for places in alike.values():
        _deal_anew(cards, places, random)
    return replace(position, state=_holding(position.state, iter(cards)))


def _deal_anew(cards: list[Card], places: list[int], random: Random) -> None:
    """Shuffle the cards in these places among them."""
    dealt = [cards[place] for place in places]
    random.shuffle(dealt)
    for place, card in zip(places, dealt, strict=True):
        cards[place] = card


def _holding(value: Any, cards: Iterator[Card]) -> Any:  # noqa: ANN401 - any part of any state
    """Return a part of a state with the next cards in its piles, in the order of `piles_in`."""
    if isinstance(value, Pile):
        return value.holding(tuple(next(cards) for _ in value.cards))
    if isinstance(value, Memory):
        return value
    if isinstance(value, msgspec.Struct):
        return replace(value, **{name: _holding(getattr(value, name), cards) for name in value.__struct_fields__})
    if isinstance(value, dict):
        return {name: _holding(each, cards) for name, each in value.items()}
    if isinstance(value, (tuple, list)):
        return type(value)(_holding(each, cards) for each in value)
    return value


def known(position: play.Position, viewer: Viewer) -> bytes:
    """Return all that a viewer can ask for: view, board, offers and score, or why there is none."""
    view = play.view(position, viewer)
    offers = () if viewer is None else play.offers(position, viewer)
    try:
        score: Any = play.score(position, viewer)
    except Illegal as refused:
        score = [refused.code, refused.detail]
    shapes = [offer.shape.schema() for offer in offers]
    return msgspec.json.encode([view, play.draw(position.game, view.table), offers, shapes, score])


def refusals(position: play.Position, viewer: Viewer, seed: int) -> list[str]:
    """Return what a viewer is answered when he tries what comes to his mind, offered or not."""
    if viewer is None:
        return []
    tried = dice(seed).sample(list(tried_actions(position, viewer, seed)), TRIES)
    return [_answer(position, viewer, action) for action in tried]


def _answer(position: play.Position, seat: int, action: Action) -> str:
    try:
        play.advance(position, Move(seat, action, 10**6))
    except Illegal as refused:
        return f"{action}: {refused.code} {refused.detail}"
    except Invalid as refused:
        return f"{action}: {refused.pointer} {refused.detail}"
    return f"{action}: accepted"


class Worlds:
    """Two positions that get the same moves at the same times."""

    def __init__(self, one: play.Position, other: play.Position, viewer: Viewer, now: int) -> None:
        self.pair = (one, other)
        self.viewer = viewer
        self.now = now

    def at_first(self) -> set[str]:
        """Return what tells the worlds apart before any move: nothing should."""
        one, other = (known(each, self.viewer) for each in self.pair)
        return set() if one == other else {VIEW}

    def play_on(self, random: Random) -> set[str]:
        """Make one move that is offered in both worlds; return what tells them apart, before it or by it."""
        probe = random.randrange(10**6)
        one, other = (refusals(each, self.viewer, probe) for each in self.pair)
        if one != other:
            return {REFUSAL}
        self.now += 1
        if found := self._compared([play.settle(each, self.now, {}) for each in self.pair]):
            return found
        moves = list(self._moves(random))
        random.shuffle(moves)
        for move in moves:
            if both := self._advanced(move):
                return self._compared(both)
        return self._waited()

    def _moves(self, random: Random) -> Iterator[Move]:
        """Yield a move for every offer of every seat but the ways out."""
        position = self.pair[0]
        for seat in range(len(position.seats)):
            for offer in play.offers(position, seat):
                if offer.verb != play.LEAVE.verb:
                    yield Move(seat, Action(offer.verb, body_of(offer.shape, random)), self.now)

    def _advanced(self, move: Move) -> list[tuple[play.Step, ...]]:
        """Make a move in both worlds; another seat's that is legal in one alone is no common move."""
        try:
            return [(play.advance(each, move),) for each in self.pair]
        except Illegal:
            assert move.seat != self.viewer, "what the viewer is offered is the same in both worlds"
            return []

    def _waited(self) -> set[str]:
        """Let time pass to what is due first in either world."""
        dues = [play.game_of(each).due(each.state) for each in self.pair]
        if times := [due.at for due in dues if due]:
            self.now = max(self.now, *times)
            return self._compared([play.settle(each, self.now, {}) for each in self.pair])
        return set()

    def _compared(self, both: list[tuple[play.Step, ...]]) -> set[str]:
        """Go on to where the steps lead; return the events that differ first, or what else does."""
        look = look_as(self.viewer)
        told = [[(event, event.seen(look)) for step in steps for event in step.events] for steps in both]
        before = self.pair
        self.pair = tuple(  # type: ignore[assignment]
            steps[-1].position if steps else position for steps, position in zip(both, before, strict=True)
        )
        if found := first_apart(*told):
            return found
        if len({tuple(step.move.at for step in steps) for steps in both}) > 1:
            return {TIME}
        return self.at_first()


def first_apart(one: list[tuple[Event, Any]], other: list[tuple[Event, Any]]) -> set[str]:
    """Return the types of the first events that differ as they are seen."""
    for place in range(max(len(one), len(other))):
        here = [events[place] if place < len(events) else None for events in (one, other)]
        if len({msgspec.json.encode(each[1]) if each else b"" for each in here}) > 1:
            return {each[0].type for each in here if each}
    return set()


def told_apart_by(game: str, viewer: Viewer, seed: int, moves: int = 12) -> set[str]:
    """Play a round at random, and from some of its steps on in two worlds; return what told them apart."""
    random, found, spacing = dice(seed), set[str](), 1 + GAMES[game].spec.bound // FORKS
    playthrough = Playthrough(game, random.choice(list(settings(game))), secret=random.randbytes(64))
    while not playthrough.rounds and not playthrough.over:
        playthrough.at_random(random)
        if random.randrange(spacing):
            continue
        here = playthrough.position
        worlds = Worlds(here, permuted(here, viewer, random), viewer, playthrough.now)
        apart = worlds.at_first()
        for _ in range(moves):
            apart = apart or worlds.play_on(random)
        found |= apart
    return found
