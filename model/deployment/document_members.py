"""The members of a JSON document, read one by one and checked; records of values by the types of their fields."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, fields, is_dataclass
from enum import StrEnum
from types import NoneType
from typing import Any, TypeVar, cast, get_args, get_type_hints

from proofka.model.deployment.errors import DocumentError
from proofka.model.deployment.hiding import printable

LARGEST = 2**63 - 1
"""The largest number in a document."""

Names = Mapping[str, str]
"""Field -> the name of its member in a document, where the two differ."""

Ranges = Mapping[str, range]
"""Field -> its possible numbers, where these are not all from 0 on."""

_Choice = TypeVar("_Choice", bound=StrEnum)
_Item = TypeVar("_Item")
_Record = TypeVar("_Record")


class Members:
    """The members of one object or list of a document, taken one by one. Each error names the member's path."""

    def __init__(self, value: object, path: str) -> None:
        self._path = path
        if isinstance(value, Mapping):
            self._values: dict[object, Any] = dict(value)
        elif isinstance(value, list):
            self._values = dict(enumerate(value))
        else:
            raise DocumentError("must be an object or a list", key=path)
        self._is_list = isinstance(value, list)
        self._taken: set[object] = set()

    def __len__(self) -> int:
        return len(self._values)

    def __iter__(self) -> Iterator[int]:
        """Yield the positions of a list."""
        return iter(range(len(self._values)))

    def path(self, key: object) -> str:
        return f"{self._path}[{key}]" if self._is_list else f"{self._path}.{key}"

    def take(self, key: object) -> Any:
        self._taken.add(key)
        if key not in self._values:
            raise DocumentError("is missing", key=self.path(key))
        return self._values[key]

    def text(self, key: object) -> str:
        value = self.take(key)
        if not isinstance(value, str):
            raise DocumentError("must be a text", key=self.path(key))
        return value

    def optional_text(self, key: object) -> str | None:
        return None if self.take(key) is None else self.text(key)

    def flag(self, key: object) -> bool:
        value = self.take(key)
        if not isinstance(value, bool):
            raise DocumentError("must be true or false", key=self.path(key))
        return value

    def number(self, key: object, least: int, most: int) -> int:
        value = self.take(key)
        if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
            raise DocumentError(f"must be a whole number from {least} to {most}", key=self.path(key))
        return value

    def optional_number(self, key: object, least: int, most: int) -> int | None:
        return None if self.take(key) is None else self.number(key, least, most)

    def one_of(self, key: object, choices: tuple[str, ...]) -> str:
        value = self.text(key)
        if value not in choices:
            raise DocumentError(f"must be one of {', '.join(choices)}", key=self.path(key))
        return value

    def choice(self, key: object, choices: type[_Choice]) -> _Choice:
        return choices(self.one_of(key, tuple(member.value for member in choices)))

    def members(self, key: object) -> Members:
        value = self.take(key)
        if not isinstance(value, Mapping):
            raise DocumentError("must be an object", key=self.path(key))
        return Members(value, self.path(key))

    def items(self, key: object, read: Callable[[Members], tuple[_Item, ...]]) -> tuple[_Item, ...]:
        value = self.take(key)
        if not isinstance(value, list):
            raise DocumentError("must be a list", key=self.path(key))
        return read(Members(value, self.path(key)))

    def each(self, key: object, read: Callable[[Members], _Item]) -> tuple[_Item, ...]:
        return self.items(key, lambda items: tuple(read(items.members(i)) for i in items))

    def record(self, kind: type[_Record], names: Names, ranges: Ranges) -> _Record:
        """Read a record: each field by its type, which is a flag, a number, a choice, or a record in turn."""
        hints = _hints(kind)
        return kind(**{name: self._value(names.get(name, name), hints[name], names, ranges) for name in hints})

    def _value(self, key: str, hint: Any, names: Names, ranges: Ranges) -> Any:
        choices = get_args(hint)
        if NoneType in choices:
            if self.take(key) is None:
                return None
            (hint,) = (one for one in choices if one is not NoneType)
        if hint is bool:
            return self.flag(key)
        if hint is int:
            allowed = ranges.get(key, range(LARGEST + 1))
            return self.number(key, allowed.start, allowed.stop - 1)
        if isinstance(hint, type) and issubclass(hint, StrEnum):
            return self.choice(key, hint)
        if not is_dataclass(hint):
            return self.items(key, lambda numbers: _release(numbers, self.path(key)))
        inner = self.members(key)
        read: Any = inner.record(cast(type[Any], hint), {}, ranges)
        inner.check_no_more()
        return read

    def check_no_more(self) -> None:
        for key in self._values:
            if key not in self._taken:
                raise DocumentError("is not a member of a deployment", key=self.path(printable(str(key))))


def _hints(kind: type[Any]) -> dict[str, Any]:
    """Return the types of a record's fields, in their order."""
    hints = get_type_hints(kind)
    return {field.name: hints[field.name] for field in fields(kind)}


def _release(numbers: Members, path: str) -> tuple[int, ...]:
    if len(numbers) != 3:
        raise DocumentError("must be three numbers", key=path)
    return tuple(numbers.number(at, 0, 999) for at in numbers)


def written(record: Any, names: Names) -> dict[str, Any]:
    """Return the members of a record, as :meth:`Members.record` reads them."""
    return {names.get(name, name): value for name, value in asdict(record, dict_factory=_members).items()}


def _members(values: list[tuple[str, Any]]) -> dict[str, Any]:
    return {name: _plain(value) for name, value in values}


def _plain(value: Any) -> Any:
    if isinstance(value, StrEnum):
        return value.value
    return list(value) if isinstance(value, tuple) else value
