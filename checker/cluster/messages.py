"""Bodies of Kafka's requests and responses as plain values, by the table ``message_fields.csv``."""

from __future__ import annotations

import base64
import csv
import struct
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Union

from proofka.checker.cluster.apis import api_named
from proofka.checker.cluster.batches import unsigned_varint
from proofka.checker.cluster.errors import ClusterError
from proofka.checker.cluster.frames import Frame

_TABLE = Path(__file__).with_name("message_fields.csv")
_ARRAY = "[]"
_STRUCT = "struct"

Value = Union[None, bool, int, str, bytes, "dict[str, Value]", "list[Value]"]
"""A value of a field: a structure is a dictionary by field name, an id of a topic is text as Kafka prints it."""
Fields = dict[str, Any]
"""The values of a message or structure by field name; a field that the version or the sender omits is absent."""


class UnreadableBody(ClusterError):
    """A body that cannot be read for sure: its version is not in the table, or its bytes do not follow the table."""

    code = "K37"

    def __init__(self, frame: Frame, reason: str) -> None:
        super().__init__(f"The body of {frame} cannot be read: {reason}")
        self.api = frame.api
        self.version = frame.version


class _Unfitting(Exception):
    """Bytes that do not follow the table."""


@dataclass(frozen=True)
class Field:
    """A field of one version of a message; ``tag`` is None for a field that is always there."""

    name: str
    kind: str
    is_array: bool
    is_nullable: bool
    tag: int | None
    fields: tuple[Field, ...]


@cache
def _rows() -> dict[str, list[dict[str, str]]]:
    by_message: dict[str, list[dict[str, str]]] = {}
    with _TABLE.open(encoding="utf-8", newline="") as table:
        for row in csv.DictReader(table):
            by_message.setdefault(row["message"], []).append(row)
    return by_message


@cache
def fields_of(message: str, version: int) -> tuple[Field, ...]:
    """Return the fields of a version of a message such as "FetchRequest"; none where the table lacks the version."""
    rows = [row for row in _rows().get(message, ()) if int(row["first_version"]) <= version <= int(row["last_version"])]

    def under(prefix: str) -> tuple[Field, ...]:
        return tuple(
            Field(
                name=row["field"][len(prefix) :],
                kind=row["type"].replace(_ARRAY, ""),
                is_array=row["type"].startswith(_ARRAY),
                is_nullable=row["nullable"] == "yes",
                tag=int(row["tag"]) if row["tag"] else None,
                fields=under(row["field"] + "."),
            )
            for row in rows
            if row["field"].startswith(prefix) and "." not in row["field"][len(prefix) :]
        )

    return under("")


class _Reader:
    """A position in the bytes of a body."""

    def __init__(self, data: bytes, *, is_flexible: bool) -> None:
        self.data = data
        self.at = 0
        self._is_flexible = is_flexible

    def structure(self, fields: tuple[Field, ...]) -> Fields:
        """Return the values of a structure, with its tagged fields."""
        values = {field.name: self._field(field) for field in fields if field.tag is None}
        if self._is_flexible:
            tagged = {field.tag: field for field in fields if field.tag is not None}
            for _ in range(self._varint()):
                tag, size = self._varint(), self._varint()
                end = self.at + size
                if tag in tagged:
                    values[tagged[tag].name] = self._field(tagged[tag])
                    if self.at != end:
                        raise _Unfitting(f"tagged field {tagged[tag].name} does not have {size} bytes")
                else:
                    self._take(size)
        return values

    def _field(self, field: Field) -> Value:
        if not field.is_array:
            return self._one(field)
        count = self._length(field, "i")
        if count is None:
            return None
        if count > len(self.data) - self.at:  # An element has at least one byte.
            raise _Unfitting(f"{field.name} says {count} elements in {len(self.data) - self.at} bytes")
        return [self._element(field) for _ in range(count)]

    def _element(self, field: Field) -> Value:
        return self.structure(field.fields) if field.kind == _STRUCT else self._one(field)

    def _one(self, field: Field) -> Value:
        if field.kind == _STRUCT:
            if field.is_nullable and self._number("b") < 0:
                return None
            return self.structure(field.fields)
        if field.kind == "bool":
            return bool(self._number("b"))
        if field.kind == "uuid":
            return base64.urlsafe_b64encode(self._take(16)).rstrip(b"=").decode("ascii")
        if field.kind in _NUMBERS:
            return self._number(_NUMBERS[field.kind])
        length = self._length(field, "h" if field.kind == "string" else "i")
        if length is None:
            return None
        data = self._take(length)
        return data.decode("utf-8") if field.kind == "string" else data

    def _length(self, field: Field, size: str) -> int | None:
        length = self._varint() - 1 if self._is_flexible else self._number(size)
        if length >= 0:
            return length
        if length == -1 and field.is_nullable:
            return None
        raise _Unfitting(f"{field.name} has length {length}")

    def _number(self, code: str) -> int:
        number = struct.Struct(">" + code)
        return int(number.unpack(self._take(number.size))[0])

    def _varint(self) -> int:
        value, self.at = unsigned_varint(self.data, self.at)
        return value

    def _take(self, count: int) -> bytes:
        if self.at + count > len(self.data):
            raise _Unfitting(f"{count} bytes are to come at byte {self.at} of {len(self.data)}")
        self.at += count
        return self.data[self.at - count : self.at]


_NUMBERS = {"int8": "b", "int16": "h", "uint16": "H", "int32": "i", "int64": "q"}


def read_body(frame: Frame) -> Fields:
    """Return the values of a frame's body. Raises UnreadableBody."""
    if frame.unread:
        raise UnreadableBody(frame, frame.unread)
    fields = fields_of(frame.api + frame.side.capitalize(), frame.version)
    if not fields:
        raise UnreadableBody(frame, f"{_TABLE.name} has no such version of this message")
    reader = _Reader(frame.body, is_flexible=api_named(frame.api).is_flexible(frame.version))
    try:
        values = reader.structure(fields)
    except (_Unfitting, IndexError, UnicodeDecodeError) as error:
        raise UnreadableBody(frame, str(error)) from error
    if reader.at != len(frame.body):
        raise UnreadableBody(frame, f"{len(frame.body) - reader.at} bytes are left at its end")
    return values
