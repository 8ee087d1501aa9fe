"""Routing: by path and method alone, and what most requests are, a verb of a session, by one look-up."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from werkzeug.routing import Map, MapAdapter, Rule

if TYPE_CHECKING:
    from flask import Request

_SESSIONS = "/v1/sessions/"


class Adapter(MapAdapter):
    """Matches one request; `verbs` has the rule that each verb of a session is played by."""

    def __init__(self, url_map: Map, verbs: Mapping[str, Rule], asked: "Request") -> None:
        super().__init__(url_map, "", "/", None, "http", asked.path, asked.method)
        self._verbs = verbs

    def match(self, *args: Any, **named: Any) -> Any:  # noqa: ANN401 - as werkzeug has it
        """Return the rule and its arguments; raise what werkzeug raises where there is none."""
        here, _, verb = self.path_info.rpartition("/")
        session = here.removeprefix(_SESSIONS)
        rule = self._verbs.get(verb) if self.default_method == "POST" else None
        if rule is None or not session or session == here or "/" in session:
            return super().match(*args, **named)
        return rule, {"session": session, "verb": verb}
