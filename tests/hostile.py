"""Bodies that a service meets on the open net, byte for byte, sorted by what must become of them."""

import json
from collections.abc import Iterator, Mapping

from engine.fields import Amount, Choice, Field, Group, Name, Positions, Shape, Text
from engine.games import GAMES
from engine.play import COMMON_VERBS, SEAT_VERBS

KIB = 1024
ROOM = 16 * KIB

MALFORMED: Mapping[str, bytes] = {
    # No JSON at all.
    "one space": b" ",
    "blank lines": b"\r\n\t \n",
    "a brace": b"{",
    "a closing brace": b"}",
    "an unfinished string": b'{"amount": "5',
    "an unfinished escape": b'{"amount": "5\\',
    "a name without a value": b'{"amount":}',
    "a name without quotes": b"{amount: 5}",
    "single quotes": b"{'amount': 5}",
    "a comma at the end": b'{"amount": 5,}',
    "a comma in a list": b'{"cards": [0, 1,]}',
    "no comma": b'{"amount": 5 "repeat": true}',
    "two objects": b'{"amount": 5}{"amount": 5}',
    "an object and a word": b'{"amount": 5} x',
    "an object and a NUL": b'{"amount": 5}\x00',
    "two lines of objects": b'{"amount": 5}\n{"amount": 6}',
    "a comment before": b'/* five */ {"amount": 5}',
    "a comment inside": b'{"amount": 5 // five\n}',
    "a comment of a shell": b'{"amount": 5} # five',
    "a form": b"amount=5&repeat=true",
    "an XML document": b"<?xml version='1.0'?><amount>5</amount>",
    "YAML": b"amount: 5\n",
    "msgpack": b"\x81\xa6amount\x05",
    "gzip": b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\xabV*J-IUJIU\xb2\x02\x00\x00\xff\xff\x03\x00",
    "a word": b"undefined",
    "True as Python writes it": b'{"repeat": True}',
    # Names twice.
    "a name twice": b'{"amount": 5, "amount": 6}',
    "a name twice, once escaped": b'{"amount": 5, "\\u0061mount": 6}',
    "a name twice, deeper": b'{"options": {"wheel": true, "wheel": false}}',
    "an empty name twice": b'{"": 1, "": 2}',
    # Numbers that are none, or too long.
    "NaN": b'{"amount": NaN}',
    "Infinity": b'{"amount": Infinity}',
    "minus Infinity": b'{"amount": -Infinity}',
    "a hexadecimal number": b'{"amount": 0x5}',
    "a leading zero": b'{"amount": 05}',
    "a plus sign": b'{"amount": +5}',
    "a point at the end": b'{"amount": 5.}',
    "a point at the start": b'{"amount": .5}',
    "an underscore in a number": b'{"amount": 1_000}',
    "a number of 21 digits": b'{"amount": 100000000000000000000}',
    "a number of 5,000 digits": b'{"amount": ' + b"9" * 5000 + b"}",
    "a number of 5,000 digits below nothing": b'{"amount": -' + b"9" * 5000 + b"}",
    "5,000 digits behind the point": b'{"amount": 0.' + b"3" * 5000 + b"}",
    "an exponent of 5,000 digits": b'{"amount": 1e' + b"9" * 5000 + b"}",
    "an Arabic five": '{"amount": \u0665}'.encode(),
    "a fullwidth five": '{"amount": \uff15}'.encode(),
    # Nesting.
    "5,000 lists": b'{"cards": ' + b"[" * 5000 + b"]" * 5000 + b"}",
    "5,000 lists that nobody closes": b'{"cards": ' + b"[" * 5000,
    "3,000 objects": b'{"a":' * 2500 + b"1" + b"}" * 2500,
    "33 levels": b"[" * 33 + b"]" * 33,
    "33 levels behind a string with brackets": b'["]]]]",' + b"[" * 32 + b"]" * 33,
    "quotes behind backslashes": b"[" * 33 + b'\\"' * 8000,
    # Text that is not UTF-8, or that no encoding carries on.
    "a byte order mark": b'\xef\xbb\xbf{"amount": 5}',
    "UTF-16": '{"amount": 5}'.encode("utf-16"),
    "UTF-16 without a mark": '{"amount": 5}'.encode("utf-16-be"),
    "UTF-32": '{"amount": 5}'.encode("utf-32"),
    "latin-1": b'{"client_seed": "gl\xfcck"}',
    "an overlong slash": b'{"client_seed": "\xc0\xaf"}',
    "a sign cut in half": b'{"client_seed": "\xe2\x82"}',
    "half a surrogate pair, raw": b'{"client_seed": "\xed\xa0\x80"}',
    "a surrogate pair, raw": b'{"client_seed": "\xed\xa0\xbd\xed\xb8\x80"}',
    "half a surrogate pair, escaped": b'{"client_seed": "\\ud800"}',
    "the other half, escaped": b'{"client_seed": "\\uDFFF"}',
    "a surrogate pair, turned round": b'{"client_seed": "\\ude00\\ud83d"}',
    "half a surrogate pair as a name": b'{"\\udead": 1}',
    "half a surrogate pair as a seat": b'{"game": "spice-island-poker", "seats": ["\\ud83d"]}',
    "beyond Unicode": b'{"client_seed": "\xf4\x90\x80\x80"}',
    "a NUL in a string": b'{"client_seed": "a\x00b"}',
    "a line end in a string": b'{"client_seed": "a\nb"}',
    "an escape that is none": b'{"client_seed": "\\x41"}',
    "a short escape": b'{"client_seed": "\\u12"}',
    "16 KiB of NUL": b"\x00" * ROOM,
    "16 KiB of quotes": b'"' * ROOM,
    "16 KiB of backslashes": b'"' + b"\\" * (ROOM - 1),
}
"""Answered 400 `malformed-json` wherever a body is read."""

NO_OBJECTS: Mapping[str, bytes] = {
    "null": b"null",
    "true": b"true",
    "a number": b"5",
    "a number with a point": b"5.0",
    "a string": b'"wager"',
    "an empty list": b"[]",
    "a list of an object": b'[{"amount": 5}]',
    "32 levels": b"[" * 32 + b"]" * 32,
    "a list of 5,000 numbers": b"[" + b"1," * 5000 + b"1]",
}
"""JSON, and no object: answered 422 with a pointer to the whole body."""

MISFITS: Mapping[str, bytes] = {
    "a field that nothing has": b'{"unknown": 1}',
    "an empty name": b'{"": 1}',
    "a name with a NUL": b'{"\\u0000": 1}',
    "a name with slashes": b'{"a/b~c": 1}',
    "__proto__": b'{"__proto__": {"amount": 5}}',
    "constructor": b'{"constructor": {"prototype": {}}}',
    "__class__": b'{"__class__": "Record", "__init__": null}',
    "a name in capitals": b'{"AMOUNT": 5, "GAME": "spice-island-poker"}',
    "a name with a space": b'{"amount ": 5, "game ": "spice-island-poker"}',
    "a name of 16,000 letters": b'{"' + b"a" * 16_000 + b'": 1}',
    "a name deep in Unicode": '{"\U000e0041\u202e\u0301": 1}'.encode(),
    "1,000 unknown fields": b"{" + b",".join(b'"%d": 1' % number for number in range(1000)) + b"}",
    "a number beyond a float": b'{"unknown": 1e999}',
    "30 levels": b'{"unknown": ' + b"[" * 30 + b"]" * 30 + b"}",
    "brackets in a string": b'{"unknown": "' + b"[{" * 5000 + b'"}',
}
"""Objects that no schema of the service takes: answered 422."""

TOO_LARGE: Mapping[str, bytes] = {
    "16 KiB and a byte": b"{" + b" " * (ROOM - 1) + b"}",
    "a string of a megabyte": b'{"client_seed": "' + b"a" * (KIB * KIB) + b'"}',
    "a million opening brackets": b"[" * 1_000_000,
}
"""Answered 413, whatever they are."""

EMPTIES: Mapping[str, bytes] = {
    "nothing": b"",
    "no field": b"{}",
    "no field, and room": b" {\n} ",
    "no field in 16 KiB": b"{" + b" " * (ROOM - 2) + b"}",
}
"""Objects without a field: right where every field is optional."""

NOT_AN_INTEGER = ('"5"', "5.0", "5e0", "5.9", "-0.0", "true", "false", "null", "[]", "[5]", "{}", '"\u0665"', '" 5 "')
NOT_A_STRING = ("5", "0", "true", "null", "[]", '["a"]', "{}", '{"a": 1}')
NOT_A_BOOLEAN = ("1", "0", "1.0", '"true"', '"yes"', '""', "null", "[]", "{}")
NOT_A_LIST = ("5", "true", "null", '"01"', '""', "{}", '{"0": 1, "1": 2}')


NOT_AN_OBJECT = ("5", "true", "null", '"left"', "[]", "[{}]")


def wrong_values(field: Field) -> Iterator[str]:
    """Yield values, as JSON text, that a field does not take."""
    match field:
        case Amount(least=least, most=most):
            yield from (*NOT_AN_INTEGER, str(least - 1), str(most + 1), "99999999999999999999", "-99999999999999999999")
        case Choice(values=values):
            yield from _wrong_choices(values[0])
        case Positions():
            yield from _wrong_positions(field)
        case Text(most_bytes=most):
            yield from NOT_A_STRING
            yield from (f'"{letter * (most // len(letter.encode()) + 1)}"' for letter in "a\u00e9")
        case Name():
            yield from (*NOT_A_STRING, '""', '" "', '"a\\u0000b"', '"a\\u202eb"', '"e\\u0301"', f'"{"a" * 33}"')
        case Group(shape=shape):
            yield from NOT_AN_OBJECT
            yield from (text for _, text in wrong_shapes(shape))


def _wrong_choices(value: object) -> tuple[str, ...]:
    if isinstance(value, bool):
        return NOT_A_BOOLEAN
    if isinstance(value, int):
        return (*NOT_AN_INTEGER, "-1", "99")
    return (*NOT_A_STRING, '""', '"BET"', '"bet "', '"\\u0000"')


def _wrong_positions(field: Positions) -> Iterator[str]:
    among, least, most = field.among, field.least, field.most
    yield from NOT_A_LIST
    yield from (f"[0, {value}]" for value in NOT_AN_INTEGER)
    yield from ("[0, 0]", "[-1, 0]", f"[0, {among[-1] + 1}]", str([0] * (most + 1)))
    if least:
        yield str([0] * (least - 1))


def right_value(field: Field) -> object:
    """Return a value that a field takes."""
    match field:
        case Amount(least=least):
            return least
        case Choice(values=values):
            return values[0]
        case Positions(among=among, least=least):
            return list(among[:least])
        case Text() | Name():
            return "x"
        case Group(shape=shape):
            return {each.name: right_value(each) for each in shape.fields}


def wrong_shapes(shape: Shape) -> Iterator[tuple[str, str]]:
    """Yield each field's name with objects in which it is wrong, and whatever else must be there is right."""
    for field in shape.fields:
        others = {each.name: right_value(each) for each in shape.fields if each.required and each != field}
        for value in wrong_values(field):
            pairs = [f'"{field.name}": {value}', *(f'"{name}": {json.dumps(each)}' for name, each in others.items())]
            yield field.name, f"{{{', '.join(pairs)}}}"


def wrong_bodies(game: str) -> Iterator[tuple[str, str, bytes]]:
    """Yield for every verb of a game and of every table: the verb, the field that is wrong, the body."""
    for verb, shapes in (GAMES[game].spec.verbs | COMMON_VERBS | SEAT_VERBS).items():
        for shape in shapes:
            yield from ((verb, name, text.encode()) for name, text in wrong_shapes(shape))


def wrong_options(game: str) -> Iterator[tuple[str, bytes]]:
    """Yield the option that is wrong, and the options of a game."""
    for option in GAMES[game].spec.options.options:
        for value in wrong_values(option.field):
            yield option.name, f'{{"{option.name}": {value}}}'.encode()
