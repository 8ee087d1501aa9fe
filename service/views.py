"""What a viewer is sent: views, scores and actions, built as structs and encoded once."""

from typing import Any

from msgspec import UNSET, Struct, UnsetType
from msgspec.json import Encoder

from engine.game import Offer, Score, Standing
from engine.piles import look_as
from service.sessions import Opened, Seen

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


class ScoreSheet(Struct, frozen=True):
    """The answer to a score."""

    session: str
    game: str
    round: int
    final: bool
    standings: tuple[Standing, ...]
    sheet: Struct


def view(seen: Seen, *, with_actions: bool = True) -> View:
    """Return the view; `events` are in it where a move was just made."""
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
        actions=actions(seen) if with_actions else UNSET,
        events=UNSET if seen.events is None else [event.seen(look) for event in seen.events],
    )


def actions(seen: Seen) -> list[Action]:
    """Return every legal action of the viewer, the one that carries the round on first."""
    here = f"/v1/sessions/{seen.session}"
    if seen.viewer.host:
        return [Action("delete", "DELETE", here, "End and delete this session", None, None)]
    return [_action(here, offer) for offer in seen.offers()]


def created(opened: Opened) -> Created:
    """Return the answer to a create, with all tokens."""
    tokens = [Token(seat, token) for seat, token in enumerate(opened.tokens)]
    return Created(view(opened.seen), tokens, opened.host_token)


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


def _action(here: str, offer: Offer) -> Action:
    href = f"{here}/{offer.verb}"
    return Action(offer.verb, "POST", href, offer.label, offer.shape.schema(), offer.example)
