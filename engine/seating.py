"""Seats and the host's rights: who may take one, give one away, issue its token anew or take it out, stated once."""

from engine import play
from engine.fields import CLIENT_SEED, Choice, Name, Shape
from engine.game import ENGLISH, LEVELS, PERSON, Action, Illegal, NotYours, Offer
from engine.phrases import phrase
from engine.play import HOST, LEAVE, SEAT, Position, open_seats

HOSTS_ALONE = ("token", "delete")


def offers(
    position: Position, seat: int | None, *, host: bool, bots: bool, language: str = ENGLISH
) -> tuple[Offer, ...]:
    """Return all legal actions of a viewer: the first carries the round on, ways out come last.

    `seat` is what the viewer holds, `host` whether it has the host's rights, `bots` whether the game has bots.
    """
    own = () if seat is None else play.offers(position, seat, language)
    hosts = play.host_offers(position, language) if host else ()
    staying = [offer for offer in own if offer.verb != LEAVE.verb]
    known = _verbs(own)
    return (
        *staying,
        *(offer for offer in hosts if offer.verb not in known),
        *seat_offers(position, seat, host=host, bots=bots),
        *own[len(staying) :],
    )


def seat_offers(position: Position, seat: int | None, *, host: bool, bots: bool) -> tuple[Offer, ...]:
    """Return what a viewer may do with seats besides leaving its own (C-9, C-10)."""
    free, found = open_seats(position), []
    if free and host and bots:
        shape = Shape((Choice("seat", free), Choice("bot", LEVELS)))
        found.append(Offer("join", "Seat a bot", shape, {"seat": free[0], "bot": "normal"}))
    if free and seat is None:
        shape = Shape((Choice("seat", free, required=False), Name("name", required=False), CLIENT_SEED))
        found.append(Offer("join", "Take a seat", shape, {"seat": free[0], "name": f"Player {free[0] + 1}"}))
    if host and not position.state.finished:
        found += _hosts(position, seat)
    return tuple(found)


def _hosts(position: Position, own: int | None) -> list[Offer]:
    """Return what the host may do with seats that are held: issue tokens anew, take seats out, pass the rights on."""
    state, may_leave = position.state, play.game_of(position).may_leave
    persons = tuple(seat for seat, holder in enumerate(state.held) if holder == PERSON)
    others = tuple(seat for seat in state.taken() if seat != own and may_leave(state, seat))
    found = []
    if persons:
        label = "Issue a seat's token anew; the old one is void"
        found.append(Offer("token", label, Shape((Choice("seat", persons),)), {"seat": persons[0]}))
    if others:
        found.append(Offer("leave", "Take a seat out", Shape((Choice("seat", others),)), {"seat": others[0]}))
    if own is None:
        found.append(Offer("leave", "Leave, and pass the host's rights on"))
    return found


def asker(position: Position, seat: int | None, action: Action, *, host: bool) -> str:
    """Return whether it is the seat or the host that asks; raise `NotYours` where the viewer is not who may."""
    by = _whose(position, seat, action, host=host)
    if by == HOST and not host:
        raise NotYours("Only the host may do this.")
    if by == HOST and action.verb not in ("join", *HOSTS_ALONE):
        play.must_be_hosts(position, action)
    if by == SEAT and action.verb == "join" and seat is not None:
        raise NotYours("This token holds a seat already: whoever takes one asks without a token.")
    return by


def _whose(position: Position, seat: int | None, action: Action, *, host: bool) -> str:
    """Return whose right an action needs; whoever has both uses the host's where the seat's own has no such offer."""
    verb, body = action.verb, action.body
    if verb == "join":
        hosts = "bot" in body
    elif verb in HOSTS_ALONE or seat is None:
        hosts = True
    elif verb == LEAVE.verb:
        hosts = body.get("seat", seat) != seat
    else:
        hosts = host and verb in _verbs(play.host_offers(position)) - _verbs(play.offers(position, seat))
    return HOST if hosts else SEAT


def _verbs(offered: tuple[Offer, ...]) -> set[str]:
    return {offer.verb for offer in offered}


def must_be_offered(position: Position, seat: int | None, action: Action, *, host: bool, bots: bool) -> None:
    """Raise `Illegal` for a join, a token or a host's leave that is in none of the viewer's offers."""
    if not play.fits(seat_offers(position, seat, host=host, bots=bots), action):
        play.must_go_on(position)
        raise _refusal(position, action, bots=bots)


def _refusal(position: Position, action: Action, *, bots: bool) -> Illegal:
    """Return why an action with seats is not offered now."""
    seat, state = action.body.get("seat"), position.state
    if action.verb == "join" and "bot" in action.body and not bots:
        return Illegal("not-in-this-game", "This game has no bots.")
    if action.verb == "join":
        which = phrase("Seat {seat} is not open.", seat=seat) if open_seats(position) else "No seat is open."
        return Illegal("seat-taken", which)
    if action.verb == "token":
        return Illegal("not-now", phrase("No person holds seat {seat}.", seat=seat))
    if seat not in state.taken():
        return Illegal("not-now", phrase("Nobody holds seat {seat}.", seat=seat))
    return Illegal("not-now", play.game_of(position).why_not(state, seat, Action(LEAVE.verb)) or "Not now.")
