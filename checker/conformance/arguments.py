"""The form of an event's arguments in a file: an argument of another form would be compared with nothing."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from types import MappingProxyType

MOST_RECORDS = 3
"""The largest number of records of a producer in a recording, as in the model."""

_OF_RECORD, _OF_MARKER = {"record", "epoch"}, {"commits", "epoch"}
"""The numbers that an entry of a log has: that of a record, or that of a marker."""

_MORE_IN_ENTRY = {"producer_epoch", "sequence"}
"""The numbers that an entry of a log can have."""


def _is_number(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) < 1 << 31


def _are_numbers(value: object) -> bool:
    return isinstance(value, list) and all(map(_is_number, value))


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_error(value: object) -> bool:
    return value is None or isinstance(value, str) or _is_number(value)


def _are_entries(value: object) -> bool:
    return isinstance(value, list) and all(map(_is_entry, value))


def _is_entry(value: object) -> bool:
    return (
        isinstance(value, dict)
        and value.keys() - _MORE_IN_ENTRY in (_OF_RECORD, _OF_MARKER)
        and all(map(_is_number, value.values()))
    )


_FORMS: Mapping[str, tuple[Callable[[object], bool], str]] = MappingProxyType(
    {
        "isr": (_are_numbers, "a list of numbers"),
        "records": (_are_numbers, "a list of numbers"),
        "status": (_is_text, "a text"),
        "error": (_is_error, "a number, a text or null"),
        "entries": (_are_entries, "a list of entries with the numbers epoch, and record or commits"),
    }
)
"""The form of an argument by its name; every other argument is a number."""


def wrong_argument(arguments: Mapping[str, object], known: Collection[str]) -> str | None:
    """Return what is wrong with the arguments of an event whose kind has the ``known`` ones, or None."""
    for name, value in arguments.items():
        if name not in known:
            return f"has the argument {name}, which events of its kind do not have"
        fits, form = _FORMS.get(name, (_is_number, "a number"))
        if not fits(value):
            return f"needs {form} as its argument {name}"
    return None
