"""Examples as YAML: laid out by hand's rules, so that a reader finds them as he would have written them."""

import json
import re
import textwrap

HEAD = "\n  examples: # written by tests/capture_examples.py\n"
WIDTH = 100

Examples = dict[str, object]

_PLAIN = re.compile("(?!(true|false|null|yes|no|on|off|y|n)$)[a-z][a-z0-9_-]*", re.IGNORECASE | re.ASCII)
"""Text that needs no quotes in any YAML."""


def rewritten(text: str, examples: Examples) -> str:
    """Return the document with these examples in its last section."""
    lines = [line for name, value in examples.items() for line in (f"    {name}:", *_field("value", value, 6))]
    return text[: text.index(HEAD)] + HEAD + "\n".join(lines) + "\n"


def _field(name: str, value: object, indent: int) -> list[str]:
    """Return `name: value` as lines of YAML."""
    start = f"{' ' * indent}{name}:"
    if len(line := f"{start} {_flow(value)}") <= WIDTH or not value or isinstance(value, (int, str)):
        return _text(start, value, indent) if isinstance(value, str) and "\n" in value else [line]
    if isinstance(value, dict):
        return [start, *(line for each in value.items() for line in _field(*each, indent + 2))]
    assert isinstance(value, list)
    if isinstance(value[0], str):
        return [start, *_wrapped(_flow(value), indent + 2)]
    return [start, *(line for each in value for line in _item(each, indent + 2))]


def _item(value: object, indent: int) -> list[str]:
    """Return `- value` as lines of YAML."""
    if len(line := f"{' ' * indent}- {_flow(value)}") <= WIDTH or not isinstance(value, dict):
        return [line]
    first, *others = (line for each in value.items() for line in _field(*each, indent + 2))
    return [f"{' ' * indent}- {first.strip()}", *others]


def _text(start: str, text: str, indent: int) -> list[str]:
    """Return a text of several lines as it is."""
    return [f"{start} |", *(f"{' ' * (indent + 2)}{line}".rstrip() for line in text.splitlines())]


def _wrapped(flow: str, indent: int) -> list[str]:
    first, next_ = " " * indent, " " * (indent + 1)
    return textwrap.wrap(flow, WIDTH, initial_indent=first, subsequent_indent=next_, break_on_hyphens=False)


def _flow(value: object) -> str:
    """Return a value as YAML on one line."""
    if isinstance(value, dict):
        inner = ", ".join(f"{name}: {_flow(each)}" for name, each in value.items())
        return f"{{ {inner} }}" if inner else "{}"
    if isinstance(value, list):
        return f"[{', '.join(map(_flow, value))}]"
    plain = isinstance(value, str) and _PLAIN.fullmatch(value)
    return str(value) if plain else json.dumps(value, ensure_ascii=False)
