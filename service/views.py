"""What a viewer is sent: views, scores and actions, built as structs and encoded once."""

from typing import Any

from msgspec import UNSET, Struct, UnsetType
from msgspec.json import Encoder
from msgspec.structs import replace

from engine import play
from engine.advice import BOTS
from engine.fields import CLIENT_SEED, Choice, Name, Shape
from engine.game import LEVELS, PERSON, Offer, Score, Standing
from engine.phrases import Dictionary, said
from engine.piles import look_as
from service.languages import words
from service.records import Seen
from service.sessions import Acted, Opened

encode = Encoder().encode


class You(Struct, frozen=True):
    """Who the viewer is."""

    seat: int | None
    host: bool


class Action(Struct, frozen=True):
    """A legal action, complete enough to send."""

    verb: str
    method: str
    href: str
    label: str
    schema: dict[str, Any] | None
    example: dict[str, Any] | None


class View(Struct, frozen=True):
    """A session at one version, as one viewer may know it."""

    id: str
    game: str
    version: int
    status: str
    reason: str | None
    round: int
    you: You | None
    seats: tuple[dict[str, Any], ...]
    options: dict[str, Any]
    table: Struct
    commitment: str | None
    next_commitment: str | None
    deadline_at: int | None
    expires_at: int
    actions: list[Action] | UnsetType = UNSET
    events: list[dict[str, Any]] | UnsetType = UNSET


class Token(Struct, frozen=True):
    """A seat's token, told once."""

    seat: int
    token: str


class Created(Struct, frozen=True):
    """The answer to a create."""

    session: View
    tokens: list[Token]
    host_token: str


class Seated(Struct, frozen=True):
    """The answer to a join, or to a token issued anew; a bot gets no token."""

    session: View
    seat: int
    token: str | UnsetType = UNSET


class Ticket(Struct, frozen=True):
    """A ticket, told once, and the time (ms) until which it is good."""

    ticket: str
    expires_at: int


class Listed(Struct, frozen=True):
    """A public session, as the lobby shows it."""

    id: str
    game: str
    status: str
    round: int
    seats: tuple[dict[str, Any], ...]
    options: dict[str, Any]
    open_seats: tuple[int, ...]
    opened_at: int
    href: str


class Lobby(Struct, frozen=True):
    """A page of the lobby; `next` is the cursor of the one after it, if there may be one."""

    sessions: list[Listed]
    next: str | None


class ScoreSheet(Struct, frozen=True):
    """The answer to a score."""

    session: str
    game: str
    round: int
    final: bool
    standings: tuple[Standing, ...]
    sheet: Struct


def view(seen: Seen, language: str, *, with_actions: bool = True) -> View:
    """Return the view; `events` are in it where a move was just made, and its labels are in the language."""
    record, viewer, known = seen.record, seen.viewer, seen.view()
    look = look_as(viewer.seat)
    return View(
        id=seen.session,
        game=record.position.game,
        version=record.version,
        status=known.status,
        reason=known.reason,
        round=known.round,
        you=You(viewer.seat, viewer.host) if viewer.host or viewer.seat is not None else None,
        seats=known.seats,
        options=record.options,
        table=known.table,
        commitment=known.commitment,
        next_commitment=known.next_commitment,
        deadline_at=known.deadline_at,
        expires_at=record.expires_at,
        actions=actions(seen, language) if with_actions else UNSET,
        events=UNSET if seen.events is None else [event.seen(look) for event in seen.events],
    )


class Frame(Struct, frozen=True):
    """One version of a session as a stream's client is sent it; times in ms."""

    event: str
    version: int
    at: int
    now: int
    events: list[dict[str, Any]]
    view: View | UnsetType = UNSET


class Ended(Struct, frozen=True):
    """The last that a stream says."""

    event: str
    version: int
    reason: str | None


def frame(event: str, seen: Seen, language: str, *, with_view: bool) -> Frame:
    """Return a version for one viewer; its view is what a read of that version gives."""
    look = look_as(seen.viewer.seat)
    return Frame(
        event,
        seen.record.version,
        seen.record.moved_at,
        seen.now,
        [each.seen(look) for each in seen.events or ()],
        view(replace(seen, events=None), language) if with_view else UNSET,
    )


def actions(seen: Seen, language: str) -> list[Action]:
    """Return every legal action of the viewer: the one that carries the round on first, ways out last."""
    here, position = f"/v1/sessions/{seen.session}", seen.record.position
    offered = list(seen.offers(language))
    if seen.viewer.host:
        ways_out = [offered.pop()] if offered and offered[-1].verb == "leave" else []
        known = {offer.verb for offer in offered}
        offered += [offer for offer in play.host_offers(position, language) if offer.verb not in known]
        offered += _seat_offers(position, seen.viewer.seat) + ways_out
    elif seen.viewer.seat is None:
        offered = _open_seat(position)
    spoken = words(position.game, language)
    found = [_action(here, offer, spoken) for offer in offered]
    delete = Action("delete", "DELETE", here, said("End and delete this session", spoken), None, None)
    return [*found, delete] if seen.viewer.host else found


def _open_seat(position: play.Position) -> list[Offer]:
    """Return how a spectator takes a seat."""
    free = play.open_seats(position)
    if not free:
        return []
    shape = Shape((Choice("seat", free, required=False), Name("name", required=False), CLIENT_SEED))
    return [Offer("join", "Take a seat", shape, {"seat": free[0], "name": f"Player {free[0] + 1}"})]


def _seat_offers(position: play.Position, own: int | None) -> list[Offer]:
    """Return what the host may do with seats: give open ones to bots, issue tokens anew, take seats out."""
    if position.state.finished:
        return []
    free, held = play.open_seats(position), position.state.held
    persons = tuple(seat for seat, holder in enumerate(held) if holder == PERSON)
    may_leave = play.game_of(position).may_leave
    others = tuple(seat for seat in position.state.taken() if seat != own and may_leave(position.state, seat))
    found = []
    if free and position.game in BOTS:
        shape = Shape((Choice("seat", free), Choice("bot", LEVELS)))
        found.append(Offer("join", "Seat a bot", shape, {"seat": free[0], "bot": "normal"}))
    if persons:
        label = "Issue a seat's token anew; the old one is void"
        found.append(Offer("token", label, Shape((Choice("seat", persons),)), {"seat": persons[0]}))
    if others:
        found.append(Offer("leave", "Take a seat out", Shape((Choice("seat", others),)), {"seat": others[0]}))
    if own is None:
        found.append(Offer("leave", "Leave, and pass the host's rights on"))
    return found


def lobby(found: list[Seen], after: str | None) -> Lobby:
    """Return a page of the lobby."""
    return Lobby([_listed(seen) for seen in found], after)


def _listed(seen: Seen) -> Listed:
    position, known = seen.record.position, seen.view()
    return Listed(
        id=seen.session,
        game=position.game,
        status=known.status,
        round=known.round,
        seats=known.seats,
        options=seen.record.options,
        open_seats=play.open_seats(position),
        opened_at=seen.record.opened_at,
        href=f"/v1/sessions/{seen.session}",
    )


def created(opened: Opened, language: str) -> Created:
    """Return the answer to a create, with all tokens."""
    tokens = [Token(seat, token) for seat, token in opened.tokens.items()]
    return Created(view(opened.seen, language), tokens, opened.host_token)


def seated(acted: Acted, language: str) -> Seated:
    """Return the answer to a seat given away."""
    return Seated(view(acted.seen, language), acted.seat or 0, acted.token or UNSET)


def score(seen: Seen, found: Score) -> ScoreSheet:
    """Return the answer to a score."""
    return ScoreSheet(
        seen.session,
        seen.record.position.game,
        found.round,
        found.final,
        found.standings,
        found.sheet,
    )


def _action(here: str, offer: Offer, known: Dictionary) -> Action:
    href, label = f"{here}/{offer.verb}", said(offer.label, known)
    return Action(offer.verb, "POST", href, label, offer.shape.schema(), offer.example)
