"""What a viewer is sent: views, scores and actions, built as structs and encoded once."""

from typing import Any

from msgspec import UNSET, Struct, UnsetType
from msgspec.json import Encoder
from msgspec.structs import replace

from engine import play, seating
from engine.advice import BOTS
from engine.game import Offer, Score, Standing
from engine.phrases import Dictionary, said
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
    return View(
        id=seen.session,
        game=record.position.game,
        version=record.version,
        status="finished" if record.end else known.status,
        reason=record.end,
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
        events=UNSET if seen.events is None else play.shown(seen.events, viewer.seat),
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
    return Frame(
        event,
        seen.record.version,
        seen.record.moved_at,
        seen.now,
        play.shown(seen.events or (), seen.viewer.seat),
        view(replace(seen, events=None), language) if with_view else UNSET,
    )


def actions(seen: Seen, language: str) -> list[Action]:
    """Return every legal action of the viewer: the one that carries the round on first, ways out last."""
    if seen.record.end == "deleted":
        return []
    here, position, viewer = f"/v1/sessions/{seen.session}", seen.record.position, seen.viewer
    bots = position.game in BOTS
    offered = seating.offers(position, viewer.seat, host=viewer.host, bots=bots, language=language)
    spoken = words(position.game, language)
    found = [_action(here, offer, spoken) for offer in offered]
    delete = Action("delete", "DELETE", here, said("End and delete this session", spoken), None, None)
    return [*found, delete] if viewer.host else found


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
