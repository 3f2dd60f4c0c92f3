"""Models with random damage: changes of the wire format, guided by the messages of onnx.proto, and of single bytes.

A model is read into a tree of fields, of which a few change; what comes out may be a model, or no message at all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from onnx import ModelProto

from onnx_infer.protobuf.wire import varint

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from random import Random

VARINT, FIXED64, LENGTH, FIXED32 = 0, 1, 2, 5
NUMBERS = (0, 1, 2, 3, 5, 7, 8, 127, 2**31 - 1, 2**31, 2**32, 2**62, 2**63 - 1, 2**63, 2**64 - 2, 2**64 - 1)
TEXTS = (b"", b"\xff", b"a\xc3", b"\xed\xa0\x80", b"\0", b"?", b"N", b"2*N", b"_d0", b"-1", b"N//0", b"Neg", b"ai.onnx")
MOST_CONTENT = 1 << 12
"""The longest content that is read as a message or changed byte by byte: longer ones are weights."""


class Field:
    """A field on the wire; `content` is a number, bytes, or the fields of a message that `descriptor` describes."""

    __slots__ = ("content", "descriptor", "kind", "number")

    def __init__(self, number: int, kind: int, content: Any, descriptor: Any = None) -> None:
        self.number, self.kind, self.content, self.descriptor = number, kind, content, descriptor

    def copy(self) -> Field:
        """The field with copies of the fields in it."""
        inner = [f.copy() for f in self.content] if isinstance(self.content, list) else self.content
        return Field(self.number, self.kind, inner, self.descriptor)


# -- the wire format --------------------------------------------------------------------------------------------------


def read(data: bytes, descriptor: Any) -> list[Field]:
    """The fields of a well-formed message."""
    fields, at = [], 0
    while at < len(data):
        tag, at = _read_varint(data, at)
        number, kind = tag >> 3, tag & 7
        content: Any
        if kind == VARINT:
            content, at = _read_varint(data, at)
        else:
            size, at = _read_varint(data, at) if kind == LENGTH else ({FIXED64: 8, FIXED32: 4}[kind], at)
            content, at = data[at : at + size], at + size
        known = descriptor.fields_by_number.get(number)
        inner = known.message_type if known is not None and kind == LENGTH else None
        fields.append(Field(number, kind, content if inner is None else read(content, inner), inner))
    return fields


def _read_varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at


def write(fields: list[Field]) -> bytes:
    """The message of these fields."""
    out = []
    for field in fields:
        out.append(varint(field.number << 3 | field.kind))
        if field.kind == VARINT:
            out.append(varint(field.content))
            continue
        content = write(field.content) if isinstance(field.content, list) else field.content
        out += (varint(len(content)), content) if field.kind == LENGTH else (content,)
    return b"".join(out)


# -- damage -----------------------------------------------------------------------------------------------------------


class Damage:
    """The damaged forms of one model."""

    def __init__(self, model: bytes) -> None:
        self._fields = read(model, ModelProto.DESCRIPTOR)

    def draw(self, rng: Random) -> bytes:
        """The model with one to four changes; every other time one of them is a change of bytes."""
        fields = [field.copy() for field in self._fields]
        for _ in range(rng.choice((1, 1, 2, 3))):
            places = list(_places(fields))
            if places:
                siblings, index = _chosen(places, rng)
                rng.choice(CHANGES)(siblings, index, rng, places)
        data = write(fields)
        return data if rng.random() < 0.8 else _bytes_changed(data, rng)


Places = list[tuple[list[Field], int]]


def _places(fields: list[Field]) -> Iterator[tuple[list[Field], int]]:
    pending = [fields]
    while pending:
        siblings = pending.pop()
        for index, field in enumerate(siblings):
            yield siblings, index
            if isinstance(field.content, list):
                pending.append(field.content)


def _chosen(places: Places, rng: Random) -> tuple[list[Field], int]:
    """A place; fields that are rare in the model are as likely as those of which there are many."""
    sample = [rng.choice(places) for _ in range(3)]
    kinds: dict[tuple[int, int], list[tuple[list[Field], int]]] = {}
    for siblings, index in (*sample, *places[: 1 << 10]):
        kinds.setdefault((siblings[index].number, siblings[index].kind), []).append((siblings, index))
    return rng.choice(sample) if rng.random() < 0.5 else rng.choice(kinds[rng.choice(sorted(kinds))])


def _deleted(siblings: list[Field], index: int, rng: Random, places: Places) -> None:
    del siblings[index]


def _doubled(siblings: list[Field], index: int, rng: Random, places: Places) -> None:
    siblings.insert(rng.randrange(len(siblings) + 1), siblings[index].copy())


def _moved(siblings: list[Field], index: int, rng: Random, places: Places) -> None:
    siblings.insert(rng.randrange(len(siblings)), siblings.pop(index))


def _renumbered(siblings: list[Field], index: int, rng: Random, places: Places) -> None:
    siblings[index].number = rng.choice((rng.randrange(1, 26), rng.randrange(1, 1 << 20)))


def _other_kind(siblings: list[Field], index: int, rng: Random, places: Places) -> None:
    field = siblings[index]
    field.kind = rng.choice((VARINT, FIXED64, LENGTH, FIXED32))
    field.content = {VARINT: rng.choice(NUMBERS), FIXED64: b"\xff" * 8, LENGTH: b"\x08\x01", FIXED32: b"\0\0\x80\xff"}[
        field.kind
    ]


def _other_content(siblings: list[Field], index: int, rng: Random, places: Places) -> None:
    """Another number, another text, or half of a message; then its bytes are no message any more."""
    field = siblings[index]
    if field.kind == VARINT:
        field.content = rng.choice((*NUMBERS, rng.randrange(40)))
    elif field.kind == LENGTH and isinstance(field.content, list) and rng.random() < 0.7:
        del field.content[rng.randrange(len(field.content) + 1) :]
    elif field.kind == LENGTH:
        content = write(field.content) if isinstance(field.content, list) else field.content
        at = rng.randrange(len(content) + 1)
        field.content = rng.choice((*TEXTS, content[:at], content[:at] + b"\xff" + content[at:]))
    else:
        field.content = rng.randbytes(len(field.content))


def _exchanged(siblings: list[Field], index: int, rng: Random, places: Places) -> None:
    """The content of another field of this kind: cycles, names twice, graphs in graphs, attributes of another kind."""
    field = siblings[index]
    others = [s[i] for s, i in rng.sample(places, min(200, len(places)))]
    same = [f for f in others if f.kind == field.kind and (f.number == field.number or rng.random() < 0.1)]
    if same:
        field.content = rng.choice(same).copy().content


def _bytes_changed(data: bytes, rng: Random) -> bytes:
    """One to eight bytes other, gone or new, or the end cut off."""
    if rng.random() < 0.1:
        return data[: rng.randrange(len(data) + 1)]
    changed = bytearray(data)
    for _ in range(rng.choice((1, 1, 1, 2, 8))):
        at = rng.randrange(len(changed) + 1)
        changed[at : at + rng.randrange(2)] = rng.randbytes(rng.choice((0, 1, 1, 1)))
    return bytes(changed)


CHANGES: tuple[Callable[[list[Field], int, Random, Places], None], ...] = (
    _deleted, _doubled, _moved, _renumbered, _other_kind, _other_content, _other_content, _other_content,
    _exchanged, _exchanged, _exchanged,
)  # fmt: skip
