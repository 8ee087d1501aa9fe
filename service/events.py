"""A session's events, as a long poll, as server-sent events or as lines of JSON: one log, each viewer's own view."""

from collections.abc import Iterator
from queue import Empty
from typing import cast

from flask import Blueprint, current_app, request

from service import languages, metrics, reading, views
from service.answers import Response
from service.documents import JSON
from service.gate import gate
from service.records import Seen, viewing
from service.streams import Frame, Streams, Subscription, TooManyStreams, closing, missed

SSE = "text/event-stream"
NDJSON = "application/x-ndjson"
LONGEST_WAIT = 30
MOST_VERSION = 10**15 - 1
RETRY_MS = 1000

events = Blueprint("events", __name__)

_HEADERS = {
    "Cache-Control": "no-store",
    "Vary": "Authorization, Accept, Accept-Language",
    "X-Accel-Buffering": "no",
}


class Feed:
    """What one client is to be told, in its own words."""

    def __init__(self, seen: Seen, after: int | None, *, with_view: bool) -> None:
        self.seen = seen
        self.language = languages.wanted(seen.record.position.game)
        self.after = after
        self.with_view = with_view

    def headers(self) -> dict[str, str]:
        """Return what every answer carries that tells it."""
        return _HEADERS | {"Content-Language": self.language}

    def opening(self) -> list[views.Frame]:
        """Return what comes first: a snapshot, the versions missed, or a snapshot in place of too many."""
        if self.after is None:
            return [views.frame("snapshot", self.seen, self.language, with_view=True)]
        frames = missed(reading.sessions(), self.seen, self.after)
        if frames is None:
            return [views.frame("reset", self.seen, self.language, with_view=True)]
        return [self.told(frame) for frame in frames]

    def told(self, frame: Frame) -> views.Frame:
        """Return a version as this viewer may know it."""
        viewer = viewing(self.seen.viewer, frame.record.position)
        seen = Seen(self.seen.session, frame.record, viewer, frame.now, frame.entry.events)
        return views.frame("move", seen, self.language, with_view=self.with_view)

    def end(self, frame: Frame) -> str | None:
        """Return why the stream ends behind this version, if it does: the session does, or the token is void."""
        action = frame.entry.move.action
        void = action.verb == "token" and action.body["seat"] == self.seen.viewer.seat
        return "token-void" if void else frame.record.end


@events.get("/v1/sessions/<session>/events")
def follow(session: str) -> Response:
    """Tell what happens, from now on or from after a version."""
    media_type = reading.accepted(JSON, SSE, NDJSON)
    ticket = reading.parameter("ticket")
    name = reading.session_id(session)
    if ticket is None:
        seen = reading.sessions().look(name, reading.token())
    else:
        seen = reading.sessions().look_by_ticket(name, ticket, reading.token())
    gate().count("events")
    asked = reading.query(
        after=reading.number(0, MOST_VERSION), wait=reading.number(0, LONGEST_WAIT), view=reading.flag, ticket=str
    )
    after = _last_event_id(asked.get("after")) if media_type == SSE else asked.get("after")
    feed = Feed(seen, after, with_view=asked.get("view", True))
    if media_type == JSON:
        return _poll(feed, asked.get("wait", 0))
    return _stream(feed, media_type)


def _poll(feed: Feed, wait: int) -> Response:
    """Answer with the versions missed, or wait for the next; without a place to wait in, answer at once."""
    headers = feed.headers() | {"Croupier-Time": str(feed.seen.now)}
    if feed.after is None:
        feed.after = feed.seen.record.version
    frames = feed.opening()
    if not frames and wait and feed.seen.record.end is None:
        try:
            frames = _waited(feed, wait)
        except TooManyStreams:
            headers["Retry-After"] = "1"
    version = frames[-1].version if frames else feed.seen.record.version
    document = {"version": version, "frames": frames}
    return Response(views.encode(document), headers=headers, content_type=JSON)


def _waited(feed: Feed, seconds: int) -> list[views.Frame]:
    """Return the next version, and what came at once behind it, or nothing when the time is up."""
    subscription = _streams().subscribe(feed.seen, gate().client())
    metrics.STREAMS["poll"].inc()
    found: list[views.Frame] = []
    current_app.extensions["turns"].end()
    try:
        left = float(seconds)
        while (frame := subscription.get(left)) is not None:
            found.append(feed.told(frame))
            if feed.end(frame):
                break
            left = 0
    except Empty:
        pass
    finally:
        metrics.STREAMS["poll"].dec()
        _streams().unsubscribe(subscription)
    return found


def _stream(feed: Feed, media_type: str) -> Response:
    """Stream until the session ends, the client goes or the process closes."""
    over = feed.seen.record.end is not None
    if over and feed.after == feed.seen.record.version:
        return Response(b"", 204, feed.headers())  # what makes an EventSource stop coming back
    headers = feed.headers() | {"Croupier-Time": str(feed.seen.now)}
    if request.method == "HEAD":  # else the server would write a stream that nobody reads
        return Response(iter(()), headers=headers, content_type=media_type)
    opening, streams = feed.opening(), _streams()  # found here: a stream is written outside of Flask's context
    subscription = None if over else streams.subscribe(feed.seen, gate().client())
    told = _told(feed, opening, subscription, streams.heartbeat)
    response = Response(_lines(told, media_type), headers=headers, content_type=media_type)
    if subscription is not None:
        waiting = metrics.STREAMS["sse" if media_type == SSE else "ndjson"]
        waiting.inc()
        response.call_on_close(waiting.dec)
        response.call_on_close(lambda: streams.unsubscribe(subscription))
    return response


def _told(
    feed: Feed, opening: list[views.Frame], subscription: Subscription | None, heartbeat: float
) -> Iterator[views.Frame | views.Ended | None]:
    """Yield frames as they come, nothing for a heartbeat, and the end."""
    yield from opening
    last, end = feed.seen.record, feed.seen.record.end
    while subscription is not None:
        try:
            frame = subscription.get(heartbeat)
        except Empty:
            if closing.is_set():
                break
            yield None
            continue
        if frame is None:
            end = last.end or "expired"
            break
        yield feed.told(frame)
        last, end = frame.record, feed.end(frame)
        if end:
            break
    if not closing.is_set() and not (subscription and subscription.left_behind):  # else the client is to come back
        yield views.Ended("end", last.version, end)


def _lines(told: Iterator[views.Frame | views.Ended | None], media_type: str) -> Iterator[bytes]:
    """Yield what goes over the wire, at once something, which takes the headers along.

    A heartbeat is a comment, or an empty line.
    """
    if media_type == NDJSON:
        yield b"\n"
        for frame in told:
            yield b"\n" if frame is None else views.encode(frame) + b"\n"
        return
    yield b"retry: %d\n\n" % RETRY_MS
    for frame in told:
        if frame is None:
            yield b":\n\n"
        else:
            yield b"id: %d\nevent: %s\ndata: %s\n\n" % (frame.version, frame.event.encode(), views.encode(frame))


def _last_event_id(after: int | None) -> int | None:
    """Return the version that an EventSource comes back with; one that is none of ours cannot be gone on from."""
    given = request.headers.get("Last-Event-ID")
    if not given:
        return after
    return int(given) if given.isascii() and given.isdigit() and len(given) <= len(str(MOST_VERSION)) else MOST_VERSION


def _streams() -> Streams:
    return cast("Streams", current_app.extensions["streams"])
