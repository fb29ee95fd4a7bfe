"""The settings of every component and client library, and their names in other programs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache

from proofka.model.deployment.defaults import Span, choices_of, history_of, is_known
from proofka.reports.guide.entry import Entry, rows_of, some, table
from proofka.reports.guide.related import related
from proofka.reports.guide.usage import components, is_read, known_by_pattern, settings_of, why_not

SETTING, OTHER_NAME = "setting", "name of other programs"
_MODEL = "proofka.model.deployment"
_WITH_UNDERSCORES = ("kafka-python ", "aiokafka ")
"""Components whose settings have the names of the Java client with underscores between the words."""


CLIENTS = ("producer", "consumer")
"""The components of the Java client."""


@cache
def owners() -> Mapping[str, tuple[str, ...]]:
    """Map every setting of any release of any component to the components that have the setting."""
    found: dict[str, list[str]] = {}
    for component in components():
        for key in settings_of(component):
            found.setdefault(key, []).append(component)
    return {key: tuple(of) for key, of in found.items()}


def setting(key: str) -> Entry:
    """Return the entry of a setting.

    A setting of a library that nobody reads can be a setting of the Java client, known by a pattern: security.
    """
    of = owners()[key]
    if not any(is_read(component, key) for component in of):
        of = (*of, *(client for client in CLIENTS if client in known_by_pattern(key)))
    return Entry(key, SETTING, tuple(_paragraphs(key, of)))


def _paragraphs(key: str, of: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    yield "of", ", ".join(of)
    read = [component for component in of if is_read(component, key)]
    yield from _grouped("means", read, lambda component: meaning(component, key), of)
    yield from _grouped("not read", [one for one in of if one not in read], lambda one: why_not(one, key), of)
    yield from _grouped("default", of, lambda component: spans(_history(history_of, component, key)), of)
    yield from _grouped("values", of, lambda component: spans(_history(choices_of, component, key)), of)
    yield from some("elsewhere", ", ".join(dict.fromkeys(_other_names().get(key, ()))))
    yield from related(key, of)


def setting_by_pattern(key: str) -> Entry | None:
    """Return the entry of a setting that no table lists, such as a security setting, or None if it is unknown."""
    of = known_by_pattern(key)
    if not of:
        return None
    return Entry(key, SETTING, (("of", ", ".join(of)), *_grouped("not read", of, lambda one: why_not(one, key), of)))


def _history(of: Callable[[str, str], list[Span]], component: str, key: str) -> list[Span]:
    """Return the values of a setting by release, or an empty list for a setting without a table."""
    return of(component, key) if is_known(component, key) else []


def _grouped(
    label: str, those: Sequence[str], said: Callable[[str], str], of: Sequence[str]
) -> Iterator[tuple[str, str]]:
    """Yield each text about components once, with the names of the components if it is not about all of them."""
    groups: dict[str, list[str]] = {}
    for component in those:
        if text := said(component):
            groups.setdefault(text, []).append(component)
    for text, some_of in groups.items():
        everyone = len(some_of) == len(of)
        yield label, text if everyone else f"{text} ({', '.join(some_of)})"


def meaning(component: str, key: str) -> str:
    """Return the meaning of a modelled setting for delivery.

    Python clients have the settings of the Java client under other names.
    """
    said = _meanings()
    if (component, key) not in said and component.startswith(_WITH_UNDERSCORES):
        return said[(component.split()[-1], key.replace("_", "."))]
    return said[(component, key)]


@cache
def _meanings() -> Mapping[tuple[str, str], str]:
    return {(of, row["key"]): row["meaning"] for row in table("settings") for of in row["of"].split("|")}


def spans(history: list[Span]) -> str:
    """Return ``1 before 3.0; all from 3.0 on``, or ``""`` if no release has a value."""
    if not any(value for _, _, value in history):
        return ""
    first = history[0][0]
    return "; ".join(_value(value) + _when(since, until, first) for since, until, value in history)


def _value(value: str | None) -> str:
    return "none" if value is None else value or '""'


def _when(since: str, until: str | None, first: str) -> str:
    if until is None:
        return "" if since == first else f" from {since} on"
    return f" before {until}" if since == first else f" from {since} to before {until}"


@cache
def names_elsewhere() -> Mapping[str, tuple[tuple[str, str, str], ...]]:
    """Map every name of another program to triples: the program, the setting (or ``""``), and the reason."""
    found: dict[str, list[tuple[str, str, str]]] = {}
    for of in table("dialects"):
        for row in rows_of(_MODEL, of["table"]):
            whose = f"{of['who']}, {row[of['of']]}" if of["of"] else of["who"]
            setting = row[of["setting"]] if of["setting"] else ""
            reason = row[of["reason"]] if of["reason"] else ""
            said = (whose, setting, reason or ("" if setting else of["otherwise"]))
            found.setdefault(row[of["name"]], []).append(said)
    return {name: tuple(dict.fromkeys(said)) for name, said in found.items() if name}


def name_elsewhere(name: str) -> Entry:
    """Return the entry of a name of other programs."""
    paragraphs = [
        (whose, f"sets {setting.replace('|', ', ')}" if setting else reason)
        for whose, setting, reason in names_elsewhere()[name]
    ]
    # A setting of Kafka with the same name has an entry of its own with the related paragraphs.
    further = () if name in owners() else related(name, ["Kafka Streams"])
    return Entry(name, OTHER_NAME, (*paragraphs, *further))


@cache
def _other_names() -> Mapping[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name, said in names_elsewhere().items():
        for whose, setting, _ in said:
            for one in setting.split("|"):
                if one and one != name:
                    found.setdefault(one, []).append(f"{name} ({whose})")
    return found
